"""An import as a page does it: look first, then bring in, a few seconds at a time.

A stretch that ends before the file does leaves whole batches; the next one reads past what is there, as every import
does, and goes on.
"""

import time
import zipfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from memories.errors import Invalid
from memories.store import zone
from memories.transfer import files
from memories.transfer.formats import Format
from memories.transfer.identities import Choices
from memories.transfer.load import Loaded, Loader
from memories.transfer.records import Options, Record
from memories.visibility import Viewer

SAMPLES = 8
SAMPLE_CHARACTERS = 300
UNPACKED = 1024**3  # bytes a zip from a page may hold, unpacked


@dataclass(frozen=True, slots=True)
class Told:
    """What whoever brings a file in says about it."""

    visibility: Any = None
    holders: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    order: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """One of the first memories, as the file states it."""

    text: str
    whose: str
    when: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a stretch came to; `whole` when it reached the end of the file, of which it read `read` pieces.

    `percent` is how much of the file's bytes is read, 0 to 100; None where its format does not tell.
    """

    report: Loaded
    samples: tuple[Sample, ...]
    names: tuple[str, ...]
    whole: bool
    read: int
    percent: int | None


def go_through(
    viewer: Viewer, path: Path, chosen: Format, told: Told, *, dry_run: bool, seconds: float
) -> Stretch:
    """Look through a file, or bring it in, for about so long; something new comes in each time.

    Raises what a reader or an engine raises, and `Invalid` for a zip that would unpack to more than 1 GiB.
    """
    _check_size(path)
    choices = Choices(told.visibility, told.holders, dry_run)
    loader = Loader(viewer, ours=chosen.ours, choices=choices)
    watched = _Watched(loader, time.monotonic() + seconds)
    with closing(_records(path, chosen, Options(zone(), told.columns, told.order))) as records:
        report = loader.take(watched.watch(records))
    if not watched.whole:  # what is said of a file as a whole
        report.notes = [one for one in report.notes if one.line]
    names = dict.fromkeys([*report.names, *watched.names])
    refused = {one.line for one in report.skipped}
    samples = tuple(islice((one for line, one in watched.samples if line not in refused), SAMPLES))
    percent = None if files.is_zip(path) else _percent(watched.end, path.stat().st_size)
    return Stretch(report, samples, tuple(names), watched.whole, watched.read, percent)


def _percent(read: int, size: int) -> int | None:
    return min(100, 100 * read // size) if read and size else None


def _records(path: Path, chosen: Format, options: Options) -> Generator[Record, None, None]:
    """The reader's records; closing this closes the reader's file."""
    yield from chosen.read(path, options)


class _Watched:
    """Records on their way, with an eye on the clock, the first memories and the names of their holders."""

    def __init__(self, loader: Loader, deadline: float) -> None:
        self.loader, self.deadline = loader, deadline
        self.samples: list[tuple[int, Sample]] = []
        self.names: dict[str, None] = {}
        self.whole = True
        self.read = 0
        self.end = 0

    def watch(self, records: Iterator[Record]) -> Iterator[Record]:
        for record in records:
            self.read += 1
            self.end = record.end
            self._note(record)
            yield record
            if self._late():
                self.whole = False
                return

    def _late(self) -> bool:
        """A stretch that only read past what is there already would never end."""
        new = self.loader.choices.dry_run or self.loader.report.taken
        return bool(new) and time.monotonic() > self.deadline

    def _note(self, record: Record) -> None:
        text, whose = record.fields.get("text"), record.fields.get("holder_id")
        if isinstance(whose, str) and whose:
            self.names[whose] = None
        if not record.why and isinstance(text, str) and text.strip() and len(self.samples) < 4 * SAMPLES:
            said = whose if isinstance(whose, str) else ""
            when = record.fields.get("event_time")
            shown = when.replace("T", " ")[:16] if isinstance(when, str) else ""
            self.samples.append((record.line, Sample(text[:SAMPLE_CHARACTERS], said, shown)))


def _check_size(path: Path) -> None:
    if not files.is_zip(path):
        return
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(one.file_size for one in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise Invalid(f"{path.name} is a damaged zip.", "path") from None
    if size > UNPACKED:
        raise Invalid("The zip would unpack to more than 1 GiB.", "path")
