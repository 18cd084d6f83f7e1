"""The server: one process, Django under a2wsgi in a small pool of threads, room for ASGI parts under prefixes."""

import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from types import FrameType
from typing import Any

import uvicorn
from a2wsgi import WSGIMiddleware
from django.conf import settings

from memories.errors import RekalError

THREADS = 8  # SQLite has one writer; more readers than this only wait for the same cores
GRACE_SECONDS = 10  # for answers under way when the server is told to stop

ASGIApp = Callable[[Any, Any, Any], Any]
Lifespan = Callable[[], AbstractAsyncContextManager[Any]]
Farewell = Callable[[], Awaitable[None]]


class CannotServe(RekalError):
    """The address cannot be served; the message says why."""


class Site:
    """Sends each request to the part mounted under its prefix, else to Django's pages.

    `mounts` maps a prefix (`/mcp`) to an ASGI application, which gets the path whole; `lifespans` are entered
    before the first request and left after the last; `farewells` are called when the server is told to stop, so
    that replies that would never end do.
    """

    def __init__(
        self,
        pages: Any,
        mounts: Mapping[str, ASGIApp] | None = None,
        lifespans: Sequence[Lifespan] = (),
        farewells: Sequence[Farewell] = (),
    ) -> None:
        self.pages: ASGIApp = WSGIMiddleware(pages, workers=THREADS)
        self.mounts = dict(mounts or {})
        self.lifespans = list(lifespans)
        self.farewells = list(farewells)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        await self._part_for(scope)(scope, receive, send)

    def _part_for(self, scope: Any) -> ASGIApp:
        path = scope.get("path", "")
        for prefix, part in self.mounts.items():
            if path == prefix or path.startswith(f"{prefix}/"):
                return part
        if scope["type"] != "http":
            return _refuse_socket
        return self.pages

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        async with self._alive():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    @asynccontextmanager
    async def _alive(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for lifespan in self.lifespans:
                await stack.enter_async_context(lifespan())
            yield


async def _refuse_socket(scope: Any, receive: Any, send: Any) -> None:
    """There are no web sockets here."""
    await receive()
    await send({"type": "websocket.close", "code": 1000})


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises `CannotServe` with a sentence, before anything else is started."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CannotServe(
            f"Cannot serve on {host}, port {port}: {reason.lower()}. Choose another with --port."
        ) from None


def address_of(listener: socket.socket) -> str:
    """The URL a browser on this machine opens."""
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{shown}:{port}/"


class Server(uvicorn.Server):
    """Uvicorn, which says farewell before it waits for the replies under way."""

    def __init__(self, config: uvicorn.Config, farewells: Sequence[Farewell]) -> None:
        super().__init__(config)
        self.farewells = farewells

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Say farewell, then finish what is under way."""
        for farewell in self.farewells:
            await farewell()
        await super().shutdown(sockets)


def run(application: Site, listener: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM, finish what is under way, and return.

    There is no access log: addresses of pages hold questions.
    """
    config = uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        proxy_headers=settings.REKAL_BEHIND_PROXY,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=30,
    )
    signal.signal(signal.SIGTERM, _leave)  # uvicorn raises it once more when it is done; exit hooks shall run
    try:
        Server(config, application.farewells).run(sockets=[listener])
    except KeyboardInterrupt:
        pass


def _leave(signum: int, frame: FrameType | None) -> None:
    sys.exit(0)
