"""What speaks for and against a memory: the evidence edges whose other end the viewer may read too."""

from dataclasses import dataclass

from django.db.models import Q

from memories.browse import get_memory
from memories.models import Atom, EvidenceEdge
from memories.results import Memory, memories_for
from memories.visibility import Viewer


@dataclass(frozen=True, slots=True)
class Evidence:
    """One edge seen from one memory: `relation` holds from it to `other`, or back when `inward`."""

    relation: str
    inward: bool
    other: Memory


def evidence(viewer: Viewer, atom_id: str, *, lapsed: bool = False) -> list[Evidence]:
    """The readable edges of a memory except `supersedes`, which is its history. `lapsed` as in `get_memory`.

    Raises `NotFound`.
    """
    found = get_memory(viewer, atom_id, lapsed=lapsed)
    edges = list(
        EvidenceEdge.objects.filter(Q(from_atom_id=found.atom_id) | Q(to_atom_id=found.atom_id))
        .exclude(relation="supersedes")
        .order_by("relation", "pk")
    )
    ends = {end for edge in edges for end in (edge.from_atom_id, edge.to_atom_id)} - {found.atom_id}
    atoms = list(Atom.objects.visible_to(viewer).kept().filter(atom_id__in=ends))
    others = {memory.atom_id: memory for memory in memories_for(viewer, atoms)}
    result = []
    for edge in edges:
        inward = edge.to_atom_id == found.atom_id
        other = others.get(edge.from_atom_id if inward else edge.to_atom_id)
        if other is not None:
            result.append(Evidence(edge.relation, inward, other))
    return result
