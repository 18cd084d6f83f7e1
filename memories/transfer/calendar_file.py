"""iCalendar: an event a memory, with its day or its moment; all-day events keep their date in every zone."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from icalendar import Calendar

from memories.transfer import files
from memories.transfer.records import Options, Record

LONGEST = 20_000  # lines of one event
KINDS = {"VEVENT": "", "VTODO": "To do: ", "VJOURNAL": ""}


def recognises(_: Path, head: bytes) -> bool:
    """A calendar begins it."""
    return files.text_of(head[:200], cut=True).lstrip().upper().startswith("BEGIN:VCALENDAR")


def read(path: Path, options: Options) -> Iterator[Record]:
    """A record an event; `line` is where it begins."""
    with files.opened(path) as file:
        for line, text in _components(file):
            try:
                found = [one for one in Calendar.from_ical(text).walk() if one.name in KINDS]
                records = [_record(line, one, options.zone, file.tell()) for one in found]
            except Exception as error:  # noqa: BLE001  (the parser lets many kinds of faults through)
                records = [
                    Record(line, why=f"The event cannot be read ({type(error).__name__}).", end=file.tell())
                ]
            yield from records


def _components(file: Any) -> Iterator[tuple[int, str]]:
    """Each event as a calendar of its own, with the time zones that the file declared before it."""
    zones: list[str] = []
    held: list[str] = []
    inside, start = "", 0
    for number, line in enumerate(files.text_lines(file), start=1):
        name = line.strip().upper().removeprefix("BEGIN:").removeprefix("END:")
        if not inside and line.upper().startswith("BEGIN:") and name in (*KINDS, "VTIMEZONE"):
            inside, held, start = name, [], number
        if inside and len(held) < LONGEST:
            held.append(line)
        if inside and line.strip().upper() == f"END:{inside}":
            if inside == "VTIMEZONE":
                zones += held
            else:
                yield (
                    start,
                    "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", *zones, *held, "END:VCALENDAR", ""]),
                )
            inside = ""


def _record(line: int, event: Any, zone: tzinfo, end: int) -> Record:
    summary = _text(event, "SUMMARY")
    if _text(event, "STATUS").upper() == "CANCELLED":
        return Record(line, why="The event was cancelled.", end=end)
    begin = _moment(event, "DTSTART") or _moment(event, "DUE")
    if not (summary or _text(event, "DESCRIPTION")):
        return Record(line, why="The event says nothing.", end=end)
    fields: dict[str, Any] = {
        "text": KINDS[event.name] + _said(event, summary),
        "tags": _categories(event),
        "metadata": {"imported": {"format": "icalendar", "uid": _text(event, "UID")}},
    }
    if begin is not None:
        fields |= _when(begin, _finish(event, begin), zone)
    if (created := _moment(event, "CREATED")) is not None:
        fields["created_at"] = _stated(created, zone)
    identity = f"{_text(event, 'UID')}\n{_text(event, 'RECURRENCE-ID')}".strip()
    return Record(line, fields, identity=identity, end=end)


def _said(event: Any, summary: str) -> str:
    parts = [
        summary,
        _text(event, "LOCATION") and f"Where: {_text(event, 'LOCATION')}",
        _text(event, "DESCRIPTION"),
    ]
    if rule := event.get("RRULE"):
        parts.append(f"Repeats: {str(rule.get('FREQ', [''])[0]).lower()}")
    return "\n".join(part for part in parts if part)


def _text(event: Any, key: str) -> str:
    value = event.get(key)
    if isinstance(value, list):
        value = value[0]
    moment = getattr(value, "dt", None)
    return str(moment if moment is not None else value or "").strip()


def _categories(event: Any) -> list[str]:
    found = event.get("CATEGORIES") or []
    groups = found if isinstance(found, list) else [found]
    return [str(one) for group in groups for one in getattr(group, "cats", [])][:40]


def _moment(event: Any, key: str) -> date | datetime | None:
    value = event.get(key)
    moment = getattr(value, "dt", None)
    return moment if isinstance(moment, date) else None


def _finish(event: Any, begin: date | datetime) -> date | datetime | None:
    end = _moment(event, "DTEND")
    duration = getattr(event.get("DURATION"), "dt", None)
    if end is None and isinstance(duration, timedelta):
        end = begin + duration
    if end is None or isinstance(end, datetime) != isinstance(begin, datetime):
        return None
    return (
        end if isinstance(end, datetime) else end - timedelta(days=1)
    )  # an all-day event's end is the day after


def _when(begin: date | datetime, finish: date | datetime | None, zone: tzinfo) -> dict[str, Any]:
    """The event's columns; a date stays a date."""
    starts = _stated(begin, zone)
    ends = _stated(finish, zone) if finish is not None else None
    if ends is not None and ends <= starts:
        ends = None
    precision = "minute" if isinstance(begin, datetime) else "day"
    return {"event_time": starts, "event_time_end": ends, "event_time_precision": precision}


def _stated(moment: date | datetime, zone: tzinfo) -> str:
    if not isinstance(moment, datetime):
        return moment.isoformat()
    aware = moment if moment.tzinfo else moment.replace(tzinfo=zone)  # floating: the household's own clock
    return aware.astimezone(UTC).isoformat()
