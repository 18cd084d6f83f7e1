"""Removing memories for good: rows, index entries, vectors, edges, cache, and the bytes they lay in."""

from collections import Counter
from collections.abc import Sequence

from django.db import transaction

from memories import audit, source_files
from memories.drafts import checked_moment
from memories.embedding import cache
from memories.errors import Invalid
from memories.fields import dump_json
from memories.models import Atom, EvidenceEdge, IdempotentReply, Source
from memories.remember import changeable
from memories.results import Pruned
from memories.store import checkpoint, zone
from memories.visibility import AtomQuerySet, Viewer

BATCH = 500


def forget(viewer: Viewer, atom_id: str) -> None:
    """Remove one memory with its earlier wordings. Raises `NotFound`, `NotAllowed`."""
    with transaction.atomic():
        atom = changeable(viewer, atom_id)
        erase([atom, *earlier_wordings(atom)])
    checkpoint()


def earlier_wordings(atom: Atom) -> list[Atom]:
    """The closed copies that edits of this atom's text left behind (not the memories it replaced)."""
    older = EvidenceEdge.objects.filter(from_atom_id=atom.atom_id, relation="supersedes").values("to_atom_id")
    candidates = Atom.objects.filter(atom_id__in=older, holder_id=atom.holder_id)
    return [one for one in candidates if one.metadata.get("version_of") == atom.atom_id]


def versions_of(atoms: Sequence[Atom]) -> list[Atom]:
    """`earlier_wordings` of many atoms, which are not among them; two queries."""
    ids = {atom.atom_id: atom.holder_id for atom in atoms}
    older = EvidenceEdge.objects.filter(from_atom_id__in=ids, relation="supersedes").values("to_atom_id")
    candidates = Atom.objects.filter(atom_id__in=older).exclude(atom_id__in=ids)
    return [one for one in candidates if ids.get(str(one.metadata.get("version_of"))) == one.holder_id]


def erase(atoms: Sequence[Atom]) -> None:
    """Delete atoms and everything derived from them; inside the caller's transaction.

    Triggers take the FTS row, the vector, edges and cartridge membership; `secure_delete` overwrites the bytes.
    """
    ids = [atom.atom_id for atom in atoms]
    _unlink(ids)
    cache.drop([atom.text for atom in atoms])
    IdempotentReply.objects.filter(atom_id__in=ids).delete()
    sources = Counter(atom.source_ref_id for atom in atoms if atom.source_ref_id)
    Atom.objects.filter(atom_id__in=ids)._raw_delete("default")
    unneeded = Source.objects.filter(pk__in=sources, atoms__isnull=True)
    files = list(unneeded.values_list("sha256", flat=True))
    unneeded.delete()
    source_files.note_lost(sources)
    transaction.on_commit(lambda: source_files.remove_unused(files))


def _unlink(ids: Sequence[str]) -> None:
    """Take the ids out of the `supersedes` lists of what replaced them."""
    newer = EvidenceEdge.objects.filter(to_atom_id__in=ids, relation="supersedes").values("from_atom_id")
    gone = set(ids)
    for atom in Atom.objects.filter(atom_id__in=newer).exclude(atom_id__in=ids):
        atom.supersedes_json = dump_json([one for one in atom.supersedes if one not in gone])
        atom.save(update_fields=["supersedes_json"])


def prunable(
    viewer: Viewer, *, scenario: str | None = None, before: str | None = None, lapsed: bool = False
) -> AtomQuerySet:
    """The viewer's own atoms that a prune with these filters would remove. Raises `Invalid` without a filter."""
    if scenario is None and before is None and not lapsed:
        raise Invalid("Say what to prune: a scenario, what was written before a date, or what has lapsed.")
    atoms = Atom.objects.visible_to(viewer).filter(holder_id=viewer.author)
    if scenario is not None:
        atoms = atoms.filter(scenario=scenario)
    if before is not None:
        atoms = atoms.filter(ingested_at__lt=checked_moment(before, "before", zone()))
    return atoms.lapsed() if lapsed else atoms


def prune(
    viewer: Viewer,
    *,
    scenario: str | None = None,
    before: str | None = None,
    lapsed: bool = False,
    dry_run: bool = True,
) -> Pruned:
    """Remove the viewer's own atoms by scenario, age or lapsed retention; a dry run until told otherwise."""
    with transaction.atomic():
        atoms = list(prunable(viewer, scenario=scenario, before=before, lapsed=lapsed).order_by("pk"))
        if not dry_run:
            for start in range(0, len(atoms), BATCH):
                part = atoms[start : start + BATCH]
                erase([*part, *versions_of(part)])
            if atoms:
                audit.record("prune", viewer.author, len(atoms), by=viewer.holder_id)
    if not dry_run:
        checkpoint()
    return Pruned(len(atoms), tuple(atom.atom_id for atom in atoms), dry_run)
