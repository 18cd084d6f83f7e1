"""Situations: what is free text on the atom, curated. Every count and name starts from what the viewer may read.

Renaming and merging touch the memories the viewer may change, for a curator all she may read; those of others stay
where they are, unseen ones unmentioned.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from memories.drafts import checked_name
from memories.errors import Invalid, NotAllowed, NotFound
from memories.facets import counted, scenarios_of
from memories.fields import read_json
from memories.models import Atom, Scenario
from memories.remember import next_stamp
from memories.results import Memory, memories_for
from memories.visibility import AtomQuerySet, Viewer, dump_visibility, parse_visibility

NO_SUCH_SCENARIO = "There is no such situation among what you may read."
MAX_DESCRIPTION = 2_000
MAX_MERGED = 50
PREVIEWED = 200
UNSET: Any = object()


@dataclass(frozen=True, slots=True)
class ScenarioCard:
    """A situation as one viewer sees it: `memories` counts what she may read, `mine` what of it she may change."""

    name: str
    description: str = ""
    default_visibility: dict[str, Any] | None = None
    memories: int = 0
    mine: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """What a rename or merge moved, or would move while `dry_run`; `staying` counts readable ones of others."""

    into: str
    moving: int
    staying: int
    examples: tuple[Memory, ...] = ()
    dry_run: bool = True


def list_scenarios(viewer: Viewer) -> list[ScenarioCard]:
    """The situations of readable memories, most used first; for a curator also those that are only described."""
    readable = dict(scenarios_of(viewer))
    mine = dict(counted(_changeable(viewer).exclude(scenario=""), "scenario"))
    rows = Scenario.objects.all() if viewer.is_curator else Scenario.objects.filter(name__in=readable)
    described = {row.name: row for row in rows}
    names = [*readable, *sorted(name for name in described if name not in readable)]
    return [_card(name, described.get(name), readable.get(name, 0), mine.get(name, 0)) for name in names]


def _card(name: str, row: Scenario | None, memories: int, mine: int) -> ScenarioCard:
    if row is None:
        return ScenarioCard(name, memories=memories, mine=mine)
    default = read_json(row.default_visibility_json, dict, None)
    return ScenarioCard(name, row.description, default, memories, mine)


def describe(
    viewer: Viewer, name: str, *, description: str | None = None, default_visibility: Any = UNSET
) -> ScenarioCard:
    """A curator says what a situation is for, and who reads what is written down in it when nobody says.

    Every curator sees what is said, so nobody else says it: it could tell of memories they cannot read.
    `default_visibility` None takes the default away. Raises `Invalid`, `NotAllowed`.
    """
    known = checked_name(name, "scenario")
    if not known:
        raise Invalid("A situation needs a name.", "scenario")
    if not viewer.is_curator:
        raise NotAllowed("Only a curator may say what a situation is for, and who reads it.")
    changes: dict[str, Any] = {}
    if description is not None:
        changes["description"] = _checked_description(description)
    if default_visibility is not UNSET:
        changes["default_visibility_json"] = _dump_default(default_visibility)
    with transaction.atomic():
        Scenario.objects.update_or_create(name=known, defaults=changes)
    row = Scenario.objects.get(name=known)
    atoms = Atom.objects.visible_to(viewer).filter(scenario=known)
    return _card(known, row, atoms.count(), _changeable(viewer).filter(scenario=known).count())


def _dump_default(visibility: Any) -> str | None:
    return None if visibility in (None, "") else dump_visibility(parse_visibility(visibility))


def _checked_description(text: str) -> str:
    said = text.strip()
    if len(said) > MAX_DESCRIPTION or "\x00" in said:
        raise Invalid(f"A description may have at most {MAX_DESCRIPTION} characters.", "description")
    return said


def _changeable(viewer: Viewer) -> AtomQuerySet:
    """What a rename may touch: one's own, and for a curator all that she may read."""
    return Atom.objects.visible_to(viewer) if viewer.is_curator else Atom.objects.changeable_by(viewer)


def merge(viewer: Viewer, names: Sequence[str], into: str, *, dry_run: bool = True) -> Move:
    """Put what is in these situations into one; a rename is a merge of one. A dry run until told otherwise.

    Raises `Invalid`, `NotFound` for a situation the viewer reads nothing in.
    """
    target = checked_name(into, "into")
    sources = sorted({checked_name(one, "names") for one in names} - {target, ""})
    if not target or not sources or len(sources) > MAX_MERGED:
        raise Invalid(f"Name 1 to {MAX_MERGED} situations and another one to put them into.", "names")
    readable = Atom.objects.visible_to(viewer).filter(scenario__in=sources)
    _require_known(viewer, sources, readable)
    moving = _changeable(viewer).filter(scenario__in=sources).order_by("-ingested_at", "-atom_id")
    count, total = moving.count(), readable.count()
    examples = tuple(memories_for(viewer, list(moving[:PREVIEWED])))
    if not dry_run:
        count = _move(viewer, sources, target)
    return Move(target, count, total - count, examples, dry_run)


def _move(viewer: Viewer, sources: Sequence[str], target: str) -> int:
    """Move the memories and, for a curator, what is said about their situations; how many moved."""
    with transaction.atomic():
        is_new = not Atom.objects.visible_to(viewer).filter(scenario=target).exists()
        moving = list(_changeable(viewer).filter(scenario__in=sources).only("pk", "scenario", "updated_at"))
        for atom in moving:
            atom.scenario, atom.updated_at = target, next_stamp(atom.updated_at)
        Atom.objects.bulk_update(moving, ["scenario", "updated_at"], batch_size=200)
        if viewer.is_curator:
            _merge_rows(sources, target, is_rename=is_new and len(sources) == 1)
    return len(moving)


def _require_known(viewer: Viewer, sources: Sequence[str], readable: AtomQuerySet) -> None:
    known = set(readable.order_by().values_list("scenario", flat=True).distinct())
    if viewer.is_curator:
        known |= set(Scenario.objects.filter(name__in=sources).values_list("name", flat=True))
    if set(sources) - known:
        raise NotFound(NO_SUCH_SCENARIO)


def _merge_rows(sources: Sequence[str], target: str, *, is_rename: bool) -> None:
    """Carry descriptions over; a default only with a rename, since it could widen what is written elsewhere.

    What has a default keeps it under the old name too, until a curator removes it: memories of others that she
    cannot read may still be there, and what they add must not fall back to a wider custom.
    """
    rows = list(Scenario.objects.filter(name__in=sources).order_by("name"))
    if not rows:
        return
    kept, made = Scenario.objects.get_or_create(name=target)
    kept.description = kept.description or next((row.description for row in rows if row.description), "")
    if made and is_rename:
        kept.default_visibility_json = rows[0].default_visibility_json
    kept.save()
    Scenario.objects.filter(name__in=sources, default_visibility_json__isnull=True).delete()


def remove(viewer: Viewer, name: str) -> None:
    """A curator takes away what is said about a situation; its memories stay. Raises `NotAllowed`, `NotFound`."""
    if not viewer.is_curator:
        raise NotAllowed("Only a curator may take away what is said about a situation.")
    if not Scenario.objects.filter(name=name).delete()[0]:
        raise NotFound(NO_SUCH_SCENARIO)
