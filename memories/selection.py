"""What a page of memories shows: filters by words, scenario, holder, tag, time, state."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q
from django.db.models.functions import Coalesce

from memories import timestamps
from memories.browse import filtered, page_of
from memories.results import Page
from memories.visibility import AtomQuerySet, Viewer

STATES = ("current", "past", "ending", "all")
ENDING_DAYS = 30


@dataclass(frozen=True, slots=True)
class Selection:
    """Filters of a page; `since` and `until` are store text: when it happened, else when it was written."""

    q: str = ""
    scenario: str | None = None
    holder: str | None = None
    tag: str | None = None
    state: str = "current"
    since: str | None = None
    until: str | None = None


def selected(viewer: Viewer, selection: Selection) -> AtomQuerySet:
    """The viewer's readable atoms under these filters, unordered."""
    atoms = filtered(
        viewer,
        q=selection.q or None,
        scenario=selection.scenario or None,
        holder=selection.holder or None,
        tag=selection.tag or None,
        current=selection.state in {"current", "ending"},
    )
    atoms = _in_state(atoms, selection.state).ever_true()
    if selection.since or selection.until:
        atoms = atoms.alias(happened=Coalesce("event_time", "ingested_at"))
    if selection.since:
        atoms = atoms.filter(happened__gte=selection.since)
    return atoms.filter(happened__lte=selection.until) if selection.until else atoms


def _in_state(atoms: AtomQuerySet, state: str) -> AtomQuerySet:
    now = timestamps.now()
    if state == "past":
        return atoms.filter(valid_to__lte=now)
    if state == "ending":
        soon = timestamps.to_text(timestamps.from_text(now) + timedelta(days=ENDING_DAYS))
        return atoms.filter(Q(valid_to__lte=soon) | Q(retention_until__lte=soon))
    return atoms


def selected_page(viewer: Viewer, selection: Selection, *, limit: int, cursor: str | None = None) -> Page:
    """One page of the selection, newest first. Raises `Invalid` for a limit or cursor that is none."""
    return page_of(viewer, selected(viewer, selection), limit=limit, cursor=cursor)
