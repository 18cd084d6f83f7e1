"""Figures for the curators' front page: counted inside what one viewer may read; the cache's are of the machine."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection

from memories import timestamps
from memories.models import Atom
from memories.visibility import Viewer, readable_sql

MONTHS = 12
SCENARIOS = 12


@dataclass(frozen=True, slots=True)
class Figures:
    """`growth`: (month, written in it), oldest first. `states`: (state, memories). `coverage`: (scenario, memories)."""

    growth: tuple[tuple[str, int], ...] = ()
    states: tuple[tuple[str, int], ...] = ()
    coverage: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class CacheRate:
    """How often one layer of the embedding cache had a vector on one day; `rate` is 0 to 1."""

    day: str
    layer: str
    hits: int
    misses: int

    @property
    def rate(self) -> float:
        """Hits as a share of all look-ups."""
        return self.hits / (self.hits + self.misses) if self.hits + self.misses else 0.0

    @property
    def percent(self) -> int:
        """The rate in whole per cent."""
        return round(100 * self.rate)


def figures(viewer: Viewer) -> Figures:
    """Growth by month, states and coverage by scenario of the viewer's readable memories, in one pass over them."""
    now = timestamps.now()
    try:
        sql, params = readable_sql(Atom.objects.visible_to(viewer))
    except EmptyResultSet:
        return Figures()
    rows = _rows(
        f"""
        SELECT substr(ingested_at, 1, 7), scenario,
               CASE WHEN retention_until < %s THEN 'lapsed' WHEN valid_to <= %s THEN 'closed'
                    WHEN valid_from > %s THEN 'not yet' ELSE 'current' END AS state,
               count(*)
        FROM atoms WHERE id IN ({sql}) GROUP BY 1, 2, 3
        """,
        [now, now, now, *params],
    )
    return Figures(
        growth=tuple(sorted(_summed(rows, 0).items())[-MONTHS:]),
        states=_largest_first(_summed(rows, 2)),
        coverage=_largest_first(_summed([row for row in rows if row[2] == "current"], 1))[:SCENARIOS],
    )


def _summed(rows: list[tuple[Any, ...]], column: int) -> dict[str, int]:
    sums: dict[str, int] = {}
    for row in rows:
        sums[str(row[column])] = sums.get(str(row[column]), 0) + int(row[3])
    return sums


def _largest_first(sums: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(sums.items(), key=lambda pair: (-pair[1], pair[0])))


def cache_rates(*, days: int) -> list[CacheRate]:
    """Hits and misses of each layer and day (UTC), newest day first."""
    rows = _rows(
        """
        SELECT substr(ts, 1, 10), layer,
               sum(CASE event WHEN 'hit' THEN number ELSE 0 END), sum(CASE event WHEN 'miss' THEN number ELSE 0 END)
        FROM (
            SELECT ts, layer, event,
                   coalesce(CASE WHEN json_valid(metadata_json) THEN metadata_json ->> '$.count' END, 1) AS number
            FROM cache_events WHERE event IN ('hit', 'miss')
        )
        GROUP BY 1, 2 ORDER BY 1 DESC, 2
        """,
        [],
    )
    newest = sorted({row[0] for row in rows}, reverse=True)[:days]
    return [CacheRate(*row) for row in rows if row[0] in newest]


def _rows(sql: str, params: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return list(cursor.fetchall())
