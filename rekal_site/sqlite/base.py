"""A thin subclass of Django's SQLite backend that runs on pysqlite3 instead of the interpreter's own module.

Many Pythons (pyenv's, macOS's) are built without loadable extensions, so their `sqlite3` can never load
sqlite-vec; pysqlite3 ships its own recent SQLite with FTS5 in the wheel. Only what names the driver is overridden.
"""

import datetime
import decimal
from typing import Any

import sqlite_vec
from django.db.backends.sqlite3 import base as django_sqlite
from django.db.backends.sqlite3._functions import register as register_django_functions
from django.db.backends.sqlite3.features import DatabaseFeatures as DjangoFeatures
from django.utils.dateparse import parse_date, parse_datetime, parse_time
from pysqlite3 import dbapi2 as Database  # noqa: N812  (Django's own name for a driver)

from memories.text import index_text

BUSY_TIMEOUT_MS = 20_000

PRAGMAS = f"""
    PRAGMA busy_timeout = {BUSY_TIMEOUT_MS};
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA foreign_keys = ON;
    PRAGMA legacy_alter_table = OFF;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -32000;
"""

Database.register_converter("bool", b"1".__eq__)
Database.register_converter("date", django_sqlite.decoder(parse_date))
Database.register_converter("time", django_sqlite.decoder(parse_time))
Database.register_converter("datetime", django_sqlite.decoder(parse_datetime))
Database.register_converter("timestamp", django_sqlite.decoder(parse_datetime))
Database.register_adapter(decimal.Decimal, str)
Database.register_adapter(datetime.date, django_sqlite.adapt_date)
Database.register_adapter(datetime.datetime, django_sqlite.adapt_datetime)


def prepare(connection: Any) -> None:
    """Make a raw pysqlite3 connection one of ours: sqlite-vec, `index_text` and the pragmas."""
    connection.enable_load_extension(True)
    try:
        sqlite_vec.load(connection)
    finally:
        connection.enable_load_extension(False)
    connection.create_function("index_text", 1, index_text, deterministic=True)
    for pragma in PRAGMAS.strip().split(";"):
        if pragma.strip():
            connection.execute(pragma)


class Cursor(Database.Cursor):  # type: ignore[misc]
    """Translate Django's `%s` placeholders to SQLite's `?`, as Django's own cursor does for the other driver."""

    def execute(self, query: str, params: Any = None) -> Any:
        if params is None:
            return super().execute(query)
        names = list(params) if hasattr(params, "keys") else None
        return super().execute(self._converted(query, names), params)

    def executemany(self, query: str, param_list: Any) -> Any:
        rows = list(param_list)
        names = list(rows[0]) if rows and hasattr(rows[0], "keys") else None
        return super().executemany(self._converted(query, names), rows)

    @staticmethod
    def _converted(query: str, names: list[str] | None) -> str:
        if names is None:
            return django_sqlite.FORMAT_QMARK_REGEX.sub("?", query).replace("%%", "%")
        return query % {name: f":{name}" for name in names}


class DatabaseFeatures(DjangoFeatures):
    """What depends on the driver's SQLite, stated for pysqlite3's (3.53)."""

    max_query_params = 32_766  # SQLITE_MAX_VARIABLE_NUMBER's default; pysqlite3 has no getlimit
    can_alter_table_drop_column = True
    can_return_columns_from_insert = True
    can_return_rows_from_bulk_insert = True
    supports_any_value = False


class DatabaseWrapper(django_sqlite.DatabaseWrapper):
    """The backend Django loads for `ENGINE = "rekal_site.sqlite"`."""

    Database = Database
    features_class = DatabaseFeatures

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = Database.connect(**conn_params)
        register_django_functions(connection)
        prepare(connection)
        return connection

    def create_cursor(self, name: str | None = None) -> Any:
        return self.connection.cursor(factory=Cursor)
