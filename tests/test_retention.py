"""What should not be kept any longer is removed every day, and what is removed leaves no bytes anywhere."""

import io
import os
import zipfile
from datetime import timedelta

import pytest
from django.db import connections, transaction
from pysqlite3 import dbapi2 as Database  # noqa: N812

from memories import audit, cartridges, retention, source_files, timestamps
from memories.browse import get_memory, history, list_memories
from memories.cartridge_files import write
from memories.doctor import diagnose
from memories.errors import NotFound
from memories.forget import forget, prune
from memories.models import Atom, AuditEntry, Cartridge, CartridgeAtom
from memories.remember import edit, remember
from memories.sources import add_source, delete_source, open_file
from memories.visibility import Viewer
from rekal_site import daily
from tests.command_line import empty_store, run, store  # noqa: F401

MIRA = Viewer("mira", "person", frozenset({"people"}))
JONAS = Viewer("jonas", "person", frozenset({"people"}))
SECRET = "kryptonite-4711"
PAST = "2020-01-01"


def ago(**parts):
    return timestamps.to_text(timestamps.from_text(timestamps.now()) - timedelta(**parts))


def everywhere(path):
    """The bytes of the database, its log and journals, and of every source kept beside it."""
    found = b""
    for one in sorted(path.parent.rglob("*")):
        if one.is_file() and one.suffix != ".rekal":
            found += one.read_bytes()
    return found


def test_lapsed_memories_go_whoever_holds_them(store):
    remember(MIRA, "Mira's lapsed note", retention_until=PAST)
    remember(JONAS, "Jonas's lapsed note", retention_until=PAST)
    remember(JONAS, "Another lapsed note", retention_until=PAST)
    kept = remember(MIRA, "Mira keeps this", retention_until="2099-01-01")
    remember(MIRA, "No end is said here")
    result = retention.expire()
    assert (result.count, result.by_holder) == (3, {"jonas": 2, "mira": 1})
    assert set(Atom.objects.values_list("text", flat=True)) == {"Mira keeps this", "No end is said here"}
    assert kept.atom_id in {one.atom_id for one in list_memories(MIRA).items}
    assert retention.expire().count == 0


def test_a_line_of_the_log_holds_no_text(store):
    remember(MIRA, f"The code is {SECRET}", scenario="safe", tags=["code"], retention_until=PAST)
    atom_id = Atom.objects.get().atom_id
    retention.expire()
    line = AuditEntry.objects.get()
    assert (line.action, line.holder_id, line.by, line.count) == ("retention", "mira", "", 1)
    said = repr(AuditEntry.objects.values_list().get()) + str(line)
    for word in (SECRET, "safe", "code", atom_id):
        assert word not in said


def test_pruning_leaves_a_line_and_a_dry_run_none(store):
    remember(MIRA, "Mira's lapsed note", retention_until=PAST)
    prune(MIRA, lapsed=True)
    assert not AuditEntry.objects.exists()
    prune(MIRA, lapsed=True, dry_run=False)
    line = AuditEntry.objects.get()
    assert (line.action, line.holder_id, line.by, line.count) == ("prune", "mira", "mira", 1)


def test_what_has_lapsed_is_read_nowhere_before_it_is_removed(store):
    added = add_source(MIRA, "code.txt", io.BytesIO(b"The gate code is 4711."), visibility="household")
    gate = Atom.objects.get(source_ref=added.source.source_id)
    bundle = cartridges.make(MIRA, "Gates", [gate.atom_id])
    assert get_memory(JONAS, gate.atom_id)
    Atom.objects.filter(pk=gate.pk).update(retention_until="2020-01-01T00:00:00.000+00:00")
    for viewer in (MIRA, JONAS):
        for read in (
            lambda viewer: get_memory(viewer, gate.atom_id),
            lambda viewer: history(viewer, gate.atom_id),
            lambda viewer: open_file(viewer, added.source.source_id),
        ):
            with pytest.raises(NotFound):
                read(viewer)
        assert list_memories(viewer, current=False).items == ()
    assert cartridges.members(MIRA, bundle.cartridge_id) == []
    assert cartridges.get_cartridge(MIRA, bundle.cartridge_id).memories == 0


def test_earlier_wordings_go_with_what_lapsed(store):
    for remove in (retention.expire, lambda: prune(MIRA, lapsed=True, dry_run=False)):
        memory = remember(MIRA, f"The code is {SECRET}")
        edit(MIRA, memory.atom_id, text="The code was changed")
        edit(MIRA, memory.atom_id, retention_until=PAST)
        remove()
        assert not Atom.objects.exists()


def test_many_go_in_batches(store, monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 2)
    for number in range(5):
        remember(MIRA, f"Lapsed note {number}", retention_until=PAST)
    assert retention.expire().by_holder == {"mira": 5}
    assert sum(AuditEntry.objects.values_list("count", flat=True)) == 5


def test_the_log_does_not_grow_for_ever(store, monkeypatch):
    monkeypatch.setattr(audit, "KEPT", 3)
    for number in range(1, 6):
        with transaction.atomic():
            audit.record("retention", "mira", number)
    assert [one.count for one in audit.entries()] == [5, 4, 3]


def test_it_is_due_once_a_day(store, monkeypatch):
    remember(MIRA, "Mira's lapsed note", retention_until=PAST)
    assert retention.is_due()
    monkeypatch.setattr(daily.connections, "close_all", lambda: None)
    daily.run_if_due()
    assert not Atom.objects.exists()
    assert not retention.is_due()
    from memories.store import set_setting

    set_setting(retention.RAN, ago(hours=22))
    assert not retention.is_due()
    set_setting(retention.RAN, ago(hours=23, minutes=1))
    assert retention.is_due()
    set_setting(retention.RAN, "yesterday")
    assert retention.is_due()


def test_the_command_says_how_many_and_shows_the_log(run):
    run("remember", "Mira's lapsed note", "--as", "mira", "--json")
    Atom.objects.update(retention_until=ago(days=1))
    assert "1 memory would be removed" in run("daily", "--dry-run").out
    assert Atom.objects.count() == 1
    assert run("daily", "--json").json == {"count": 1, "by_holder": {"mira": 1}, "dry_run": False}
    assert run("daily").code == 0
    logged = run("daily", "--log", "--json").json
    assert [(one["action"], one["holder_id"], one["count"]) for one in logged] == [("retention", "mira", 1)]
    assert "retention: 1 of mira" in run("daily", "--log").out


REMOVALS = {
    "forget": lambda memory: forget(MIRA, memory.atom_id),
    "prune": lambda memory: prune(MIRA, scenario="safe", dry_run=False),
    "retention": lambda memory: (
        Atom.objects.filter(atom_id=memory.atom_id).update(retention_until=ago(days=1)),
        retention.expire(),
    ),
}


@pytest.mark.parametrize("removal", REMOVALS)
def test_removed_bytes_are_gone_from_file_log_and_index(store, removal):
    for number in range(20):
        remember(MIRA, f"Ordinary note {number} about the garden", scenario="home")
    memory = remember(
        MIRA, f"The passphrase is {SECRET}", scenario="safe", tags=[f"tag-{SECRET}"], source=f"{SECRET}.md"
    )
    edit(MIRA, memory.atom_id, text=f"The passphrase was {SECRET}")
    for number in range(20):
        remember(MIRA, f"Later note {number} about the kitchen", scenario="home")
    assert SECRET.encode() in everywhere(store)
    REMOVALS[removal](memory)
    assert SECRET.encode() not in everywhere(store)
    assert b"kryptonite" not in everywhere(store)  # the index keeps fragments
    connections["default"].close()
    assert b"kryptonite" not in everywhere(store)
    assert Atom.objects.count() == 40


def test_a_removed_source_leaves_no_bytes(store):
    added = add_source(MIRA, "note.txt", io.BytesIO(f"The passphrase is {SECRET}.".encode()))
    assert SECRET.encode() in everywhere(store)
    delete_source(MIRA, added.source.source_id)
    assert SECRET.encode() not in everywhere(store)


def test_what_a_killed_upload_left_goes_with_the_daily_task(store):
    added = add_source(MIRA, "manual.txt", io.BytesIO(b"Descale it monthly."))
    kept = source_files.path_of(added.source.sha256)
    unnamed = source_files.path_of("0" * 64)
    unnamed.parent.mkdir()
    left = [source_files.folder() / "incoming-x1", unnamed, unnamed.with_name(unnamed.name + ".preview.webp")]
    for one in [kept, *left]:
        one.write_bytes(SECRET.encode())
        os.utime(one, (0, 0))
    under_way = source_files.folder() / "incoming-x2"
    under_way.write_bytes(b"on its way")
    retention.expire()
    assert [one.exists() for one in [kept, under_way, *left]] == [True, True, False, False, False]


def test_a_file_is_kept_and_removed_under_the_lock_its_row_is_written_with(store, monkeypatch):
    """Else one person's deletion could take the file of another's upload that has no row yet."""
    locked = []

    def watched(name):
        real = getattr(source_files, name)

        def call(*args):
            locked.append(transaction.get_connection().in_atomic_block)
            return real(*args)

        monkeypatch.setattr(source_files, name, call)

    watched("keep")
    added = add_source(MIRA, "manual.txt", io.BytesIO(b"Descale it monthly."))
    watched("path_of")
    delete_source(MIRA, added.source.source_id)
    assert locked
    assert all(locked)


def test_the_last_memory_of_a_source_takes_its_file_along(store):
    add_source(MIRA, "note.txt", io.BytesIO(f"The passphrase is {SECRET}.".encode()))
    Atom.objects.update(retention_until=ago(days=1))
    retention.expire()
    assert SECRET.encode() not in everywhere(store)


def test_a_cartridge_made_afterwards_knows_nothing_of_it(store, tmp_path):
    pytest.importorskip("pyarrow")
    kept = remember(MIRA, "The stopcock is under the sink")
    gone = remember(MIRA, f"The passphrase is {SECRET}")
    lapsed = remember(MIRA, f"The old passphrase was {SECRET}")
    cartridge = Cartridge.objects.create(name="House", owner_id="mira")
    for memory in (kept, gone, lapsed):
        CartridgeAtom.objects.create(cartridge=cartridge, atom_id=memory.atom_id)
    forget(MIRA, gone.atom_id)
    Atom.objects.filter(atom_id=lapsed.atom_id).update(retention_until=ago(days=1))
    path = tmp_path / "house.rekal"
    written = write.export_cartridge(MIRA, cartridge.pk, write.Audience("me"), path)
    assert written.manifest.counts.memories == 1  # lapsed, if not yet removed
    with zipfile.ZipFile(path) as packed:
        assert not any(SECRET.encode() in packed.read(name) for name in packed.namelist())
    from memories.cartridge_files import archive, table

    with archive.opened(path) as opened:
        assert [row["text"] for row in table.read_rows(opened.read_atoms())] == [kept.text]


def test_a_backup_made_afterwards_knows_nothing_of_it(store, tmp_path):
    from rekal_site.backup import back_up

    remember(MIRA, "The stopcock is under the sink")
    memory = remember(MIRA, f"The passphrase is {SECRET}")
    forget(MIRA, memory.atom_id)
    back_up(store, tmp_path / "copy.db")
    assert b"kryptonite" not in (tmp_path / "copy.db").read_bytes()


def test_a_log_somebody_else_reads_from_is_named_and_emptied_later(store, run):
    with Database.connect(store) as reader:
        atom_id = remember(MIRA, f"The code is {SECRET}").atom_id
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM atoms").fetchone()
        done = run("forget", atom_id, "--as", "mira")
        assert done.code == 0
        assert "write-ahead log" in done.err
        assert SECRET.encode() in everywhere(store)
        assert [one.id for one in diagnose()] == ["log-held"]
        reader.execute("ROLLBACK")
    reader.close()
    retention.expire()
    daily.run_if_due()
    assert SECRET.encode() not in everywhere(store)
    assert diagnose() == []
