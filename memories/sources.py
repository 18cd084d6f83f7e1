"""Sources: files that memories come from. Kept once, read into atoms that point back, served to few.

A source may be opened by its uploader, and by who may read *every* memory of it: a file says all of them at once. One
that has lost a memory (forgotten, lapsed, moved on to the next version) is its uploader's alone from then on, since
nobody can tell any more who else might read what it says there. Uploading bytes that somebody else has uploaded before
replies as for new ones: the file is kept once, its rows are each uploader's own.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from django.db import transaction
from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, TextField
from django.db.models.expressions import RawSQL

from memories import source_files, timestamps
from memories.drafts import checked_name, make_draft
from memories.embedding import cache
from memories.errors import Invalid, NotAllowed, NotFound
from memories.extract import apart, images, sniff
from memories.extract.text import Piece
from memories.fields import dump_json, read_json
from memories.forget import erase
from memories.models import Atom, EvidenceEdge, Source
from memories.remember import Prepared, edit, next_stamp, store, visibility_of
from memories.results import Memory, memories_for
from memories.store import checkpoint, zone
from memories.transfer import columns
from memories.visibility import AtomQuerySet, Viewer, narrowest

NO_SUCH_SOURCE = "There is no source with this id that you may open."
MAX_NAME = 200
UPLOADER_SQL = """
CASE WHEN json_valid(sources.metadata_json) THEN json_extract(sources.metadata_json, '$.uploaded_by') END
"""

LOST_SQL = """
CASE WHEN json_valid(sources.metadata_json) THEN coalesce(json_extract(sources.metadata_json, '$.lost'), 0) ELSE 1 END
"""
# Of sources as `openable` annotates them: no memory that was drawn from the file has left it.
IS_WHOLE = Q(lost=0)


@dataclass(frozen=True, slots=True)
class SourceCard:
    """A source as one viewer may see it; `memories` counts those that are current."""

    source_id: str
    name: str
    kind: str
    mime: str
    sha256: str
    size_bytes: int
    created_at: str
    uploaded_by: str
    memories: int
    has_preview: bool
    proposed_event_time: str | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Added:
    """What an upload came to: the source, and how many memories are new, unchanged, replaced or closed by it."""

    source: SourceCard
    new: int
    unchanged: int
    superseded: int
    closed: int


@dataclass(frozen=True, slots=True)
class _Upload:
    """A checked file on its way in."""

    name: str
    path: Path
    kind: sniff.Kind
    sha256: str
    pieces: list[Piece]
    preview: bytes = b""
    taken: str | None = None
    notes: tuple[str, ...] = ()


def openable(viewer: Viewer | None) -> QuerySet[Source]:
    """The sources whose file `viewer` may open; who acts for somebody opens what both may."""
    if viewer is None or not viewer.holder_id:
        return Source.objects.none()
    sources = _with_uploader().filter(_may_open(viewer))
    return sources.filter(_may_open(viewer.acting_for)) if viewer.acting_for else sources


def _with_uploader() -> QuerySet[Any]:
    stated = RawSQL(UPLOADER_SQL, [], output_field=TextField())  # noqa: S611  (a constant)
    lost = RawSQL(LOST_SQL, [], output_field=IntegerField())  # noqa: S611  (a constant)
    return Source.objects.annotate(uploader=stated, lost=lost)


def _may_open(viewer: Viewer) -> Q:
    """The rule for one holder."""
    whole = replace(viewer, acting_for=None)
    atoms = Atom.objects.filter(source_ref=OuterRef("pk"))
    unreadable = atoms.exclude(pk__in=Atom.objects.visible_to(whole).kept().values("pk"))
    over = Q(Exists(atoms.lapsed())) & ~Q(Exists(atoms.kept()))  # it goes with its last memory
    return (Q(uploader=viewer.holder_id) & ~over) | (IS_WHOLE & Q(Exists(atoms)) & ~Q(Exists(unreadable)))


def get_source(viewer: Viewer, source_id: str) -> SourceCard:
    """One source. Raises `NotFound`, alike for a missing and a closed one."""
    return _card(viewer, _openable(viewer, source_id))


def list_sources(viewer: Viewer) -> list[SourceCard]:
    """What the viewer may open, newest first; earlier versions of a file are left out."""
    found = list(openable(viewer).order_by("-created_at", "pk"))
    replaced = {one for row in found if (one := _metadata(row).get("replaces"))}
    atoms = Atom.objects.visible_to(viewer).current().filter(source_ref__isnull=False).order_by()
    counts = dict(atoms.values_list("source_ref").annotate(Count("pk")))
    return [_card(viewer, one, counts.get(one.pk, 0)) for one in found if one.pk not in replaced]


def open_file(viewer: Viewer, source_id: str, *, preview: bool = False) -> tuple[SourceCard, Path]:
    """A source and where its file (or its small picture) lies. Raises `NotFound`."""
    source = _openable(viewer, source_id)
    place = source_files.path_of(source.sha256)
    if preview:
        place = place.with_name(place.name + source_files.PREVIEW)
    if not place.is_file():
        raise NotFound(NO_SUCH_SOURCE)
    return _card(viewer, source), place


def memories_of(viewer: Viewer, source_id: str, *, start: int = 0, limit: int = 50) -> list[Memory]:
    """A stretch of a source's current memories that the viewer may read, in their order. Raises `NotFound`."""
    source = _openable(viewer, source_id)
    atoms = Atom.objects.visible_to(viewer).current().filter(source_ref=source).order_by("pk")
    return memories_for(viewer, list(atoms[start : start + limit]))


def file_behind(viewer: Viewer, atom_id: str) -> str:
    """The id of the source a readable memory was drawn from; "" when it was drawn from none."""
    found = Atom.objects.visible_to(viewer).filter(atom_id=atom_id).values_list("source_ref", flat=True)
    return found.first() or ""


def accept_time(viewer: Viewer, source_id: str) -> int:
    """Say of the memories of a picture that they are of when the camera says it was taken; how many were undated.

    Raises `NotFound`, `NotAllowed` for who did not upload it, and `Invalid` when the camera said nothing.
    """
    source = _openable(viewer, source_id)
    if _metadata(source).get("uploaded_by") not in viewer.ids:
        raise NotAllowed("Only who uploaded a source may say when it was taken.")
    if not (taken := _metadata(source).get("taken")):
        raise Invalid("Nobody knows when this was taken.")
    undated = list(_undated(viewer, source).values_list("atom_id", flat=True))
    for atom_id in undated:
        edit(viewer, atom_id, event_time=taken)
    return len(undated)


def is_undated(viewer: Viewer, source_id: str) -> bool:
    """Whether `accept_time` would date anything. Raises `NotFound`."""
    return _undated(viewer, _openable(viewer, source_id)).exists()


def _undated(viewer: Viewer, source: Source) -> AtomQuerySet:
    return Atom.objects.changeable_by(viewer).current().filter(source_ref=source, event_time=None)


def _openable(viewer: Viewer, source_id: str) -> Source:
    source = openable(viewer).filter(pk=source_id).first()
    if source is None:
        raise NotFound(NO_SUCH_SOURCE)
    return source


def _metadata(source: Source) -> dict[str, Any]:
    return dict(read_json(source.metadata_json, dict, {}))


def _card(viewer: Viewer, source: Source, memories: int | None = None) -> SourceCard:
    metadata = _metadata(source)
    if memories is None:
        memories = Atom.objects.visible_to(viewer).current().filter(source_ref=source).count()
    preview = source_files.path_of(source.sha256)
    return SourceCard(
        source_id=source.source_id,
        name=source.path,
        kind=source.kind,
        mime=source.mime,
        sha256=source.sha256,
        size_bytes=source.size_bytes,
        created_at=source.created_at,
        uploaded_by=str(metadata.get("uploaded_by") or ""),
        memories=memories,
        has_preview=preview.with_name(preview.name + source_files.PREVIEW).exists(),
        proposed_event_time=metadata.get("taken"),
        notes=tuple(metadata.get("notes") or ()),
    )


def add_source(viewer: Viewer, name: str, file: BinaryIO, **given: Any) -> Added:
    """Take a file in: keep it, cut its text into memories, and supersede those of its earlier version that changed.

    `given` takes `scenario`, `tags`, `visibility` and `text` (what to call a picture or a recording). The earlier
    version is the viewer's own source of the same name. Raises `Invalid`.
    """
    incoming = source_files.receive(file)
    try:
        upload = _read(name, incoming, str(given.pop("text", None) or ""))
        if same := _uploaded_before(viewer, upload):
            return Added(_card(viewer, same), 0, same.atoms.count(), 0, 0)
        source, counts = _store(viewer, upload, given)
    finally:
        incoming.unlink(missing_ok=True)
    return Added(_card(viewer, source), *counts)


def _read(name: str, incoming: Path, said: str) -> _Upload:
    """Sniff, clean and read an upload, apart from this process."""
    name = _checked(name)
    found = apart.read(incoming, name)
    kind, pieces = found.kind, found.pieces
    if found.picture:
        return _read_picture(name, incoming, kind, found.picture, said)
    if kind.modality == "audio":
        note = "A recording is kept as it is; what is said in it is not written down."
        pieces = [Piece(said or f"Recording {name}", "recording=1", "audio")]
        return _Upload(name, incoming, kind, source_files.sha256_of(incoming), pieces, notes=(note,))
    notes = () if pieces else ("The file holds no text that could be read.",)
    if kind == sniff.PDF and not pieces:
        notes = ("The PDF holds pictures of pages and no text; it is kept, and nothing was read from it.",)
    return _Upload(name, incoming, kind, source_files.sha256_of(incoming), pieces, notes=notes)


def _read_picture(name: str, incoming: Path, kind: sniff.Kind, picture: images.Picture, said: str) -> _Upload:
    incoming.write_bytes(picture.content)
    notes: list[str] = []
    if kind in sniff.AS_JPEG:
        name, kind, notes = f"{name}.jpg", sniff.JPEG, [images.KEPT_AS_JPEG]
    layout = {"width": picture.size[0], "height": picture.size[1]}
    pieces = [Piece(said or f"Picture {name}", "picture=1", "image", layout)]
    if not images.can_read_text():
        notes.append(images.OCR_MISSING)
    elif text := images.read_text(incoming):
        pieces.append(Piece(text[:60_000], "text=1", "image", layout, {"ocr": 0.7}))
    sha256 = source_files.sha256_of(incoming)
    return _Upload(name, incoming, kind, sha256, pieces, picture.preview, picture.taken, tuple(notes))


def _checked(name: str) -> str:
    """A file's name without folders and without what could not stand in a locator. Raises `Invalid`."""
    short = name.replace("\\", "/").rsplit("/", 1)[-1].replace("#", "_")
    kept = checked_name("".join(one for one in short if one.isprintable()), "name", MAX_NAME)
    if not kept.strip(". "):
        raise Invalid("The file needs a name.", "name")
    return kept


def _own(viewer: Viewer) -> QuerySet[Any]:
    return _with_uploader().filter(uploader=viewer.author)


def _uploaded_before(viewer: Viewer, upload: _Upload) -> Source | None:
    """The viewer's own source with these bytes, unless a later version took its place."""
    latest = _own(viewer).filter(path=upload.name).order_by("created_at", "pk").last()
    return latest if latest is not None and latest.sha256 == upload.sha256 else None


def _store(
    viewer: Viewer, upload: _Upload, given: dict[str, Any]
) -> tuple[Source, tuple[int, int, int, int]]:
    """Keep the file, then write the source and its memories in one transaction."""
    earlier = _own(viewer).filter(path=upload.name).order_by("created_at", "pk").last()
    olds = list(Atom.objects.filter(source_ref=earlier).current().order_by("pk")) if earlier else []
    kept, fresh, gone = _compared(upload, olds)
    if given.get("visibility") is None and olds:
        given = given | {"visibility": narrowest(old.visibility_json for old in olds)}
    prepared = [_prepared(viewer, upload, piece, given) for piece, _ in fresh]
    embedded = cache.embed_passages([one.draft.text for one in prepared], viewer)
    size = upload.path.stat().st_size
    try:
        with transaction.atomic():
            source_files.keep(upload.path, upload.sha256, upload.preview)
            source = _row(viewer, upload, size, earlier)
            atoms = store(prepared, viewer, embedded)
            _point_back(source, atoms, [piece for piece, _ in fresh])
            for old, piece in kept:
                _move(old, source, piece)
            if earlier and kept:
                source_files.note_lost(Counter({earlier.pk: len(kept)}))
            pairs = [(atom, old) for atom, (_, old) in zip(atoms, fresh, strict=True) if old is not None]
            _supersede(pairs, gone)
    except BaseException:
        source_files.remove_unused([upload.sha256])
        raise
    return source, (len(fresh), len(kept), len(pairs), len(gone))


Fresh = list[tuple[Piece, Atom | None]]


def _compared(upload: _Upload, olds: Sequence[Atom]) -> tuple[list[tuple[Atom, Piece]], Fresh, list[Atom]]:
    """What stays (by its words), what is new (with what stood in its place), and what is in the file no more."""
    by_text: dict[str, list[Atom]] = defaultdict(list)
    for old in olds:
        by_text[old.text].append(old)
    kept: list[tuple[Atom, Piece]] = []
    changed: list[Piece] = []
    for piece in upload.pieces:
        if by_text[piece.text]:
            kept.append((by_text[piece.text].pop(0), piece))
        else:
            changed.append(piece)
    left = {old.source: old for atoms in by_text.values() for old in atoms}
    fresh = [(piece, left.pop(f"{upload.name}#{piece.fragment}", None)) for piece in changed]
    return kept, fresh, list(left.values())


def _prepared(viewer: Viewer, upload: _Upload, piece: Piece, given: dict[str, Any]) -> Prepared:
    draft = make_draft(
        viewer, zone(), piece.text, origin="artifact", source=f"{upload.name}#{piece.fragment}",
        modality=piece.modality, scenario=given.get("scenario"), tags=given.get("tags"),
        visibility=given.get("visibility"),
    )  # fmt: skip
    return Prepared(draft, visibility_of(draft))


def _row(viewer: Viewer, upload: _Upload, size: int, earlier: Source | None) -> Source:
    metadata = {
        "uploaded_by": viewer.author, "taken": upload.taken, "notes": list(upload.notes),
        "replaces": earlier.pk if earlier else None,
    }  # fmt: skip
    return Source.objects.create(
        path=upload.name, kind=upload.kind.name, mime=upload.kind.mime, sha256=upload.sha256, size_bytes=size,
        metadata_json=dump_json({key: value for key, value in metadata.items() if value}),
    )  # fmt: skip


def _point_back(source: Source, atoms: Sequence[Atom], pieces: Sequence[Piece]) -> None:
    """Tie new memories to their source: where in it they stand, and how surely they were read."""
    rows = []
    for atom, piece in zip(atoms, pieces, strict=True):
        stated: dict[str, Any] = {"layout": piece.layout, "trust": piece.trust}
        stated |= {"image_ref": source.path} if piece.modality == "image" else {}
        rows.append((atom.pk, columns.columns_of(stated, zone())))
    columns.write(rows)
    Atom.objects.filter(pk__in=[atom.pk for atom in atoms]).update(source_ref=source)


def _move(old: Atom, source: Source, piece: Piece) -> None:
    """An unchanged memory now stands in the new version, perhaps elsewhere."""
    old.source_ref, old.source = source, f"{source.path}#{piece.fragment}"
    old.layout_json = dump_json(piece.layout) if piece.layout else None
    old.save(update_fields=["source_ref", "source", "layout_json"])


def _supersede(pairs: Sequence[tuple[Atom, Atom]], gone: Sequence[Atom]) -> None:
    """Close what the new version changed or no longer says; what changed is named by what replaced it."""
    now = timestamps.now()
    for old in [*(old for _, old in pairs), *gone]:
        old.valid_to = max(now, old.valid_from or "")
        old.updated_at = next_stamp(old.updated_at)
        old.save(update_fields=["valid_to", "updated_at"])
    for new, old in pairs:
        new.supersedes_json = dump_json([old.atom_id])
        new.valid_from = now
        new.save(update_fields=["supersedes_json", "valid_from"])
    EvidenceEdge.objects.bulk_create(
        EvidenceEdge(from_atom_id=new.atom_id, to_atom_id=old.atom_id, relation="supersedes")
        for new, old in pairs
    )


def delete_source(viewer: Viewer, source_id: str) -> int:
    """Remove a source, its earlier versions, their memories from every index, and their files; how many memories went.

    Raises `NotFound`, and `NotAllowed` for who may open it and did not upload it.
    """
    source = _openable(viewer, source_id)
    if _metadata(source).get("uploaded_by") not in viewer.ids:
        raise NotAllowed("Only who uploaded a source may delete it.")
    with transaction.atomic():
        versions = _versions(viewer, source)
        atoms = list(Atom.objects.filter(source_ref__in=versions))
        erase(atoms)
        Source.objects.filter(pk__in=[one.pk for one in versions]).delete()
    source_files.remove_unused(one.sha256 for one in versions)
    checkpoint()
    return len(atoms)


def _versions(viewer: Viewer, source: Source) -> list[Source]:
    """A source and the ones it took the place of, one after the other."""
    versions = [source]
    while (earlier := _metadata(versions[-1]).get("replaces")) and len(versions) < 1_000:
        found = _own(viewer).filter(pk=earlier).first()
        if found is None:
            break
        versions.append(found)
    return versions
