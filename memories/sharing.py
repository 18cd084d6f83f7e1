"""Who can read what of mine: counted, changed many at once with a preview, and explained.

Every verdict is the one rule's own: whether somebody reads an atom is always asked of `visible_to`, and what a change
would do is found by making it inside a transaction that is rolled back. Other people are given as viewers by the
layer that knows them. What one sees with another's eyes is what both may read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from memories.browse import filtered, page_of
from memories.facets import counted
from memories.fields import read_json
from memories.models import Atom
from memories.recall import recall
from memories.remember import changeable, next_stamp
from memories.results import Memory, Page, Recall, memories_for
from memories.visibility import (
    BUILT_IN_GROUPS,
    AtomQuerySet,
    Viewer,
    dump_visibility,
    narrowest,
    parse_visibility,
)

SOMEBODY = "\x1fsomebody"  # no holder has this id: names hold no control characters
MOST = 500  # memories changed in one go


@dataclass(frozen=True, slots=True)
class Row:
    """A scenario of the viewer's own memories: how many there are, and how many each audience can read."""

    scenario: str
    total: int
    readable: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A memory as it is now, and the holder ids that would begin (`gains`) and cease (`loses`) to read it."""

    memory: Memory
    gains: tuple[str, ...]
    loses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a change would do: the memories it touches for somebody, and how many stay as they are."""

    changes: tuple[Change, ...]
    unchanged: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why somebody can, or cannot, read one memory.

    `reason` is hers, wrote, named, group, household (can); denied, private, not_named, not_household, closed (cannot);
    `groups` are those that let her. `hinted`: she may be told to ask its holder, though she cannot read it.
    """

    holder_id: str
    reads: bool
    reason: str
    groups: tuple[str, ...] = ()
    hinted: bool = False


def a_member_of(kind: str, group: str = "") -> Viewer:
    """Nobody in particular: what any holder of that kind (and household's own group) could read."""
    return Viewer(SOMEBODY, kind, frozenset({BUILT_IN_GROUPS[kind], group} - {""}))


def _mine(viewer: Viewer) -> AtomQuerySet:
    """What the viewer may open and close; not questions, which have parties."""
    return Atom.objects.changeable_by(viewer).ever_true()


def matrix(viewer: Viewer, audiences: Sequence[Viewer]) -> list[Row]:
    """The viewer's own memories by scenario ('' first), each with how many of them every audience can read."""
    totals = dict(counted(_mine(viewer), "scenario"))
    counts = [dict(counted(_mine(viewer).visible_to(audience), "scenario")) for audience in audiences]
    names = sorted(totals, key=lambda name: (name != "", -totals[name], name))
    return [Row(name, totals[name], tuple(count.get(name, 0) for count in counts)) for name in names]


def mine_in(viewer: Viewer, scenario: str | None = None) -> tuple[list[Memory], int]:
    """`(memories, total)`: the newest `MOST` of the viewer's own, of one scenario or of all."""
    atoms = _mine(viewer) if scenario is None else _mine(viewer).filter(scenario=scenario)
    newest = list(atoms.order_by("-ingested_at", "-atom_id")[:MOST])
    return memories_for(viewer, newest), atoms.count()


def preview(
    viewer: Viewer, atom_ids: Sequence[str], visibility: Mapping[str, Any], others: Sequence[Viewer]
) -> Preview:
    """Which of these memories would change for whom, were they given this visibility; changes nothing.

    Ids that are not the viewer's to change are left out, alike whether they exist. Raises `Invalid`.
    """
    wanted = parse_visibility(visibility)
    with transaction.atomic():
        atoms = _chosen(viewer, atom_ids)
        pks = [atom.pk for atom in atoms]
        before = _read_by(others, pks)
        here = transaction.savepoint()
        _write(atoms, wanted)
        after = _read_by(others, pks)
        transaction.savepoint_rollback(here)
    memories = {one.atom_id: one for one in memories_for(viewer, _chosen(viewer, atom_ids))}
    changes = [
        Change(memories[atom.atom_id], _since(before, after, atom.pk), _since(after, before, atom.pk))
        for atom in atoms
    ]
    real = tuple(one for one in changes if one.gains or one.loses)
    return Preview(real, len(changes) - len(real))


def share(viewer: Viewer, atom_ids: Sequence[str], visibility: Mapping[str, Any]) -> int:
    """Give these memories this visibility, in one transaction; how many were the viewer's to change.

    Who is kept out by name stays kept out, and what nobody is told of stays so. Raises `Invalid`.
    """
    wanted = parse_visibility(visibility)
    with transaction.atomic():
        atoms = _chosen(viewer, atom_ids)
        _write(atoms, wanted)
    return len(atoms)


def _chosen(viewer: Viewer, atom_ids: Sequence[str]) -> list[Atom]:
    ids = list(dict.fromkeys(atom_ids))[:MOST]
    return list(_mine(viewer).filter(atom_id__in=ids).order_by("-ingested_at", "-atom_id"))


def _write(atoms: Sequence[Atom], wanted: Mapping[str, Any]) -> None:
    for atom in atoms:
        before = narrowest([atom.visibility_json])
        kept = {
            "deny": sorted({*before["deny"], *wanted["deny"]}),
            "discoverable": before["discoverable"] and wanted["discoverable"],
        }
        atom.visibility_json = dump_visibility({**wanted, **kept})
        atom.updated_at = next_stamp(atom.updated_at)
    Atom.objects.bulk_update(atoms, ["visibility_json", "updated_at"], batch_size=200)


def _read_by(others: Sequence[Viewer], pks: Sequence[int]) -> dict[str, set[int]]:
    return {
        other.holder_id: set(Atom.objects.visible_to(other).filter(pk__in=pks).values_list("pk", flat=True))
        for other in others
    }


def _since(before: Mapping[str, set[int]], after: Mapping[str, set[int]], pk: int) -> tuple[str, ...]:
    """Who reads it after and did not before."""
    return tuple(holder for holder in after if pk in after[holder] and pk not in before[holder])


def seen_by(
    viewer: Viewer, other: Viewer, *, q: str | None = None, limit: int = 20, cursor: str | None = None
) -> Page:
    """A page of what `other` can read of what the viewer may read too. Raises `Invalid`."""
    atoms = filtered(viewer, q=q, current=False).visible_to(other).ever_true()
    return page_of(viewer, atoms, limit=limit, cursor=cursor)


def counts_seen_by(viewer: Viewer, other: Viewer) -> tuple[int, int]:
    """`(seen, all)` of the viewer's own memories."""
    return _mine(viewer).visible_to(other).count(), _mine(viewer).count()


def recall_as(viewer: Viewer, other: Viewer, question: str, *, limit: int = 10) -> Recall:
    """What `other` would find by asking, among what the viewer may read too. Raises `Invalid`."""
    both = Viewer(other.holder_id, other.kind, other.groups, acting_for=viewer)
    return recall(both, question, limit=limit, everywhere=True)


def explain(viewer: Viewer, atom_id: str, others: Sequence[Viewer]) -> list[Explanation]:
    """Why each of the others can, or cannot, read a memory that the viewer may change.

    Raises `NotFound`, `NotAllowed`.
    """
    atom = changeable(viewer, atom_id)
    return [_explain(atom, other) for other in others]


def _explain(atom: Atom, other: Viewer) -> Explanation:
    visibility = dict(read_json(atom.visibility_json, dict, {}))
    if Atom.objects.visible_to(other).filter(pk=atom.pk).exists():
        let_in = tuple(sorted(other.groups & _names(visibility, "groups")))
        return Explanation(other.holder_id, True, _why(atom, other, visibility, let_in), let_in)
    hinted = Atom.objects.hinting_to(other).current().filter(pk=atom.pk).exists() and atom.holder_id != ""
    return Explanation(other.holder_id, False, _why_not(atom, other, visibility), hinted=hinted)


def _names(visibility: Mapping[str, Any], key: str) -> set[str]:
    listed = visibility.get(key)
    return {one for one in listed if isinstance(one, str)} if isinstance(listed, list) else set()


def _why(atom: Atom, other: Viewer, visibility: Mapping[str, Any], let_in: Sequence[str]) -> str:
    if atom.holder_id == other.holder_id:
        return "hers"
    if atom.audience in {"household", "household_except"} and other.in_household:
        return "household"
    if atom.audience == "listed" and other.holder_id in _names(visibility, "holders"):
        return "named"
    return "group" if atom.audience == "listed" and let_in else "wrote"


def _why_not(atom: Atom, other: Viewer, visibility: Mapping[str, Any]) -> str:
    if other.holder_id in _names(visibility, "deny"):
        return "denied"
    return {
        "private": "private", "listed": "not_named", "household": "not_household", "household_except": "not_household",
    }.get(atom.audience, "closed")  # fmt: skip
