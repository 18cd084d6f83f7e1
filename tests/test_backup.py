"""Backups are made while the store is in use, believed after they were checked, and put back with care."""

import io
import shutil
import signal
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection, connections
from pysqlite3 import dbapi2 as sqlite

from memories.models import Atom
from memories.sources import add_source
from memories.visibility import Viewer
from rekal_site import backup as backups
from rekal_site.sqlite.base import prepare
from tests.command_line import empty_store, run, store, use_store  # noqa: F401

MIRA = Viewer("mira", "person", frozenset({"people"}))


@pytest.fixture
def filled(store, run):
    """A store with three memories, one of them from a file."""
    run("remember", "The stopcock is under the sink", "--as", "mira")
    run("remember", "Ben is vegetarian", "--as", "ben")
    add_source(MIRA, "note.txt", io.BytesIO(b"The warranty ends in May."))
    return store


def rows_of(path):
    with closing(sqlite.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as raw:
        return raw.execute("SELECT atom_id, text, visibility_json FROM atoms ORDER BY id").fetchall()


def files_below(folder):
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_a_backup_is_one_file_and_its_sources(filled, run, tmp_path):
    target = tmp_path / "copy.db"
    ran = run("backup", str(target), "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["memories"], ran.json["sources"]) == (3, 1)
    assert ran.json["rows"]["atoms"] == 3
    assert ran.json["rows"]["sources"] == 1
    assert rows_of(target) == list(
        Atom.objects.order_by("pk").values_list("atom_id", "text", "visibility_json")
    )
    assert files_below(tmp_path / "copy.db.sources") == files_below(tmp_path / "memory.db.sources")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(one.name for one in tmp_path.glob("copy.db*")) == ["copy.db", "copy.db.sources"]
    assert not list(tmp_path.glob(".rekal-*"))


def test_a_backup_is_taken_while_somebody_writes(filled, run, tmp_path):
    with closing(sqlite.connect(str(filled), isolation_level=None)) as writer:
        prepare(writer)
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE atoms SET text = 'half done' WHERE text = 'Ben is vegetarian'")
        ran = run("backup", str(tmp_path / "copy.db"))
        writer.execute("COMMIT")
    assert ran.code == 0, ran.err
    assert "Ben is vegetarian" in {row[1] for row in rows_of(tmp_path / "copy.db")}


def test_a_backup_while_memories_come_in_is_of_one_moment(filled, run, tmp_path):
    going = threading.Event()

    def write():
        with closing(sqlite.connect(str(filled), isolation_level=None, timeout=20)) as raw:
            prepare(raw)
            while not going.is_set():
                raw.execute("UPDATE atoms SET scenario = scenario || 'x' WHERE holder_id = 'ben'")

    other = threading.Thread(target=write)
    other.start()
    try:
        for number in range(3):
            assert run("backup", str(tmp_path / f"copy{number}.db")).code == 0
    finally:
        going.set()
        other.join()


def test_a_file_that_is_there_is_not_overwritten(filled, run, tmp_path):
    target = tmp_path / "copy.db"
    target.write_bytes(b"precious")
    assert run("backup", str(target)).code == 1
    assert target.read_bytes() == b"precious"
    assert run("backup", str(tmp_path / "missing" / "copy.db")).code == 2


def test_a_folder_keeps_the_newest(filled, run, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    for stamp in ("20200101T000000Z", "20200102T000000Z"):
        (folder / f"rekal-{stamp}.db").write_bytes(b"old")
        (folder / f"rekal-{stamp}.db.sources").mkdir()
    (folder / "diary.db").write_bytes(b"mine")
    ran = run("backup", str(folder), "--keep", "2", "--json")
    assert ran.json["removed"] == ["rekal-20200101T000000Z.db"]
    left = sorted(one.name for one in folder.iterdir())
    made = ran.json["path"].rsplit("/", 1)[-1]
    assert left == [
        "diary.db",
        "rekal-20200102T000000Z.db",
        "rekal-20200102T000000Z.db.sources",
        made,
        f"{made}.sources",
    ]
    assert run("backup", str(folder), "--keep", "0").code == 2
    assert run("backup", str(folder / "diary.db"), "--keep", "2").code == 2
    assert run("backup", str(tmp_path / "new" / "ones"), "--keep", "2").code == 0
    assert len(list((tmp_path / "new" / "ones").glob("*.db"))) == 1


def test_of_backups_of_the_same_second_the_newest_is_kept(filled, run, tmp_path, monkeypatch):
    monkeypatch.setattr(backups, "STAMP", "20260102T030405Z")
    folder = tmp_path / "backups"
    folder.mkdir()
    for _ in range(3):
        ran = run("backup", str(folder), "--keep", "1", "--json")
        assert ran.code == 0, ran.err
        assert [str(one) for one in folder.glob("*.db")] == [ran.json["path"]]


def test_a_full_disk_gives_a_sentence_and_no_backup(filled, run, tmp_path):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    run("backup", str(tmp_path / "sound.db"))
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        ran = run("backup", str(tmp_path / "copy.db"))
        back = run("restore", str(tmp_path / "sound.db"), "--yes")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, former)
    assert (ran.code, back.code) == (1, 1)
    assert "No backup was made (" in ran.err
    assert "could not be copied (" in back.err
    assert not list(tmp_path.glob("copy*"))
    assert len(rows_of(filled)) == 3


def test_a_place_that_cannot_be_written_is_named(filled, run, tmp_path, settings):
    run("backup", str(tmp_path / "copy.db"))
    (tmp_path / "file").write_bytes(b"mine")
    settings.REKAL_DB = tmp_path / "file" / "folder" / "memory.db"
    ran = run("restore", str(tmp_path / "copy.db"))
    assert ran.code == 2
    assert "cannot be written" in ran.err


def test_a_damaged_store_gives_no_backup(filled, run, tmp_path):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM atom_fts WHERE rowid = (SELECT min(id) FROM atoms)")
    ran = run("backup", str(tmp_path / "copy.db"))
    assert ran.code == 1
    assert "doctor" in ran.err
    assert not list(tmp_path.glob("*copy*"))


def test_a_store_of_an_older_build_is_backed_up_before_its_upgrade(filled, run, tmp_path):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'memories' AND name = '0004_audit'")
    assert run("recall", "stopcock", "--as", "mira").code == 1
    assert run("backup", str(tmp_path / "copy.db")).code == 0


def test_a_restore_asks_keeps_and_brings_all_back(filled, run, tmp_path):
    target = tmp_path / "copy.db"
    run("backup", str(target))
    before, files = rows_of(target), files_below(tmp_path / "memory.db.sources")
    run("remember", "Written after the backup", "--as", "mira")
    shutil.rmtree(tmp_path / "memory.db.sources")
    backup_bytes = target.read_bytes()

    ran = run("restore", str(target))
    assert ran.code == 1
    assert "--yes" in ran.err
    assert Atom.objects.count() == 4
    ran = run("restore", str(target), "--yes", "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["memories"], ran.json["sources"], ran.json["older"]) == (3, 1, False)
    assert rows_of(filled) == before
    assert files_below(tmp_path / "memory.db.sources") == files
    assert target.read_bytes() == backup_bytes
    kept = rows_of(ran.json["kept"])
    assert len(kept) == 4
    assert run("recall", "stopcock", "--as", "mira", "--json").json["hits"]
    assert stat.S_IMODE(filled.stat().st_mode) == 0o600
    assert not list(tmp_path.glob(".rekal-*"))


def test_a_restore_onto_nothing_needs_no_word(filled, run, tmp_path, settings):
    run("backup", str(tmp_path / "copy.db"))
    settings.REKAL_DB = tmp_path / "new" / "memory.db"
    ran = run("restore", str(tmp_path / "copy.db"), "--json")
    assert (ran.code, ran.json["kept"]) == (0, "")
    assert len(rows_of(settings.REKAL_DB)) == 3
    assert files_below(tmp_path / "new" / "memory.db.sources")


def test_the_log_of_a_store_that_was_deleted_is_not_played_into_the_one_put_back(filled, run, tmp_path):
    run("backup", str(tmp_path / "copy.db"))
    with closing(sqlite.connect(str(filled), isolation_level=None)) as other:
        prepare(other)
        other.execute("UPDATE atoms SET scenario = 'after the backup'")
        logs = {end: filled.with_name(filled.name + end).read_bytes() for end in ("-wal", "-shm")}
        connections["default"].close()
    filled.unlink()
    for end, content in logs.items():
        filled.with_name(filled.name + end).write_bytes(content)
    ran = run("restore", str(tmp_path / "copy.db"), "--json")
    assert ran.code == 0, ran.err
    assert set(Atom.objects.values_list("scenario", flat=True)) == {""}
    assert (Path(ran.json["kept"] + "-wal")).read_bytes() == logs["-wal"]
    assert files_below(Path(ran.json["kept"] + ".sources"))


def test_a_store_in_use_is_not_restored_over(filled, run, tmp_path):
    run("backup", str(tmp_path / "copy.db"))
    with closing(sqlite.connect(str(filled), isolation_level=None)) as other:
        other.execute("SELECT count(*) FROM django_migrations").fetchone()
        ran = run("restore", str(tmp_path / "copy.db"), "--yes")
        assert ran.code == 1
        assert "stop the server" in ran.err
    assert Atom.objects.count() == 3
    assert run("restore", str(tmp_path / "copy.db"), "--yes").code == 0


def test_a_damaged_store_can_be_restored_over(filled, run, tmp_path):
    run("backup", str(tmp_path / "copy.db"))
    connections["default"].close()
    content = bytearray(filled.read_bytes())
    content[:100] = b"x" * 100
    filled.write_bytes(content)
    ran = run("restore", str(tmp_path / "copy.db"), "--yes", "--json")
    assert ran.code == 0, ran.err
    assert len(rows_of(filled)) == 3
    assert Path(ran.json["kept"]).read_bytes() == content


def test_what_is_no_sound_backup_is_refused_and_nothing_moves(filled, run, tmp_path):
    run("backup", str(tmp_path / "copy.db"))
    torn = tmp_path / "torn.db"
    content = bytearray((tmp_path / "copy.db").read_bytes())
    content[len(content) // 2 : len(content) // 2 + 20_000] = b"\xff" * 20_000
    torn.write_bytes(content)
    cut = tmp_path / "cut.db"
    cut.write_bytes((tmp_path / "copy.db").read_bytes()[:-40_960])
    newer = tmp_path / "newer.db"
    shutil.copy(tmp_path / "copy.db", newer)
    with closing(sqlite.connect(str(newer), isolation_level=None)) as raw:
        raw.execute(
            "INSERT INTO django_migrations(app, name, applied) VALUES ('memories', '9999_later', '2030-01-01')"
        )
    (tmp_path / "words.db").write_text("no store")
    with closing(sqlite.connect(str(tmp_path / "foreign.db"), isolation_level=None)) as raw:
        raw.execute("CREATE TABLE memories(id, content)")
    before = rows_of(filled)
    for name in ("torn.db", "cut.db", "newer.db", "words.db", "foreign.db", "missing.db"):
        ran = run("restore", str(tmp_path / name), "--yes")
        assert ran.code in (1, 2), name
        assert ran.err.count("\n") == 1
    connections["default"].close()
    assert rows_of(filled) == before
    assert not list(tmp_path.glob("memory.db.before-*"))


def test_a_backup_of_an_older_build_says_that_it_needs_migrate(run, store, tmp_path, empty_store, settings):
    old = tmp_path / "old.db"
    shutil.copy(empty_store, old)
    former = use_store(old)
    call_command("migrate", "memories", "0003", verbosity=0)
    connections["default"].close()
    connections["default"] = former
    settings.REKAL_DB = tmp_path / "new.db"
    ran = run("restore", str(old), "--json")
    assert ran.json["older"] is True


def test_backup_and_restore_beside_a_running_process(filled, tmp_path):
    """A second process holds the store open, as a server does."""
    code = (
        "import sys; from pysqlite3 import dbapi2 as s; c = s.connect(sys.argv[1]); "
        "c.execute('SELECT count(*) FROM atoms').fetchone(); print('open', flush=True); sys.stdin.read()"
    )
    connections["default"].close()
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(filled)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "open\n"
        made = backups.back_up(filled, tmp_path / "copy.db")
        assert made.memories == 3
        with pytest.raises(backups.Conflict):
            backups.restore(tmp_path / "copy.db", filled, overwrite=True)
    finally:
        process.communicate(timeout=30)
