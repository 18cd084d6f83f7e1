"""Moments as the store keeps them: UTC text `YYYY-MM-DDTHH:MM:SS.mmm+00:00`, always 29 characters.

They are compared as text (in SQL too), so every writer goes through `to_text`. A date without a time keeps
its date everywhere: it is stored as that date's midnight in UTC with precision `day`, and shown without a zone.
"""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

WIDTH = 29
GLOB = "[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]+00:00"
_PARTIAL = re.compile(r"^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?$")


class UnreadableTime(ValueError):
    """A time that cannot be read; the message is a sentence that says what to write instead."""


def now() -> str:
    """This moment as store text."""
    return to_text(datetime.now(UTC))


def to_text(moment: datetime) -> str:
    """An aware datetime as store text (milliseconds, UTC)."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def from_text(text: str) -> datetime:
    """Store text as an aware datetime in UTC."""
    return datetime.fromisoformat(text)


def parse(value: str, zone: ZoneInfo) -> tuple[str, str]:
    """Read what a person or a program wrote: `(store text, precision)`.

    `2026`, `2026-07` and `2026-07-19` keep their date (midnight UTC; precision year, month, day). A time
    without an offset is in `zone`. Raises `UnreadableTime`.
    """
    text = value.strip()
    if partial := _PARTIAL.match(text):
        return _parse_partial(text, partial)
    return to_text(_parse_instant(text, zone)), "instant" if re.search(r":\d\d:\d\d", text) else "minute"


def parse_moment(value: str, zone: ZoneInfo, *, end_of_day: bool = False) -> str:
    """Read a bound such as `valid_from` or `as_of`: store text.

    A bare date is that day's beginning in `zone`, or its last millisecond with `end_of_day`.
    """
    text = value.strip()
    if not (partial := _PARTIAL.match(text)):
        return to_text(_parse_instant(text, zone))
    stored, precision = _parse_partial(text, partial)
    local = from_text(stored).replace(tzinfo=zone)
    if not end_of_day:
        return to_text(local)
    return to_text(_next(local, precision) - timedelta(milliseconds=1))


def date_of(text: str, zone: ZoneInfo) -> str:
    """Store text cut to its date (midnight UTC): as it stands when it is one already, else the date in `zone`."""
    if text.endswith("T00:00:00.000+00:00"):
        return text
    return f"{from_text(text).astimezone(zone).date().isoformat()}T00:00:00.000+00:00"


def _next(start: datetime, precision: str) -> datetime:
    """The beginning of the following day, month or year, on the wall clock."""
    if precision == "day":
        return start + timedelta(days=1)
    if precision == "month":
        return (start.replace(day=1) + timedelta(days=32)).replace(day=1)
    return start.replace(year=start.year + 1)


def _parse_partial(text: str, match: re.Match[str]) -> tuple[str, str]:
    year, month, day = match.groups()
    try:
        moment = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    except ValueError:
        raise UnreadableTime(
            f"“{text[:40]}” is not a date on the calendar; write it as 2026-07-19."
        ) from None
    return to_text(moment), "day" if day else "month" if month else "year"


def _parse_instant(text: str, zone: ZoneInfo) -> datetime:
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00") if text.endswith("Z") else text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UnreadableTime(
            f"“{text[:40]}” is not a time I can read; write 2026-07-19 or 2026-07-19T18:30."
        ) from None
