"""A minute to change one's mind after forgetting.

Forgetting is at once and for good: the rows and their bytes leave the store. What can be undone lives
outside it, in the page that the person who forgot is looking at: a signed copy that this server takes back
for a minute and from that person alone. Nothing waits for deletion anywhere, so nothing can be left behind.
"""

from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from django.core import signing
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from memories import source_files, vectors
from memories.embedding import cache
from memories.errors import Conflict, Invalid
from memories.fields import dump_json
from memories.forget import earlier_wordings
from memories.models import Atom, Cartridge, CartridgeAtom, EvidenceEdge, Source
from memories.remember import changeable
from memories.results import Memory, memories_for
from memories.visibility import Viewer

UNDO_SECONDS = 60
GRACE_SECONDS = 15  # the click may come in the last second
COPY_BYTES = 400_000  # beyond this a form would be refused on its way back
FORM_BYTES = 900_000  # what all copies of one page may have together
FILE_BYTES = 200_000  # which base64, twice, and the signature make about as long
SALT = "undo-forget"

COLUMNS = tuple(
    field.attname for field in Atom._meta.concrete_fields if not field.generated and field.attname != "id"
)
SOURCE_COLUMNS = tuple(field.attname for field in Source._meta.concrete_fields)


def copy_of(viewer: Viewer, atom_ids: Sequence[str]) -> str:
    """A signed copy of memories the viewer may change, taken before they are forgotten; "" if it is too big.

    With it goes the file they were drawn from, when it goes with them.

    Raises `NotFound`, `NotAllowed`.
    """
    atoms = [changeable(viewer, atom_id) for atom_id in atom_ids]
    atoms += [older for atom in atoms for older in earlier_wordings(atom)]
    ids = [atom.atom_id for atom in atoms]
    edges = EvidenceEdge.objects.filter(Q(from_atom_id__in=ids) | Q(to_atom_id__in=ids))
    members = CartridgeAtom.objects.filter(atom_id__in=ids)
    newer = {
        edge.from_atom_id for edge in edges if edge.relation == "supersedes" and edge.from_atom_id not in ids
    }
    copy = {
        "by": viewer.holder_id,
        "ids": list(atom_ids),
        "atoms": [[getattr(atom, column) for column in COLUMNS] for atom in atoms],
        "sources": [
            [getattr(source, column) for column in SOURCE_COLUMNS]
            for source in Source.objects.filter(atoms__atom_id__in=ids).distinct()
        ],
        "edges": [
            [edge.from_atom_id, edge.to_atom_id, edge.relation, edge.confidence, edge.metadata_json]
            for edge in edges
        ],
        "members": [[member.cartridge_id, member.atom_id] for member in members],
        "supersedes": {atom.atom_id: atom.supersedes_json for atom in Atom.objects.filter(atom_id__in=newer)},
    }
    try:
        copy["files"] = _files_that_go(ids)
    except Invalid:
        return ""
    signed = signing.dumps(copy, salt=SALT, compress=True)
    return signed if len(signed) <= COPY_BYTES else ""


def _files_that_go(atom_ids: Sequence[str]) -> dict[str, list[str]]:
    """The files no memory will need once these are gone: by sha256 the bytes and the preview, in base64.

    Raises `Invalid` when they are too big for a copy.
    """
    others = Atom.objects.filter(source_ref=OuterRef("pk")).exclude(atom_id__in=atom_ids)
    going = Source.objects.filter(
        Exists(Atom.objects.filter(source_ref=OuterRef("pk"), atom_id__in=atom_ids))
    )
    found: dict[str, list[str]] = {}
    for sha256 in going.filter(~Exists(others)).values_list("sha256", flat=True):
        place = source_files.path_of(sha256)
        parts = [place, place.with_name(place.name + source_files.PREVIEW)]
        if sum(one.stat().st_size for one in parts if one.is_file()) > FILE_BYTES:
            raise Invalid("The file is too big for a copy in a page.")
        found[sha256] = [b64encode(one.read_bytes()).decode() if one.is_file() else "" for one in parts]
    return found


def that_fit(copies: Sequence[str]) -> list[str]:
    """The copies one form can carry back."""
    fit: list[str] = []
    for copy in copies:
        if copy and len(copy) + sum(map(len, fit)) <= FORM_BYTES:
            fit.append(copy)
    return fit


def restore(viewer: Viewer, signed: str) -> list[Memory]:
    """Bring back what `copy_of` copied; the same ids, words, readers and links.

    Raises `Invalid` when the minute is over or the copy is not this viewer's, `Conflict` when it is back.
    """
    copy = _read(viewer, signed)
    atoms = [Atom(**dict(zip(COLUMNS, values, strict=True))) for values in copy["atoms"]]
    embedded = cache.embed_passages([atom.text for atom in atoms], viewer)
    with transaction.atomic():
        if Atom.objects.filter(atom_id__in=[atom.atom_id for atom in atoms]).exists():
            raise Conflict(_("It is already back."))
        _restore_sources(copy["sources"], copy["files"], Counter(atom.source_ref_id for atom in atoms))
        vectors.record_model(cache.engine())
        created = Atom.objects.bulk_create(atoms)
        vectors.write_vectors(
            (atom.pk, vector) for atom, vector in zip(created, embedded.vectors, strict=True)
        )
        cache.keep(embedded.fresh)
        _restore_links(copy)
    found = {atom.atom_id: atom for atom in Atom.objects.visible_to(viewer).filter(atom_id__in=copy["ids"])}
    return memories_for(viewer, [found[atom_id] for atom_id in copy["ids"] if atom_id in found])


def _read(viewer: Viewer, signed: str) -> dict[str, Any]:
    try:
        copy: dict[str, Any] = signing.loads(signed, salt=SALT, max_age=UNDO_SECONDS + GRACE_SECONDS)
    except signing.BadSignature:
        copy = {}
    if copy.get("by") != viewer.holder_id:
        raise Invalid(_("The minute is over; it is gone for good."))
    return copy


def _restore_sources(
    sources: Sequence[Sequence[Any]], files: dict[str, list[str]], back: Counter[str | None]
) -> None:
    """The files and sources that went with their last memory; those that stayed hear how many are `back`."""
    for sha256, (content, preview) in files.items():
        if content and not source_files.path_of(sha256).exists():
            incoming = source_files.receive(BytesIO(b64decode(content)))
            source_files.keep(incoming, sha256, b64decode(preview))
    rows = [Source(**dict(zip(SOURCE_COLUMNS, values, strict=True))) for values in sources]
    stayed = Source.objects.filter(pk__in=[one.pk for one in rows]).values_list("pk", flat=True)
    source_files.note_lost({pk: -back[pk] for pk in stayed})
    Source.objects.bulk_create(rows, ignore_conflicts=True)


def _restore_links(copy: dict[str, Any]) -> None:
    """Edges and memberships whose other end is still there, and the places in `supersedes` lists."""
    ends = {end for edge in copy["edges"] for end in edge[:2]}
    there = set(Atom.objects.filter(atom_id__in=ends).values_list("atom_id", flat=True))
    EvidenceEdge.objects.bulk_create(
        EvidenceEdge(
            from_atom_id=begin,
            to_atom_id=end,
            relation=relation,
            confidence=confidence,
            metadata_json=metadata,
        )
        for begin, end, relation, confidence, metadata in copy["edges"]
        if {begin, end} <= there
    )
    for cartridge_id, atom_id in copy["members"]:
        if Cartridge.objects.filter(pk=cartridge_id).exists():
            CartridgeAtom.objects.get_or_create(cartridge_id=cartridge_id, atom_id=atom_id)
    back = {values[COLUMNS.index("atom_id")] for values in copy["atoms"]}
    for newer in Atom.objects.filter(atom_id__in=copy["supersedes"]):
        before = Atom(supersedes_json=copy["supersedes"][newer.atom_id]).supersedes
        newer.supersedes_json = dump_json([*newer.supersedes, *(one for one in before if one in back)])
        newer.save(update_fields=["supersedes_json"])
