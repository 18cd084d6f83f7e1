"""What another server answers, read as what it is: foreign text under foreign names, each part checked or dropped."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from holders.registry import checked_contact
from holders.who_knows import ORDINALS, Knower
from memories import timestamps
from memories.errors import Invalid
from memories.results import Hit, Memory
from memories.text import check_text
from memories.visibility import SCOPES

MAX_ITEMS = 20
MAX_LINE = 300
MAX_ID = 200
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00")


@dataclass(frozen=True, slots=True)
class Remote:
    """A live holder's answer: its own hops, whom it looked at, and hits or other holders under prefixed ids."""

    status: Literal["answered", "referred", "no_holder_knows"]
    hops_used: int = 0
    visited: tuple[str, ...] = ()
    answers: tuple[Hit, ...] = ()
    referrals: tuple[tuple[Knower, int], ...] = ()


def read_reply(holder_id: str, name: str, reply: Any) -> Remote:
    """Read the body of an `ask` reply. Raises `ValueError` when it is none."""
    if not isinstance(reply, Mapping):
        raise ValueError("not an object")  # noqa: TRY004  (what came is wrong, not how we were called)
    answers = [_hit(holder_id, name, one) for one in _items(reply, "answers")]
    referrals = [_referral(holder_id, name, one) for one in _items(reply, "referrals")]
    hits = tuple(one for one in answers if one is not None)
    others = tuple(one for one in referrals if one is not None)
    status = reply.get("status")
    if status == "answered" and hits:
        found: Literal["answered", "referred", "no_holder_knows"] = "answered"
    else:
        hits = ()
        found = "referred" if status == "referred" and others else "no_holder_knows"
    visited = tuple(
        _named(holder_id, one) for one in _items(reply, "visited") if isinstance(one, str) and one
    )
    hops = reply.get("hops_used", 0)
    hops = hops if isinstance(hops, int) and 0 <= hops <= MAX_ITEMS else len(visited)
    return Remote(found, hops, visited, hits, others if found == "referred" else ())


def _items(reply: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = reply.get(key, [])
    return value[:MAX_ITEMS] if isinstance(value, list) else []


def _named(holder_id: str, theirs: object) -> str:
    """Somebody else's id, under the name of who told us: it can never be taken for one of ours."""
    return f"{holder_id}:{line(theirs, MAX_ID)}"[:MAX_ID]


def line(value: object, length: int = MAX_LINE) -> str:
    """A foreign short text on one line; '' for anything else."""
    if not isinstance(value, str):
        return ""
    return " ".join("".join(one if one.isprintable() else " " for one in value).split())[:length]


def _hit(holder_id: str, name: str, given: Any) -> Hit | None:
    """A foreign hit, or a foreign memory on its own; None when it has no readable text."""
    if not isinstance(given, Mapping):
        return None
    inner = given.get("memory", given)
    memory = _memory(holder_id, inner) if isinstance(inner, Mapping) else None
    if memory is None:
        return None
    relevance = given.get("relevance")
    known = isinstance(relevance, int | float) and not isinstance(relevance, bool) and 0 <= relevance <= 1
    share = round(float(relevance), 4) if known and relevance is not None else 0.0
    return Hit(memory, share, share, {}, (f"Answered live by {name}.", *_lines(given.get("basis"))))


def _lines(value: object) -> tuple[str, ...]:
    return tuple(text for one in value[:3] if (text := line(one))) if isinstance(value, list) else ()


def _memory(holder_id: str, given: Mapping[str, Any]) -> Memory | None:
    try:
        text = check_text(given["text"], "text")
    except (KeyError, TypeError, ValueError, Invalid):
        return None
    visibility = given.get("visibility")
    scope = visibility.get("scope") if isinstance(visibility, Mapping) else None
    now = timestamps.now()
    tags = given.get("tags")
    return Memory(
        atom_id=_named(holder_id, given.get("atom_id")),
        text=text,
        holder_id=_named(holder_id, given.get("holder_id")) if given.get("holder_id") else holder_id,
        recorded_by="",
        origin="third_party",
        scenario=line(given.get("scenario"), MAX_ID),
        tags=tuple(one for one in map(line, tags[:MAX_ITEMS]) if one) if isinstance(tags, list) else (),
        event_time=_moment(given.get("event_time")),
        event_time_end=_moment(given.get("event_time_end")),
        event_time_precision=line(given.get("event_time_precision"), 16) or "unknown",
        valid_from=_moment(given.get("valid_from")),
        valid_to=_moment(given.get("valid_to")),
        retention_until=None,
        visibility={"scope": scope if scope in SCOPES else "private"},
        supersedes=(),
        source=line(given.get("source")),
        created_at=_moment(given.get("created_at")) or now,
        updated_at=_moment(given.get("updated_at")) or now,
    )


def _moment(value: object) -> str | None:
    return value if isinstance(value, str) and _MOMENT.fullmatch(value) else None


def _referral(holder_id: str, name: str, given: Any) -> tuple[Knower, int] | None:
    """Whom the live holder would ask, and at which of its hops."""
    if not isinstance(given, Mapping) or not line(given.get("holder_id")):
        return None
    confidence = given.get("confidence")
    hop = given.get("hop")
    knower = Knower(
        holder_id=_named(holder_id, given["holder_id"]),
        name=line(given.get("name"), MAX_ID),
        kind=line(given.get("kind"), 16),
        registered=False,
        confidence=confidence if confidence in ORDINALS else ORDINALS[0],
        basis=(f"Named by {name}, who was asked live.", *_lines(given.get("basis"))),
        contact=_contact(given.get("contact")),
    )
    return knower, hop if isinstance(hop, int) and 0 < hop <= MAX_ITEMS else 1


def _contact(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    try:
        return checked_contact(value)
    except Invalid:
        return {}
