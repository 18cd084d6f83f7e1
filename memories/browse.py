"""Reading memories one by one and page by page, newest first; no ranking."""

import base64
import binascii

from django.db.models import Q
from django.db.models.expressions import RawSQL

from memories.errors import Invalid, NotFound
from memories.fields import JSONListContains
from memories.models import Atom, EvidenceEdge
from memories.remember import NO_SUCH_MEMORY
from memories.results import Memory, Page, memories_for
from memories.text import match_query
from memories.visibility import AtomQuerySet, Viewer

MAX_LIMIT = 200


def checked_limit(limit: int) -> int:
    """A page's or an answer's size. Raises `Invalid`."""
    if not 1 <= limit <= MAX_LIMIT:
        raise Invalid(f"The limit is a number from 1 to {MAX_LIMIT}.", "limit")
    return limit


def get_memory(viewer: Viewer, atom_id: str, *, lapsed: bool = False) -> Memory:
    """One readable memory. Raises `NotFound`, in the same words for a missing and an unreadable id.

    `lapsed` finds what has lapsed too, for who clears it away.
    """
    atom = _readable(viewer, lapsed).filter(atom_id=atom_id).first()
    if atom is None:
        raise NotFound(NO_SUCH_MEMORY)
    return memories_for(viewer, [atom])[0]


def _readable(viewer: Viewer, lapsed: bool) -> AtomQuerySet:
    atoms = Atom.objects.visible_to(viewer)
    return atoms if lapsed else atoms.kept()


def filtered(
    viewer: Viewer,
    *,
    q: str | None = None,
    scenario: str | None = None,
    holder: str | None = None,
    tag: str | None = None,
    current: bool = True,
) -> AtomQuerySet:
    """The viewer's readable atoms under these filters; `q` matches words, unranked."""
    atoms = Atom.objects.visible_to(viewer)
    atoms = atoms.current() if current else atoms.kept()
    if scenario is not None:
        atoms = atoms.filter(scenario=scenario)
    if holder is not None:
        atoms = atoms.filter(holder_id=holder)
    if tag is not None:
        atoms = atoms.filter(JSONListContains("tags", "$", [tag]))
    return atoms.filter(matching(q)) if q and q.strip() else atoms


def matching(text: str) -> Q:
    """Atoms whose indexed words match; nothing when the text holds no word at all."""
    if not (expression := match_query(text)):
        return Q(pk__in=[])
    return Q(pk__in=RawSQL("SELECT rowid FROM atom_fts WHERE atom_fts MATCH %s", [expression]))


def list_memories(
    viewer: Viewer,
    *,
    q: str | None = None,
    scenario: str | None = None,
    holder: str | None = None,
    tag: str | None = None,
    current: bool = True,
    limit: int = 50,
    cursor: str | None = None,
) -> Page:
    """One page of readable memories, newest first. Raises `Invalid` for a limit or a cursor that is none."""
    atoms = filtered(viewer, q=q, scenario=scenario, holder=holder, tag=tag, current=current)
    return page_of(viewer, atoms, limit=limit, cursor=cursor)


def page_of(viewer: Viewer, atoms: AtomQuerySet, *, limit: int, cursor: str | None = None) -> Page:
    """A page of an atoms queryset that started from `visible_to(viewer)`."""
    size = checked_limit(limit)
    if cursor:
        moment, atom_id = _decode(cursor)
        atoms = atoms.filter(Q(ingested_at__lt=moment) | Q(ingested_at=moment, atom_id__lt=atom_id))
    rows = list(atoms.order_by("-ingested_at", "-atom_id")[: size + 1])
    following = _encode(rows[size - 1]) if len(rows) > size else None
    return Page(tuple(memories_for(viewer, rows[:size])), following)


def _encode(atom: Atom) -> str:
    """A cursor names the last row shown, by time and public id: never a row number, which would count hidden ones."""
    return base64.urlsafe_b64encode(f"{atom.ingested_at}~{atom.atom_id}".encode()).decode().rstrip("=")


def _decode(cursor: str) -> tuple[str, str]:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (binascii.Error, ValueError):
        text = ""
    moment, separator, atom_id = text.partition("~")
    if not separator:
        raise Invalid("This cursor is not one of ours; start again without it.", "cursor")
    return moment, atom_id


def history(viewer: Viewer, atom_id: str, *, lapsed: bool = False) -> list[Memory]:
    """A memory with all that it replaced and that replaced it, oldest first; readable ones only.

    Raises `NotFound`.
    """
    start, readable = get_memory(viewer, atom_id, lapsed=lapsed), _readable(viewer, lapsed)
    seen = {start.atom_id}
    frontier = set(seen)
    while frontier:
        edges = EvidenceEdge.objects.filter(
            Q(from_atom_id__in=frontier) | Q(to_atom_id__in=frontier), relation="supersedes"
        ).values_list("from_atom_id", "to_atom_id")
        linked = {one for pair in edges for one in pair} - seen
        frontier = set(readable.filter(atom_id__in=linked).values_list("atom_id", flat=True))
        seen |= frontier
    atoms = sorted(
        readable.filter(atom_id__in=seen),
        key=lambda atom: (
            atom.valid_to is None,
            atom.valid_to or "",
            atom.valid_from or atom.ingested_at,
            atom.atom_id,
        ),
    )
    return memories_for(viewer, atoms)
