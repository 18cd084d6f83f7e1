"""A store of any earlier state opens after `migrate` with every row it had, and does what it did."""

import gzip
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from pysqlite3 import dbapi2 as sqlite

from memories.doctor import diagnose
from memories.embedding import cache
from memories.models import Atom
from memories.recall import recall
from memories.remember import remember
from memories.visibility import Viewer
from rekal_site.sqlite.base import prepare
from tests.command_line import empty_store, run, store, use_store  # noqa: F401

MIRA = Viewer("mira", "person", frozenset({"people"}))
FIXTURES = Path(__file__).parent / "fixtures" / "stores"
APPS = ("memories", "holders")


def chain(app):
    """An app's migrations by name, in their order."""
    return sorted(name for label, name in MigrationLoader(None).disk_migrations if label == app)


# A store begins to hold memories with the index and the vectors of memories.0002.
STATES = [("memories", name) for name in chain("memories")[1:]] + [
    ("holders", name) for name in chain("holders")
]
PRIVATE = '{"deny": [], "discoverable": true, "groups": [], "holders": [], "scope": "private"}'
NOW = "2026-11-30T08:00:00.000+00:00"
ROWS = {
    "sources": {
        "source_id": "00000000000000f0", "path": "manual.pdf", "kind": "pdf", "mime": "application/pdf",
        "sha256": "0" * 64, "size_bytes": 7, "created_at": NOW, "metadata_json": '{"uploaded_by": "mira"}',
    },
    "scenarios": {"name": "house", "description": "At home", "default_visibility_json": '{"scope": "household"}'},
    "cartridges": {
        "cartridge_id": "00000000000000c0", "name": "House", "owner_id": "mira", "root_path": "", "manifest_json": "{}",
        "dna": None, "token_equivalent": 0, "created_at": NOW,
    },
    "cartridge_atoms": {"cartridge_id": "00000000000000c0", "atom_id": "00000000000000a0", "added_at": NOW},
    "mounts": {"holder_id": "jonas", "cartridge_id": "00000000000000c0", "mounted_at": NOW},
    "evidence_edges": {
        "from_atom_id": "00000000000000a1", "to_atom_id": "00000000000000a0", "relation": "supersedes", "confidence": 1.0,
        "metadata_json": "{}",
    },
    "holders": {
        "holder_id": "mira", "name": "Mira", "kind": "person", "knows_about_json": '["keys"]',
        "contact_json": '{"phone": "+49 30 5550100"}', "groups_json": '["adults"]', "created_at": NOW, "updated_at": NOW,
    },
    "tokens": {
        "holder_id": "mira", "label": "phone", "sha256": "1" * 64, "scopes_json": '["read"]', "acting_for": "",
        "created_at": NOW, "expires_at": None, "revoked_at": None, "last_used_at": None,
    },
    "referrals": {
        "holder_id": "mira", "asker_id": "lea", "question": "Where is the key?", "verb": "who_knows",
        "confidence": "strong", "created_at": NOW,
    },
}  # fmt: skip
ATOMS = (
    {"atom_id": "00000000000000a0", "text": "The bins go out on Tuesday", "valid_to": NOW, "visibility_json": "{}"},
    {"atom_id": "00000000000000a1", "text": "备用钥匙在冰箱上面", "supersedes_json": '["00000000000000a0"]',
     "visibility_json": '{"deny": ["ben"], "scope": "household"}', "metadata_json": '{"recorded_by": "jonas"}',
     "source_id": "00000000000000f0", "tags": '["keys"]', "scenario": "house"},
    {"atom_id": "00000000000000a2", "text": "The stopcock is under the sink",
     "visibility_json": PRIVATE, "retention_until": "2099-01-01T00:00:00.000+00:00"},
)  # fmt: skip


def fill(path):
    """Write the rows of that time, without today's code: plain SQL into the columns there are."""
    texts = [one["text"] for one in ATOMS]
    vectors = cache.engine().embed_passages(texts)
    with closing(sqlite.connect(str(path), isolation_level=None)) as raw:
        prepare(raw)
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("PRAGMA defer_foreign_keys = ON")
        for number, (atom, vector) in enumerate(zip(ATOMS, vectors, strict=True), start=1):
            insert(raw, "atoms", {
                "id": number, "ingested_at": NOW, "updated_at": NOW, "holder_id": "mira", "origin": "self",
                "embedding_refs_json": f'["{cache.engine().name}:384:{cache.passage_key(cache.engine().name, atom["text"])}"]',
                **atom,
            })  # fmt: skip
            raw.execute("INSERT INTO atom_vec(atom_pk, embedding) VALUES (?, ?)", (number, vector.tobytes()))
        for table, row in ROWS.items():
            insert(raw, table, row)
        insert(raw, "store_settings", {"key": "embedding_model", "value_json": f'"{cache.engine().name}"'})
        insert(raw, "store_settings", {"key": "embedding_dimensions", "value_json": "384"})
        raw.execute("COMMIT")


def insert(raw, table, row):
    """A row, as far as the table of that time has its columns; today's generated ones cannot be written."""
    known = {one[1] for one in raw.execute(f"PRAGMA table_xinfo({table})") if one[6] == 0}
    values = {name: value for name, value in row.items() if name in known}
    marks = ", ".join("?" * len(values))
    raw.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", list(values.values()))


def contents(path):
    """Every row of every ordinary table of ours, by table: sets of `(column, value)` a row."""
    with closing(sqlite.connect(f"file:{path}?mode=ro", uri=True)) as raw:
        tables = [
            name
            for (name,) in raw.execute(
                "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
            )
            if not name.startswith(("sqlite_", "django_", "auth_", "atom_vec_", "atom_fts_"))
        ]
        found = {}
        for table in tables:
            cursor = raw.execute(f'SELECT * FROM "{table}"')
            names = [one[0] for one in cursor.description]
            found[table] = [set(zip(names, row, strict=True)) for row in cursor]
        return found


@pytest.fixture
def migrated_to(tmp_path, empty_store, django_db_blocker, settings):
    """A filled store at an earlier state, which Django's connection is pointed at: `migrated_to(app, name)`."""
    path = tmp_path / "memory.db"
    shutil.copy(empty_store, path)
    settings.REKAL_DB = path
    with django_db_blocker.unblock():
        former = use_store(path)

        def made(app, name):
            call_command("migrate", app, name, verbosity=0)
            connections["default"].close()
            fill(path)
            return path

        try:
            yield made
        finally:
            connections["default"].close()
            connections["default"] = former


@pytest.mark.parametrize("state", STATES, ids=".".join)
def test_every_row_survives_the_upgrade(migrated_to, state):
    path = migrated_to(*state)
    before = contents(path)
    assert sum(map(len, before.values())) >= len(ATOMS) + len(ROWS)
    call_command("migrate", verbosity=0)
    connections["default"].close()
    after = contents(path)
    for table, rows in before.items():
        assert len(after[table]) == len(rows), table
        for old, new in zip(rows, after[table], strict=True):
            assert old <= new, table  # columns may be added, none changes
    assert diagnose() == []
    assert [hit.memory.text for hit in recall(MIRA, "钥匙", limit=1).hits] == ["备用钥匙在冰箱上面"]
    assert remember(MIRA, "The stopcock is under the sink").atom_id == "00000000000000a2"
    assert Atom.objects.visible_to(Viewer("jonas")).get().atom_id == "00000000000000a1"


def test_a_store_kept_from_the_first_days_still_opens(tmp_path, django_db_blocker, settings):
    """`fixtures/stores/first.db.gz` was filled at memories.0002 and holders.0001, and is never made anew."""
    path = tmp_path / "memory.db"
    path.write_bytes(gzip.decompress((FIXTURES / "first.db.gz").read_bytes()))
    settings.REKAL_DB = path
    before = contents(path)
    assert len(before["atoms"]) == len(ATOMS)
    with django_db_blocker.unblock():
        former = use_store(path)
        try:
            call_command("migrate", verbosity=0)
            after = contents(path)
            for table, rows in before.items():
                assert all(old <= new for old, new in zip(rows, after[table], strict=True)), table
            assert diagnose() == []
            assert [hit.memory.text for hit in recall(MIRA, "stopcock").hits][:1] == [
                "The stopcock is under the sink"
            ]
        finally:
            connections["default"].close()
            connections["default"] = former


def test_an_older_store_is_named_and_left_alone_until_migrate(migrated_to, run_on, capsys):
    path = migrated_to("memories", "0002_indexes")
    before = path.read_bytes()
    assert run_on("recall", "stopcock", "--as", "mira") == 1
    assert "migrate" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert run_on("migrate") == 0
    assert run_on("recall", "stopcock", "--as", "mira") == 0


@pytest.fixture
def run_on():
    """Run a command over the store Django's connection is pointed at; its exit code."""
    from django.core.management import execute_from_command_line

    def typed(*arguments):
        try:
            execute_from_command_line(["rekal", *arguments])
        except SystemExit as leaving:
            return int(leaving.code or 0)
        return 0

    return typed


def test_every_migration_has_a_way_back(tmp_path, empty_store, django_db_blocker):
    path = tmp_path / "memory.db"
    shutil.copy(empty_store, path)
    with django_db_blocker.unblock():
        former = use_store(path)
        try:
            for app in reversed(APPS):
                call_command("migrate", app, "zero", verbosity=0)
            call_command("migrate", verbosity=0)
            assert diagnose() == []
        finally:
            connections["default"].close()
            connections["default"] = former


def test_every_app_with_tables_is_looked_at():
    ours = {
        config.label
        for config in apps.get_app_configs()
        if config.name in ("memories", "holders", "rekal_site")
    }
    with_tables = {label for label, _ in MigrationLoader(None).disk_migrations if label in ours}
    assert with_tables == set(APPS)
