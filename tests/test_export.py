"""Taking memories out: JSON Lines come back equal, notes and tables are safe, and nobody takes what she may not read."""

import csv
import io
import json
import shutil

import pytest

from holders.registry import set_holder
from memories.fields import dump_json
from memories.models import Atom, Cartridge, CartridgeAtom, EvidenceEdge, Scenario
from memories.remember import edit, remember
from memories.visibility import Viewer
from tests.command_line import empty_store, run, store, use_store  # noqa: F401

MIRA = Viewer("mira", "person", frozenset({"people"}))
JONAS = Viewer("jonas", "person", frozenset({"people"}))

COLUMNS = [
    field.attname
    for field in Atom._meta.concrete_fields
    if field.attname not in ("id", "metadata_json", "source_id")
]


@pytest.fixture
def filled(store):
    """A store with a little of everything; the atoms by a word of theirs."""
    for name in ("mira", "jonas"):
        set_holder(None, name, name=name.title(), contact={"phone": "+49 30 5550100"}, knows_about=["keys"])
    key = remember(
        MIRA,
        "The spare key is\nin the blue box 🔑",
        tags=["keys", "ключ"],
        visibility="household",
        scenario="house",
    )
    diet = remember(
        MIRA, "Ben is vegetarian", event_time="2025-05", valid_from="2025-05-01", visibility="private"
    )
    remember(MIRA, "Ben eats fish", replaces=[diet.atom_id])
    edit(MIRA, key.atom_id, text="The spare key is in the red box")
    edit(MIRA, key.atom_id, text="The spare key is in the green box")
    manual = remember(
        MIRA, "Descale it monthly", source="manual.pdf#page=3", origin="artifact", retention_until="2099-01-01",
        visibility={"scope": "holders", "groups": ["adults"], "deny": ["lea"], "discoverable": False},
    )  # fmt: skip
    Atom.objects.filter(atom_id=manual.atom_id).update(
        layout_json='{"page": 3}',
        trust_json='{"ocr": 0.9}',
        relations_json='["kept"]',
        image_ref="manual.pdf",
    )
    remember(JONAS, "Jonas keeps the drill in the shed", visibility="household")
    remember(JONAS, "Jonas planned a surprise", visibility="private")
    EvidenceEdge.objects.create(
        from_atom_id=manual.atom_id,
        to_atom_id=key.atom_id,
        relation="cites",
        confidence=0.5,
        metadata_json='{"why": "page"}',
    )
    Scenario.objects.create(
        name="house", description="In and around it", default_visibility_json='{"scope": "household"}'
    )
    cartridge = Cartridge.objects.create(name="Manuals", owner_id="mira")
    CartridgeAtom.objects.create(cartridge=cartridge, atom_id=manual.atom_id)
    return store


def everything():
    """The tables, field by field."""
    return {
        "atoms": [
            {name: getattr(atom, name) for name in COLUMNS}
            | {"metadata": {k: v for k, v in atom.metadata.items() if k != "import_key"}}
            for atom in Atom.objects.filter(holder_id="mira").order_by("atom_id")
        ],
        "edges": sorted(
            EvidenceEdge.objects.values_list(
                "from_atom_id", "to_atom_id", "relation", "confidence", "metadata_json"
            )
        ),
        "cartridges": list(Cartridge.objects.values_list("cartridge_id", "name", "owner_id")),
        "members": list(CartridgeAtom.objects.values_list("cartridge_id", "atom_id")),
    }


def test_json_lines_come_back_equal_field_by_field(filled, run, tmp_path, empty_store):
    path = tmp_path / "out.jsonl"
    assert run("export", str(path), "--as", "mira").code == 0
    before = everything()
    from django.db import connections

    connections["default"].close()
    shutil.copy(empty_store, filled)
    for leftover in filled.parent.glob("memory.db-*"):
        leftover.unlink()
    ran = run("import", str(path), "--as", "mira", "--json")
    assert ran.json["skipped"] == []
    after = everything()
    assert after["atoms"] == before["atoms"]
    assert {key: after[key] for key in ("edges", "cartridges", "members")} == {
        key: before[key] for key in ("edges", "cartridges", "members")
    }
    assert run("import", str(path), "--as", "mira", "--json").json["taken"] == 0
    assert everything() == after
    second = tmp_path / "again.jsonl"
    run("export", str(second), "--as", "mira")
    lines = [[json.loads(line) for line in one.read_text("utf-8").splitlines()] for one in (path, second)]
    mine = [{one["atom_id"]: one for one in part if one["holder_id"] == "mira"} for part in lines]
    for one in (*mine[0].values(), *mine[1].values()):
        one.pop("export", None)
    assert mine[0] == mine[1]


def test_every_line_is_a_memory_and_the_first_says_how_many(filled, run):
    lines = [json.loads(line) for line in run("export", "--as", "mira").out.splitlines()]
    assert all(one["text"] and one["atom_id"] for one in lines)
    export = lines[0]["export"]
    assert export["by"] == "mira"
    assert export["counts"]["memories"] == len(lines) == Atom.objects.visible_to(MIRA).count()
    assert (
        export["counts"]["edges"]
        == sum(len(one.get("edges", ())) for one in lines)
        == EvidenceEdge.objects.count()
    )
    assert [one["holder_id"] for one in export["holders"]] == ["jonas", "mira"]
    assert [one["name"] for one in export["scenarios"]] == ["house"]


def test_a_file_cut_short_is_noticed(filled, run, tmp_path):
    path = tmp_path / "out.jsonl"
    run("export", str(path), "--as", "mira")
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-2]), "utf-8")
    notes = run("import", str(path), "--as", "mira", "--json").json["notes"]
    assert f"holds {len(lines)} memories" in notes[0]["why"]


@pytest.mark.parametrize("format_name", ["jsonl", "md", "csv"])
def test_nobody_takes_out_what_she_may_not_read(filled, run, format_name):
    ran = run("export", "--as", "mira", "--format", format_name)
    assert "drill in the shed" in ran.out
    assert "surprise" not in ran.out
    assert "vegetarian" not in run("export", "--as", "jonas", "--format", format_name).out
    assert run("export", "--as", "stranger", "--format", format_name).out.count("key") == 0


def test_what_others_noted_about_their_memories_stays_with_them(filled, run):
    drill = Atom.objects.get(holder_id="jonas", text__contains="drill")
    drill.set_metadata(imported={"from": "a private chat"})
    drill.visibility_json = dump_json({"scope": "household", "deny": ["lea"]})
    drill.save()
    line = next(one for one in run("export", "--as", "mira").out.splitlines() if "drill" in one)
    assert json.loads(line)["visibility"] == {"scope": "household"}
    assert "private chat" not in line


def test_an_export_somebody_else_made_is_a_foreign_file(filled, run, tmp_path):
    path = tmp_path / "out.jsonl"
    run("export", str(path), "--as", "mira")
    ids = set(Atom.objects.values_list("atom_id", flat=True))
    ran = run("import", str(path), "--as", "jonas", "--json")
    assert ran.json["names"] == {"mira": "theirs:mira", "jonas": "theirs:jonas"}
    brought = Atom.objects.exclude(atom_id__in=ids)
    assert set(brought.values_list("audience", flat=True)) == {"private"}
    assert set(brought.values_list("recorded_by", flat=True)) == {"jonas"}
    assert not brought.filter(holder_id="mira").exists()


def test_table_cells_are_no_formulas_and_come_back_as_they_were(run, store, tmp_path):
    texts = ["=1+1", "@x", "-5", "\tlead", "＝1+1", " =2", "'=3", 'plain, "quoted"\nsecond line', "+49 30"]
    for text in texts:
        remember(MIRA, text)
    path = tmp_path / "out.csv"
    assert run("export", str(path), "--as", "mira", "--format", "csv").code == 0
    content = path.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert len(rows) == len(texts)
    assert not [
        row["text"]
        for row in rows
        if row["text"].lstrip()[:1] in tuple("=@-+＝") or row["text"][:1] in "\t\r"
    ]
    Atom.objects.all().delete()
    assert run("import", str(path), "--as", "mira", "--json").json["taken"] == len(texts)
    assert sorted(Atom.objects.values_list("text", flat=True)) == sorted(texts)


def test_notes_carry_front_matter_and_come_back(filled, run, tmp_path):
    folder = tmp_path / "notes"
    assert run("export", str(folder), "--as", "mira", "--format", "md").code == 0
    notes = sorted(folder.rglob("*.md"))
    assert len(notes) == Atom.objects.visible_to(MIRA).count()
    note = next(one for one in notes if "Descale" in one.read_text("utf-8"))
    assert note.read_text("utf-8").startswith("---\natom_id: ")
    ran = run("import", str(folder), "--as", "mira", "--map", "mira=mira", "--dry-run", "--json")
    assert ran.json["taken"] == len(notes)
    assert run("export", str(folder), "--as", "mira", "--format", "md").code == 0
    Atom.objects.filter(text__contains="Descale").delete()
    assert run("export", str(folder), "--as", "mira", "--format", "md").code == 0
    assert not note.exists()


@pytest.mark.parametrize("scenario", ["CON", "Nul", "lpt1"])
def test_no_folder_of_notes_has_a_name_that_windows_keeps_for_itself(run, store, tmp_path, scenario):
    remember(MIRA, "The alarm is armed at ten", scenario=scenario)
    run("export", str(tmp_path / "out"), "--as", "mira", "--format", "md")
    (note,) = (tmp_path / "out").rglob("*.md")
    assert note.parent.name == f"{scenario.lower()}-"


def test_a_folder_of_somebody_elses_is_not_written_into(filled, run, tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "diary.md").write_text("mine")
    assert run("export", str(tmp_path / "theirs"), "--as", "mira", "--format", "md").code == 2
    assert run("export", str(tmp_path / "theirs"), "--as", "mira").code == 2
    assert run("export", str(tmp_path / "no" / "such" / "folder.jsonl"), "--as", "mira").code == 2
    assert run("export", "--as", "mira", "--format", "xml").code == 2


def test_what_has_lapsed_is_not_taken_out(store, run):
    remember(MIRA, "Long gone", retention_until="2020-01-01")
    remember(MIRA, "Still here")
    out = run("export", "--as", "mira").out
    assert "Still here" in out
    assert "Long gone" not in out
