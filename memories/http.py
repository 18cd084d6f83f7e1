"""What every router of the JSON API uses: the caller, her scopes, ETags and documented refusals."""

from typing import Any

from django.http import HttpRequest

from memories.errors import Conflict, NotAllowed
from memories.results import Memory
from memories.schemas import Refusal
from memories.visibility import Viewer

ALWAYS = (401, 403, 415, 422, 429, 503)
CHANGED = "Somebody changed this memory meanwhile; read it again before you change it."


class Stale(Conflict):
    """`If-Match` names another version than the stored one (412)."""


def refusals(*extra: int) -> dict[int, Any]:
    """The refusals a call may answer with, for its `response=` and so for the OpenAPI document."""
    return dict.fromkeys(sorted({*ALWAYS, *extra}), Refusal)


def caller(request: HttpRequest, scope: str) -> Viewer:
    """Who asks, when her session or token has the scope (see `holders.models`). Raises `NotAllowed`."""
    if scope not in request.scopes:  # type: ignore[attr-defined]
        raise NotAllowed(f"This token does not have the scope “{scope}”.")
    viewer: Viewer = request.viewer  # type: ignore[attr-defined]
    return viewer


def etag(memory: Memory) -> str:
    """The version of a memory: no two share their `updated_at`."""
    return f'"{memory.updated_at}"'


def matched(request: HttpRequest, memory: Memory) -> str | None:
    """The `updated_at` that `If-Match` asks for, or None without one. Raises `Stale` when it is another."""
    header = request.headers.get("If-Match")
    if header is None or header.strip() == "*":
        return None
    if etag(memory) not in [one.strip() for one in header.split(",")]:
        raise Stale(CHANGED)
    return memory.updated_at
