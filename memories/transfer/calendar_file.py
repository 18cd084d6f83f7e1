"""iCalendar: an event a memory, with its day or its moment; all-day events keep their date in every zone."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from icalendar import Calendar
from icalendar.timezone import tzp

from memories.encodings import text_lines, text_of
from memories.transfer import files
from memories.transfer.records import Options, Record

LONGEST = 20_000  # lines of one event
CUT_SHORT = ""  # the kind of what has no end
MOST_EXCEPTIONS = 20
RULES = {"BYDAY": "on", "BYMONTHDAY": "on day", "BYMONTH": "in month"}
KINDS = {"VEVENT": "", "VTODO": "To do: ", "VJOURNAL": ""}


def recognises(path: Path, head: bytes) -> bool:
    """A calendar begins it, or a file of the folder or zip: Google gives a zip of calendars."""
    return _begins(head) or files.any_begins(path, _begins, ".ics", ".ical")


def _begins(head: bytes) -> bool:
    return text_of(head[:200], cut=True).lstrip().upper().startswith("BEGIN:VCALENDAR")


def read(path: Path, options: Options) -> Iterator[Record]:
    """A record an event; `line` is where it begins in its file."""
    with files.pieces(path, ".ics", ".ical") as found:
        for piece in found:
            with piece.open() as file:
                yield from _of_file(file, options)


def _of_file(file: Any, options: Options) -> Iterator[Record]:
    tzp.use_default()  # forgets the zones other files declared: a name means what this file says
    zones = {
        _name(text): text for name, _, text in _blocks(file) if name == "VTIMEZONE"
    }  # some stand behind the events
    file.seek(0)
    for name, line, text in _blocks(file):
        if name == CUT_SHORT:
            yield Record(line, why="The file ends within it.", end=file.tell())
        if name not in KINDS:
            continue
        try:
            found = [one for one in _calendar(zones, text).walk() if one.name in KINDS]
            records = [_record(line, one, options.zone, file.tell()) for one in found]
        except Exception as error:  # noqa: BLE001  (the parser lets many kinds of faults through)
            why = f"The event cannot be read ({type(error).__name__})."
            records = [Record(line, why=why, end=file.tell())]
        yield from records


def _name(zone: str) -> str:
    """The name a time zone is declared by."""
    found = re.search(r"^TZID[^:\r\n]*:(.*)$", _unfolded(zone), re.MULTILINE | re.IGNORECASE)
    return found[1].strip() if found else ""


def _unfolded(text: str) -> str:
    return text.replace("\r\n ", "").replace("\r\n\t", "")


def _calendar(zones: Mapping[str, str], text: str) -> Any:
    """An event as a calendar of its own, with the time zones it names: reading a zone takes longer than an event."""
    whole = _unfolded(text) if "TZID" in text.upper() else ""
    named = [zone for name, zone in zones.items() if name in whole] if whole else []
    return Calendar.from_ical(
        "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", *named, text, "END:VCALENDAR", ""])
    )


def _blocks(file: Any) -> Iterator[tuple[str, int, str]]:
    """Each event and each time zone: its kind, the line it begins on, its lines."""
    held: list[str] = []
    inside, start = "", 0
    for number, line in enumerate(text_lines(file), start=1):
        name = line.strip().upper().removeprefix("BEGIN:").removeprefix("END:")
        if not inside and line.upper().startswith("BEGIN:") and name in (*KINDS, "VTIMEZONE"):
            inside, held, start = name, [], number
        if inside and len(held) < LONGEST:
            held.append(line)
        if inside and line.strip().upper() == f"END:{inside}":
            yield inside, start, "\r\n".join(held)
            inside = ""
    if inside:
        yield CUT_SHORT, start, ""


def _record(line: int, event: Any, zone: tzinfo, end: int) -> Record:
    summary = _text(event, "SUMMARY")
    if _text(event, "STATUS").upper() == "CANCELLED":
        return Record(line, why="The event was cancelled.", end=end)
    begin = _moment(event, "DTSTART") or _moment(event, "DUE")
    if not (summary or _text(event, "DESCRIPTION")):
        return Record(line, why="The event says nothing.", end=end)
    fields: dict[str, Any] = {
        "text": _kind(event) + _said(event, summary),
        "tags": _categories(event),
        "metadata": {"imported": {"format": "icalendar", "uid": _text(event, "UID")}},
    }
    if begin is not None:
        fields |= _when(begin, _finish(event, begin), zone)
    if (created := _moment(event, "CREATED")) is not None:
        fields["created_at"] = _stated(created, zone)
    # with the time it is at: an event that was moved since is news
    identity = (
        f"{_text(event, 'UID')}\n{_text(event, 'RECURRENCE-ID')}\n{begin or ''}"
        if _text(event, "UID")
        else ""
    )
    return Record(line, fields, identity=identity, end=end, note=_zone_note(event))


def _kind(event: Any) -> str:
    done = event.name == "VTODO" and _text(event, "STATUS").upper() == "COMPLETED"
    return "Done: " if done else KINDS[event.name]


def _zone_note(event: Any) -> str:
    """A sentence about a time zone that nobody knows: its times are read on the household's own clock."""
    stated = event.get("DTSTART") or event.get("DUE")
    moment, name = getattr(stated, "dt", None), getattr(stated, "params", {}).get("TZID")
    if not name or not isinstance(moment, datetime) or moment.tzinfo:
        return ""
    return f"Its time zone “{str(name)[:40]}” is not known; the household's was taken."


def _said(event: Any, summary: str) -> str:
    parts = [
        summary,
        _text(event, "LOCATION") and f"Where: {_text(event, 'LOCATION')}",
        _text(event, "DESCRIPTION"),
    ]
    rules = event.get("RRULE") or []
    parts += [f"Repeats: {_rule(one)}" for one in (rules if isinstance(rules, list) else [rules])]
    if skipped := _exceptions(event):
        parts.append(f"Not on: {', '.join(skipped)}")
    return "\n".join(part for part in parts if part)


def _rule(rule: Any) -> str:
    """`weekly, every 2, on MO WE, until 2026-12-31`: what the rule says, without its grammar."""
    stated = {
        key: [_plain(one) for one in rule.get(key, [])]
        for key in ("FREQ", "INTERVAL", *RULES, "COUNT", "UNTIL")
    }
    parts = [one.lower() for one in stated["FREQ"]]
    if (every := " ".join(stated["INTERVAL"])) not in ("", "1"):
        parts.append(f"every {every}")
    parts += [
        f"{word} {' '.join(stated[key])}".strip()
        for key, word in RULES.items()
        if stated[key] and word != "every"
    ]
    parts += [f"{one} times" for one in stated["COUNT"]] + [f"until {one}" for one in stated["UNTIL"]]
    return ", ".join(parts)


def _plain(value: Any) -> str:
    """A date of a rule as its day, everything else as it stands."""
    return value.isoformat()[:10] if isinstance(value, date) else str(value)


def _exceptions(event: Any) -> list[str]:
    """The days a repeated event does not take place, as far as there is room to name them."""
    stated = event.get("EXDATE") or []
    groups = stated if isinstance(stated, list) else [stated]
    days = [_plain(one.dt) for group in groups for one in getattr(group, "dts", [])]
    return list(dict.fromkeys(days))[:MOST_EXCEPTIONS]


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
