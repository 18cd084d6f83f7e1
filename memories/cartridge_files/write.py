"""Giving a cartridge away: what its exporter and everybody it is meant for may read, and nothing else."""

import io
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from memories import source_files, timestamps
from memories.cartridge_files import manifest as manifests
from memories.cartridge_files import seal, table
from memories.cartridge_files.manifest import ATOMS, NAME, SOURCES, Counts, Manifest, SourceEntry
from memories.cartridges import NO_SUCH_CARTRIDGE, visible_cartridges
from memories.errors import Invalid, NotFound
from memories.fields import dump_json, read_json
from memories.models import Atom, Cartridge, EvidenceEdge, Source
from memories.results import Memory, memories_for
from memories.sources import IS_WHOLE, openable
from memories.store import get_setting
from memories.transfer.export import exportable
from memories.visibility import AtomQuerySet, Viewer

BATCH = 500
SAME = (
    "atom_id", "text", "source", "created_at", "updated_at", "holder_id", "origin", "scenario", "event_time",
    "event_time_end", "event_time_precision", "valid_from", "valid_to", "retention_until",
)  # fmt: skip
EPOCH = (1980, 1, 1, 0, 0, 0)  # zip's first day: the same content gives the same file


@dataclass(frozen=True, slots=True)
class Audience:
    """Whom a cartridge is made for: `viewers` are all of them, each of whom must be able to read what goes in.

    `own_only`: for people outside the household, who may read nothing here: only what the exporter holds herself.
    """

    name: str
    viewers: tuple[Viewer, ...] = ()
    own_only: bool = False


@dataclass(frozen=True, slots=True)
class Preview:
    """What would go into a file: these memories, and how many more stay because the audience may not read them."""

    name: str
    audience: str
    memories: tuple[Memory, ...]
    count: int
    left_out: int
    sources: tuple[str, ...]
    token_equivalent: int


@dataclass(frozen=True, slots=True)
class Written:
    """A cartridge file: its manifest, whether it is sealed, and how many memories stayed behind."""

    manifest: Manifest
    sealed: bool
    left_out: int


@dataclass(frozen=True, slots=True)
class _Content:
    """What goes in. `left_out` memories of the cartridge stay: the exporter may read them, the audience may not."""

    cartridge: Cartridge
    atoms: AtomQuerySet
    sources: dict[str, Source]
    left_out: int


def preview(viewer: Viewer, cartridge_id: str, audience: Audience, *, limit: int = 200) -> Preview:
    """What exporting would take along, before it does; the first `limit` memories whole. Raises `NotFound`."""
    content = _content(viewer, cartridge_id, audience)
    shown = list(content.atoms.order_by("pk")[:limit])
    return Preview(
        name=content.cartridge.name,
        audience=audience.name,
        memories=tuple(memories_for(viewer, shown)),
        count=content.atoms.count(),
        left_out=content.left_out,
        sources=tuple(sorted(one.path for one in content.sources.values())),
        token_equivalent=sum(content.atoms.order_by().values_list("token_equivalent", flat=True)),
    )


def export_cartridge(
    viewer: Viewer, cartridge_id: str, audience: Audience, path: Path, *, passphrase: str = ""
) -> Written:
    """Write the cartridge to `path`, whole or not at all, readable by its owner alone.

    Raises `NotFound`, `Invalid` (nothing in it for this audience, a short passphrase), `MissingExtra`.
    """
    if path.is_dir():
        raise Invalid(f"{path} is a folder; name a file.", "path")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            try:
                written = write_cartridge(viewer, cartridge_id, audience, file, passphrase=passphrase)
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise Invalid(
            f"{path} cannot be written ({(error.strerror or 'unknown error').lower()}).", "path"
        ) from None
    return written


def write_cartridge(
    viewer: Viewer, cartridge_id: str, audience: Audience, out: Any, *, passphrase: str = ""
) -> Written:
    """Write the cartridge into an open binary file; see `export_cartridge`."""
    if passphrase:
        seal.checked_passphrase(passphrase)
    content = _content(viewer, cartridge_id, audience)
    if not content.atoms.exists():
        raise Invalid("Nothing in this cartridge is for them to read.", "audience")
    plain = io.BytesIO() if passphrase else out
    manifest = _pack(viewer, content, audience, plain)
    if passphrase:
        out.write(seal.seal(plain.getvalue(), passphrase))
    return Written(manifest, bool(passphrase), content.left_out)


def _content(viewer: Viewer, cartridge_id: str, audience: Audience) -> _Content:
    cartridge = visible_cartridges(viewer).filter(pk=cartridge_id).first()
    if cartridge is None:
        raise NotFound(NO_SUCH_CARTRIDGE)
    readable = exportable(viewer).filter(cartridges=cartridge)
    atoms = readable.filter(holder_id=viewer.author) if audience.own_only else readable
    for one in audience.viewers:
        atoms = atoms.visible_to(one)
    if (count := atoms.count()) > manifests.MAX_MEMORIES:
        raise Invalid(
            f"A cartridge file holds at most {manifests.MAX_MEMORIES:,} memories; export it in parts."
        )
    return _Content(cartridge, atoms, _sources(viewer, atoms, audience), readable.count() - count)


def _sources(viewer: Viewer, atoms: AtomQuerySet, audience: Audience) -> dict[str, Source]:
    """The files, by sha256, that all may open and whose every memory goes along: a file says all of them at once."""
    sources = openable(viewer).filter(IS_WHOLE, pk__in=atoms.exclude(source_ref=None).values("source_ref"))
    for one in audience.viewers:
        sources = sources.filter(pk__in=openable(one).values("pk"))
    staying = Atom.objects.exclude(pk__in=atoms.values("pk")).exclude(source_ref=None).values("source_ref")
    found = sources.exclude(pk__in=staying).order_by("pk")
    return {one.sha256: one for one in found if source_files.path_of(one.sha256).is_file()}


def _pack(viewer: Viewer, content: _Content, audience: Audience, out: Any) -> Manifest:
    """Write the zip; the manifest comes first in it, so that a cartridge is recognised by its first bytes."""
    rows = list(_rows(viewer, content))
    parquet = table.write_rows(rows)
    entries = [_entry(sha256, one) for sha256, one in sorted(content.sources.items())]
    files = [(ATOMS, _reader(parquet)), *((one.path, _opener(one.sha256)) for one in entries)]
    manifest = Manifest(
        name=content.cartridge.name,
        by=viewer.author,
        household=str(get_setting("household_name") or "")[:200],
        audience=audience.name,
        created_at=timestamps.now(),
        token_equivalent=sum(row[table.NUMBER] for row in rows),
        counts=Counts(
            memories=len(rows),
            edges=sum(len(read_json(row["edges"], list, [])) for row in rows),
            sources=len(entries),
        ),
        sources=entries,
        dna=manifests.dna(files),
    )
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        _write(archive, NAME, manifest.dump())
        _write(archive, ATOMS, parquet, zipfile.ZIP_STORED)  # its columns are packed already
        for one in entries:
            _write(archive, one.path, source_files.path_of(one.sha256).read_bytes())
    return manifest


def _reader(content: bytes) -> Callable[[], BinaryIO]:
    return lambda: io.BytesIO(content)


def _opener(sha256: str) -> Callable[[], BinaryIO]:
    return lambda: source_files.path_of(sha256).open("rb")


def _write(archive: zipfile.ZipFile, name: str, content: bytes, how: int = zipfile.ZIP_DEFLATED) -> None:
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.external_attr = 0o600 << 16
    archive.writestr(entry, content, how)


def _entry(sha256: str, source: Source) -> SourceEntry:
    place = source_files.path_of(sha256)
    if source_files.sha256_of(place) != sha256:
        raise Invalid(
            f"The file of the source “{source.path}” is damaged; delete the source or restore a backup."
        )
    return SourceEntry(
        path=f"{SOURCES}/{sha256}", name=source.path, kind=source.kind, mime=source.mime, sha256=sha256,
        size_bytes=place.stat().st_size,
    )  # fmt: skip


def _rows(viewer: Viewer, content: _Content) -> Iterator[table.Row]:
    """The memories as rows; what they name outside the cartridge is left out of them."""
    pks = list(content.atoms.order_by("pk").values_list("pk", flat=True))
    inside = set(content.atoms.values_list("atom_id", flat=True))
    for start in range(0, len(pks), BATCH):
        atoms = list(
            content.atoms.filter(pk__in=pks[start : start + BATCH])
            .order_by("pk")
            .select_related("source_ref")
        )
        edges = _edges(atoms, inside)
        for atom, memory in zip(atoms, memories_for(viewer, atoms), strict=True):
            yield _row(atom, memory, edges.get(atom.atom_id, []), inside, content)


def _edges(atoms: Sequence[Atom], inside: set[str]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for edge in EvidenceEdge.objects.filter(from_atom_id__in=[one.atom_id for one in atoms]).order_by("pk"):
        if edge.to_atom_id in inside:
            stated = {"relation": edge.relation, "to": edge.to_atom_id, "confidence": edge.confidence}
            found.setdefault(edge.from_atom_id, []).append(stated)
    return found


def _row(
    atom: Atom, memory: Memory, edges: list[dict[str, Any]], inside: set[str], content: _Content
) -> table.Row:
    """One memory. Its scope goes along, never the lists of who may read it and who is kept out."""
    file = atom.source_ref.sha256 if atom.source_ref and atom.source_ref.sha256 in content.sources else None
    return {
        **{key: getattr(memory, key) for key in SAME},
        "modality": atom.modality,
        "source_file": f"{SOURCES}/{file}" if file else None,
        "event_time_source": atom.event_time_source,
        "visibility": dump_json({"scope": memory.visibility.get("scope", "private")}),
        "tags": list(memory.tags),
        "supersedes": [one for one in memory.supersedes if one in inside],
        "edges": dump_json(edges),
        "layout": atom.layout_json,
        "trust": atom.trust_json,
        table.NUMBER: atom.token_equivalent,
    }
