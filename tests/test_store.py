"""The store's schema: migrations forwards and back, triggers, constraints that raw SQL meets too, and the view."""

import struct

import pytest
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError, connection

from memories import schema, timestamps
from memories.models import Atom
from tests.command_line import empty_store, store  # noqa: F401

TRIGGERS = {"atoms_after_insert", "atoms_after_update", "atoms_after_delete"}
SEED_TABLES = {
    "atoms", "sources", "cartridges", "cartridge_atoms", "mounts", "holders", "cache_events", "evidence_edges",
}  # fmt: skip


def names(kind):
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = %s", [kind])
        return {name for (name,) in cursor.fetchall()}


def pragma(name):
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        return cursor.fetchone()[0]


def query(sql, params=()):
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def insert(**columns):
    """A row of `atoms` by raw SQL; what is not given is a sound memory."""
    now = timestamps.now()
    row = {
        "atom_id": "0123456789abcdef",
        "text": "The stopcock is under the sink.",
        "ingested_at": now,
        "updated_at": now,
    }
    row |= columns
    places = ", ".join(["%s"] * len(row))
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO atoms({', '.join(row)}) VALUES ({places})", list(row.values()))
        cursor.execute("SELECT id FROM atoms WHERE atom_id = %s", [row["atom_id"]])
        return cursor.fetchone()[0]


def test_migrations_go_forwards_back_and_forwards(store):
    assert names("table") >= SEED_TABLES
    assert names("view") == {"v_atoms_current"}
    first = query("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")

    call_command("migrate", "holders", "zero", verbosity=0)
    call_command("migrate", "memories", "zero", verbosity=0)
    assert not names("table") & (SEED_TABLES | {"atom_fts", "atom_vec", "tokens", "store_settings"})
    assert names("trigger") == names("view") == set()
    assert (pragma("user_version"), pragma("application_id")) == (0, 0)

    call_command("migrate", verbosity=0)
    assert query("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name") == first


def test_the_triggers_are_there_after_the_last_migration(store):
    assert names("trigger") == TRIGGERS
    written = dict(query("SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')"))
    for statement in [*schema.CREATE_TRIGGERS, *schema.CREATE_VIEW]:
        assert " ".join(statement.split()) == " ".join(written[statement.split()[2]].split())


def test_the_file_carries_our_marks(store):
    assert pragma("user_version") == 5
    assert pragma("application_id") == 0x52454B41


def test_the_connection_is_as_durable_and_as_forgetful_as_promised(store):
    assert pragma("journal_mode") == "wal"
    assert pragma("synchronous") == 2
    assert pragma("secure_delete") == 1
    assert pragma("foreign_keys") == 1
    assert query("SELECT v FROM atom_fts_config WHERE k = 'secure-delete'") == [(1,)]


def test_models_and_migrations_agree(store):
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("origin", "hearsay"),
        ("modality", "smell"),
        ("event_time_precision", "fortnight"),
        ("text", ""),
        ("text", None),
        ("atom_id", ""),
        ("token_equivalent", 0),
        ("tags", "keys, house"),
        ("tags", '{"a": 1}'),
        ("visibility_json", "private"),
        ("visibility_json", '["private"]'),
        ("metadata_json", "[]"),
        ("trust_json", "{"),
        ("relations_json", "{}"),
        ("supersedes_json", "null"),
        ("embedding_refs_json", "x"),
        ("layout_json", "{'a': 1}"),
        ("ingested_at", "2026-07-19"),
        ("ingested_at", "2026-07-19T18:30:00+00:00"),
        ("event_time", "2026-07-19 18:30:00.000+00:00"),
        ("valid_from", "2026-07-19T18:30:00.000+02:00"),
        ("valid_to", "tomorrow"),
        ("retention_until", ""),
        ("updated_at", "2026-07-19T18:30:00.000Z"),
    ],
)
def test_raw_sql_cannot_write_nonsense(store, column, value):
    with pytest.raises(IntegrityError):
        insert(**{column: value})
    assert query("SELECT count(*) FROM atoms") == query("SELECT count(*) FROM atom_fts") == [(0,)]


@pytest.mark.parametrize(
    "times",
    [
        {"event_time": "2026-07-19T00:00:00.000+00:00", "event_time_end": "2026-07-18T00:00:00.000+00:00"},
        {"valid_from": "2026-07-19T00:00:00.000+00:00", "valid_to": "2026-07-18T00:00:00.000+00:00"},
    ],
)
def test_nothing_ends_before_it_begins(store, times):
    with pytest.raises(IntegrityError):
        insert(**times)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO evidence_edges(from_atom_id, to_atom_id, relation, confidence, metadata_json) VALUES ('a', 'b', 'likes', 1, '{}')",
        "INSERT INTO evidence_edges(from_atom_id, to_atom_id, relation, confidence, metadata_json) VALUES ('a', 'b', 'cites', 1.1, '{}')",
        "INSERT INTO holders(holder_id, name, kind, knows_about_json, contact_json, groups_json, created_at, updated_at) "
        "VALUES ('x', '', 'ghost', '[]', '{}', '[]', '2026-07-19T00:00:00.000+00:00', '2026-07-19T00:00:00.000+00:00')",
        "INSERT INTO cartridge_atoms(cartridge_id, atom_id, added_at) VALUES ('none', 'none', '2026-07-19T00:00:00.000+00:00')",
        "INSERT INTO store_settings(key, value_json) VALUES ('time_zone', 'Europe/Berlin')",
    ],
)
def test_the_other_tables_refuse_nonsense_too(store, sql):
    with pytest.raises(IntegrityError):
        query(sql)


def test_the_index_follows_every_write_by_raw_sql(store):
    def found(word):
        return [pk for (pk,) in query("SELECT rowid FROM atom_fts WHERE atom_fts MATCH %s", [word])]

    pk = insert()
    assert found("stopcock") == [pk]
    query("UPDATE atoms SET text = 'The ladder is in the shed.' WHERE id = %s", [pk])
    assert (found("stopcock"), found("ladder")) == ([], [pk])
    Atom.objects.filter(pk=pk).update(scenario="garden")
    assert found("scenario:garden") == [pk]


def test_deleting_a_row_by_raw_sql_leaves_nothing_behind(store):
    pk = insert()
    query(
        "INSERT INTO atom_vec(atom_pk, embedding) VALUES (%s, %s)",
        [pk, struct.pack("384f", 1.0, *[0.0] * 383)],
    )
    query(
        "INSERT INTO evidence_edges(from_atom_id, to_atom_id, relation, confidence, metadata_json) "
        "VALUES ('0123456789abcdef', 'other', 'cites', 1.0, '{}')"
    )
    query("DELETE FROM atoms WHERE id = %s", [pk])
    for table in ("atom_fts", "atom_vec", "evidence_edges"):
        assert query(f"SELECT count(*) FROM {table}") == [(0,)]


def test_a_foreign_writer_is_refused_by_sqlite(store):
    import sqlite3

    foreign = sqlite3.connect(store)
    with pytest.raises(sqlite3.OperationalError, match="index_text|no such"):
        foreign.execute(
            "INSERT INTO atoms(atom_id, text, ingested_at, updated_at) VALUES ('x', 'y', "
            "'2026-07-19T00:00:00.000+00:00', '2026-07-19T00:00:00.000+00:00')"
        )
    foreign.close()


def test_the_view_keeps_what_is_true_now(store):
    past, future = "2020-01-01T00:00:00.000+00:00", "2099-01-01T00:00:00.000+00:00"
    insert(atom_id="always")
    insert(atom_id="warranty", valid_to=future)
    insert(atom_id="closed", valid_to=past)
    insert(atom_id="to come", valid_from=future)
    insert(atom_id="begun", valid_from=past)
    insert(atom_id="lapsed", retention_until=past)
    insert(atom_id="kept", retention_until=future)
    current = {atom_id for (atom_id,) in query("SELECT atom_id FROM v_atoms_current")}
    assert current == {"always", "warranty", "begun", "kept"}
    assert current == set(Atom.objects.current().values_list("atom_id", flat=True))


def test_a_row_with_bad_json_closes_itself_and_breaks_nobodys_query(store):
    query("PRAGMA ignore_check_constraints = ON")
    insert(atom_id="bad", visibility_json="{", metadata_json="[", tags="x", holder_id="mira")
    insert(atom_id="good", visibility_json='{"scope": "household"}', holder_id="mira")
    query("PRAGMA ignore_check_constraints = OFF")
    audiences = dict(query("SELECT atom_id, audience FROM atoms"))
    assert audiences == {"bad": "closed", "good": "household"}
    assert Atom.objects.get(atom_id="bad").tag_list == []


def test_the_vector_table_refuses_other_dimensions(store):
    with pytest.raises(DatabaseError):
        query("INSERT INTO atom_vec(atom_pk, embedding) VALUES (1, %s)", [struct.pack("3f", 1.0, 0.0, 0.0)])
