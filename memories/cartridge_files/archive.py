"""Opening a cartridge: a trust boundary. Every name, size and sum is checked before anything inside is believed.

Nothing is unpacked to a place its own name could choose; entries are read from the zip, within bounds.
"""

import io
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from memories.cartridge_files import manifest as manifests
from memories.cartridge_files import seal
from memories.cartridge_files.manifest import ATOMS, NAME, SOURCES, Manifest
from memories.errors import Invalid
from memories.source_files import MAX_BYTES as MAX_SOURCE

MAX_FILE = 1024**3  # bytes of the cartridge itself
MAX_MANIFEST = 4 * 1024**2
MAX_ATOMS = 256 * 1024**2  # bytes of atoms.parquet
MAX_TOTAL = 2 * 1024**3  # bytes of all entries, unpacked
MAX_RATIO = 400  # how many times an entry may grow; text at its most repetitive stays far below
SMALL = 1024**2  # entries up to here may grow as they like
COMPRESSIONS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
ENCRYPTED = 0x1


@dataclass(frozen=True, slots=True)
class Archive:
    """An opened cartridge whose outline is sound and whose content has the `dna` it states."""

    manifest: Manifest
    zip: zipfile.ZipFile

    def read_atoms(self) -> bytes:
        """`atoms.parquet` whole."""
        return self.zip.read(ATOMS)

    def open_source(self, path: str) -> BinaryIO:
        """A file of `sources/`."""
        return cast("BinaryIO", self.zip.open(path))


def recognises(path: Path, head: bytes) -> bool:
    """A zip that begins with our manifest, or anything sealed."""
    begins = head.startswith(b"PK\x03\x04") and head[30 : 30 + len(NAME)] == NAME.encode()
    return begins or head.startswith(seal.MAGIC) or (path.suffix == ".rekal" and head.startswith(b"PK"))


@contextmanager
def opened(path: Path, passphrase: str = "") -> Iterator[Archive]:
    """Open and check a cartridge. Raises `Invalid` with a sentence for whatever is wrong with it."""
    content = _content(path, passphrase)
    try:
        with content, zipfile.ZipFile(content) as archive:
            entries = archive.infolist()
            _check_outline(entries)
            manifest = manifests.read_manifest(archive.read(NAME))
            _check_names(entries, manifest)
            files = ((entry.filename, _opener(archive, entry)) for entry in entries)
            if manifests.dna(files) != manifest.dna:
                raise Invalid("The cartridge is damaged: its content is not what its manifest names.", "file")
            yield Archive(manifest, archive)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, zipfile.zlib.error):  # type: ignore[attr-defined]
        raise Invalid("The file is a damaged zip.", "file") from None


def _content(path: Path, passphrase: str) -> BinaryIO:
    try:
        if path.stat().st_size > MAX_FILE:
            raise Invalid("The file is larger than any cartridge of ours.", "file")
        if seal.is_sealed(path):
            return io.BytesIO(seal.unseal(path, passphrase))
        return path.open("rb")
    except FileNotFoundError:
        raise Invalid(f"There is no file {path}.", "path") from None
    except OSError as error:
        raise Invalid(
            f"{path} cannot be read ({(error.strerror or 'unknown error').lower()}).", "path"
        ) from None


def _opener(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    return lambda: cast("BinaryIO", archive.open(entry))


def _check_outline(entries: list[zipfile.ZipInfo]) -> None:
    """Names, kinds and sizes, from the zip's directory alone: reading an entry never gives more than it states."""
    names = [entry.filename for entry in entries]
    if len(entries) > manifests.MAX_SOURCES + 2:
        raise Invalid("The cartridge holds more files than one of ours may.", "file")
    if len({name.casefold() for name in names}) != len(names):
        raise Invalid("The cartridge holds two files of the same name.", "file")
    if NAME not in names or ATOMS not in names:
        raise Invalid("The file is no cartridge: a cartridge holds manifest.json and atoms.parquet.", "file")
    for entry in entries:
        _check_entry(entry)
    if sum(entry.file_size for entry in entries) > MAX_TOTAL:
        raise Invalid("The cartridge would unpack to more than a cartridge may hold.", "file")


def _check_entry(entry: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG) or entry.is_dir() or entry.orig_filename != entry.filename:
        raise Invalid("The cartridge holds something that is no plain file.", "file")
    if entry.flag_bits & ENCRYPTED or entry.compress_type not in COMPRESSIONS:
        raise Invalid("The cartridge is packed in a way that ours never are.", "file")
    most = {NAME: MAX_MANIFEST, ATOMS: MAX_ATOMS}.get(entry.filename, MAX_SOURCE)
    if entry.file_size > most or entry.file_size > max(SMALL, entry.compress_size * MAX_RATIO):
        raise Invalid("The cartridge holds a file that unpacks to more than it may.", "file")


def _check_names(entries: list[zipfile.ZipInfo], manifest: Manifest) -> None:
    """Exactly the files the manifest names, each of the size it says: no other path can come up at all."""
    sizes = {entry.filename: entry.file_size for entry in entries}
    stated = {one.path: one.size_bytes for one in manifest.sources}
    if set(sizes) != {NAME, ATOMS, *stated}:
        raise Invalid(f"The cartridge holds other files than {NAME}, {ATOMS} and its {SOURCES}/.", "file")
    if any(sizes[path] != size for path, size in stated.items()):
        raise Invalid("A source in the cartridge has another size than its manifest says.", "file")
