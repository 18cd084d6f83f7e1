"""A store in a file of its own, and the command line on it as a person or a script meets it."""

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command, execute_from_command_line
from django.db import connections

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Ran:
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


def use_store(path: Path) -> Any:
    """Point Django's connection at a file, without touching the test database; returns the former connection."""
    former = connections["default"]
    fresh = connections.create_connection("default")
    fresh.settings_dict = {**fresh.settings_dict, "NAME": str(path)}
    connections["default"] = fresh
    return former


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any) -> Path:
    """A migrated store nobody wrote into; copy it, never open it."""
    path = tmp_path_factory.mktemp("template") / "memory.db"
    with django_db_blocker.unblock():
        former = use_store(path)
        try:
            call_command("migrate", verbosity=0)
        finally:
            connections["default"].close()
            connections["default"] = former
    return path


@pytest.fixture
def store(tmp_path: Path, empty_store: Path, django_db_blocker: Any, settings: Any) -> Iterator[Path]:
    """A fresh store in a file, which Django's connection is pointed at for the length of the test."""
    path = tmp_path / "memory.db"
    shutil.copy(empty_store, path)
    settings.REKAL_DB = path
    settings.REKAL_SECRET_FILE = tmp_path / "memory.db.secret"
    with django_db_blocker.unblock():
        former = use_store(path)
        try:
            yield path
        finally:
            connections["default"].close()
            connections["default"] = former


@pytest.fixture
def run(store: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command as typed: `run("recall", "key", "--as", "mira")`."""

    def typed(*arguments: str) -> Ran:
        capsys.readouterr()
        code = 0
        try:
            execute_from_command_line(["rekal", *arguments])
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return typed


def kill_once(command: Sequence[str], environment: Mapping[str, str], happened: Callable[[], bool]) -> None:
    """Start a command and kill it with SIGKILL once something has happened in the store (or it is done).

    Look through Django's own connection: a second SQLite library in this process would drop its locks.
    """
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=ROOT, env=environment, **quiet) as child:
        while child.poll() is None:
            if happened():
                child.send_signal(signal.SIGKILL)
                break
            time.sleep(0.005)
