"""Live holders: another household's server, or an agent, that `ask` asks over the wire while it walks.

A holder's contact names where: `rekal_url` (a rekal server), `ask_url` (anything that takes the body of POST
`/api/ask` and answers like it) or `mcp_url` (an MCP server with a tool `ask`). The hop budget that is left and the
visited set go along. An entry of the visited set is `store/holder`, with the id of the store that visited it, since
two households may use the same holder id; a store that finds its own id there ends the loop. What comes back is
read with care: it is somebody else's text, it keeps somebody else's names, and it can run nothing here.
"""

import json
import logging
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holders import outgoing
from holders.models import Holder
from holders.remote import Remote, read_reply
from holders.remote_mcp import ask_over_mcp
from memories.fields import dump_json
from memories.models import StoreSetting
from memories.store import get_setting
from memories.visibility import Viewer

logger = logging.getLogger(__name__)

ENDPOINTS = ("rekal_url", "ask_url", "mcp_url")
SECONDS = 3.0  # for one live holder
SECONDS_IN_ALL = 8.0  # for all live holders of one question
PASSED_ON = 0.6  # of its own time is what a server gives to the ones behind it, so that it can still answer
REST = 10.0  # seconds that a holder is left alone after it did not answer

_resting: dict[str, float] = {}


@dataclass(frozen=True, slots=True)
class LiveHolder:
    """Where a holder is asked; `kind` is one of `ENDPOINTS`."""

    holder_id: str
    name: str
    kind: str
    url: str


@dataclass(frozen=True, slots=True)
class LiveStep:
    """A holder that was asked on its own server, at which hop, and what came of it, as a sentence."""

    holder_id: str
    hop: int
    outcome: str


def store_id() -> str:
    """The id by which other servers know that a question has been here; made when first needed."""
    known = get_setting("store_id")
    if not isinstance(known, str):
        StoreSetting.objects.get_or_create(
            pk="store_id", defaults={"value_json": dump_json(secrets.token_hex(8))}
        )
        known = str(get_setting("store_id"))
    return known


def live_holders(viewer: Viewer) -> dict[str, LiveHolder]:
    """The holders that this viewer's questions are passed on to, by id; none while the owner allowed no address.

    Only people and agents of this household have their questions passed on: what another server shares with this
    household is not for its guests, nor for a third household.
    """
    person = viewer.acting_for or viewer
    if not (viewer.in_household and person.in_household) or not outgoing.allowed_addresses():
        return {}
    found = {}
    for holder in Holder.objects.exclude(contact_json="{}").order_by("holder_id"):
        way = next((key for key in ENDPOINTS if holder.contact.get(key)), "")
        if way and holder.holder_id not in viewer.ids:
            found[holder.holder_id] = LiveHolder(holder.holder_id, str(holder), way, holder.contact[way])
    return found


def is_loop(visited: Sequence[str]) -> bool:
    """Whether a question from the wire has been at this store before."""
    return bool(visited) and any(one.startswith(f"{store_id()}/") for one in visited)


class Round:
    """The live part of one question: its time, and what the wire needs to know."""

    def __init__(self, question: str, limit: int, visited: Sequence[str]) -> None:
        self.question = question
        self.limit = limit
        self.visited = list(visited)
        depth = len({one.partition("/")[0] for one in visited})
        self.share = PASSED_ON**depth
        self.until = time.monotonic() + SECONDS_IN_ALL * self.share

    def ask(self, holder: LiveHolder, max_hops: int, visited_here: Sequence[str]) -> Remote:
        """What the holder answers with at most `max_hops` hops of its own. Raises `outgoing.Unreachable`."""
        seconds = min(SECONDS * self.share, self.until - time.monotonic())
        if seconds <= 0:
            raise outgoing.Unreachable("It was not asked: the time for this question was used up.")
        if _resting.get(holder.url, 0.0) > time.monotonic():
            raise outgoing.Unreachable("It was not asked: it did not answer a moment ago.")
        here = store_id()
        body = {
            "question": self.question,
            "max_hops": max_hops,
            "limit": self.limit,
            "visited": [*self.visited, *(f"{here}/{one}" for one in visited_here)],
        }
        try:
            return read_reply(holder.holder_id, holder.name, _reply(holder, body, seconds))
        except outgoing.Unreachable as error:
            if isinstance(error, outgoing.Silent):
                _resting[holder.url] = time.monotonic() + REST
            raise
        except Exception as error:  # noqa: BLE001  (a foreign reply may be wrong in any way)
            logger.warning("A live holder’s reply could not be read: %s", type(error).__name__)
            raise outgoing.Unreachable("Its answer could not be read.") from None


def _reply(holder: LiveHolder, body: Mapping[str, Any], seconds: float) -> Any:
    if holder.kind == "mcp_url":
        return ask_over_mcp(holder.url, body, seconds)
    url = f"{holder.url.rstrip('/')}/api/ask" if holder.kind == "rekal_url" else holder.url
    reply = outgoing.post(url, json.dumps(body).encode(), {}, seconds=seconds)
    if reply.status != 200:
        raise outgoing.Unreachable(f"It refused the question (status {reply.status}).")
    return json.loads(reply.body)


def wake_all() -> None:
    """Forget who did not answer."""
    _resting.clear()
