"""`GET /api/events`: a stream of server-sent events, each to whom it concerns; and the work that goes on meanwhile.

One task looks, for all streams, whether there is anything new, and announces lapsing memories; one sends webhooks.
A stream starts with what comes after it was opened, or after `Last-Event-ID` (`?after=` for who cannot send headers).
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from http.cookies import CookieError
from importlib import import_module
from typing import Any, TypeVar
from urllib.parse import parse_qs

from django.conf import settings
from django.contrib.auth import get_user
from django.db import DatabaseError, close_old_connections, connection
from django.http import HttpRequest
from django.http.cookie import parse_cookie

from holders import events, limits, webhooks
from holders.auth import REFUSED, Principal, principal_of_token, viewer_of_account
from holders.models import SCOPES
from memories.errors import Invalid, TooMany
from rekal_site.door import bearer_of, headers_of, refusal_of_strangers, refuse

logger = logging.getLogger(__name__)

PATH = "/api/events"
THREADS = 4  # one may be busy with an address that does not answer
LOOK = 1.0  # seconds between two looks for something new
SWEEP = 10.0  # seconds between two looks for lapsing memories while the store changes
SWEEP_ANYWAY = 3_600.0
PING = 15.0  # seconds after which a quiet stream says that it is alive
CHECK = 60.0  # seconds after which a stream checks that its token still opens the door
MOST_STREAMS = 200
NO_SCOPE = "This token does not have the scope “read”."
SIGN_IN = "Sign in, or send an API token."

Value = TypeVar("Value")


class Events:
    """The ASGI application under `/api/events`; `lifespan` runs the looking-out."""

    def __init__(self) -> None:
        self.news = asyncio.Condition()
        self.newest = 0
        self.streams = 0
        self.threads: ThreadPoolExecutor | None = None
        self.ending = False

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Look out for news until the server stops, then end every stream."""
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="rekal-events")
        self.newest = await self.in_thread(events.latest)
        tasks = [asyncio.create_task(self._look_out()), asyncio.create_task(self._send_out())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            await self.end()
            self.threads.shutdown(wait=True, cancel_futures=True)

    async def end(self) -> None:
        """Let every stream finish."""
        async with self.news:
            self.ending = True
            self.news.notify_all()

    async def in_thread(self, work: Callable[[], Value]) -> Value:
        """Run `work` in a thread of ours."""

        def working() -> Value:
            close_old_connections()
            return work()

        return await asyncio.get_running_loop().run_in_executor(self.threads, working)

    async def _look_out(self) -> None:
        lookout = Lookout()
        while True:
            try:
                newest = await self.in_thread(lookout.look)
            except DatabaseError as error:
                logger.warning("Events could not be looked for: %s", type(error).__name__)
                newest = self.newest
            if newest != self.newest:
                async with self.news:
                    self.newest = newest
                    self.news.notify_all()
            await asyncio.sleep(LOOK)

    async def _send_out(self) -> None:
        while True:
            try:
                await self.in_thread(webhooks.deliver)
            except DatabaseError as error:
                logger.warning("Webhooks could not be sent: %s", type(error).__name__)
            await asyncio.sleep(LOOK)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = headers_of(scope)
        refusal = _refusal(scope, headers)
        if refusal is None and self.streams >= MOST_STREAMS:
            refusal = 503, "There are too many listeners."
        if refusal is not None:
            await refuse(send, *refusal)
            return
        principal = await self.in_thread(lambda: principal_of(headers))
        if principal is None:
            await refuse(
                send, 401, REFUSED if bearer_of(headers) else SIGN_IN, {"www-authenticate": "Bearer"}
            )
            return
        if "read" not in principal.scopes:
            await refuse(send, 403, NO_SCOPE)
            return
        try:
            limits.spend(principal.viewer, "call")
            after, kinds = _wanted(scope, headers, self.newest)
        except TooMany as error:
            await refuse(send, 429, str(error), {"retry-after": str(error.retry_after)})
            return
        except Invalid as error:
            await refuse(send, 422, str(error))
            return
        await self._stream(headers, after, kinds, receive, send)

    async def _stream(
        self, headers: Mapping[str, str], after: int, kinds: Sequence[str], receive: Any, send: Any
    ) -> None:
        self.streams += 1
        sending = asyncio.create_task(self._send(headers, after, kinds, send))
        leaving = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.streams -= 1
            for task in (sending, leaving):
                task.cancel()
            for error in await asyncio.gather(sending, leaving, return_exceptions=True):
                if isinstance(error, Exception):
                    logger.warning("A stream of events ended: %s", type(error).__name__)

    async def _send(self, headers: Mapping[str, str], after: int, kinds: Sequence[str], send: Any) -> None:
        """Send events until the token no longer opens the door, or the server stops."""
        await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
        await _write(send, "retry: 3000\n\n")
        checked = time.monotonic()
        principal = await self.in_thread(lambda: principal_of(headers))
        while not self.ending and principal is not None:
            viewer, start = principal.viewer, after
            lines, after = await self.in_thread(lambda: events.events_for(viewer, after=start, kinds=kinds))  # noqa: B023
            for line in lines:
                await _write(send, f"id: {line.id}\nevent: {line.kind}\ndata: {json.dumps(asdict(line))}\n\n")
            if not lines and not await self._wait(after):
                await _write(send, ": still here\n\n")
            if time.monotonic() - checked > CHECK or lines:
                principal, checked = await self.in_thread(lambda: principal_of(headers)), time.monotonic()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _wait(self, seen: int) -> bool:
        """Wait for something after `seen`; False when `PING` seconds went by."""
        async with self.news:
            try:
                await asyncio.wait_for(self.news.wait_for(lambda: self.ending or self.newest > seen), PING)
            except TimeoutError:
                return False
        return True


STREAM_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class Lookout:
    """What is done between two looks; lives in one thread at a time."""

    def __init__(self) -> None:
        self.version = -1
        self.swept = 0.0

    def look(self) -> int:
        """Announce what lapses, and return the id of the newest event."""
        now = time.monotonic()
        version = _data_version()
        due = self.swept == 0.0 or now - self.swept > SWEEP_ANYWAY
        if due or (version != self.version and now - self.swept > SWEEP):
            events.note_expiring()
            events.drop_old()
            self.swept, self.version = now, version
        return events.latest()


def _data_version() -> int:
    """A number that another connection's commit changes."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA data_version")
        return int(cursor.fetchone()[0])


def principal_of(headers: Mapping[str, str]) -> Principal | None:
    """Whom a token or, without one, a session cookie stands for."""
    if headers.get("authorization"):
        return principal_of_token(bearer_of(headers))
    try:
        key = parse_cookie(headers.get("cookie", "")).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return None
    if not key:
        return None
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    viewer = viewer_of_account(get_user(request))
    return Principal(viewer, frozenset(SCOPES)) if viewer else None


def _refusal(scope: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[int, str] | None:
    if (refusal := refusal_of_strangers(headers)) is not None:
        return refusal
    if scope["method"] not in ("GET", "HEAD"):
        return 405, "This call does not know that method."
    if scope["path"] != PATH:
        return 404, "There is no such call; /api/docs lists them."
    return None


def _wanted(scope: Mapping[str, Any], headers: Mapping[str, str], newest: int) -> tuple[int, list[str]]:
    """`(after, kinds)`: where the stream starts, and of which events (empty: of all). Raises `Invalid`."""
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    kinds = events.checked_kinds([one for part in query.get("kinds", []) for one in part.split(",") if one])
    given = headers.get("last-event-id") or (query.get("after") or [""])[0]
    if not given:
        return newest, kinds
    if not given.isdecimal() or len(given) > 18:
        raise Invalid("“after” is the id of an event.", "after")
    return int(given), kinds


async def _write(send: Any, text: str) -> None:
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})


async def _gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
