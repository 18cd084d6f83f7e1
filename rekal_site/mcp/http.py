"""MCP over streamable HTTP at `/mcp`: the same tokens as the API, every request on its own.

No session is kept: each POST carries its token, is answered with JSON and forgotten, so a token that is revoked
ends at once and no session id can be stolen. The Host must be one of ours and an Origin, when a browser sends one,
must be the page's own: a page elsewhere cannot make a browser talk to us.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from holders.auth import REFUSED, Principal, principal_of_token
from rekal_site.door import bearer_of, headers_of, refusal_of_strangers, refuse
from rekal_site.mcp.server import Face

PATH = "/mcp"
PRINCIPAL = "rekal.principal"
MAX_BODY = 1024 * 1024

ONLY_POST = "MCP is spoken with POST here."
NO_TOKEN = "Send an API token: Authorization: Bearer …"  # noqa: S105  (a sentence)


def principal_of_request(request: Any) -> Principal:
    """The principal that the door has put on the request."""
    principal: Principal = request.scope[PRINCIPAL]
    return principal


class McpOverHttp:
    """The ASGI application under `/mcp`; `lifespan` is entered before its first request."""

    def __init__(self) -> None:
        self.face: Face | None = None
        self.manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Make the face and its threads, and take them down."""
        self.face = Face(principal_of_request)
        self.manager = StreamableHTTPSessionManager(
            self.face.server, json_response=True, stateless=True, max_request_body_size=MAX_BODY
        )
        try:
            async with self.manager.run():
                yield
        finally:
            self.face.close()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self.face is None or self.manager is None:
            raise RuntimeError("The lifespan of the MCP face was not entered.")
        headers = headers_of(scope)
        if (refusal := refusal_of_strangers(headers)) is not None:
            await refuse(send, *refusal)
            return
        if scope["method"] != "POST":
            await refuse(send, 405, ONLY_POST, {"allow": "POST"})
            return
        token = bearer_of(headers)
        principal = await self.face.in_thread(lambda: principal_of_token(token)) if token else None
        if principal is None:
            await refuse(send, 401, REFUSED if token else NO_TOKEN, {"www-authenticate": "Bearer"})
            return
        await self.manager.handle_request({**scope, PRINCIPAL: principal}, receive, _uncached(send))


def _uncached(send: Any) -> Any:
    """`send`, with replies marked so that no cache keeps them."""

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            kept = [pair for pair in message["headers"] if pair[0].lower() != b"cache-control"]
            message = {**message, "headers": [*kept, (b"cache-control", b"no-store")]}
        await send(message)

    return sending
