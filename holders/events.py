"""Events: a question for you, an answer for you, a memory of yours about to lapse.

A table, so that whoever writes (a page, the API, a command, another process) is heard by whoever listens. Rows hold
ids alone; a memory that the listener may not read any more is left out when she asks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Max, Q

from holders.models import EVENT_KINDS, Event
from memories import timestamps
from memories.browse import checked_limit
from memories.errors import Invalid
from memories.models import Atom
from memories.visibility import Viewer

AHEAD = timedelta(days=7)  # how early a lapsing memory is announced
KEPT = timedelta(days=30)  # how long an event can still be fetched


@dataclass(frozen=True, slots=True)
class EventLine:
    """An event as its listener gets it."""

    id: int
    kind: str
    subject: str
    atom_id: str
    due: str
    created_at: str


def emit(kind: str, holder_id: str, subject: str, *, atom_id: str = "", due: str = "") -> None:
    """Tell a holder; the same thing is told once. Call it inside the transaction that makes it true."""
    if kind not in EVENT_KINDS:
        raise ValueError(f"unknown kind of event: {kind}")
    _tell([Event(kind=kind, holder_id=holder_id, subject=subject, atom_id=atom_id, due=due)])


def _tell(events: Iterable[Event]) -> None:
    Event.objects.bulk_create([one for one in events if one.holder_id], ignore_conflicts=True)


def latest() -> int:
    """The id of the newest event, 0 when there is none."""
    return Event.objects.aggregate(newest=Max("pk"))["newest"] or 0


def checked_kinds(kinds: Sequence[str]) -> list[str]:
    """Kinds of events, each known; empty means all. Raises `Invalid`."""
    if unknown := sorted(set(kinds) - set(EVENT_KINDS)):
        raise Invalid(f"There is no event “{unknown[0][:40]}”; there are {', '.join(EVENT_KINDS)}.", "kinds")
    return sorted(set(kinds))


def events_for(
    viewer: Viewer, *, after: int = 0, kinds: Sequence[str] = (), limit: int = 100
) -> tuple[list[EventLine], int]:
    """`(events, cursor)`: what this viewer is told after the event `after`, oldest first, and where to go on.

    Nobody else's events, and not those of a person an agent acts for. Raises `Invalid`.
    """
    rows = list(
        Event.objects.filter(
            holder_id=viewer.holder_id, pk__gt=after, kind__in=checked_kinds(kinds) or EVENT_KINDS
        ).order_by("pk")[: checked_limit(limit)]
    )
    named = {row.atom_id for row in rows if row.atom_id}
    readable = set(
        Atom.objects.visible_to(viewer).filter(atom_id__in=named).values_list("atom_id", flat=True)
    )
    told = [row for row in rows if not row.atom_id or row.atom_id in readable]
    lines = [EventLine(row.pk, row.kind, row.subject, row.atom_id, row.due, row.created_at) for row in told]
    return lines, rows[-1].pk if rows else after


def note_expiring(moment: datetime | None = None) -> None:
    """Announce to their holders the memories that lapse, or stop being true, within `AHEAD`."""
    begin = moment or datetime.now(UTC)
    now, soon = timestamps.to_text(begin), timestamps.to_text(begin + AHEAD)
    current = Atom.objects.current(now).exclude(holder_id="")
    lapsing: set[tuple[str, str, str]] = set()
    for column in ("retention_until", "valid_to"):
        within = Q(**{f"{column}__gte": now, f"{column}__lte": soon})
        lapsing |= set(current.filter(within).values_list("holder_id", "atom_id", column))
    known = set(Event.objects.filter(kind="expiring").values_list("holder_id", "atom_id", "due"))
    _tell(
        Event(kind="expiring", holder_id=holder, subject=atom, atom_id=atom, due=due)
        for holder, atom, due in sorted(lapsing - known)
    )


def drop_old(moment: datetime | None = None) -> None:
    """Forget events older than `KEPT`; one about a memory that is still to lapse stays, lest it be repeated."""
    begin = moment or datetime.now(UTC)
    now = timestamps.to_text(begin)
    Event.objects.filter(created_at__lt=timestamps.to_text(begin - KEPT)).exclude(due__gte=now).delete()
