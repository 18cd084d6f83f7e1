"""A host's mistakes become sentences with ids, and a store that is not ours stays byte for byte as it was."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from pysqlite3 import dbapi2

from memories import checks, store_file
from tests.command_line import Run, empty_store, run, store  # noqa: F401


def ids(problems: list[Any]) -> list[str]:
    return [problem.id for problem in problems]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_fresh_store_has_nothing_to_complain_of(store: Path) -> None:
    assert checks.refusals(secret=True) == []
    assert [one for one in run_checks(databases=["default"]) if one.id and one.id.startswith("rekal.")] == []


def test_a_sqlite_that_lacks_sqlite_vec_is_named() -> None:
    plain = sqlite3.connect(":memory:")
    assert "rekal.E001" in ids(checks.check_engine(plain))


def test_a_sqlite_that_lacks_fts5_is_named() -> None:
    class WithoutModules:
        """A connection whose build has no virtual tables."""

        def execute(self, sql: str) -> Any:
            return dbapi2.connect(":memory:").execute(
                "SELECT 1 WHERE 0" if "module_list" in sql else "SELECT 1"
            )

    assert ids(checks.check_engine(WithoutModules())) == ["rekal.E002"]


def test_a_driver_that_cannot_load_the_extension_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite_vec

    def broken(connection: Any) -> None:
        raise dbapi2.OperationalError("not authorized")

    monkeypatch.setattr(sqlite_vec, "load", broken)
    (problem,) = checks.check_engine()
    assert problem.id == "rekal.E001"
    assert "not authorized" in problem.msg


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_secret_others_can_read_is_named(store: Path, settings: Any) -> None:
    settings.REKAL_SECRET_FILE.write_text("secret")
    settings.REKAL_SECRET_FILE.chmod(0o644)
    assert ids(checks.check_secret()) == ["rekal.E006"]
    assert ids(checks.refusals(secret=True)) == ["rekal.E006"]
    settings.REKAL_SECRET_FILE.chmod(0o600)
    assert checks.check_secret() == []


def test_vectors_of_another_model_are_named_with_the_way_out(store: Path, run: Run, settings: Any) -> None:
    run("remember", "The spare key is in the blue box", "--as", "mira")
    settings.REKAL_ENGINE = "sentence-transformers:some-model"
    (problem,) = checks.refusals()
    assert problem.id == "rekal.E005"
    assert "manage.py reembed" in (problem.hint or "")
    assert checks.refusals(model=False) == []


def test_other_dimensions_than_recorded_are_named(store: Path) -> None:
    from memories.store import set_setting

    set_setting("embedding_model", checks.configured_model())
    set_setting("embedding_dimensions", 768)
    assert ids(checks.refusals()) == ["rekal.E005"]


COMMANDS: list[tuple[str, ...]] = [
    ("recall", "key", "--as", "mira"),
    ("remember", "a key", "--as", "mira"),
    ("ask", "where is the key?", "--as", "mira"),
    ("who-knows", "keys", "--as", "mira"),
    ("forget", "0123456789abcdef", "--as", "mira"),
    ("prune", "--as", "mira", "--lapsed", "--yes"),
    ("holders",),
    ("holder-set", "mira", "--name", "Mira"),
    ("holder-rm", "mira"),
    ("token", "mira"),
    ("doctor", "--fix"),
    ("reembed",),
    ("serve", "--port", "0"),
    ("migrate",),
    ("demo", "--no-serve"),
]


def newer(path: Path) -> None:
    with sqlite3.connect(path) as raw:
        raw.execute(
            "INSERT INTO django_migrations(app, name, applied) VALUES ('memories', '9999_later', '2030-01-01')"
        )
    raw.close()


def transactive(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE atoms(atom_id TEXT PRIMARY KEY, text TEXT)")
        raw.execute("CREATE TABLE holders(holder_id TEXT PRIMARY KEY)")
        raw.execute("INSERT INTO atoms VALUES ('a', 'theirs')")
        raw.execute("PRAGMA user_version = 5")
    raw.close()


def another_project(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as raw:
        raw.execute(
            "CREATE TABLE django_migrations(id INTEGER PRIMARY KEY, app TEXT, name TEXT, applied TEXT)"
        )
        raw.execute("INSERT INTO django_migrations VALUES (1, 'blog', '0001_initial', '')")
        raw.execute("CREATE TABLE blog_post(id INTEGER PRIMARY KEY)")
    raw.close()


def no_database(path: Path) -> None:
    path.write_bytes(b"Dear diary, today I learned that a file may hold anything.\n" * 40)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (newer, "written by a newer rekal"),
        (transactive, "rekal import"),
        (another_project, "another program"),
        (no_database, "no store that can be opened"),
    ],
)
def test_what_is_not_ours_is_refused_and_left_as_it_was(
    store: Path,
    run: Run,
    spoil: Callable[[Path], None],
    sentence: str,
    command: tuple[str, ...],
) -> None:
    spoil(store)
    before = digest(store)
    ran = run(*command)
    assert ran.code == 1
    assert sentence in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""
    assert digest(store) == before
    assert not store.with_name(store.name + "-wal").exists()


@pytest.mark.parametrize(
    "command",
    [one for one in COMMANDS if one[0] not in {"serve", "migrate", "demo"}],
    ids=lambda command: command[0],
)
def test_a_store_that_is_not_there_is_not_made_in_passing(
    store: Path, run: Run, command: tuple[str, ...]
) -> None:
    store.unlink()
    ran = run(*command)
    assert ran.code == 1
    assert "manage.py migrate" in ran.err
    assert not store.exists()


def test_an_older_store_asks_for_migrate(store: Path, run: Run) -> None:
    with sqlite3.connect(store) as raw:
        raw.execute("DELETE FROM django_migrations WHERE app = 'holders' AND name LIKE '0001%'")
    raw.close()
    ran = run("recall", "key", "--as", "mira")
    assert ran.code == 1
    assert "manage.py migrate" in ran.err


def test_a_first_migrate_that_was_cut_short_is_still_ours(tmp_path: Path) -> None:
    path = tmp_path / "begun.db"
    with sqlite3.connect(path) as raw:
        raw.execute(
            "CREATE TABLE django_migrations(id INTEGER PRIMARY KEY, app TEXT, name TEXT, applied TEXT)"
        )
    raw.close()
    assert store_file.inspect(path).kind == "ours"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_new_store_is_its_owners_alone(store: Path, run: Run) -> None:
    store.unlink()
    assert run("migrate", "-v0").code == 0
    assert store.stat().st_mode & 0o777 == 0o600


def test_looking_at_a_store_in_use_sees_its_latest_state(store: Path, run: Run, tmp_path: Path) -> None:
    run("remember", "The spare key is in the blue box", "--as", "mira")
    assert store_file.inspect(store).model == checks.configured_model()
    shutil.copy(store, tmp_path / "copy.db")
