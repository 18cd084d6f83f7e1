"""What a reader makes of a file: one record a memory, or the reason why a piece of it is none."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class Link:
    """A directed statement about this record and another one of the file, which calls it `to`.

    `listed`: what it supersedes is named by the memory itself, in its `supersedes`; `edge`: it is an edge. An export
    of ours says each by itself.
    """

    relation: str
    to: str
    confidence: float = 1.0
    metadata: dict[str, Any] = field(default_factory=dict)
    listed: bool = True
    edge: bool = True


@dataclass(frozen=True, slots=True)
class HolderDraft:
    """Somebody a file tells of: for the directory of holders, which this layer does not know."""

    name: str
    holder_id: str = ""
    kind: str = "person"
    knows_about: tuple[str, ...] = ()
    contact: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Header:
    """What an export of ours says of itself on its first line: by whom, how much, the tables beside the memories."""

    by: str
    counts: Mapping[str, int] = field(default_factory=dict)
    holders: tuple[HolderDraft, ...] = ()
    scenarios: tuple[Mapping[str, Any], ...] = ()
    cartridges: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """One memory as its file states it: `fields` as POST `/api/memories` takes them, unchecked.

    `line` is where it stands, counted from 1 (for formats without lines: which piece it is). `why` is a sentence
    instead, when it cannot be read. `end` is how many bytes of the file are read by then.
    `identity` is what the file calls it: links name it, and two identities are two memories even with equal words.
    `note` is a sentence for the report about a record that is taken all the same. `holder` stands alone, for cards.
    """

    line: int
    fields: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    end: int = 0
    identity: str = ""
    links: tuple[Link, ...] = ()
    cartridges: tuple[str, ...] = ()
    note: str = ""
    holder: HolderDraft | None = None
    header: Header | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What a reader may be told: the zone of times without one, which CSV column is which field, the order of dates."""

    zone: ZoneInfo
    columns: Mapping[str, str] = field(default_factory=dict)
    order: str = ""


class Reader(Protocol):
    """Reads a file record by record, never the whole of it at once, and never changes it."""

    def __call__(self, path: Path, options: Options, /) -> Iterator[Record]:
        """The records in the file's own order. Raises `Invalid` when the file is not of this format at all."""
