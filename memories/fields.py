"""Database expressions over our JSON text columns that never raise on a bad row.

`json_each` and `json_extract` raise on malformed JSON, and SQLite may evaluate either side of an AND first;
so each expression guards its own argument. One bad row must not break everybody's query.
"""

import json
from typing import Any

from django.db import models
from django.db.models.expressions import Func, Value


class JSONValid(Func):
    """`json_valid(column)`, for CHECK constraints."""

    function = "json_valid"
    output_field = models.BooleanField()


class JSONOfType(Func):
    """Whether a text column holds JSON of one type (`array`, `object`); false when it is no JSON at all."""

    output_field = models.BooleanField()

    def __init__(self, column: str, json_type: str, **extra: Any) -> None:
        super().__init__(column, json_type=json_type, **extra)

    template = (
        "(CASE WHEN json_valid(%(expressions)s) THEN json_type(%(expressions)s) = '%(json_type)s' ELSE 0 END)"
    )


class Beginning(Func):
    """The first `length` characters of a column, written out: with a parameter SQLite would use no index of them."""

    output_field = models.TextField()
    template = "SUBSTR(%(expressions)s, 1, %(length)d)"

    def __init__(self, column: str, length: int, **extra: Any) -> None:
        super().__init__(column, length=length, **extra)


class MatchesGlob(Func):
    """`column GLOB 'pattern'`; NULL passes, as in every CHECK."""

    output_field = models.BooleanField()
    template = "(%(expressions)s GLOB '%(pattern)s')"

    def __init__(self, column: str, pattern: str, **extra: Any) -> None:
        super().__init__(column, pattern=pattern, **extra)


class JSONListContains(Func):
    """Whether the JSON array at `path` of a text column holds one of `values` (text, compared exactly).

    Parsing JSON is what costs, row by row; so a text is parsed only if it holds one of the values in quotes, or any
    escape (which may spell them otherwise).
    """

    output_field = models.BooleanField()
    conditional = True

    def __init__(self, column: str, path: str, values: list[str]) -> None:
        quoted = [Value(f'"{value}"') for value in sorted(values)]
        super().__init__(column, Value(path), Value(json.dumps(sorted(values))), *quoted)

    def as_sql(self, compiler: Any, connection: Any, *args: Any, **extra: Any) -> Any:
        (column, column_params), (path, path_params), (wanted, wanted_params), *quoted = (
            compiler.compile(source) for source in self.source_expressions
        )
        found = " OR ".join(f"instr({column}, {needle}) > 0" for needle, _ in [(r"'\'", ()), *quoted])
        sql = (
            f"(({found}) AND EXISTS ("
            f"SELECT 1 FROM json_each(CASE WHEN json_valid({column}) THEN {column} ELSE '{{}}' END, {path})"
            f" AS entry WHERE entry.type = 'text' AND entry.value IN (SELECT value FROM json_each({wanted}))))"
        )
        needles = [one for _, params in quoted for one in (*column_params, *params)]
        return sql, (*column_params, *needles, *column_params, *column_params, *path_params, *wanted_params)


class Fixed(Func):
    """A fixed SQL expression over columns of the same table, for generated columns."""

    output_field = models.TextField()

    def __init__(self, sql: str, **extra: Any) -> None:
        super().__init__(**extra)
        self.sql = sql

    def as_sql(self, compiler: Any, connection: Any, *args: Any, **extra: Any) -> Any:
        return self.sql, ()

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return "memories.fields.Fixed", [self.sql], {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fixed) and other.sql == self.sql

    def __hash__(self) -> int:
        return hash(self.sql)


def read_json(text: str | None, expected: type, default: Any) -> Any:
    """The value of a JSON text column, or `default` when it is malformed or of another type."""
    try:
        value = json.loads(text or "")
    except ValueError:
        return default
    return value if isinstance(value, expected) else default


def dump_json(value: Any) -> str:
    """JSON as we store it: UTF-8 as it is, keys in a fixed order."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
