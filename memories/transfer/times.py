"""Times as other programs write them, turned into text that `timestamps` reads.

Stores mix ISO text with and without an offset, SQLite's `YYYY-MM-DD HH:MM:SS` (which is UTC) and epochs in seconds,
milliseconds, microseconds or nanoseconds; the magnitude tells which.
"""

import re
from datetime import UTC, datetime, tzinfo
from email.utils import parsedate_to_datetime

from memories import timestamps

_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_DATE = re.compile(r"\d{4}(-\d{1,2}(-\d{1,2})?)?")
EPOCH_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (0, 1))  # from this magnitude on: units a second


def stated(value: object, zone: tzinfo = UTC) -> str | None:
    """A moment as store text, or a bare date as it is; None for nothing.

    A time without an offset is in `zone`: UTC where stores write SQLite's clock. Raises `ValueError` with a sentence.
    """
    if value is None or value == "":
        return None
    text = str(value).strip()
    if _DATE.fullmatch(text) and "-" in text:
        return text
    try:
        if _NUMBER.fullmatch(text):
            return _year(text) or epoch(float(text))
        return timestamps.to_text(_moment(text, zone))
    except (ValueError, OverflowError, OSError, IndexError, TypeError):
        raise ValueError(f"“{text[:40]}” is not a time that can be read.") from None


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
