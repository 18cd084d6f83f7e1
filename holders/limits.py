"""Rate limits a holder: a sliding window kept in this process, so that no reader ever writes for it.

`settings.REKAL_RATE_LIMITS` names a kind's windows as `(calls, seconds)`: `call` is any call of the API or of
MCP, `ask` the ones that hint at what the asker may not read (`ask`, `who_knows`), which are stricter. They
count by holder, not by token: more tokens do not give more guesses. Sign-in has limits of its own.
"""

import time
from collections import deque
from threading import Lock

from django.conf import settings

from memories.errors import TooMany
from memories.visibility import Viewer

_spent: dict[tuple[str, str], deque[float]] = {}
_lock = Lock()


def spend(viewer: Viewer, kind: str) -> None:
    """Count one call of `kind` for this viewer. Raises `TooMany`, and then counts nothing."""
    windows = settings.REKAL_RATE_LIMITS[kind]
    now = time.monotonic()
    with _lock:
        times = _spent.setdefault((viewer.holder_id, kind), deque(maxlen=max(calls for calls, _ in windows)))
        wait = max(_wait(times, calls, seconds, now) for calls, seconds in windows)
        if wait <= 0:
            times.append(now)
    if wait > 0:
        raise TooMany(wait)


def _wait(times: deque[float], calls: int, seconds: float, now: float) -> float:
    """Seconds until a window of `calls` in `seconds` has room again; 0 or less when it has."""
    return times[-calls] + seconds - now if len(times) >= calls else 0.0


def forget_all() -> None:
    """Start every window anew."""
    with _lock:
        _spent.clear()
