"""MCP: what a token may do there, what the door refuses, what the two transports carry, and the small server's tools."""

import json
import re
import subprocess
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from holders.auth import viewer_for
from holders.models import Token
from holders.tokens import issue, revoke
from memories.models import Atom
from tests.agents import over_http, over_stdio, talk, text_of
from tests.command_line import empty_store  # noqa: F401
from tests.mcp_household import QUESTION, TOOLS, household  # noqa: F401
from tests.servers import ROOT, Household, new_household  # noqa: F401


@pytest.mark.parametrize(
    ("scopes", "refused"),
    [
        (["read"], {"remember", "forget", "who_knows", "ask"}),
        (["write"], {"recall", "who_knows", "ask", "list_holders"}),
        (["ask"], {"recall", "remember", "forget", "list_holders"}),
    ],
)
def test_scopes_of_a_token_are_kept(household: Household, scopes: list[str], refused: set[str]) -> None:
    with household.inside():
        token = Token.objects.issue("bot", scopes)[1]
    arguments = {
        "recall": {"query": "key"},
        "remember": {"text": "The agent was here."},
        "forget": {"atom_id": "nope"},
        "who_knows": {"question": "key"},
        "ask": {"question": "key"},
        "list_holders": {},
    }

    async def conversation() -> set[str]:
        async with over_http(household, "bot", token=token) as bot:
            results = {name: await bot.call_tool(name, given) for name, given in arguments.items()}
            if "read" not in scopes:
                with pytest.raises(MCPError, match="scope"):
                    await bot.read_resource("rekal://holders")
        return {name for name, result in results.items() if result.is_error and "scope" in text_of(result)}

    assert talk(conversation) == refused


def test_the_command_line_makes_an_acting_token_for_oneself_alone(household: Household) -> None:
    def typed(*arguments: str) -> Any:
        command = household.command("token", *arguments)
        return subprocess.run(
            command, env=household.environment, cwd=ROOT, capture_output=True, text=True, check=False
        )

    made = typed("bot", "--acting-for-me", "--as", "mira")
    assert household.call("GET", "/api/me", token=made.stdout.strip())[1]["acting_for"] == "mira"
    assert typed("bot", "--acting-for-me").returncode == 2
    assert typed("gus", "--acting-for-me", "--as", "mira").returncode == 1


def test_an_agent_acting_for_a_person(household: Household) -> None:
    with household.inside():
        mira = viewer_for("mira")
        card, plain = issue(mira, "bot", ["read", "write", "ask"], acting_for_me=True)

    async def conversation() -> list[Any]:
        async with over_http(household, "bot", token=plain) as bot:
            return [
                await bot.call_tool(
                    "remember", {"text": "The plumber comes on Friday.", "visibility": "private"}
                ),
                await bot.call_tool("recall", {"query": QUESTION}),
                await bot.call_tool("ask", {"question": QUESTION}),
            ]

    written, found, asked = talk(conversation)
    assert (written.structured_content["holder_id"], written.structured_content["recorded_by"]) == (
        "mira",
        "bot",
    )
    assert "DE123999" not in f"{found}{asked}"
    with household.inside():
        atom = Atom.objects.get(text="The plumber comes on Friday.")
        assert (atom.holder_id, atom.recorded_by) == ("mira", "bot")
        revoke(mira, card.token_id)
    assert household.call("POST", "/mcp", {}, token=plain)[0] == 401


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {}, 401),
        ("POST", {"Authorization": "Bearer rekal_wrong"}, 401),
        ("POST", {"Authorization": "Basic bWlyYTp4"}, 401),
        ("POST", {"Cookie": "sessionid=abc"}, 401),
        ("POST", {"Origin": "https://evil.example"}, 403),
        ("POST", {"Origin": "null"}, 403),
        ("POST", {"Origin": "http://127.0.0.1:1"}, 403),
        ("POST", {"Host": "evil.example"}, 421),
        ("GET", {}, 405),
        ("DELETE", {}, 405),
    ],
)
def test_the_door_is_guarded(household: Household, method: str, headers: dict[str, str], status: int) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    body = message if method == "POST" else None
    got, refusal = household.call(method, "/mcp", body, headers={"Accept": "application/json"} | headers)
    assert (got, list(refusal)) == (status, ["detail"])


def test_a_page_of_ours_may_call_with_a_token(household: Household) -> None:
    headers = {"Accept": "application/json, text/event-stream", "Origin": household.url.rstrip("/")}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    status, body = household.call("POST", "/mcp", message, holder="jonas", headers=headers)
    assert (status, [tool["name"] for tool in body["result"]["tools"]]) == (200, TOOLS)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b'{"jsonrpc":"2.0","id":1}', b"[" * 100_000]
)
def test_garbage_is_refused_quietly(household: Household, body: bytes) -> None:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    headers = {
        "Authorization": f"Bearer {household.tokens['jonas']}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    for version in ({}, {"MCP-Protocol-Version": "2026-07-28"}, {"MCP-Protocol-Version": "1999-01-01"}):
        request = Request(f"{household.url}mcp", data=body, headers=headers | version, method="POST")
        with pytest.raises(HTTPError) as refusal, urlopen(request, timeout=10):
            pass
        refusal.value.close()
        assert 400 <= refusal.value.code < 500


def test_every_line_on_stdout_is_protocol(household: Household) -> None:
    client = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    messages = [
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "😀 key"}}},
        {
            "id": 3,
            "method": "tools/call",
            "params": {"name": "ask", "arguments": {"question": "x", "max_hops": "many"}},
        },
        {"id": 4, "method": "nothing/here"},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in messages)
    process = subprocess.Popen(
        household.command("mcp", "--as", "jonas"), env=household.environment | {"PYTHONIOENCODING": "cp1252"}, cwd=ROOT,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines.encode() + b"no json at all\n")
    process.stdin.flush()
    replies = [json.loads(process.stdout.readline()) for _ in range(4)]
    out, _ = process.communicate(timeout=30)
    replies += [json.loads(line) for line in out.splitlines()]
    assert {reply.get("id") for reply in replies} >= {1, 2, 3, 4}
    assert all(reply["jsonrpc"] == "2.0" for reply in replies)
    assert process.returncode == 0


def test_a_drop_in_for_the_small_rekal_server(household: Household) -> None:
    async def conversation() -> list[Any]:
        async with over_stdio(household, "bot", "--compat", "rekal") as bot:
            tools = (await bot.list_tools()).tools
            stored = await bot.call_tool(
                "memory_store",
                {"content": "The API listens on port 8123.", "project": "attic", "tags": ["net"]},
            )
            first = stored.structured_content["result"].rpartition(" ")[2]
            replaced = await bot.call_tool(
                "memory_store", {"content": "The API listens on port 9000.", "replaces": first}
            )
            second = replaced.structured_content["result"].split()[2]
            context = await bot.call_tool(
                "memory_build_context", {"query": "Which port does the API listen on?"}
            )
            elsewhere = await bot.call_tool(
                "memory_build_context", {"query": "Which port does the API listen on?", "project": "cellar"}
            )
            high = await bot.call_tool("memory_build_context", {"query": "zebra stripes", "min_score": 1.0})
            deleted = await bot.call_tool("memory_delete", {"memory_id": second})
            missing = await bot.call_tool("memory_delete", {"memory_id": second})
            return [tools, first, replaced, second, context, elsewhere, high, deleted, missing]

    tools, first, replaced, second, context, elsewhere, high, deleted, missing = talk(conversation)
    signatures = {tool.name: list(tool.input_schema["properties"]) for tool in tools}
    assert signatures == {
        "memory_build_context": ["query", "project", "limit", "min_score"],
        "memory_store": ["content", "project", "tags", "replaces"],
        "memory_delete": ["memory_id"],
    }
    defaults = tools[0].input_schema["properties"]
    assert (
        defaults["project"]["default"],
        defaults["limit"]["default"],
        defaults["min_score"]["default"],
    ) == (None, 10, 0.25)
    assert replaced.structured_content == {"result": f"Stored memory {second} (replaces {first})"}
    body = context.structured_content
    assert list(body) == ["query", "memories"]
    memory = next(one for one in body["memories"] if one["id"] == second)
    assert list(memory) == ["id", "content", "project", "tags", "created_at", "score"]
    assert (memory["content"], memory["project"], memory["tags"]) == (
        "The API listens on port 9000.",
        "attic",
        ["net"],
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", memory["created_at"])
    assert first not in [one["id"] for one in body["memories"]]
    assert json.loads(text_of(context)) == body
    assert second not in [one["id"] for one in elsewhere.structured_content["memories"]]
    assert high.structured_content == {"query": "zebra stripes", "memories": []}
    assert deleted.structured_content == {"result": f"Deleted memory {second}"}
    assert (missing.is_error, missing.structured_content) == (False, {"result": f"Memory {second} not found"})


def test_a_store_that_is_not_there_is_refused_on_stderr(household: Household, tmp_path: Any) -> None:
    environment = household.environment | {"REKAL_DB": str(tmp_path / "none.db")}
    ran = subprocess.run(
        household.command("mcp", "--as", "jonas"), env=environment, cwd=ROOT, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "There is no store" in ran.stderr
