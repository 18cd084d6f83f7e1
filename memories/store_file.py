"""The file a store lives in, looked at before anything opens it for writing.

A foreign or newer file must stay byte for byte as it is, and opening it the ordinary way already switches its
journal to WAL; so this module reads it through a read-only connection of its own.
"""

import os
import re
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Literal
from urllib.parse import quote

from django.apps import apps
from django.db import connection
from pysqlite3 import dbapi2 as sqlite

from memories.fields import read_json
from memories.store import APPLICATION_ID

Kind = Literal["missing", "empty", "ours", "foreign", "unreadable"]
Migration = tuple[str, str]
BEGUN = {"django_migrations", "sqlite_sequence"}


@dataclass(frozen=True, slots=True)
class StoreFile:
    """What a file is to us.

    `foreign` is somebody else's SQLite file; `unreadable` is no SQLite file, or one we may not read. `dimensions`
    are those the vector table declares; `model` is who wrote the vectors, '' when nobody has yet.
    """

    path: Path
    kind: Kind
    user_version: int = 0
    tables: frozenset[str] = frozenset()
    applied: frozenset[Migration] = frozenset()
    model: str = ""
    recorded_dimensions: int = 0
    dimensions: int = 0
    reason: str = field(default="", compare=False)


def configured_path() -> Path | None:
    """The path of the configured store; None when it lives in memory, as a test's may."""
    name = str(connection.settings_dict["NAME"])
    if name == ":memory:" or name.startswith("file:"):
        return None
    return Path(name)


def inspect(path: Path) -> StoreFile:
    """Look at a file without changing a byte of it."""
    try:
        if not path.exists():
            return StoreFile(path, "missing")
        if path.is_dir():
            return StoreFile(path, "unreadable", reason="it is a folder")
        if path.stat().st_size == 0:
            return StoreFile(path, "empty")
    except OSError as error:
        return StoreFile(path, "unreadable", reason=(error.strerror or "it cannot be read").lower())
    return _read(path)


def _read(path: Path) -> StoreFile:
    raw = None
    log = path.with_name(f"{path.name}-wal")
    # Without a write-ahead log the file holds everything; `immutable` then keeps SQLite from leaving an empty log.
    how = "mode=ro" if log.exists() else "mode=ro&immutable=1"
    try:
        raw = sqlite.connect(f"file:{quote(str(path))}?{how}", uri=True, timeout=20)
        return _described(path, raw)
    except sqlite.DatabaseError as error:
        return StoreFile(path, "unreadable", reason=str(error))
    finally:
        if raw is not None:
            raw.close()


def _described(path: Path, raw: Any) -> StoreFile:
    def one(sql: str) -> Any:
        row = raw.execute(sql).fetchone()
        return row[0] if row else None

    tables = frozenset(name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))
    user_version = int(one("PRAGMA user_version"))
    applied: frozenset[Migration] = frozenset()
    if "django_migrations" in tables:
        applied = frozenset(raw.execute("SELECT app, name FROM django_migrations"))
    marked = one("PRAGMA application_id") == APPLICATION_ID
    begun = applied <= known_migrations() and (
        bool(applied) or tables <= BEGUN
    )  # a first `migrate` cut short
    if not marked and not begun:
        return StoreFile(path, "foreign", user_version, tables)
    settings = (
        dict(raw.execute("SELECT key, value_json FROM store_settings")) if "store_settings" in tables else {}
    )
    declared = re.search(
        r"float\[(\d+)\]", one("SELECT sql FROM sqlite_master WHERE name = 'atom_vec'") or ""
    )
    return StoreFile(
        path, "ours" if tables else "empty", user_version, tables, applied,
        model=read_json(settings.get("embedding_model"), str, ""),
        recorded_dimensions=read_json(settings.get("embedding_dimensions"), int, 0),
        dimensions=int(declared[1]) if declared else 0,
    )  # fmt: skip


@cache
def known_migrations() -> frozenset[Migration]:
    """Every migration this build has, by the names of their files; nothing is imported but the packages."""
    found: set[Migration] = set()
    for config in apps.get_app_configs():
        spec = find_spec(f"{config.name}.migrations")
        for folder in (spec.submodule_search_locations or []) if spec else []:
            found |= {
                (config.label, module.name) for module in iter_modules([folder]) if module.name[0] not in "_~"
            }
    return frozenset(found)


def unapplied(store: StoreFile) -> list[Migration]:
    """Migrations of this build that the store has not had."""
    return sorted(known_migrations() - store.applied)


def from_the_future(store: StoreFile) -> list[Migration]:
    """Migrations the store has had and this build does not know: a newer build wrote it."""
    return sorted(store.applied - known_migrations())


def make_private(path: Path) -> None:
    """Create the empty file, readable by its owner alone; SQLite gives its journals the same mode."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
