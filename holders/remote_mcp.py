"""Asking an MCP server's tool `ask` over streamable HTTP: the handshake, one call, and the reply's structured part.

Only what one call needs of the protocol, through the guarded door of `holders.outgoing`, which the SDK's own client
would go around.
"""

import json
import time
from collections.abc import Mapping
from typing import Any

from holders import outgoing

PROTOCOL = "2025-06-18"


def ask_over_mcp(url: str, arguments: Mapping[str, Any], seconds: float) -> Any:
    """The tool's structured reply, or its text as one answer. Raises `Unreachable`, and `ValueError` when unreadable.

    A server whose `ask` takes less than ours gets the question alone.
    """
    deadline = time.monotonic() + seconds
    client = {
        "protocolVersion": PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": "rekal", "version": "1"},
    }
    _, session = _call(url, "initialize", client, "", deadline)
    _call(url, "notifications/initialized", None, session, deadline)
    tools, _ = _call(url, "tools/list", {}, session, deadline)
    schema = next((tool["inputSchema"] for tool in tools["tools"] if tool["name"] == "ask"), None)
    if schema is None:
        raise outgoing.Unreachable("Its MCP server has no tool “ask”.")
    taken = schema.get("properties", {})
    given = {name: value for name, value in arguments.items() if name in taken or name == "question"}
    result, _ = _call(url, "tools/call", {"name": "ask", "arguments": given}, session, deadline)
    return _read(result)


def _read(result: Any) -> Any:
    if result.get("isError"):
        raise outgoing.Unreachable("Its tool “ask” refused the question.")
    if isinstance(result.get("structuredContent"), dict) and "status" in result["structuredContent"]:
        return result["structuredContent"]
    texts = [
        part["text"] for part in result.get("content", []) if part.get("type") == "text" and part.get("text")
    ]
    return {"status": "answered", "answers": [{"text": "\n".join(texts)}] if texts else []}


def _call(url: str, method: str, params: Any, session: str, deadline: float) -> tuple[Any, str]:
    """`(result, session id)` of one JSON-RPC message; a notification (no params) has no result."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message |= {"id": 1, "params": params}
    headers = {"MCP-Protocol-Version": PROTOCOL} if method != "initialize" else {}
    if session:
        headers["Mcp-Session-Id"] = session
    body = json.dumps(message).encode()
    reply = outgoing.post(url, body, headers, seconds=max(0.01, deadline - time.monotonic()))
    if reply.status not in (200, 202):
        raise outgoing.Unreachable(f"Its MCP server refused the question (status {reply.status}).")
    if params is None:
        return None, session
    return _result(reply), reply.session or session


def _result(reply: outgoing.Reply) -> Any:
    """The result of a JSON reply, or of the last message of an event stream. Raises `ValueError`."""
    text = reply.body.decode()
    if reply.content_type == "text/event-stream":
        lines = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
        text = next((line for line in reversed(lines) if line), "null")
    message = json.loads(text)
    if not isinstance(message, dict) or "result" not in message:
        raise ValueError("no result")
    return message["result"]
