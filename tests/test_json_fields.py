"""JSON columns never break the store: bad JSON is refused by every door that writes, and reads as the narrowest thing.

A row can still turn bad: another program may open the file with its constraints switched off. Then nobody but the
holder reads it, it takes nothing else down with it, and the doctor names it.
"""

import json
import sqlite3
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client

from holders.models import Holder, Token
from holders.registry import set_holder
from holders.who_knows import who_knows
from memories.browse import get_memory, list_memories
from memories.doctor import diagnose
from memories.errors import Invalid
from memories.facets import tags_of
from memories.models import Atom, CacheEvent, Cartridge, EvidenceEdge, Scenario, Source
from memories.recall import recall
from memories.remember import edit, remember
from memories.store import set_setting
from memories.transfer.export import as_jsonl
from memories.visibility import Viewer
from tests.api_calls import with_token
from tests.curators import curators, enter  # noqa: F401

JSON = "application/json"
TORN = ["", "{", "nonsense", "{'scope': 'household'}", '{"scope": "household"', "\x00", "[1,"]
OF_ANOTHER_TYPE = ["null", "1", '"household"', "true"]
UNKNOWN_VISIBILITY = [
    '{"scope": "everybody"}', '{"scope": ["household"]}', '{"scope": null}', '{"holders": ["lea"]}', '[{"scope": "household"}]',
    '{"scope": "household", "deny": "lea"}', '{"scope": "household", "deny": {"lea": 1}}',
    '{"scope": "household", "except": ["lea"]}', '{"scope": "household", "Deny": ["lea"]}',
    '{"scope": "holders", "holders": "lea"}', '{"scope": "holders", "groups": {"kids": true}}',
]  # fmt: skip
COLUMNS = {
    "visibility_json": "object", "tags": "array", "layout_json": "", "trust_json": "object", "relations_json": "array",
    "metadata_json": "object", "supersedes_json": "array", "embedding_refs_json": "array",
}  # fmt: skip


@pytest.fixture
def api(cast: Any) -> Any:
    return with_token("mira")


def spoil(table: str, column: str, value: str, where: str = "1 = 1") -> None:
    """What a program does that opens the file with its constraints switched off."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA ignore_check_constraints = 1")
        try:
            cursor.execute(f"UPDATE {table} SET {column} = %s WHERE {where}", [value])
        finally:
            cursor.execute("PRAGMA ignore_check_constraints = 0")


# Refused on write.


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("value", TORN)
def test_the_store_itself_refuses_torn_json_in_every_column(cast, column, value):
    remember(cast.mira, "The key is blue.")
    with pytest.raises((IntegrityError, ValueError)), transaction.atomic():
        Atom.objects.update(**{column: value})


@pytest.mark.parametrize("column", [name for name, json_type in COLUMNS.items() if json_type])
@pytest.mark.parametrize("value", OF_ANOTHER_TYPE)
def test_and_json_of_another_type(cast, column, value):
    remember(cast.mira, "The key is blue.")
    with pytest.raises(IntegrityError), transaction.atomic():
        Atom.objects.update(**{column: value})


@pytest.mark.parametrize(
    ("model", "column"),
    [(Holder, "contact_json"), (Holder, "knows_about_json"), (Holder, "groups_json"), (Token, "scopes_json")],
)
def test_and_in_the_directory(cast, model, column):
    Token.objects.issue("mira", ["read"])
    for value in [*TORN[:-2], *OF_ANOTHER_TYPE]:
        with pytest.raises(IntegrityError), transaction.atomic():
            model.objects.update(**{column: value})


@pytest.mark.parametrize(
    "row",
    [
        Source(path="a", kind="a", mime="a", sha256="a", size_bytes=1, metadata_json="{"),
        Scenario(name="a", default_visibility_json="{"),
        Cartridge(name="a", manifest_json="[]"),
        EvidenceEdge(from_atom_id="a", to_atom_id="b", relation="supports", metadata_json="{"),
        CacheEvent(layer="a", cache_key="", event="hit", bytes_estimate=1, metadata_json="x"),
    ],
)
def test_and_in_the_tables_around_it(db, row):
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)


def test_a_legacy_tool_is_refused_by_the_constraints_or_by_the_index(transactional_db, tmp_path):
    """Python's own sqlite3 on the schema as it is: bad JSON never gets in, and no text without our index does."""
    foreign = sqlite3.connect(tmp_path / "legacy.db")
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE name IN ('sources', 'atoms') ORDER BY name DESC")
        for (sql,) in cursor.fetchall():
            foreign.execute(sql)
    row = "INSERT INTO atoms (atom_id, ingested_at, updated_at, text, holder_id, {}) VALUES ('a', '2026-01-01T00:00:00.000+00:00', '2026-01-01T00:00:00.000+00:00', 't', 'mira', ?)"
    for column in COLUMNS:
        for value in ("{", "nonsense"):
            with pytest.raises(sqlite3.IntegrityError):
                foreign.execute(row.format(column), [value])
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = 'atom_fts'")
        foreign.execute(cursor.fetchone()[0])
        cursor.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = 'atoms_after_insert'")
        foreign.execute(cursor.fetchone()[0])
    with pytest.raises(sqlite3.OperationalError, match="no such function"):
        foreign.execute(row.format("tags"), ["[]"])
    foreign.close()


@pytest.mark.parametrize("stored", [*UNKNOWN_VISIBILITY, *OF_ANOTHER_TYPE])
def test_the_verbs_and_the_api_refuse_a_visibility_they_do_not_know(cast, api, stored):
    value = json.loads(stored)
    if value in (None, "household"):  # not given, and the name of a scope
        return
    memory = remember(cast.mira, "The key is blue.")
    for write in (
        lambda: remember(cast.mira, "Another.", visibility=value),
        lambda: edit(cast.mira, memory.atom_id, visibility=value),
    ):
        with pytest.raises(Invalid):
            write()
    replies = [
        api.post("/api/memories", json.dumps({"text": "Another.", "visibility": value}), content_type=JSON),
        api.patch(f"/api/memories/{memory.atom_id}", json.dumps({"visibility": value}), content_type=JSON),
    ]
    assert [(reply.status_code, list(reply.json())) for reply in replies] == [(422, ["detail"])] * 2
    assert Atom.objects.count() == 1
    assert get_memory(cast.mira, memory.atom_id) == memory


@pytest.mark.parametrize(
    "tags", ["keys", {"a": 1}, [1], [["a"]], [None], [{"tag": "a"}], ["a" * 101], ["a"] * 51, ["a\nb"]]
)
def test_the_verbs_and_the_api_refuse_tags_that_are_none(cast, api, tags):
    memory = remember(cast.mira, "The key is blue.")
    with pytest.raises(Invalid):
        remember(cast.mira, "Another.", tags=tags)
    replies = [
        api.post("/api/memories", json.dumps({"text": "Another.", "tags": tags}), content_type=JSON),
        api.patch(f"/api/memories/{memory.atom_id}", json.dumps({"tags": tags}), content_type=JSON),
    ]
    assert [reply.status_code for reply in replies] == [422, 422]
    assert Atom.objects.count() == 1


@pytest.mark.parametrize(
    "contact",
    [
        "phone",
        ["a"],
        {"phone": 1},
        {"phone": None},
        {"phone": {"a": 1}},
        {"web_url": "x"},
        {"a": "javascript:x"},
    ],
)
def test_the_registry_and_the_api_refuse_a_contact_that_is_none(cast, api, contact):
    with pytest.raises(Invalid):
        set_holder(cast.mira, "mira", contact=contact)
    reply = api.put("/api/holders/mira", json.dumps({"contact": contact}), content_type=JSON)
    assert reply.status_code == 422
    assert Holder.objects.get(pk="mira").contact["phone"] == "+49 30 5550100"


@pytest.mark.parametrize("field", ["layout_json", "trust", "relations", "metadata", "embedding_refs"])
def test_no_door_takes_a_field_it_does_not_know(cast, api, field):
    reply = api.post("/api/memories", json.dumps({"text": "The key is blue.", field: "{"}), content_type=JSON)
    assert reply.status_code == 422
    assert not Atom.objects.exists()


def test_the_admin_has_no_json_to_type(cast, curators):
    memory = remember(cast.cura, "The key is blue.")
    for address in (
        f"/admin/memories/atom/{memory.atom_id}/change/",
        "/admin/holders/holder/lea/change/",
        "/admin/memories/scenario/add/",
    ):
        form = curators.get(address).context["adminform"].form
        assert not [name for name in form.fields if "json" in name]


# Fails closed on read.


@pytest.fixture
def household(cast: Any) -> tuple[Any, Any]:
    """A memory that will go bad, and a good one beside it."""
    bad = remember(cast.mira, "The obelisk stands behind the shed.", visibility="household", tags=["stone"])
    good = remember(cast.mira, "The ladder hangs in the shed.", visibility="household", tags=["tools"])
    return bad, good


def read_everywhere(viewer: Viewer, curators: Client, good: Any) -> bytes:
    """Everything each door shows to `viewer`; whatever raises fails the test."""
    _row, plain = Token.objects.issue(viewer.holder_id, ["read", "write", "ask"])
    api = Client(headers={"authorization": f"Bearer {plain}"})
    shown = [
        repr(list_memories(viewer, current=False).items), repr(list_memories(viewer, q="shed").items),
        repr(recall(viewer, "Where is the obelisk or the ladder?").hits), repr(who_knows(viewer, "Who knows the ladder?").holders),
        repr(tags_of(viewer)), repr(list_memories(viewer, tag="tools").items), repr(get_memory(viewer, good.atom_id)),
    ]  # fmt: skip
    for address in (
        "/api/memories?limit=200", "/api/recall?q=shed", "/api/who_knows?q=ladder", "/api/holders", "/api/sources",
        f"/api/memories/{good.atom_id}",
    ):  # fmt: skip
        reply = api.get(address)
        assert reply.status_code == 200, address
        shown.append(reply.content.decode())
    reply = api.post("/api/ask", json.dumps({"question": "Where is the ladder?"}), content_type=JSON)
    assert reply.status_code == 200
    if viewer.holder_id == "cura":
        for address in (
            "/admin/",
            "/admin/memories/atom/",
            "/admin/memories/atom/?tag=tools",
            "/admin/memories/atom/?q=shed",
            "/admin/holders/holder/",
        ):
            reply = curators.get(address)
            assert reply.status_code == 200, address
            shown.append(reply.content.decode())
    return "".join(shown).encode()


@pytest.mark.parametrize("stored", [*TORN[:-2], *OF_ANOTHER_TYPE, *UNKNOWN_VISIBILITY])
def test_a_visibility_nobody_can_read_lets_nobody_but_the_holder_read(cast, curators, household, stored):
    bad, good = household
    spoil("atoms", "visibility_json", stored, f"atom_id = '{bad.atom_id}'")
    for name in ("lea", "cura", "bot", "gus"):
        viewer = cast.viewer(name)
        if name == "cura":
            shown = read_everywhere(viewer, curators, good)
            assert b"ladder" in shown
            assert b"obelisk stands" not in shown
        assert not Atom.objects.visible_to(viewer).filter(atom_id=bad.atom_id).exists()
        assert not Atom.objects.hinting_to(viewer).filter(atom_id=bad.atom_id).exists()
    assert get_memory(cast.mira, bad.atom_id).text.startswith("The obelisk")


@pytest.mark.parametrize(
    "column",
    [
        "tags",
        "layout_json",
        "trust_json",
        "relations_json",
        "metadata_json",
        "supersedes_json",
        "embedding_refs_json",
    ],
)
@pytest.mark.parametrize("stored", ["", "{", "1", '{"recorded_by": ["lea"]}', '[{"a": 1}, null, 3]'])
def test_any_other_bad_column_reads_as_empty_and_breaks_nothing(cast, curators, household, column, stored):
    bad, good = household
    spoil("atoms", column, stored, f"atom_id = '{bad.atom_id}'")
    shown = read_everywhere(cast.cura, curators, good)
    assert b"obelisk stands" in shown
    memory = get_memory(cast.cura, bad.atom_id)
    assert memory.recorded_by == ""
    assert memory.supersedes == ()
    if column == "tags":
        assert memory.tags == ()
    assert edit(cast.mira, bad.atom_id, scenario="garden").scenario == "garden"


@pytest.mark.parametrize("column", ["contact_json", "knows_about_json", "groups_json"])
@pytest.mark.parametrize("stored", ["{", "1", '[{"a": 1}]', '{"phone": {"a": 1}}'])
def test_a_bad_record_in_the_directory_gives_no_group_and_breaks_nothing(
    cast, curators, household, column, stored
):
    spoil("holders", column, stored, "holder_id = 'gus'")
    read_everywhere(cast.cura, curators, household[1])
    assert curators.get("/admin/holders/holder/gus/change/").status_code == 200
    from holders.auth import viewer_for

    if column == "groups_json":
        assert "curators" not in viewer_for("gus").groups


def test_a_guest_whose_groups_cannot_be_read_is_not_let_in_by_that(cast, household):
    from holders.auth import viewer_for

    for stored in TORN[:-2] + OF_ANOTHER_TYPE + ['{"guests": true}']:
        spoil("holders", "groups_json", stored, "holder_id = 'gus'")
        assert not viewer_for("gus").in_household
        assert not list_memories(viewer_for("gus")).items


def test_a_token_whose_scopes_cannot_be_read_opens_nothing(cast):
    _row, plain = Token.objects.issue("mira", ["read"])
    spoil("tokens", "scopes_json", "{")
    reply = Client(headers={"authorization": f"Bearer {plain}"}).get("/api/memories")
    assert reply.status_code == 403


def test_a_bad_default_of_a_scenario_is_private_and_not_what_the_household_usually_does(cast):
    set_setting("default_visibility", "household")
    Scenario.objects.create(name="house")
    for stored in [*TORN[:-2], "1", '{"scope": "everybody"}', '{"scope": "household", "except": ["lea"]}']:
        spoil("scenarios", "default_visibility_json", stored)
        memory = remember(cast.mira, f"A fact under {stored!r}.", scenario="house")
        assert memory.visibility["scope"] == "private"


@pytest.mark.parametrize("table", ["sources", "cartridges", "evidence_edges", "cache_events"])
def test_bad_rows_around_it_break_no_page(cast, curators, household, table):
    bad, good = household
    source = Source.objects.create(
        path="a.txt", kind="text", mime="text/plain", sha256="1" * 64, size_bytes=1
    )
    Atom.objects.filter(atom_id=good.atom_id).update(source_ref=source)
    Cartridge.objects.create(name="Shed", owner_id="cura")
    EvidenceEdge.objects.create(from_atom_id=bad.atom_id, to_atom_id=good.atom_id, relation="supports")
    CacheEvent.objects.create(layer="embedding.query", cache_key="", event="hit", bytes_estimate=1)
    spoil(table, {"cartridges": "manifest_json"}.get(table, "metadata_json"), "{")
    read_everywhere(cast.cura, curators, good)
    for address in (
        "/admin/memories/source/",
        "/admin/memories/cartridge/",
        "/admin/memories/evidenceedge/",
        "/admin/memories/cacheevent/",
    ):
        assert curators.get(address).status_code == 200


def test_the_doctor_names_each_bad_row(cast, household):
    bad, _good = household
    for column in COLUMNS:
        spoil("atoms", column, "{", f"atom_id = '{bad.atom_id}'")
    found = [
        finding for finding in diagnose() if bad.atom_id in finding.examples and finding.id == "atoms-rule"
    ]
    assert len(found) == len(COLUMNS)


def test_bad_rows_do_not_stop_an_export(cast, household):
    bad, _good = household
    for column in COLUMNS:
        spoil("atoms", column, "{", f"atom_id = '{bad.atom_id}'")
    lines = "".join(as_jsonl(cast.mira))
    assert lines.count("\n") == 2
