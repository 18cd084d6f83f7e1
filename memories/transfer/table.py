"""CSV: a memory a row. Columns are known by their names, or mapped (`--column text=Notes`)."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from memories.encodings import is_utf8, text_of
from memories.errors import Invalid
from memories.transfer import files, times
from memories.transfer.records import Options, Record

CELL = 200_000  # characters; a memory's text may have 64 KiB
NAMES = {
    "text": (
        "text",
        "memory",
        "content",
        "note",
        "notes",
        "statement",
        "fact",
        "body",
        "message",
        "内容",
        "文本",
        "记忆",
        "笔记",
    ),
    "holder_id": (
        "holder_id",
        "holder",
        "author",
        "owner",
        "person",
        "who",
        "name",
        "user",
        "sender",
        "谁",
        "姓名",
    ),
    "scenario": ("scenario", "project", "situation", "context", "情境"),
    "tags": ("tags", "labels", "categories", "keywords", "tag", "标签"),
    "event_time": (
        "event_time",
        "date",
        "time",
        "when",
        "datetime",
        "timestamp",
        "event date",
        "日期",
        "时间",
    ),
    "event_time_end": ("event_time_end", "end", "end date"),
    "event_time_precision": ("event_time_precision",),
    "created_at": ("created_at", "created", "created at"),
    "valid_from": ("valid_from", "since", "from"),
    "valid_to": ("valid_to", "until", "to"),
    "retention_until": ("retention_until",),
    "source": ("source", "url"),
    "origin": ("origin",),
    "visibility": ("visibility",),
    "identity": ("atom_id", "id", "uid"),
}
SERIALS = (20_000, 80_000)  # the days of a spreadsheet, 1954 to 2119; as seconds, the first day of 1970
FIRST_DAY = date(1899, 12, 30)  # of a spreadsheet's calendar
MOMENTS = ("event_time", "event_time_end", "created_at", "valid_from", "valid_to", "retention_until")

# What spreadsheets take for a formula, also behind spaces, in full width, and behind an apostrophe of its own.
_SLASHED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-]\d{2,4}\b")
_RUNS = re.compile(r"'*\s*[=+\-@＝＋－＠\t\r\n]|[\t\r\n]")


def recognises(path: Path, head: bytes) -> bool:
    """A `.csv` or `.tsv` file, or text whose first line names a column of ours between separators."""
    if path.suffix.lower() in (".csv", ".tsv"):
        return True
    first = text_of(head[:2_000], cut=True).split("\n", 1)[0]
    cells = [
        one.strip().strip('"').casefold() for one in first.replace(";", ",").replace("\t", ",").split(",")
    ]
    return (
        len(cells) > 1
        and any(cell in NAMES["text"] for cell in cells)
        and first.lstrip()[:1] not in ("{", "[")
    )


def read(path: Path, options: Options) -> Iterator[Record]:
    """A record a row; `line` is the line the row begins on. Raises `Invalid` when no column can be the text."""
    csv.field_size_limit(CELL)
    with files.opened(path) as file:
        text = _decoded(file)
        try:
            rows = csv.reader(text, _dialect(path))
            names = _header(path, rows)
            columns = mapping(names, options.columns)
            order = options.order or _order(path, columns)
            note = _left_out(names, columns)
            for record in _rows(rows, columns, replace(options, order=order), file):
                yield replace(record, note="" if record.why else note)
                note = note if record.why else ""
        finally:
            text.detach()  # the file is its opener's to close


def header(path: Path) -> list[str]:
    """The names of the file's columns. Raises `Invalid`."""
    csv.field_size_limit(CELL)
    with files.opened(path) as file:
        text = _decoded(file)
        try:
            return _header(path, csv.reader(text, _dialect(path)))
        finally:
            text.detach()  # the file is its opener's to close


def _header(path: Path, rows: Any) -> list[str]:
    try:
        cells: list[str] = next(rows, [])
        if cells and cells[0].casefold().startswith("sep="):  # what Excel is told about the separator
            cells = next(rows, [])
    except csv.Error:
        raise Invalid(f"{path.name} is no CSV that can be read.", "path") from None
    if not cells:
        raise Invalid(f"{path.name} holds no row.", "path")
    return [cell.strip() for cell in cells]


def _decoded(file: Any) -> io.TextIOWrapper:
    """The file's text with its lines' ends as they are: cells may hold some."""
    start = file.read(files.HEAD)
    file.seek(0)
    encoding = (
        "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig" if is_utf8(start) else "cp1252"
    )
    return io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="")


def _dialect(path: Path) -> type[csv.Dialect]:
    first = text_of(files.head(path), cut=True).split("\n", 1)[0]
    told = first.strip().casefold().removeprefix("sep=")
    separator = told if told in (",", ";", "\t", "|") else max(",;\t", key=first.count)

    class Dialect(csv.excel):
        delimiter = separator

    return Dialect


def mapping(header: list[str], chosen: Mapping[str, str]) -> dict[int, str]:
    """Which column is which field. Raises `Invalid` when a chosen column is missing, or none can be the text."""
    places = {name.casefold(): place for place, name in reversed(list(enumerate(header)))}
    columns: dict[int, str] = {}
    for field, column in chosen.items():
        if field not in NAMES:
            raise Invalid(f"“{field[:40]}” is no field; a column can be {', '.join(NAMES)}.", "column")
        if column.casefold() not in places:
            raise Invalid(
                f"There is no column “{column[:40]}”; there are {', '.join(header)[:200]}.", "column"
            )
        columns[places[column.casefold()]] = field
    for field, names in NAMES.items():
        found = next((places[name] for name in names if name in places and places[name] not in columns), None)
        if found is not None and field not in columns.values():
            columns[found] = field
    if "text" not in columns.values():
        raise Invalid(
            f"No column is known to be the text; say --column text=… ({', '.join(header)[:200]}).", "column"
        )
    return columns


def _left_out(names: list[str], columns: Mapping[int, str]) -> str:
    """A sentence about the columns nothing is taken from."""
    left = [name for place, name in enumerate(names) if name and place not in columns]
    return f"Nothing is taken from {', '.join(left)[:300]}." if left else ""


def _order(path: Path, columns: Mapping[int, str]) -> str:
    """`dmy` or `mdy` when a date of the file allows only one of them, and none only the other; else \"\"."""
    places = [place for place, field in columns.items() if field in MOMENTS]
    found = set()
    with files.opened(path) as file:
        text = _decoded(file)
        try:
            for cells in _readable(csv.reader(text, _dialect(path))):
                for day in (_SLASHED.match(cells[place].strip()) for place in places if place < len(cells)):
                    if day and max(int(day[1]), int(day[2])) > 12:
                        found.add("dmy" if int(day[1]) > 12 else "mdy")
        finally:
            text.detach()
    return found.pop() if len(found) == 1 else ""


def _readable(rows: Any) -> Iterator[list[str]]:
    while True:
        try:
            yield next(rows)
        except StopIteration:
            return
        except csv.Error:
            continue


def _rows(rows: Any, columns: dict[int, str], options: Options, file: Any) -> Iterator[Record]:
    line = rows.line_num + 1
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield Record(line, why=f"The row cannot be read ({error}).")
            line = rows.line_num + 1
            continue
        if any(cell.strip() for cell in cells):
            yield _record(line, cells, columns, options, file.tell())
        line = rows.line_num + 1


def _record(line: int, cells: list[str], columns: dict[int, str], options: Options, end: int) -> Record:
    given = {field: _unguarded(cells[place]) for place, field in columns.items() if place < len(cells)}
    fields: dict[str, Any] = {field: value for field, value in given.items() if value.strip()}
    identity = fields.pop("identity", "").strip()
    if "text" not in fields:
        return Record(line, why="The row has no text.", end=end)
    if tags := fields.get("tags"):
        fields["tags"] = [one.strip() for one in tags.replace(";", ",").split(",") if one.strip()]
    try:
        for field in MOMENTS:
            if field in fields:
                fields[field] = _stated(fields[field].strip(), options)
    except ValueError as error:
        return Record(line, why=str(error), end=end)
    if fields.get("visibility", "").startswith("{"):
        fields.pop("visibility")
    fields["metadata"] = {"imported": {"format": "csv"}}
    return Record(line, fields, identity=identity, end=end)


def _stated(cell: str, options: Options) -> str | None:
    """A cell's moment, also as a spreadsheet counts its days. Raises `ValueError`."""
    if re.fullmatch(r"\d{5}(\.\d+)?", cell) and SERIALS[0] <= float(cell) < SERIALS[1]:
        days, share = divmod(float(cell), 1)
        day = FIRST_DAY + timedelta(days=int(days))
        if not share:
            return day.isoformat()
        cell = (datetime.combine(day, time()) + timedelta(seconds=round(share * 86_400))).isoformat()
    return times.stated(times.written(cell, options.order), options.zone)


def guarded(cell: str) -> str:
    """A cell with an apostrophe before what a spreadsheet would run as a formula."""
    return f"'{cell}" if _RUNS.match(cell) else cell


def _unguarded(cell: str) -> str:
    """A cell without the apostrophe that `guarded` put there."""
    return cell[1:] if cell[:1] == "'" and _RUNS.match(cell[1:]) else cell
