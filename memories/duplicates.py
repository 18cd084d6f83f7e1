"""Two memories that say the same: one stays, the others are closed and stand in its history."""

from collections.abc import Sequence

from django.db import transaction

from memories import timestamps
from memories.errors import Invalid
from memories.fields import dump_json
from memories.models import Atom, EvidenceEdge
from memories.remember import changeable, next_stamp
from memories.visibility import Viewer


def mark_duplicates(viewer: Viewer, kept_id: str, duplicate_ids: Sequence[str]) -> int:
    """Close the duplicates now, as replaced by the kept one; how many were closed.

    A curator may do it with what she can read. Nobody reads more by it: the kept memory's readers stay as they are,
    and a duplicate shows in its history to its own readers alone. Raises `NotFound`, `NotAllowed`, `Invalid`.
    """
    if kept_id in duplicate_ids:
        raise Invalid("The one that stays cannot be a duplicate of itself.")
    with transaction.atomic():
        kept = changeable(viewer, kept_id, curators=True)
        olds = [changeable(viewer, one, curators=True) for one in dict.fromkeys(duplicate_ids)]
        for old in olds:
            _close(old)
        kept.supersedes_json = dump_json(
            list(dict.fromkeys([*kept.supersedes, *(old.atom_id for old in olds)]))
        )
        kept.updated_at = next_stamp(kept.updated_at)
        kept.save(update_fields=["supersedes_json", "updated_at"])
        for old in olds:
            EvidenceEdge.objects.get_or_create(
                from_atom_id=kept.atom_id, to_atom_id=old.atom_id, relation="supersedes"
            )
    return len(olds)


def _close(atom: Atom) -> None:
    now = max(timestamps.now(), atom.valid_from or "")
    atom.valid_to = min(atom.valid_to, now) if atom.valid_to else now
    atom.updated_at = next_stamp(atom.updated_at)
    atom.save(update_fields=["valid_to", "updated_at"])
