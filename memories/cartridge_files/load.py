"""Bringing a cartridge in: checked whole before anything is stored, set apart, and removable whole.

Every row is tried in a dry run first; one that would be refused refuses the file. The memories then go through the
loop of every import, so that a run cut short is made whole by the next one and the same file twice adds nothing.
"""

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from memories import source_files
from memories.cartridge_files import archive, table
from memories.cartridge_files.archive import Archive
from memories.cartridge_files.manifest import Manifest, SourceEntry
from memories.cartridges import NO_SUCH_CARTRIDGE, visible_cartridges
from memories.drafts import checked_name
from memories.errors import Invalid, NotAllowed, NotFound
from memories.extract import apart, sniff
from memories.fields import dump_json, read_json
from memories.forget import erase, versions_of
from memories.models import RELATIONS, Atom, Cartridge, CartridgeAtom, Mount, Source
from memories.store import checkpoint
from memories.transfer.identities import Choices
from memories.transfer.load import Loader
from memories.transfer.records import Link, Record
from memories.visibility import Viewer

NOBODY = "unknown"  # a memory without a holder is nobody's, and not its importer's
MAX_EDGES = 2_000  # of one memory
_ATOM_ID = re.compile(r"[\w.:@-]{1,64}")
SHOWN = 5
BATCH = 500


@dataclass(frozen=True, slots=True)
class Imported:
    """What a cartridge came to. After a dry run `cartridge_id` is empty and `taken` is what would be."""

    cartridge_id: str
    name: str
    by: str
    household: str
    created_at: str
    taken: int
    already_here: int
    sources: int
    links: int
    token_equivalent: int
    mounted: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Removed:
    """What taking an imported cartridge out came to; `kept` memories also lie in another cartridge."""

    name: str
    removed: int
    kept: int


def import_cartridge(
    viewer: Viewer,
    path: Path,
    *,
    choices: Choices | None = None,
    passphrase: str = "",
    name: str | None = None,
    mount: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Imported:
    """Bring a `.rekal` file in as a cartridge of the viewer's and say what became of it.

    `choices` map the file's names to holders and say who may read it (private, unless chosen); `progress` hears
    rows done and in all. Raises `Invalid` when anything about the file is wrong, and nothing is stored then.
    """
    if viewer.acting_for is not None:
        raise NotAllowed("An agent that acts for somebody brings no cartridges in for her.")
    choices = choices or Choices()
    named = checked_name(name or "", "name")
    with archive.opened(path, passphrase) as opened, tempfile.TemporaryDirectory() as spare:
        checked = _check(viewer, opened, choices, Path(spare))
        if choices.dry_run:
            return checked
        cartridge = _cartridge(viewer, opened.manifest, named)
        loader = Loader(viewer, ours=False, choices=choices)
        joined: set[str] = set()

        def follow(record: Record) -> None:
            _join(cartridge, loader, joined)
            progress(record.line, opened.manifest.counts.memories)

        report = loader.take(_records(opened, cartridge.pk), follow)
        _join(cartridge, loader, joined)
        sources = _bring_sources(viewer, opened, cartridge, loader.here, Path(spare))
    if mount:
        Mount.objects.get_or_create(holder_id=viewer.holder_id, cartridge=cartridge)
    return _imported(
        opened.manifest, report, cartridge=cartridge, sources=sources,
        mounted=Mount.objects.filter(holder_id=viewer.holder_id, cartridge=cartridge).exists(),
    )  # fmt: skip


def _imported(
    manifest: Manifest, report: Any, *, cartridge: Cartridge | None, sources: int, mounted: bool = False
) -> Imported:
    return Imported(
        cartridge_id=cartridge.pk if cartridge else "",
        name=cartridge.name if cartridge else manifest.name,
        by=manifest.by,
        household=manifest.household,
        created_at=manifest.created_at,
        taken=report.taken,
        already_here=report.already_here,
        sources=sources,
        links=report.links,
        token_equivalent=manifest.token_equivalent,
        mounted=mounted,
        names=dict(report.names),
        dry_run=cartridge is None,
    )


def _check(viewer: Viewer, opened: Archive, choices: Choices, spare: Path) -> Imported:
    """Everything but storing: every row, every source. Raises `Invalid`."""
    manifest = opened.manifest
    for entry in manifest.sources:
        _received(opened, entry, spare).unlink()
    trial = Loader(viewer, ours=False, choices=Choices(choices.visibility, choices.holders, dry_run=True))
    report = trial.take(_records(opened, ""))
    if report.skipped:
        rows = "; ".join(f"row {one.line}: {one.why}" for one in report.skipped[:SHOWN])
        raise Invalid(f"The cartridge holds memories that cannot be taken ({rows})", "file")
    return _imported(manifest, report, cartridge=None, sources=manifest.counts.sources)


def _records(opened: Archive, cartridge_id: str) -> Iterator[Record]:
    """The rows as the loader takes them. Raises `Invalid` for rows that do not fit the manifest or one another."""
    manifest = opened.manifest
    content = opened.read_atoms()
    ids = _ids(content)
    if len(ids) != manifest.counts.memories:
        raise Invalid("The cartridge holds another number of memories than its manifest says.", "file")
    files = {entry.path: entry.name for entry in manifest.sources}
    origin = {"format": "cartridge", "cartridge": cartridge_id, "dna": manifest.dna, "by": manifest.by,
              "household": manifest.household}  # fmt: skip
    for number, row in enumerate(table.read_rows(content), start=1):
        if row["source_file"] is not None and row["source_file"] not in files:
            raise Invalid(f"Row {number} of the cartridge names a source that is not in it.", "file")
        yield Record(
            number,
            _fields(row, origin, files),
            identity=row["atom_id"],
            links=tuple(_links(row, ids, number)),
        )


def _ids(content: bytes) -> set[str]:
    ids: set[str] = set()
    for number, row in enumerate(table.read_rows(content), start=1):
        if not _ATOM_ID.fullmatch(row["atom_id"]) or row["atom_id"] in ids:
            raise Invalid(
                f"Row {number} of the cartridge has no usable id, or one that was there before.", "file"
            )
        ids.add(row["atom_id"])
    return ids


def _fields(row: table.Row, origin: Mapping[str, Any], files: Mapping[str, str]) -> dict[str, Any]:
    """A row as the fields of a memory; where it comes from and whose it was there goes into its metadata."""
    same = ("text", "modality", "source", "created_at", "updated_at", "origin", "scenario", "event_time",
            "event_time_end", "event_time_precision", "event_time_source", "valid_from", "valid_to",
            "retention_until")  # fmt: skip
    whose = row["holder_id"] or NOBODY
    return {
        **{key: row[key] for key in same},
        "holder_id": whose,
        "tags": list(row["tags"]),
        "visibility": _json(row["visibility"], dict),
        "trust": _json(row["trust"], dict),
        "layout": _json(row["layout"], object) if row["layout"] else None,
        "image_ref": files.get(row["source_file"]) if row["modality"] == "image" else None,
        "metadata": {"imported": {**origin, "holder": whose, "atom_id": row["atom_id"]}},
    }


def _json(text: str, kind: type) -> Any:
    value = read_json(text, kind, None)
    if value is None:
        raise Invalid("The cartridge holds JSON that is none.", "file")
    return value


def _links(row: table.Row, inside: set[str], number: int) -> Iterator[Link]:
    """What ties the row to others of the file. One that names anything else could reach into the store."""
    edges = _json(row["edges"], list)
    named = [one.get("to") for one in edges if isinstance(one, dict)] + list(row["supersedes"])
    known = all(isinstance(one, dict) and one.get("relation") in RELATIONS for one in edges)
    if (
        not known
        or len(named) > MAX_EDGES
        or not all(isinstance(one, str) and one in inside for one in named)
    ):
        raise Invalid(f"Row {number} of the cartridge is tied to something that is not in it.", "file")
    for edge in edges:
        confidence = edge.get("confidence", 1.0)
        if not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
            raise Invalid(f"Row {number} of the cartridge has an edge whose confidence is no share.", "file")
        yield Link(edge["relation"], edge["to"], float(confidence), listed=False)
    for older in row["supersedes"]:
        yield Link("supersedes", older, edge=False)


def _cartridge(viewer: Viewer, manifest: Manifest, name: str) -> Cartridge:
    """The viewer's cartridge with this content: the one that is there, or a new one."""
    cartridge: Cartridge = Cartridge.objects.get_or_create(
        owner_id=viewer.holder_id, dna=manifest.dna,
        defaults={
            "name": name or manifest.name, "manifest_json": dump_json({**manifest.model_dump(), "imported": True}),
            "token_equivalent": manifest.token_equivalent,
        },
    )[0]  # fmt: skip
    return cartridge


def _join(cartridge: Cartridge, loader: Loader, joined: set[str]) -> None:
    """Put what has been stored since into the cartridge."""
    fresh = {atom_id for atom_id in loader.here.values() if atom_id} - joined
    rows = [CartridgeAtom(cartridge=cartridge, atom_id=atom_id) for atom_id in sorted(fresh)]
    CartridgeAtom.objects.bulk_create(rows, ignore_conflicts=True, batch_size=BATCH)
    joined |= fresh


def _received(opened: Archive, entry: SourceEntry, spare: Path) -> Path:
    """A source copied out of the zip and looked at: its sum, its size, and what it really is. Raises `Invalid`."""
    place = spare / entry.sha256
    with opened.open_source(entry.path) as file, place.open("wb") as copy:
        while block := file.read(1024**2):
            copy.write(block)
    if source_files.sha256_of(place) != entry.sha256:
        raise Invalid("A source in the cartridge has another sum than its name.", "file")
    if "/" in entry.name or "\\" in entry.name or checked_name(entry.name, "name") != entry.name:
        raise Invalid("A source in the cartridge has a name that no file of ours has.", "file")
    kind = sniff.sniff(place, entry.name)
    if (kind.name, kind.mime) != (entry.kind, entry.mime):
        raise Invalid(f"“{entry.name}” in the cartridge is not what its manifest says.", "file")
    return place


def _bring_sources(
    viewer: Viewer, opened: Archive, cartridge: Cartridge, here: Mapping[str, str], spare: Path
) -> int:
    """Keep the cartridge's files as the viewer's sources and tie the memories to them; how many."""
    rows = [row for row in table.read_rows(opened.read_atoms()) if row["source_file"]]
    for entry in opened.manifest.sources:
        source = _source(viewer, opened, entry, cartridge, spare)
        ids = [here[row["atom_id"]] for row in rows if row["source_file"] == entry.path]
        for start in range(0, len(ids), BATCH):
            atoms = Atom.objects.changeable_by(viewer).filter(atom_id__in=ids[start : start + BATCH])
            atoms.filter(source_ref=None).update(source_ref=source)
    return len(opened.manifest.sources)


def _source(viewer: Viewer, opened: Archive, entry: SourceEntry, cartridge: Cartridge, spare: Path) -> Source:
    place = _received(opened, entry, spare)
    kind, preview = sniff.sniff(place, entry.name), b""
    if kind.modality == "image" and (picture := apart.read(place, entry.name).picture):
        place.write_bytes(picture.content)
        preview = picture.preview
    sha256, size = source_files.sha256_of(place), place.stat().st_size
    metadata = {"uploaded_by": viewer.author, "cartridge": cartridge.pk}
    found = next(iter(_came_with(cartridge, Source.objects.filter(sha256=sha256, path=entry.name))), None)
    with place.open("rb") as file:
        incoming = source_files.receive(file)
    with transaction.atomic():
        source_files.keep(incoming, sha256, preview)
        return found or Source.objects.create(
            path=entry.name, kind=kind.name, mime=kind.mime, sha256=sha256, size_bytes=size,
            metadata_json=dump_json(metadata),
        )  # fmt: skip


def _came_with(cartridge: Cartridge, sources: QuerySet[Source]) -> list[Source]:
    """Those of the sources that this cartridge brought."""
    named = sources.filter(metadata_json__contains=cartridge.pk)
    return [one for one in named if read_json(one.metadata_json, dict, {}).get("cartridge") == cartridge.pk]


def remove_imported(viewer: Viewer, cartridge_id: str) -> Removed:
    """Take an imported cartridge out of the store with every memory and source that came with it, for good.

    A memory that also lies in another cartridge stays. Raises `NotFound`, and `Invalid` for one that was made here.
    """
    with transaction.atomic():
        cartridge = _imported_by(viewer, cartridge_id)
        elsewhere = CartridgeAtom.objects.exclude(cartridge=cartridge).values("atom_id")
        members = Atom.objects.changeable_by(viewer).filter(cartridges=cartridge)
        came = [one for one in members if _came_so(one)]
        stays = set(members.filter(atom_id__in=elsewhere).values_list("atom_id", flat=True))
        gone = [one for one in came if one.atom_id not in stays]
        sources = {one.source_ref_id for one in gone if one.source_ref_id}
        files = list(Source.objects.filter(pk__in=sources).values_list("sha256", flat=True))
        for start in range(0, len(gone), BATCH):
            part = gone[start : start + BATCH]
            erase([*part, *versions_of(part)])
        bare = _came_with(
            cartridge, Source.objects.filter(atoms__isnull=True)
        )  # their memories were here before
        files += [one.sha256 for one in bare]
        Source.objects.filter(pk__in=[one.pk for one in bare]).delete()
        cartridge.delete()
    source_files.remove_unused(files)
    checkpoint()
    return Removed(cartridge.name, len(gone), len(came) - len(gone))


def _imported_by(viewer: Viewer, cartridge_id: str) -> Cartridge:
    cartridge = visible_cartridges(viewer).filter(pk=cartridge_id).first()
    if cartridge is None:
        raise NotFound(NO_SUCH_CARTRIDGE)
    if cartridge.owner_id != viewer.holder_id:
        raise NotAllowed("Only who brought a cartridge in may take it out.")
    if not is_imported(cartridge):
        raise Invalid("This cartridge was made here; its memories are removed one by one.", "cartridge_id")
    return cartridge


def is_imported(cartridge: Cartridge) -> bool:
    """Whether it came from a file, so that `remove_imported` takes it out whole."""
    return read_json(cartridge.manifest_json, dict, {}).get("imported") is True


def _came_so(atom: Atom) -> bool:
    """Whether it came in with a cartridge, and not by itself."""
    imported = atom.metadata.get("imported")
    return isinstance(imported, dict) and imported.get("format") == "cartridge"
