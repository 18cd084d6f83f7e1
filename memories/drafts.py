"""From what somebody typed or sent to the columns of an atom: shape, times and tags, each refusal a sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

from memories import timestamps
from memories.errors import Invalid
from memories.fields import dump_json
from memories.models import MODALITIES, ORIGINS, PRECISIONS
from memories.text import UnreadableText, check_text, token_equivalent
from memories.visibility import Viewer

MAX_NAME = 200
MAX_TAGS = 50
MAX_SOURCE = 1_000


@dataclass(frozen=True, slots=True)
class Draft:
    """A checked statement, ready to be stored; every time is store text.

    `metadata` is what has no column. `created_at` is given by imports alone: when it was first written down.
    """

    text: str
    holder_id: str
    origin: str
    scenario: str = ""
    tags: tuple[str, ...] = ()
    event_time: str | None = None
    event_time_end: str | None = None
    event_time_precision: str = "unknown"
    valid_from: str | None = None
    valid_to: str | None = None
    retention_until: str | None = None
    visibility: Mapping[str, Any] | None = None
    source: str = ""
    modality: str = "text"
    created_at: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    def columns(self) -> dict[str, Any]:
        """The draft as fields of `Atom`, without visibility and holder's rights, which need the store."""
        return {
            "text": self.text, "holder_id": self.holder_id, "origin": self.origin, "scenario": self.scenario,
            "tags": dump_json(list(self.tags)), "source": self.source, "modality": self.modality,
            "event_time": self.event_time, "event_time_end": self.event_time_end,
            "event_time_precision": self.event_time_precision,
            "event_time_source": "stated" if self.event_time else "",
            "valid_from": self.valid_from, "valid_to": self.valid_to, "retention_until": self.retention_until,
            "token_equivalent": token_equivalent(self.text),
        }  # fmt: skip


def checked_text(text: object) -> str:
    """The text of a memory as it will be stored, byte for byte. Raises `Invalid`."""
    if not isinstance(text, str):
        raise Invalid("A memory needs a text.", "text")
    try:
        return check_text(text)
    except UnreadableText as error:
        raise Invalid(str(error), "text") from None


def checked_name(value: object, field_name: str, limit: int = MAX_NAME) -> str:
    """A short one-line name: scenario, holder id, source. Raises `Invalid`."""
    if not isinstance(value, str):
        raise Invalid(f"The {field_name.replace('_', ' ')} is a short text.", field_name)
    name = value.strip()
    if len(name) > limit:
        raise Invalid(f"The {field_name.replace('_', ' ')} may have at most {limit} characters.", field_name)
    if any(ord(character) < 32 or 0xD800 <= ord(character) <= 0xDFFF for character in name):
        raise Invalid(
            f"The {field_name.replace('_', ' ')} is one line without control characters.", field_name
        )
    return name


def checked_tags(tags: object) -> tuple[str, ...]:
    """Tags, trimmed and without repeats, in the given order. Raises `Invalid`."""
    if not isinstance(tags, Sequence) or isinstance(tags, str) or len(tags) > MAX_TAGS:
        raise Invalid(f"Tags are a list of at most {MAX_TAGS} short words.", "tags")
    names = [checked_name(tag, "tags", 100) for tag in tags]
    return tuple(dict.fromkeys(name for name in names if name))


def checked_choice(value: object, choices: Sequence[str], field_name: str) -> str:
    """One of the known words. Raises `Invalid`."""
    if value not in choices:
        raise Invalid(f"The {field_name.replace('_', ' ')} is one of {', '.join(choices)}.", field_name)
    return str(value)


def checked_moment(value: object, field_name: str, zone: ZoneInfo, *, end_of_day: bool = False) -> str | None:
    """A bound in time as store text, or None. Raises `Invalid`."""
    if value is None or value == "":
        return None
    try:
        return timestamps.parse_moment(str(value), zone, end_of_day=end_of_day)
    except timestamps.UnreadableTime as error:
        raise Invalid(str(error), field_name) from None


def check_validity(valid_from: str | None, valid_to: str | None) -> None:
    """What is true must begin before it ends. Raises `Invalid`."""
    if valid_from and valid_to and valid_to < valid_from:
        raise Invalid("The memory stops being true before it begins to be.", "valid_to")


def checked_event(
    time: object, end: object, precision: object, zone: ZoneInfo
) -> tuple[str | None, str | None, str]:
    """An event's begin, end and precision as columns; a date alone stays that date. Raises `Invalid`."""
    if not time:
        if end:
            raise Invalid("An event that ends also needs a beginning.", "event_time")
        return None, None, "unknown"
    try:
        begin, found = timestamps.parse(str(time), zone)
        finish = timestamps.parse(str(end), zone)[0] if end else None
    except timestamps.UnreadableTime as error:
        raise Invalid(str(error), "event_time") from None
    given = checked_choice(precision, PRECISIONS, "event_time_precision") if precision else "unknown"
    if given in ("day", "month", "year"):
        begin, finish = timestamps.date_of(begin, zone), finish and timestamps.date_of(finish, zone)
    if finish is not None and finish < begin:
        raise Invalid("The event ends before it begins.", "event_time_end")
    return begin, finish, found if given == "unknown" else given


def default_origin(viewer: Viewer, holder_id: str, source: str) -> str:
    """`third_party` for somebody else, `artifact` from a source, `observed` by an agent, else `self`."""
    if holder_id != viewer.author:
        return "third_party"
    if source:
        return "artifact"
    return "observed" if viewer.kind == "agent" else "self"


def make_draft(viewer: Viewer, zone: ZoneInfo, text: object, **given: Any) -> Draft:
    """Check what somebody wants remembered; `given` holds the optional fields of POST `/api/memories`.

    Raises `Invalid` with the field that is to blame.
    """
    source = checked_name(given.get("source") or "", "source", MAX_SOURCE)
    holder = checked_name(given.get("holder_id") or viewer.author, "holder_id")
    begin, finish, precision = checked_event(
        given.get("event_time"), given.get("event_time_end"), given.get("event_time_precision"), zone
    )
    valid_from = checked_moment(given.get("valid_from"), "valid_from", zone)
    valid_to = checked_moment(given.get("valid_to"), "valid_to", zone)
    check_validity(valid_from, valid_to)
    origin = given.get("origin") or default_origin(viewer, holder, source)
    return Draft(
        text=checked_text(text),
        holder_id=holder,
        origin="third_party" if holder != viewer.author else checked_choice(origin, ORIGINS, "origin"),
        scenario=checked_name(given.get("scenario") or "", "scenario"),
        tags=checked_tags(given.get("tags") or ()),
        event_time=begin,
        event_time_end=finish,
        event_time_precision=precision,
        valid_from=valid_from,
        valid_to=valid_to,
        retention_until=checked_moment(
            given.get("retention_until"), "retention_until", zone, end_of_day=True
        ),
        visibility=given.get("visibility"),
        source=source,
        modality=checked_choice(given.get("modality") or "text", MODALITIES, "modality"),
        created_at=checked_moment(given.get("created_at"), "created_at", zone),
        metadata=dict(given.get("metadata") or {}),
    )
