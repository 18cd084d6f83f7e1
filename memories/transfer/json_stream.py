"""JSON read piece by piece, however long; bounded in depth, since the path to every bracket is held in memory."""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import ijson

DEEPEST = 200  # brackets within brackets; a file of 100 kB with nothing else would fill gigabytes


def events(file: BinaryIO, *, many: bool = False) -> Iterator[tuple[str, str, Any]]:
    """`(path, event, value)` of a document, or of many one after the other. Raises `ijson.JSONError`."""
    found: Iterator[tuple[str, str, Any]] = ijson.parse(
        _bounded(ijson.basic_parse(file, use_float=True, multiple_values=many))
    )
    return found


def items(file: BinaryIO, path: str, *, many: bool = False) -> Iterator[Any]:
    """The values at a path, such as `entries.item`. Raises `ijson.JSONError`."""
    found: Iterator[Any] = ijson.items(events(file, many=many), path)
    return found


def _bounded(found: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    depth = 0
    for event, value in found:
        depth += event in ("start_map", "start_array")
        depth -= event in ("end_map", "end_array")
        if depth > DEEPEST:
            raise ijson.JSONError("too deep")
        yield event, value
