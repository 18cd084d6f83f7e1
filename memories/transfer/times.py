"""Times as other programs write them, turned into text that `timestamps` reads.

Stores mix ISO text with and without an offset, SQLite's `YYYY-MM-DD HH:MM:SS` (which is UTC) and epochs in seconds,
milliseconds, microseconds or nanoseconds; the magnitude tells which.
"""

import re
from datetime import UTC, datetime, tzinfo
from email.utils import parsedate_to_datetime

from memories import timestamps

_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_WRITTEN = re.compile(
    r"(?P<a>\d{1,4})(?P<mark>[./年-])\s?(?P<b>\d{1,2})[./月-]\s?(?P<c>\d{1,4})日?"
    r"(?:,?\s+(?P<clock>\d{1,2}:\d{2}(?::\d{2})?)\s*(?P<half>[AaPp]\.?\s?[Mm]\.?)?)?"
)
_DATE = re.compile(r"\d{4}(-\d{1,2}(-\d{1,2})?)?")
EPOCH_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (0, 1))  # from this magnitude on: units a second


def stated(value: object, zone: tzinfo = UTC) -> str | None:
    """A moment as store text, or a bare date as it is; None for nothing.

    A time without an offset is in `zone`: UTC where stores write SQLite's clock. Raises `ValueError` with a sentence.
    """
    if value is None or value == "":
        return None
    text = written(str(value).strip())
    if _DATE.fullmatch(text) and "-" in text:
        return text
    try:
        if _NUMBER.fullmatch(text):
            return _year(text) or epoch(float(text))
        return timestamps.to_text(_moment(text, zone))
    except (ValueError, OverflowError, OSError, IndexError, TypeError):
        raise ValueError(f"“{text[:40]}” is not a time that can be read.") from None


def written(text: str, order: str = "") -> str:
    """`31.12.2025`, `12/31/2025 6:30 PM`, `2025年12月31日` as ISO text; what is written otherwise as it is.

    `order` is that of a date with slashes or hyphens, `dmy` or `mdy`. Raises `ValueError` when it would be a guess.
    """
    if not (found := _WRITTEN.fullmatch(text)):
        return text
    year, month, day = _parts(found, order)
    date = f"{year:04}-{month:02}-{day:02}"
    if not found["clock"]:
        return date
    hour, _, rest = found["clock"].partition(":")
    half = (found["half"] or "").lower()
    number = int(hour) % 12 + 12 * half.startswith("p") if half else int(hour)
    return f"{date}T{number:02}:{rest}"


def _parts(found: re.Match[str], order: str) -> tuple[int, int, int]:
    a, b, c = (int(found[one]) for one in "abc")
    if len(found["a"]) == 4:
        return a, b, c
    day_first = a > 12 or found["mark"] == "." or order == "dmy"
    if not day_first and b <= 12 and a != b and order != "mdy":
        raise ValueError(f"“{found[0][:40]}” may be two days; say the order with --date-order.")
    year = c if c >= 100 else c + (2000 if c < 70 else 1900)
    return (year, b, a) if day_first else (year, a, b)


def epoch(number: float) -> str:
    """Seconds, milliseconds, microseconds or nanoseconds since 1970 as store text."""
    unit = next(per_second for least, per_second in EPOCH_UNITS if abs(number) >= least)
    return timestamps.to_text(datetime.fromtimestamp(number / unit, UTC))


def _year(text: str) -> str | None:
    return text if len(text) == 4 and text[:2] in ("19", "20") else None


def _moment(text: str, zone: tzinfo) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = _loosely(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _loosely(text: str) -> datetime:
    """`2026-01-02 03:04:05 UTC`, `… +0000`, and the dates of mail."""
    tidy = re.sub(r"\s*(UTC|GMT|Z)$", "+00:00", text)
    tidy = re.sub(r"\s+(?=[+-]\d{2}:?\d{2}$)", "", tidy)
    try:
        return datetime.fromisoformat(tidy)
    except ValueError:
        return parsedate_to_datetime(text)
