"""What the verbs return: frozen dataclasses that templates, API schemas, MCP and the command line all read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memories.fields import read_json
from memories.models import Atom
from memories.visibility import Viewer


@dataclass(frozen=True, slots=True)
class Memory:
    """An atom as one viewer may see it: times are store text (UTC), `supersedes` holds readable ids only."""

    atom_id: str
    text: str
    holder_id: str
    recorded_by: str
    origin: str
    scenario: str
    tags: tuple[str, ...]
    event_time: str | None
    event_time_end: str | None
    event_time_precision: str
    valid_from: str | None
    valid_to: str | None
    retention_until: str | None
    visibility: dict[str, Any]
    supersedes: tuple[str, ...]
    source: str
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled memory with everything its rank came from.

    `relevance` is calibrated to 0..1 and holds no recency; `signals` are raw numbers, `basis` plain sentences.
    """

    memory: Memory
    score: float
    relevance: float
    signals: dict[str, float]
    basis: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """The hits of one question, best first. `answered` says whether the best of them answers it."""

    query: str
    hits: tuple[Hit, ...] = ()
    answered: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """One page of memories, newest first; `next` is the cursor of the following page."""

    items: tuple[Memory, ...] = ()
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a prune removed, or would remove while `dry_run`."""

    count: int
    atom_ids: tuple[str, ...] = field(default=())
    dry_run: bool = True


def memories_for(viewer: Viewer, atoms: Sequence[Atom]) -> list[Memory]:
    """The atoms as `viewer` may see them, in the given order; one query for all their `supersedes`."""
    named = {older for atom in atoms for older in atom.supersedes}
    readable = (
        set(Atom.objects.visible_to(viewer).filter(atom_id__in=named).values_list("atom_id", flat=True))
        if named
        else set()
    )
    return [_memory(viewer, atom, readable) for atom in atoms]


def _memory(viewer: Viewer, atom: Atom, readable: set[str]) -> Memory:
    return Memory(
        atom_id=atom.atom_id,
        text=atom.text,
        holder_id=atom.holder_id,
        recorded_by=atom.recorded_by,
        origin=atom.origin,
        scenario=atom.scenario,
        tags=tuple(atom.tag_list),
        event_time=atom.event_time,
        event_time_end=atom.event_time_end,
        event_time_precision=atom.event_time_precision,
        valid_from=atom.valid_from,
        valid_to=atom.valid_to,
        retention_until=atom.retention_until,
        visibility=visibility_for(viewer, atom),
        supersedes=tuple(older for older in atom.supersedes if older in readable),
        source=atom.source,
        created_at=atom.ingested_at,
        updated_at=atom.updated_at,
    )


def visibility_for(viewer: Viewer, atom: Atom) -> dict[str, Any]:
    """Whole for who may change it; others learn the scope alone, never who else may read or is kept out."""
    visibility = dict(read_json(atom.visibility_json, dict, {}))
    if viewer.ids & {atom.holder_id, atom.recorded_by}:
        return visibility or {"scope": "household"}
    return {"scope": visibility.get("scope", "household") if visibility else "household"}
