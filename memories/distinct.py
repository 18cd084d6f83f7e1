"""Which scenarios, holders … a viewer's readable memories have, and about how many each, without reading them all.

`facets` counts exactly and reads every readable row for it; a list over half a million memories cannot wait for that.
Here each value costs a step in an index and one look for a readable row that has it; counts stop at a bound.
"""

import json
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models.expressions import RawSQL

from memories.models import Atom
from memories.visibility import AtomQuerySet, Viewer, readable_sql

COLUMNS = ("scenario", "holder_id", "source", "source_id")  # each has an index that begins with it
ENOUGH = 1_000


def distinct_values(viewer: Viewer, column: str, *, limit: int = 50) -> list[str]:
    """The values of an indexed column among the viewer's readable atoms, sorted; "" and NULL are left out."""
    try:
        sql, params = _readable_with(viewer, column, "found.value")
    except EmptyResultSet:
        return []
    return [
        value
        for (value,) in _rows(
            f"""
            WITH RECURSIVE found(value) AS (
                SELECT min({column}) FROM atoms WHERE {column} > ''
                UNION ALL
                SELECT (SELECT min({column}) FROM atoms WHERE {column} > found.value) FROM found
                WHERE found.value IS NOT NULL
            )
            SELECT value FROM found WHERE value IS NOT NULL AND EXISTS ({sql}) LIMIT %s
            """,
            [*params, limit],
        )
    ]


def counts_of(viewer: Viewer, column: str, values: Sequence[str], *, enough: int = ENOUGH) -> dict[str, int]:
    """How many readable atoms have each of these values; `enough` stands for that many or more. One query."""
    try:
        sql, params = _readable_with(viewer, column, "wanted.value")
    except EmptyResultSet:
        return dict.fromkeys(values, 0)
    return dict(
        _rows(
            f"""
            SELECT wanted.value, (SELECT count(*) FROM ({sql} LIMIT %s))
            FROM json_each(%s) AS wanted
            """,
            [*params, enough, json.dumps(list(values))],
        )
    )


def _readable_with(viewer: Viewer, column: str, value: str) -> tuple[str, tuple[Any, ...]]:
    """SQL of the readable atoms whose `column` is an outer query's `value`. Raises `EmptyResultSet`."""
    if column not in COLUMNS:
        raise ValueError(column)
    name = "source_ref" if column == "source_id" else column
    return readable_sql(Atom.objects.visible_to(viewer).filter(**{name: RawSQL(value, [])}))  # noqa: S611  (a column of ours)


def _rows(sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return list(cursor.fetchall())


def event_dates(atoms: AtomQuerySet, width: int, *, limit: int = 40) -> list[str]:
    """The years (`width` 4), months (7) or days (10) in which something among `atoms` happened, latest first.

    One step in the index of event times a date, whatever the number of events.
    """
    earlier = atoms.filter(event_time__lt=RawSQL("found.value", []))
    try:
        sql, params = earlier.order_by("-event_time").values("event_time")[:1].query.sql_with_params()
    except EmptyResultSet:
        return []
    return [
        date
        for (date,) in _rows(
            f"""
            WITH RECURSIVE found(value) AS (
                SELECT '~' UNION ALL SELECT substr(({sql}), 1, %s) FROM found WHERE found.value IS NOT NULL
            )
            SELECT value FROM found WHERE value IS NOT NULL AND value <> '~' LIMIT %s
            """,
            [*params, width, limit],
        )
    ]
