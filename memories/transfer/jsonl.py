"""Our own JSON Lines: one object a line, keys as POST `/api/memories`; what `export` writes, `import` reads.

Beyond those keys a line may carry what an exported memory has: `atom_id`, `created_at`, `updated_at`, `supersedes`,
`edges`, `cartridges` and the columns in `EXPORTED`; `recorded_by` is read over: who brings a memory in recorded it.
The first line of an export also carries `export`: who wrote it, the counts, and the tables beside the memories.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memories.models import RELATIONS
from memories.transfer import files
from memories.transfer.records import Header, HolderDraft, Link, Options, Record

MAX_LINE = 1024 * 1024  # bytes; sixteen times the longest text, escapes included
MAX_FIRST = 16 * MAX_LINE  # an export's first line carries the directory too
TABLES = ("holders", "scenarios", "cartridges")
BOM = b"\xef\xbb\xbf"


def recognises(path: Path, head: bytes) -> bool:
    """JSON Lines by its name, or a first line that is an object; JSON of other programs begins with half of one."""
    if path.suffix.lower() in {".jsonl", ".ndjson"}:
        return True
    first, end, _ = head.lstrip(BOM + b" \r\n").partition(b"\n")
    if not end and len(head) >= files.HEAD:  # an export's first line may be longer than what is seen of it
        return first.startswith(b'{"') and b'"text":' in first
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def read(path: Path, _: Options | None = None, /) -> Iterator[Record]:
    """A record a line; blank lines are passed over. Bad UTF-8, bad JSON and endless lines are refused line by line."""
    with path.open("rb") as file:
        number = 0
        while piece := file.readline(_longest(number + 1) + 1):
            number += 1
            endless = len(piece) > _longest(number)
            while endless and piece and not piece.endswith(b"\n"):
                piece = file.readline(_longest(number) + 1)
            if endless:
                yield Record(number, why="The line is longer than 1 MiB.", end=file.tell())
                continue
            content = piece.removeprefix(BOM) if number == 1 else piece
            if content.strip():
                yield _record(number, content, file.tell())


def _record(number: int, content: bytes, end: int) -> Record:
    try:
        value: Any = json.loads(content.decode())
    except UnicodeDecodeError:
        return Record(number, why="The line is not UTF-8.", end=end)
    except (ValueError, RecursionError):
        return Record(number, why="The line is not JSON.", end=end)
    if not isinstance(value, dict):
        return Record(number, why="The line is JSON, but no object with a text.", end=end)
    return _taken(number, value, end)


def _longest(number: int) -> int:
    return MAX_FIRST if number == 1 else MAX_LINE


def _taken(number: int, value: dict[str, Any], end: int) -> Record:
    """The object as a record: what is no field of a memory goes where it belongs."""
    header = value.pop("export", None)
    apart = "edges" in value
    links = [_link(one) for one in of_type(value.pop("edges", None), list, [])]
    olds = of_type(value.pop("supersedes", None), list, [])
    links += [Link("supersedes", one, edge=not apart) for one in olds if isinstance(one, str)]
    cartridges = [one for one in of_type(value.pop("cartridges", None), list, []) if isinstance(one, str)]
    stated = value.get("atom_id")
    return Record(
        number,
        value,
        end=end,
        identity=stated if isinstance(stated, str) else "",
        links=tuple(one for one in links if one),
        cartridges=tuple(cartridges),
        header=_header(header) if isinstance(header, dict) else None,
    )


def _link(edge: Any) -> Link | None:
    if (
        not isinstance(edge, dict)
        or edge.get("relation") not in RELATIONS
        or not isinstance(edge.get("to"), str)
    ):
        return None
    confidence = edge.get("confidence", 1.0)
    share = float(confidence) if isinstance(confidence, int | float) and 0 <= confidence <= 1 else 1.0
    return Link(edge["relation"], edge["to"], share, of_type(edge.get("metadata"), dict, {}), listed=False)


def _header(stated: dict[str, Any]) -> Header:
    tables = {
        key: [one for one in of_type(stated.get(key), list, []) if isinstance(one, dict)] for key in TABLES
    }
    counts = {
        key: one for key, one in of_type(stated.get("counts"), dict, {}).items() if isinstance(one, int)
    }
    return Header(
        by=of_type(stated.get("by"), str, ""),
        counts=counts,
        holders=tuple(one for card in tables["holders"] if (one := _holder(card))),
        scenarios=tuple(tables["scenarios"]),
        cartridges=tuple(tables["cartridges"]),
    )


def _holder(card: dict[str, Any]) -> HolderDraft | None:
    holder_id = of_type(card.get("holder_id"), str, "")
    if not holder_id:
        return None
    contact = of_type(card.get("contact"), dict, {})
    return HolderDraft(
        name=of_type(card.get("name"), str, ""),
        holder_id=holder_id,
        kind=of_type(card.get("kind"), str, "person"),
        knows_about=tuple(one for one in of_type(card.get("knows_about"), list, []) if isinstance(one, str)),
        contact={str(key): str(value) for key, value in contact.items()},
    )


def of_type(value: Any, kind: type, default: Any) -> Any:
    """The value when it is of this type, else the default."""
    return value if isinstance(value, kind) else default
