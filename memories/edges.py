"""Evidence edges as people and agents make them: this memory of mine supports, contradicts, cites … that one."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q

from memories.browse import checked_limit, get_memory
from memories.drafts import checked_choice
from memories.errors import Invalid, NotFound
from memories.models import RELATIONS, Atom, EvidenceEdge
from memories.remember import changeable
from memories.visibility import Viewer

MADE_BY_VERBS = {"supersedes", "answers"}  # replacing and answering say these; nobody claims them
CLAIMED = tuple(one for one in RELATIONS if one not in MADE_BY_VERBS)
NO_SUCH_EDGE = "There is no such edge that you may read."


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed statement about two memories, both readable; known by its ends and its relation."""

    from_atom_id: str
    to_atom_id: str
    relation: str
    confidence: float


def list_edges(
    viewer: Viewer, *, atom_id: str | None = None, relation: str | None = None, limit: int = 50
) -> list[Edge]:
    """The edges whose both ends the viewer may read, newest first; of one memory, if named. Raises `NotFound`."""
    size = checked_limit(limit)
    readable = Atom.objects.visible_to(viewer).values("atom_id")
    edges = EvidenceEdge.objects.filter(from_atom_id__in=readable, to_atom_id__in=readable)
    if atom_id is not None:
        found = get_memory(viewer, atom_id).atom_id
        edges = edges.filter(Q(from_atom_id=found) | Q(to_atom_id=found))
    if relation is not None:
        edges = edges.filter(relation=checked_choice(relation, RELATIONS, "relation"))
    return _edges(list(edges.order_by("-pk")[:size]))


def _edges(rows: Sequence[EvidenceEdge]) -> list[Edge]:
    return [Edge(one.from_atom_id, one.to_atom_id, one.relation, one.confidence) for one in rows]


def link(
    viewer: Viewer, from_atom_id: str, to_atom_id: str, relation: str, *, confidence: float = 1.0
) -> Edge:
    """Say something about a memory of the viewer's and another she may read; saying it again changes the confidence.

    Raises `Invalid`, `NotFound`, `NotAllowed`.
    """
    checked_choice(relation, CLAIMED, "relation")
    if not 0.0 <= confidence <= 1.0:
        raise Invalid("The confidence is a number from 0 to 1.", "confidence")
    if from_atom_id == to_atom_id:
        raise Invalid("An edge joins two memories.", "to_atom_id")
    with transaction.atomic():
        begin = changeable(viewer, from_atom_id).atom_id
        end = get_memory(viewer, to_atom_id).atom_id
        edge, _made = EvidenceEdge.objects.update_or_create(
            from_atom_id=begin, to_atom_id=end, relation=relation, defaults={"confidence": confidence}
        )
    return _edges([edge])[0]


def unlink(viewer: Viewer, from_atom_id: str, to_atom_id: str, relation: str) -> None:
    """Take back what was said about a memory of the viewer's. Raises `Invalid`, `NotFound`, `NotAllowed`."""
    checked_choice(relation, CLAIMED, "relation")
    with transaction.atomic():
        begin = changeable(viewer, from_atom_id).atom_id
        end = get_memory(viewer, to_atom_id).atom_id
        rows = EvidenceEdge.objects.filter(from_atom_id=begin, to_atom_id=end, relation=relation)
        if not rows.delete()[0]:
            raise NotFound(NO_SUCH_EDGE)
