"""Opening what people bring: one file, a folder or a zip of files; read only, piece by piece, never unpacked to disk.

Links are not followed, and a zip's pieces are bounded in number and size: an archive of a few kilobytes can say it
holds terabytes.
"""

import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from memories.errors import Invalid

HEAD = 65_536  # bytes a format is recognised by
MAX_PIECES = 200_000
MAX_PIECE = 2 * 1024**3  # bytes of one piece of a zip, unpacked
MOST_LOOKED_INTO = 500  # pieces of a folder or zip a format is looked for in
MAX_NOTE = 8 * 1024**2  # bytes of one note that is read whole


@dataclass(frozen=True, slots=True)
class Piece:
    """One file of several: its path inside the folder or zip, with `/`, its size, and how to open it."""

    name: str
    size: int
    open: Callable[[], BinaryIO]

    @property
    def suffix(self) -> str:
        """The lower-case ending, with its dot."""
        return PurePosixPath(self.name).suffix.lower()


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file for reading bytes. Raises `Invalid` when it cannot be read."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise Invalid(f"There is no file {path}.", "path") from None
    except OSError as error:
        raise Invalid(
            f"{path} cannot be read ({(error.strerror or 'unknown error').lower()}).", "path"
        ) from None
    with file:
        yield file


def is_zip(path: Path) -> bool:
    """Whether it is a zip by its first bytes."""
    if not path.is_file():
        return False
    with opened(path) as file:
        return file.read(4) == b"PK\x03\x04"


@contextmanager
def pieces(path: Path, *suffixes: str) -> Iterator[Iterator[Piece]]:
    """The files of a folder or zip in the order of their names (or the one file), of these endings."""
    if path.is_dir():
        yield (one for one in _of_folder(path) if not suffixes or one.suffix in suffixes)
    elif is_zip(path):
        try:
            with zipfile.ZipFile(path) as archive:
                yield (one for one in _of_zip(archive) if not suffixes or one.suffix in suffixes)
        except (zipfile.BadZipFile, zlib.error, EOFError):
            raise Invalid(f"{path.name} is a damaged zip.", "path") from None
        except NotImplementedError:
            raise Invalid(
                f"{path.name} is packed in a way that cannot be read; unpack it first.", "path"
            ) from None
    else:
        yield iter([Piece(path.name, path.stat().st_size, lambda: path.open("rb"))])


def _of_folder(folder: Path) -> Iterator[Piece]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for name in sorted(names):
            path = Path(here) / name
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                inside = path.relative_to(folder).as_posix()
                yield Piece(inside, path.stat().st_size, _opener(path))


def _opener(path: Path) -> Callable[[], BinaryIO]:
    return lambda: path.open("rb")


def _of_zip(archive: zipfile.ZipFile) -> Iterator[Piece]:
    entries = sorted(archive.infolist(), key=lambda one: one.filename)
    if len(entries) > MAX_PIECES:
        raise Invalid(f"The zip holds more than {MAX_PIECES:,} files.", "path")
    for entry in entries:
        if not entry.is_dir() and not _is_hidden(entry.filename):
            yield Piece(entry.filename, entry.file_size, _zip_opener(archive, entry))


def _is_hidden(name: str) -> bool:
    """Whether a folder would hide it too, or it is what a Mac adds to its zips."""
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)


def _zip_opener(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    def open_entry() -> BinaryIO:
        if entry.file_size > MAX_PIECE or entry.flag_bits & 1:
            raise Invalid("It is encrypted, or too large to be read from a zip.", "path")
        return cast("BinaryIO", archive.open(entry))

    return open_entry


def read_note(piece: Piece) -> bytes:
    """A small file whole. Raises `Invalid` when it is none."""
    with piece.open() as file:
        content = file.read(MAX_NOTE + 1)
    if len(content) > MAX_NOTE:
        raise Invalid("The note is larger than 8 MiB.", "path")
    return content


def names(path: Path, most: int = 200) -> list[str]:
    """The names inside a folder or zip, for recognising it; [] for one file."""
    if not path.is_dir() and not is_zip(path):
        return []
    with pieces(path) as found:
        return [one.name for one, _ in zip(found, range(most), strict=False)]


def start(piece: Piece) -> bytes:
    """The first 64 KiB of a piece."""
    with piece.open() as file:
        return file.read(HEAD)


def any_begins(path: Path, so: Callable[[bytes], bool], *suffixes: str) -> bool:
    """Whether a file of these endings in a folder or zip begins `so`, by its first 64 KiB; False for one file."""
    if path.is_file() and not is_zip(path):
        return False
    with pieces(path, *suffixes) as found:
        return any(so(start(one)) for one in islice(found, MOST_LOOKED_INTO))


def head(path: Path) -> bytes:
    """The first 64 KiB of a file; b"" for a folder. Raises `Invalid` when it cannot be read."""
    if path.is_dir():
        return b""
    with opened(path) as file:
        return file.read(HEAD)
