"""Bringing in what other programs wrote: recognised, taken line by line with reasons, once, and never believed about people."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from django.db import connection

from holders.models import Holder
from memories.models import Atom, EvidenceEdge
from memories.transfer import load
from memories.transfer.formats import format_of
from tests import foreign_stores
from tests.command_line import ROOT, empty_store, kill_once, run, store  # noqa: F401

FIXTURES = Path(__file__).parent / "fixtures"
CHAT = "whatsapp/WhatsApp Chat with Family.txt"


def brought(run, path, *options, viewer="mira"):
    ran = run("import", str(path), "--as", viewer, "--json", *options)
    assert ran.out, ran.err
    return ran.json


def texts(**filters):
    return set(Atom.objects.filter(**filters).values_list("text", flat=True))


def sums(path):
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return {
        one: (hashlib.sha256(one.read_bytes()).hexdigest(), one.stat().st_mtime_ns)
        for one in files
        if one.is_file()
    }


EVERY = {
    "cards.vcf": ("vcard", 4), "family.ics": ("icalendar", 5), "journal.json": ("day-one", 1), "keep": ("keep", 1),
    "mcp_memory.json": ("mcp-memory", 5), "mem0.json": ("mem0", 3), "notes": ("markdown", 8), "pasted.txt": ("bullets", 4),
    "telegram.json": ("telegram", 3), CHAT: ("whatsapp", 3), "whatsapp/us_chat.txt": ("whatsapp", 2),
}  # fmt: skip


@pytest.mark.parametrize("name", EVERY)
def test_a_file_is_recognised_taken_once_and_left_as_it_is(run, name):
    path = FIXTURES / name
    before = sums(path)
    format_name, count = EVERY[name]
    assert format_of(path).name == format_name
    dry = brought(run, path, "--dry-run")
    assert (dry["taken"], dry["dry_run"]) == (count, True)
    assert Atom.objects.count() == 0
    first = brought(run, path)
    assert (first["taken"], first["already_here"]) == (count, 0)
    assert all(one["why"].endswith(".") and one["line"] > 0 for one in first["skipped"])
    again = brought(run, path)
    assert (again["taken"], again["already_here"]) == (0, count)
    assert again["skipped"] == first["skipped"]
    assert Atom.objects.count() == count
    assert {(atom.audience, atom.recorded_by or atom.holder_id) for atom in Atom.objects.all()} == {
        ("private", "mira")
    }
    assert sums(path) == before


@pytest.mark.parametrize("name", ["keep", "notes", "whatsapp"])
def test_a_zip_is_read_like_its_folder(run, tmp_path, name):
    path = tmp_path / "takeout.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for one in sorted((FIXTURES / name).rglob("*")):
            archive.write(one, one.relative_to(FIXTURES))
    of_zip = brought(run, path, "--dry-run")
    of_folder = brought(run, FIXTURES / name, "--dry-run")
    assert of_zip["taken"] == of_folder["taken"]


def test_a_damaged_file_is_refused_with_a_sentence(run, tmp_path):
    for name, content in (
        ("broken.zip", b"PK\x03\x04rubbish"),
        ("broken.db", b"SQLite format 3\x00rubbish"),
        ("noise.bin", bytes(range(256)) * 20),
        ("torn.json", b'{"results": [{"memory": "One"}, {"mem'),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        ran = run("import", str(path), "--as", "mira")
        assert ran.code in (1, 2)
        assert len(ran.err.strip().splitlines()) == 1
        assert "Traceback" not in ran.err
    assert run("import", str(tmp_path / "missing"), "--as", "mira").code == 2
    assert run("import", str(FIXTURES / "mem0.json"), "--as", "mira", "--format", "nothing").code == 2


def test_rekals_minimal_store_keeps_every_row(run, tmp_path):
    path = foreign_stores.rekal_minimal(tmp_path / "theirs.db")
    before = sums(tmp_path / "theirs.db")
    assert format_of(path).name == "rekal"
    assert brought(run, path)["taken"] == 2
    assert brought(run, path)["already_here"] == 2
    first = Atom.objects.order_by("pk").first()
    assert (first.scenario, first.tag_list, first.ingested_at) == (
        "house",
        ["net"],
        "2026-01-02T03:04:05.000+00:00",
    )
    assert first.metadata["imported"]["id"] == "a1"
    assert sums(path) == before


def test_rekals_oldest_store_names_what_it_cannot_read(run, tmp_path):
    report = brought(run, foreign_stores.rekal_oldest(tmp_path / "theirs.db"))
    assert report["taken"] == 1
    assert "once" in report["skipped"][0]["why"]


def test_what_rekals_upgrade_drops_is_kept(run, tmp_path):
    path = foreign_stores.rekal_old(tmp_path / "old.db")
    assert brought(run, path)["taken"] == 3
    new, old, note = (Atom.objects.get(text__startswith=text) for text in ("Ben eats", "Ben is", "Buy"))
    assert (old.valid_to, new.supersedes) == ("2026-03-01T10:00:01.000+00:00", [old.atom_id])
    assert note.retention_until == "2999-12-31T23:59:59.000+00:00"
    assert new.metadata["imported"]["access_count"] == 7
    assert new.metadata["imported"]["conversation"] == "An old chat"
    edges = set(EvidenceEdge.objects.values_list("from_atom_id", "to_atom_id", "relation", "metadata_json"))
    assert edges == {
        (new.atom_id, old.atom_id, "supersedes", "{}"),
        (note.atom_id, new.atom_id, "cites", '{"relation": "related_to"}'),
    }
    brought(run, path)
    assert EvidenceEdge.objects.count() == 2


def test_rows_still_in_the_write_ahead_log_are_not_missed(run, tmp_path):
    path = tmp_path / "theirs.db"
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA journal_mode = WAL")
    raw.executescript(foreign_stores.MINIMAL)
    raw.execute("INSERT INTO memories (id, content) VALUES ('w', 'Only in the log')")
    raw.commit()
    before = sums(path)
    assert brought(run, path)["taken"] == 1
    assert sums(path) == before
    raw.close()


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_a_transactive_store_of_any_version_comes_in(run, tmp_path, version):
    path = foreign_stores.transactive(tmp_path / "store.db", version)
    run("holder-set", "mira", "--group", "curators")
    report = brought(run, path)
    assert report["taken"] == (3 if version >= 2 else 2)
    assert [one["why"] for one in report["skipped"]] == ["A memory needs a text."] or len(
        report["skipped"]
    ) == 1
    page, water = Atom.objects.get(text__startswith="Descale"), Atom.objects.get(text__startswith="Use soft")
    assert (page.modality, page.source, page.ingested_at) == (
        "pdf_page",
        "manual.pdf#page=3",
        "2026-01-01T08:00:00.000+00:00",
    )
    assert (page.layout_json, page.trust_json) == ('{"page": 3}', '{"ocr": 0.9}')
    assert page.metadata["imported"]["source"]["path"] == "/home/x/manual.pdf"
    assert water.ingested_at == "2026-01-01T00:00:00.000+00:00"
    edges = set(EvidenceEdge.objects.exclude(relation="supersedes").values_list("relation", "confidence"))
    assert edges == {("derived_from", 0.5), ("cites", 1.0)}
    if version >= 2:
        belief = Atom.objects.get(text__startswith="Mum")
        assert (belief.holder_id, belief.recorded_by, belief.audience) == ("theirs:wife", "mira", "private")
        assert belief.supersedes == [water.atom_id]
        assert belief.valid_from == "2026-01-01T00:00:00.000+00:00"
        assert "hearsay" in report["notes"][0]["why"]
    if version == 5:
        wife = Holder.objects.get(pk="theirs:wife")
        assert (wife.name, wife.contact, wife.groups) == ("Wen", {"phone": "555-0100"}, ["guests"])
    assert brought(run, path)["taken"] == 0


def test_a_word_where_a_number_belongs_stops_no_import(run, tmp_path):
    path = foreign_stores.transactive(tmp_path / "store.db", 5)
    raw = sqlite3.connect(path)
    raw.execute("UPDATE evidence_edges SET confidence = 'high' WHERE confidence = 0.5")
    raw.commit()
    raw.close()
    assert brought(run, path)["taken"] == 3
    edge = EvidenceEdge.objects.get(relation="derived_from")
    assert (edge.confidence, json.loads(edge.metadata_json)["confidence"]) == (0.0, "high")


def test_a_newer_transactive_store_is_refused(run, tmp_path):
    path = foreign_stores.transactive(tmp_path / "store.db", 5)
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version = 6")
    raw.close()
    ran = run("import", str(path), "--as", "mira")
    assert ran.code == 2
    assert "version 6" in ran.err


def test_what_a_foreign_store_says_of_readers_counts_only_when_asked_and_mapped(run, tmp_path):
    path = foreign_stores.transactive(tmp_path / "store.db", 5)
    brought(run, path, "--visibility", "file", "--map", "wife=jonas", "--map", "husband=lea")
    belief = Atom.objects.get(text__startswith="Mum")
    assert belief.holder_id == "jonas"
    visibility = json.loads(belief.visibility_json)
    assert (visibility["holders"], visibility["deny"]) == (["lea"], ["theirs:mira"])


def test_people_become_holders_only_by_mapping(run):
    dry = brought(run, FIXTURES / CHAT, "--dry-run")
    assert dry["names"] == {"Ann B.": "theirs:ann-b.", "Jonas": "theirs:jonas"}
    report = brought(run, FIXTURES / CHAT, "--map", "Ann B.=mira", "--map", "Jonas=jonas")
    assert report["names"] == {"Ann B.": "mira", "Jonas": "jonas"}
    key = Atom.objects.get(text__startswith="The key")
    assert (key.holder_id, key.event_time, key.source) == (
        "mira",
        "2026-07-19T18:31:00.000+00:00",
        "whatsapp:Family",
    )
    assert Atom.objects.filter(holder_id="jonas", origin="third_party", recorded_by="mira").count() == 2
    assert brought(run, FIXTURES / CHAT)["taken"] == 0


def test_a_longer_version_of_a_chat_adds_the_rest(run, tmp_path):
    path = tmp_path / "WhatsApp Chat with Family.txt"
    content = (FIXTURES / CHAT).read_text("utf-8")
    path.write_text(content, "utf-8")
    assert brought(run, path)["taken"] == 3
    path.write_text(content + "21.07.26, 08:00 - Ann B.: One more\n", "utf-8")
    assert brought(run, path)["taken"] == 1


@pytest.mark.parametrize(
    ("lines", "order"),
    [
        (["1/2/26, 9:00 AM - A: x", "13/2/26, 9:00 AM - A: y"], "dmy"),
        (["1/2/26, 9:00 AM - A: x", "2/13/26, 9:00 AM - A: y"], "mdy"),
        (["1/12/26, 9:00 - A: x", "2/1/26, 9:00 - A: y"], "mdy"),
        (["1/2/26, 9:00 - A: x", "2/2/26, 9:00 - A: y"], "dmy"),
        (["2026-02-01, 9:00 - A: x"], "ymd"),
        (["[2026/2/1 下午9:00:00] A: x"], "ymd"),
    ],
)
def test_the_order_of_dates_is_decided_by_the_whole_chat(tmp_path, lines, order):
    from memories.transfer.whatsapp import _messages, date_order

    path = tmp_path / "chat.txt"
    path.write_text("\n".join(lines), "utf-8")
    assert format_of(path).name == "whatsapp"
    with path.open("rb") as file:
        assert date_order(_messages(file), "chat") == order


def test_narrow_spaces_and_marks_of_phones_are_read_over(run):
    brought(run, FIXTURES / "whatsapp" / "us_chat.txt")
    assert set(Atom.objects.values_list("event_time", flat=True)) == {
        "2026-07-05T09:05:00.000+00:00", "2026-07-13T00:00:00.000+00:00",
    }  # fmt: skip


def test_events_keep_their_days_and_moments(run):
    brought(run, FIXTURES / "family.ics")
    birthday = Atom.objects.get(text__startswith="Grandma")
    assert (birthday.event_time, birthday.event_time_precision) == ("2026-07-19T00:00:00.000+00:00", "day")
    assert Atom.objects.get(text__startswith="Dentist").event_time == "2026-07-20T06:30:00.000+00:00"
    assert Atom.objects.get(text__startswith="Summer").event_time_end == "2026-08-07T00:00:00.000+00:00"


def test_cards_become_guests_in_the_directory_when_a_curator_brings_them(run):
    refused = brought(run, FIXTURES / "cards.vcf")
    assert Holder.objects.count() == 0
    assert "curator" in refused["notes"][0]["why"]
    run("holder-set", "cura", "--group", "curators")
    report = brought(run, FIXTURES / "cards.vcf", "--map", "Jörg Müller=plumber", viewer="cura")
    assert report["holders"] == ["plumber", "theirs:dr.-ada-okafor", "theirs:yuki-田中"]
    plumber = Holder.objects.get(pk="plumber")
    assert (plumber.name, plumber.contact["phone"], plumber.groups) == (
        "Jörg Müller",
        "+49 30 5550199",
        ["guests"],
    )
    assert "url" not in Holder.objects.get(pk="theirs:dr.-ada-okafor").contact
    assert "Dr. Ada Okafor: The vet, sees Milo on short notice" in texts()


def test_a_large_address_book_comes_in(run, tmp_path):
    path = tmp_path / "all.vcf"
    path.write_text(
        "".join(
            f"BEGIN:VCARD\nVERSION:3.0\nFN:Person {n}\nTEL:+1 555 {n:04}\nEND:VCARD\n" for n in range(1_200)
        )
    )
    assert len(brought(run, path, "--dry-run")["holders"]) == 1_200


def test_a_table_is_mapped_and_its_cells_may_span_lines(run):
    path = FIXTURES / "rows.csv"
    report = brought(run, path, "--column", "event_time=When", "--column", "tags=Labels")
    assert report["taken"] == 3
    assert [one["line"] for one in report["skipped"]] == [5, 6]
    boiler = Atom.objects.get(text__startswith="The boiler")
    assert boiler.text == "The boiler was serviced;\r\nnext time in two years"
    assert (boiler.tag_list, boiler.event_time) == (["boiler", "house"], "2026-03-04T00:00:00.000+00:00")
    assert run("import", str(path), "--as", "mira", "--column", "text=Nothing").code == 2


def test_notes_link_to_each_other(run):
    brought(run, FIXTURES / "notes")
    garden, house = Atom.objects.get(text__startswith="# Garden"), Atom.objects.get(text__startswith="House")
    assert set(EvidenceEdge.objects.values_list("from_atom_id", "to_atom_id", "relation")) == {
        (garden.atom_id, house.atom_id, "cites"), (house.atom_id, garden.atom_id, "cites"),
    }  # fmt: skip
    watering = Atom.objects.get(text__startswith="Garden: The tomatoes")
    assert watering.tag_list == ["outdoors", "plants", "watering", "tomatoes"]


def test_a_relation_to_nobody_is_taken_and_noted(run):
    report = brought(run, FIXTURES / "mcp_memory.json")
    assert "Nobody_Here" in report["notes"][0]["why"]
    assert "Lea Berg knows Nobody Here" in texts()


def test_a_chosen_visibility_is_given_to_all(run):
    brought(run, FIXTURES / "pasted.txt", "--visibility", "household")
    assert set(Atom.objects.values_list("audience", flat=True)) == {"household"}
    assert run("import", str(FIXTURES / "pasted.txt"), "--as", "mira", "--visibility", "everybody").code == 2
    assert run("import", str(FIXTURES / "pasted.txt"), "--as", "mira", "--map", "nothing").code == 2


def test_nobody_can_claim_that_a_holder_confirmed(run, tmp_path):
    path = tmp_path / "claims.jsonl"
    path.write_text(
        json.dumps(
            {
                "text": "I love pop",
                "holder_id": "jonas",
                "metadata": {"confirmed": True, "recorded_by": "jonas"},
            }
        )
    )
    brought(run, path)
    atom = Atom.objects.get()
    assert (atom.recorded_by, atom.counts_for_holder) == ("mira", False)


LINES = 4 * load.BATCH + 8
POINTS = range(5)  # the axe falls once so many batches are stored; the last time before they are linked


def test_an_import_killed_five_times_loses_nothing_and_doubles_nothing(store, tmp_path):
    path = tmp_path / "many.jsonl"
    lines = [{"atom_id": f"{n:016x}", "text": f"Box {n}"} for n in range(LINES)]
    lines[-1]["supersedes"] = [lines[0]["atom_id"]]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    command = [sys.executable, "manage.py", "import", str(path), "--as", "mira"]
    environment = os.environ | {"REKAL_DB": str(store)}
    for point in POINTS:
        kill_once(command, environment, lambda: Atom.objects.count() >= point * load.BATCH)  # noqa: B023  (at once)
        assert Atom.objects.count() % load.BATCH == 0 or Atom.objects.count() == LINES
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert Atom.objects.count() == Atom.objects.values("text").distinct().count() == LINES
    assert Atom.objects.get(atom_id=lines[-1]["atom_id"]).supersedes == [lines[0]["atom_id"]]
    assert EvidenceEdge.objects.count() == 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM atom_vec")
        assert cursor.fetchone()[0] == LINES
