"""Dates named in a question ("on May 4th", "in July 2023", "5月2日", "el 2 de mayo") and how near an event is to them.

Only what is written is read: a month without a year is that month of any year, so "last May" prefers no year
and the newest breaks the tie. Month names of English, French, German, Italian, Spanish, Portuguese, Dutch,
Russian, Turkish, Arabic, Thai and Hindi; numerals with 年月日 / 년월일; ISO dates; bare years 1900 to 2099.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

NEAR_DAYS = 14
HALF_DAYS = 3
FOLLOWING_MONTH = 0.3

_MONTH_NAMES = (
    "january janvier enero gennaio janeiro januar januari январ\\w* ocak يناير มกราคม जनवरी jan",
    "february février fevrier febrero febbraio fevereiro februar februari феврал\\w* şubat فبراير กุมภาพันธ์ फ़रवरी feb",
    "march mars marzo março märz maart март\\w* mart مارس มีนาคม मार्च mar",
    "april avril abril aprile апрел\\w* nisan أبريل เมษายน अप्रैल apr",
    "may mai mayo maggio maio mei мая май mayıs مايو พฤษภาคม मई",
    "june juin junio giugno junho juni июн\\w* haziran يونيو มิถุนายน जून jun",
    "july juillet julio luglio julho juli июл\\w* temmuz يوليو กรกฎาคม जुलाई jul",
    "august août aout agosto augustus augusti август\\w* ağustos أغسطس สิงหาคม अगस्त aug",
    "september septembre septiembre settembre setembro сентябр\\w* eylül سبتمبر กันยายน सितंबर sept sep",
    "october octobre octubre ottobre outubro oktober октябр\\w* ekim أكتوبر ตุลาคม अक्टूबर oct okt",
    "november novembre noviembre novembro ноябр\\w* kasım نوفمبر พฤศจิกายน नवंबर nov",
    "december décembre diciembre dicembre dezembro dezember декабр\\w* aralık ديسمبر ธันวาคม दिसंबर dec dez",
)
_MONTH = "|".join(
    f"(?P<m{number}>{'|'.join(names.split())})" for number, names in enumerate(_MONTH_NAMES, start=1)
)
_YEAR = r"(?:19|20)\d\d"
_NAMED = re.compile(
    r"(?<!\w)(?:(?P<before>\d{1,2})(?:st|nd|rd|th|er|[.ºª])?\s*(?:of |de |d')?\s*)?"
    rf"(?:{_MONTH})(?!\w)\.?"
    r"(?:\s*(?:the )?(?P<after>\d{1,2})(?!\d|[.:]\d)(?:st|nd|rd|th)?)?"
    rf"(?:\s*,?\s*(?:of |de |del )?(?P<year>{_YEAR}))?",
    re.IGNORECASE,
)
_ISO = re.compile(rf"(?<!\d)(?P<year>{_YEAR})-(?P<month>\d{{1,2}})(?:-(?P<day>\d{{1,2}}))?(?!\d)")
_NUMERALS = re.compile(
    rf"(?:(?P<year>{_YEAR})\s*[年년]\s*)?(?<!\d)(?P<month>\d{{1,2}})\s*[月월](?:\s*(?P<day>\d{{1,2}})\s*[日号號일])?"
)
_BARE_YEAR = re.compile(rf"(?<![\w-]){_YEAR}(?![\w-])|(?<!\d){_YEAR}(?=\s*[年년])")
# Also ordinary words or names: read as months only after a word that asks for a time.
_AMBIGUOUS = frozenset(
    (
        "may",
        "march",
        "mar",
        "mars",
        "mart",
        "mai",
        "mayo",
        "mei",
        "ocak",
        "jun",
        "jan",
        "dec",
        "ekim",
        "nisan",
    )
)
_ASKS_TIME = re.compile(
    r"\b(?:in|last|this|next|since|on|of|during|early|late|mid|by|until|every|before|after|past|en|au|im|em|de)\s+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date as written: the parts nobody named are None (`month` is never None where `day` is given)."""

    year: int | None
    month: int | None = None
    day: int | None = None

    def nearness(self, event_time: str) -> float:
        """0..1: how well an event (ISO text, its first ten characters are read) agrees; 0 for bad dates.

        A day: 1 on that day, halved `HALF_DAYS` away, 0 beyond `NEAR_DAYS` (people tell things days later).
        A month: 1 inside, `FOLLOWING_MONTH` in the one after. A year: 1 inside.
        """
        try:
            event = date.fromisoformat(event_time[:10])
        except ValueError:
            return 0.0
        if self.month is None:
            return float(event.year == self.year)
        if self.day is None:
            return self._month_nearness(event)
        years = (self.year,) if self.year else (event.year - 1, event.year, event.year + 1)
        return max(self._day_nearness(event, year) for year in years)

    def _month_nearness(self, event: date) -> float:
        later = event.month - (self.month or 0)
        later = later + 12 * (event.year - self.year) if self.year else later % 12
        return {0: 1.0, 1: FOLLOWING_MONTH}.get(later, 0.0)

    def _day_nearness(self, event: date, year: int) -> float:
        try:
            days = abs((event - date(year, self.month or 1, self.day or 1)).days)
        except ValueError:
            return 0.0
        return HALF_DAYS / (HALF_DAYS + days) if days <= NEAR_DAYS else 0.0


def named_dates(question: str) -> tuple[PartialDate, ...]:
    """The dates a question names, each once; () for most questions."""
    found: list[PartialDate] = []
    rest = question
    for pattern in (_ISO, _NUMERALS, _NAMED):
        matches = [(match, _read(match)) for match in pattern.finditer(rest)]
        found += [read for _, read in matches if read]
        for match, read in reversed(matches):
            if read:
                rest = f"{rest[: match.start()]}, {rest[match.end() :]}"
    found += [PartialDate(int(match[0])) for match in _BARE_YEAR.finditer(rest)]
    return tuple(dict.fromkeys(found))


def _read(match: re.Match[str]) -> PartialDate | None:
    """The date a match stands for, None for impossible numbers and for "may" or "march" as plain words."""
    groups = match.groupdict()
    if "month" in groups:
        month, day = int(groups["month"]), groups["day"]
    else:
        month = next(number for number in range(1, 13) if groups[f"m{number}"])
        day = groups["before"] or groups["after"]
        alone = match[0].strip(" .").casefold() in _AMBIGUOUS
        if alone and not _ASKS_TIME.search(match.string[: match.start()]):
            return None
    if not 1 <= month <= 12 or (day and not 1 <= int(day) <= 31):
        return None
    return PartialDate(int(groups["year"]) if groups["year"] else None, month, int(day) if day else None)
