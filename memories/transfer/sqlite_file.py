"""Reading somebody else's SQLite file without changing a byte of it.

`immutable=1` keeps SQLite from writing journals beside it, and from reading one: a file with an unfinished
write-ahead log is copied with its log to a temporary folder first, so that the last rows are not missed.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pysqlite3 import dbapi2 as sqlite

from memories.errors import Invalid

MAGIC = b"SQLite format 3\x00"


class SQLiteFile:
    """An open foreign file: which tables and columns it has, and rows as dictionaries, as they come."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.connection.row_factory = sqlite.Row
        self.connection.text_factory = lambda content: content.decode("utf-8", "replace")

    @property
    def user_version(self) -> int:
        return int(self.connection.execute("PRAGMA user_version").fetchone()[0])

    def columns(self, table: str) -> set[str]:
        """The columns of a table; none when there is no such table. A view is none: reading one may never end."""
        rows = self.connection.execute(
            """
            SELECT name FROM pragma_table_info(?)
            WHERE EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE)
            """,
            [table, table],
        )
        return {row[0] for row in rows}

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> Iterator[dict[str, Any]]:
        """The rows of a query, one by one."""
        for row in self.connection.execute(sql, parameters):
            yield dict(row)

    def table(self, name: str, order: str = "rowid") -> Iterator[dict[str, Any]]:
        """All rows of a table; none when there is no such table."""
        if not self.columns(name):
            return iter(())
        return self.rows(f'SELECT * FROM "{name}" ORDER BY {order}')


@contextmanager
def opened(path: Path) -> Iterator[SQLiteFile]:
    """The file, read only. Raises `Invalid` when SQLite cannot read it."""
    with tempfile.TemporaryDirectory(prefix="rekal-import-") as folder:
        readable, mode = _settled(path, Path(folder))
        connection = None
        try:
            connection = sqlite.connect(f"file:{quote(str(readable))}?{mode}", uri=True)
            yield SQLiteFile(connection)
        except sqlite.DatabaseError as error:
            raise Invalid(f"{path.name} cannot be read as a SQLite file ({error}).", "path") from None
        finally:
            if connection is not None:
                connection.close()


def _settled(path: Path, folder: Path) -> tuple[Path, str]:
    log = path.with_name(f"{path.name}-wal")
    if not log.exists() or log.stat().st_size == 0:
        return path.absolute(), "mode=ro&immutable=1"
    copy = folder / "store.db"
    shutil.copyfile(path, copy)
    shutil.copyfile(log, copy.with_name("store.db-wal"))
    return copy, "mode=rw"


def has_columns(path: Path, head: bytes, table: str, *wanted: str) -> bool:
    """Whether it is a SQLite file with such a table."""
    if not head.startswith(MAGIC):
        return False
    with opened(path) as file:
        return set(wanted) <= file.columns(table)
