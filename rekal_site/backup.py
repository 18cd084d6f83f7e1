"""Copies of a store: made while it is in use, believed only after they were opened and checked, put back with care.

A backup is one SQLite file (SQLite's online backup, one consistent moment) and, where the store has sources, the
folder `<backup>.sources` beside it. The secret that signs sessions is not in it: after a restore on a new machine
everybody signs in anew.
"""

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pysqlite3 import dbapi2 as sqlite

from memories import checks, source_files, store_file
from memories.errors import Conflict, Invalid, RekalError
from memories.store_file import StoreFile
from rekal_site.sqlite.base import prepare

STAMP = "%Y%m%dT%H%M%SZ"
NAMED = re.compile(r"rekal-(\d{8}T\d{6}Z)(-\d+)?\.db")
SOURCES = ".sources"
LOGS = ("-wal", "-shm", "-journal")

Progress = Callable[[int, int], None]


class Unsound(RekalError):
    """A copy that did not pass its checks; the message says which."""


@dataclass(frozen=True, slots=True)
class BackedUp:
    """A verified backup: where, how large, how many rows each table has, and how many source files lie beside it."""

    path: str
    size_bytes: int
    memories: int
    rows: dict[str, int]
    sources: int
    seconds: float
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Restored:
    """A store put back; `kept` is where the former one lies, '' when there was none."""

    path: str
    memories: int
    sources: int
    kept: str
    older: bool


def back_up(
    store: Path, target: Path, *, keep: int = 0, progress: Progress = lambda done, total: None
) -> BackedUp:
    """Copy the store to `target` (in a folder: under a name with the time) and verify the copy.

    `keep`: in a folder, which is made if it is missing, remove all but the newest so many of our backups. The
    target appears whole or not at all.
    Raises `Invalid`, `Conflict` (the file is there already), `Unsound`.
    """
    begin = time.monotonic()
    if keep:
        _folder_for(target)
    path = _free_name(target) if target.is_dir() else target
    if path.exists() or _folder_of(path).exists():
        raise Conflict(f"{path} is there already; name another file, or a folder of backups.")
    try:
        rows, files = _copy(store, path, progress)
    except OSError as error:
        raise _unwritable(path, error) from None
    except sqlite.DatabaseError as error:
        raise Unsound(f"No backup was made ({error}).") from None
    size = path.stat().st_size
    removed = _thin_out(path.parent, keep) if keep else ()
    return BackedUp(
        str(path), size, rows.get("atoms", 0), rows, files, round(time.monotonic() - begin, 2), removed
    )


def _folder_for(target: Path) -> None:
    """The folder of backups, made when it is missing. Raises `Invalid` when something else has its name."""
    try:
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise Invalid("--keep needs a folder of backups.", "keep") from None
    except OSError as error:
        raise _unwritable(target, error) from None


def _unwritable(path: Path, error: OSError) -> Invalid:
    return Invalid(f"{path} cannot be written ({(error.strerror or 'unknown error').lower()}).", "path")


def _copy(store: Path, path: Path, progress: Progress) -> tuple[dict[str, int], int]:
    """Everything goes under names nobody takes for a backup, is checked there, and gets its name last."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".rekal-backup-") as spare:
        copy = Path(spare) / path.name
        store_file.make_private(copy)
        rows = _copy_database(store, copy, "mode=ro", progress)
        verify(copy, rows)
        files = copy_sources(copy, _folder_of(store), _folder_of(copy))
        _flush(copy)
        if files:
            _folder_of(copy).replace(_folder_of(path))
        copy.replace(path)
    _flush(path.parent)
    return rows, files


def _copy_database(store: Path, copy: Path, how: str, progress: Progress) -> dict[str, int]:
    """SQLite's online backup in one read transaction: writers go on, and the counts are of the same moment."""
    with (
        closing(_opened(store, how)) as source,
        closing(sqlite.connect(str(copy), isolation_level=None)) as target,
    ):
        source.execute("BEGIN")
        rows = count_rows(source)
        source.backup(target, pages=4_096, progress=lambda _, left, total: progress(total - left, total))
        source.execute("ROLLBACK")
        target.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
    return rows


def _opened(path: Path, how: str) -> Any:
    raw = sqlite.connect(f"file:{quote(str(path))}?{how}", uri=True, timeout=20, isolation_level=None)
    if "ro" in how:
        raw.execute("PRAGMA query_only = ON")
    return raw


def count_rows(raw: Any) -> dict[str, int]:
    """Rows of every ordinary table, by its name; the tables inside virtual ones count themselves."""
    names = [
        name
        for (name,) in raw.execute(
            """
            WITH listed AS (SELECT name, type FROM pragma_table_list WHERE schema = 'main')
            SELECT name FROM listed
            WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND NOT EXISTS (
                SELECT 1 FROM listed AS made
                WHERE made.type = 'virtual' AND substr(listed.name, 1, length(made.name) + 1) = made.name || '_'
            )
            ORDER BY name
            """  # SQLite only knows a virtual table's own tables as `shadow` where its module is loaded
        )
    ]
    return {name: int(raw.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) for name in names}


def verify(path: Path, rows: dict[str, int] | None = None) -> dict[str, int]:
    """Open a copy and check it: integrity, foreign keys, index, one index row and vector an atom, and the counts.

    `rows` are the counts it must have. Returns its own. Raises `Unsound`. The file must be nobody else's meanwhile.
    """
    try:
        with closing(sqlite.connect(str(path), timeout=20, isolation_level=None)) as raw:
            prepare(raw)
            raw.execute("PRAGMA journal_mode = DELETE")
            _check(raw)
            found = count_rows(raw)
    except sqlite.DatabaseError as error:
        raise Unsound(f"{path.name} is damaged ({error}).") from None
    if rows is not None and found != rows:
        different = sorted(name for name in found.keys() | rows.keys() if found.get(name) != rows.get(name))
        raise Unsound(f"{path.name} has not all rows of {', '.join(different[:5])}.")
    return found


def _check(raw: Any) -> None:
    problems = [row[0] for row in raw.execute("PRAGMA integrity_check(5)") if row[0] != "ok"]
    if problems:
        raise Unsound(f"The copy is damaged: {'; '.join(problems)[:300]}.")
    if raw.execute("SELECT 1 FROM pragma_foreign_key_check").fetchone():
        raise Unsound("The copy has rows that refer to rows it has not.")
    tables = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not {"atoms", "atom_fts", "atom_vec"} <= tables:
        return
    raw.execute("INSERT INTO atom_fts(atom_fts) VALUES ('integrity-check')")
    atoms, indexed, vectors = raw.execute(
        "SELECT (SELECT count(*) FROM atoms), (SELECT count(*) FROM atom_fts), (SELECT count(*) FROM atom_vec)"
    ).fetchone()
    if atoms != indexed or atoms < vectors:  # fewer while `reembed` is under way
        raise Unsound(
            f"The store has {atoms} memories, {indexed} in its index and {vectors} vectors; "
            "run: manage.py doctor --repair."
        )


def copy_sources(database: Path, origin: Path, target: Path) -> int:
    """Copy the files that the database's sources name, each checked against its sha256; how many. Raises `Unsound`.

    Files that are gone from the folder are left out: the store itself lacks them.
    """
    with closing(_opened(database, "mode=ro")) as raw:
        if not raw.execute("SELECT 1 FROM sqlite_master WHERE name = 'sources'").fetchone():
            return 0
        named = sorted({sha256 for (sha256,) in raw.execute("SELECT sha256 FROM sources")})
    copied = 0
    for sha256 in named:
        place = origin / sha256[:2] / sha256
        if not re.fullmatch(r"[0-9a-f]{64}", sha256) or not place.is_file():
            continue
        new = target / sha256[:2] / sha256
        new.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for extra in ("", source_files.PREVIEW):
            if (one := place.with_name(place.name + extra)).is_file():
                shutil.copyfile(one, new.with_name(new.name + extra))
                new.with_name(new.name + extra).chmod(0o600)
        if source_files.sha256_of(new) != sha256:
            raise Unsound(f"The source file {sha256} is damaged.")
        copied += 1
    return copied


def restore(backup: Path, store: Path, *, overwrite: bool = False) -> Restored:
    """Put a backup in the store's place; the former store is kept beside it under a name with the time.

    Checked first, on a copy: the backup file itself is never written. Raises `Invalid` (no backup of ours, no room),
    `Conflict` (a store is there and `overwrite` is not said, or somebody has it open), `Unsound`.
    """
    _require_ours(backup)
    there = store_file.inspect(store).kind not in {"missing", "empty"}
    if there and not overwrite:
        raise Conflict(
            f"There is a store at {store}; say --yes to put the backup in its place (it is kept beside)."
        )
    try:
        rows, files, kept = _put_back(backup, store)
    except OSError as error:
        raise _unwritable(store, error) from None
    older = bool(store_file.unapplied(store_file.inspect(store)))
    return Restored(str(store), rows.get("atoms", 0), files, str(kept or ""), older)


def _put_back(backup: Path, store: Path) -> tuple[dict[str, int], int, Path | None]:
    """Check a copy beside the store and give it the store's name: rows, source files, where the former store lies."""
    store.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=store.parent, prefix=".rekal-restore-") as spare:
        copy = Path(spare) / "store.db"
        store_file.make_private(copy)
        rows = verify(copy, _copied(backup, copy))
        files = copy_sources(copy, _folder_of(backup), _folder_of(copy))
        _flush(copy)
        kept = _put_aside(store)
        if files:
            _folder_of(copy).replace(_folder_of(store))
        copy.replace(store)
    _flush(store.parent)
    return rows, files, kept


def _copied(backup: Path, copy: Path) -> dict[str, int]:
    # Without a log nobody writes: `immutable` then keeps SQLite from leaving one beside the backup.
    how = "mode=ro" if backup.with_name(f"{backup.name}-wal").exists() else "mode=ro&immutable=1"
    try:
        return _copy_database(backup, copy, how, lambda done, total: None)
    except sqlite.OperationalError as error:
        raise Unsound(f"{backup.name} could not be copied ({error}).") from None
    except sqlite.DatabaseError as error:
        raise Unsound(f"{backup.name} is damaged ({error}).") from None


def _require_ours(backup: Path) -> StoreFile:
    """The backup as a file of ours that this build can read. Raises `Invalid`."""
    found = store_file.inspect(backup)
    if found.kind == "missing":
        raise Invalid(f"There is no file {backup}.", "path")
    if found.kind != "ours":
        raise Invalid(
            f"{backup} is no backup of a rekal store{f' ({found.reason})' if found.reason else ''}.", "path"
        )
    if problems := checks.check_newer(found):
        raise Invalid(problems[0].msg, "path")
    return found


def _put_aside(store: Path) -> Path | None:
    """Rename the store, its sources and its journals; where it lies then. Raises `Conflict` while it is in use.

    Journals and sources without a store go too: SQLite would play another store's log into the one put back.
    """
    parts = ["", *LOGS, SOURCES]
    if not any(store.with_name(store.name + ending).exists() for ending in parts):
        return None
    if store.exists():
        _close_log(store)
    kept = _free(store.with_name(f"{store.name}.before-{datetime.now(UTC).strftime(STAMP)}"))
    for ending in reversed(parts):
        if (part := store.with_name(store.name + ending)).exists():
            part.replace(kept.with_name(kept.name + ending))
    return kept


def _close_log(store: Path) -> None:
    """Fold the write-ahead log into the file, which only works when nobody else has it open.

    A store too damaged for that is put aside with its log as it is.
    """
    try:
        with closing(sqlite.connect(str(store), timeout=2, isolation_level=None)) as raw:
            raw.execute("PRAGMA journal_mode = DELETE").fetchone()
    except sqlite.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise Conflict(
                f"{store} is in use; stop the server (and whatever else has it open) first."
            ) from None
    except sqlite.DatabaseError:
        return


def _folder_of(path: Path) -> Path:
    return path.with_name(path.name + SOURCES)


def _free_name(folder: Path) -> Path:
    return _free(folder / f"rekal-{datetime.now(UTC).strftime(STAMP)}.db")


def _free(path: Path) -> Path:
    """The path, or with a number when it is taken."""
    number, free = 1, path
    while free.exists() or _folder_of(free).exists():
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free


def _thin_out(folder: Path, keep: int) -> tuple[str, ...]:
    """Remove the oldest backups of ours beyond `keep`; only files named as ours are."""
    named = [(found[1], one) for one in folder.iterdir() if (found := NAMED.fullmatch(one.name))]
    named.sort(key=lambda pair: (pair[0], pair[1].stat().st_mtime_ns))  # several may be of one second
    gone = [one for _, one in named[:-keep]]
    for one in gone:
        one.unlink()
        shutil.rmtree(_folder_of(one), ignore_errors=True)
    return tuple(one.name for one in gone)


def _flush(path: Path) -> None:
    """On disk for certain; folders cannot be flushed on Windows."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
