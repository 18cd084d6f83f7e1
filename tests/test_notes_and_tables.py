"""Notes, diaries, tables and lists as their programs write them: nothing lost without a word, no date made up."""

import json
import zipfile

import pytest

from memories.models import Atom, EvidenceEdge
from memories.transfer.formats import format_of
from tests.command_line import empty_store, run, store  # noqa: F401


def brought(run, path, *options):
    ran = run("import", str(path), "--as", "mira", "--json", *options)
    assert ran.out, ran.err
    return ran.json


def written(path, content, encoding="utf-8"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def texts():
    return [*Atom.objects.order_by("pk").values_list("text", flat=True)]


NOTE = {
    "isTrashed": False,
    "createdTimestampUsec": 1784482100123000,
    "userEditedTimestampUsec": 1784482100123000,
}


def test_a_keep_note_is_one_note_in_its_zip_and_out_of_it(run, tmp_path):
    note = NOTE | {
        "textContent": "The recipe: https://x.example",
        "annotations": [{"url": "https://x.example/"}, {"url": "https://y.example/"}],
    }
    path = tmp_path / "takeout.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(40):
            archive.writestr(f"Takeout/Google Photos/{number}.json", json.dumps({"title": str(number)}))
        archive.writestr("Takeout/Keep/Recipe.json", json.dumps(note))
    assert brought(run, path)["taken"] == 1
    assert texts() == ["The recipe: https://x.example\nhttps://y.example/"]
    folder = written(tmp_path / "Keep" / "Recipe.json", json.dumps(note)).parent
    assert brought(run, folder)["already_here"] == 1


def test_a_whole_day_of_a_diary_is_the_day_it_was_there(run, tmp_path):
    entry = {
        "uuid": "A",
        "text": "A day by the lake",
        "creationDate": "2026-07-18T22:00:00Z",
        "isAllDay": True,
    }
    path = tmp_path / "journal.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(300):
            archive.writestr(f"photos/{number}.jpeg", bytes(range(256)))
        journal = {"entries": [entry | {"timeZone": "Europe/Berlin"}, entry | {"uuid": "B", "timeZone": "?"}]}
        archive.writestr("日记.json", json.dumps(journal))
    assert format_of(path).name == "day-one"
    brought(run, path)
    assert [*Atom.objects.order_by("pk").values_list("event_time", "event_time_precision")] == [
        ("2026-07-19T00:00:00.000+00:00", "day"), ("2026-07-18T00:00:00.000+00:00", "day"),
    ]  # fmt: skip


@pytest.fixture
def vault(tmp_path):
    for name, content in {
        ".obsidian/app.json": "{}",
        "Home.md": "See [[House/Keys|the keys]], [[people/oma]] and [[Grandma]].\n\n- Bought at [[Shop]] for 20 EUR\n",
        "House/Keys.md": "The spare key is under the pot.\n",
        "People/Oma.md": "---\ntitle: Oma\npermalink: people/oma\naliases: [Grandma]\nbirthday: 1940-07-19\n---\n"
        "## Relations\n- mother_of [[Mira]] (since 1965)\n\n## More\n- Drove to [[Rome]] once\n",
        "Odd.md": "---\ntitle: Odd: very: odd\n---\nStill taken\n",
    }.items():
        written(tmp_path / "vault" / name, content)
    return tmp_path / "vault"


def test_a_line_with_a_link_stays_and_a_relation_is_said_in_words(run, vault):
    brought(run, vault)
    assert "- Bought at [[Shop]] for 20 EUR" in Atom.objects.get(source="Home.md").text
    assert [*Atom.objects.filter(source="People/Oma.md").order_by("pk").values_list("text", flat=True)] == [
        "Oma\n\n## More\n\n- Drove to [[Rome]] once", "Oma mother of Mira (since 1965)",
    ]  # fmt: skip


def test_a_link_finds_its_note_by_path_permalink_and_alias(run, vault):
    brought(run, vault)
    ids = dict(Atom.objects.values_list("atom_id", "source"))
    assert {(ids[one.from_atom_id], ids[one.to_atom_id]) for one in EvidenceEdge.objects.all()} == {
        ("Home.md", "House/Keys.md"), ("Home.md", "People/Oma.md"),
    }  # fmt: skip


def test_what_stands_before_a_note_is_kept_or_said_to_be_unreadable(run, vault):
    report = brought(run, vault)
    assert Atom.objects.filter(source="People/Oma.md")[0].metadata["imported"]["properties"] == {
        "birthday": "1940-07-19"
    }
    assert ["Odd.md" in one["why"] for one in report["notes"]] == [True]


DATES = {
    "45657": "2024-12-31T00:00", "45657.75": "2024-12-31T18:00", "31.12.2025": "2025-12-31T00:00",
    "1.2.25 6:30": "2025-02-01T06:30", "2025/12/31": "2025-12-31T00:00", "2025年12月31日": "2025-12-31T00:00",
    "12/31/2025 6:30 PM": "2025-12-31T18:30", "31/12/2025": "2025-12-31T00:00", "1767139200": "2025-12-31T00:00",
}  # fmt: skip


@pytest.mark.parametrize("stated", DATES)
def test_a_date_of_a_spreadsheet_is_read_as_it_is_meant(run, tmp_path, stated):
    brought(run, written(tmp_path / "rows.csv", f"text,date\nA row,{stated}\n"))
    assert Atom.objects.get().event_time[:16] == DATES[stated]


def test_which_comes_first_in_a_date_is_decided_by_the_whole_table_or_said(run, tmp_path):
    brought(run, written(tmp_path / "rows.csv", "text,date\nOne,1/2/2025\nTwo,13/2/2025\n"))
    assert Atom.objects.get(text="One").event_time[:10] == "2025-02-01"
    unclear = written(tmp_path / "unclear.csv", "text,date\nThree,1/2/2025\n")
    assert "two days" in brought(run, unclear)["skipped"][0]["why"]
    brought(run, unclear, "--date-order", "mdy")
    assert Atom.objects.get(text="Three").event_time[:10] == "2025-01-02"


def test_columns_nothing_is_taken_from_are_named(run, tmp_path):
    report = brought(
        run, written(tmp_path / "rows.csv", "sep=;\r\ntext;Datum\r\n;x\r\nHeizung;1.2.2025\r\n", "cp1252")
    )
    assert report["notes"] == [{"line": 4, "why": "Nothing is taken from Datum."}]
    assert texts() == ["Heizung"]


def test_an_empty_table_is_refused(run, tmp_path):
    assert "no row" in run("import", str(written(tmp_path / "rows.csv", "")), "--as", "mira").err


def test_what_a_folder_hides_is_hidden_in_a_zip_too(run, tmp_path):
    path = tmp_path / "vault.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in (
            "vault/Keys.md",
            "vault/.obsidian/plugin.md",
            "__MACOSX/vault/Keys.md",
            "vault/.Keys.md",
        ):
            archive.writestr(name, "The spare key is under the pot.")
    assert brought(run, path)["taken"] == 1


def test_endless_brackets_are_no_fault_of_ours(run, tmp_path):
    for content in ('{"messages": [' + "[" * 100_000, '[{"memory": ' + "[" * 100_000):
        ran = run("import", str(written(tmp_path / "deep.json", content)), "--as", "mira")
        assert (ran.code, len(ran.err.strip().splitlines())) == (2, 1)


def test_front_matter_that_names_itself_into_gigabytes_is_not_followed(run, tmp_path):
    laughs = "".join(
        f"{two}: &{two} [{', '.join([f'*{one}'] * 9)}]\n"
        for one, two in zip("abcdefghi", "bcdefghij", strict=True)
    )
    written(
        tmp_path / "v" / "Laughs.md",
        f"---\na: &a [ha, ha]\n{laughs}tags: *j\ndate: *j\ntitle: *j\n---\nThe text\n",
    )
    assert brought(run, tmp_path / "v")["taken"] == 1
    assert Atom.objects.filter(text__contains="The text").exists()


LISTS = {
    "in Chinese": ("记忆：\n\n1. 用户住在柏林\n2、对核桃过敏\n（3）喜欢茶\n", "utf-8"),
    "by an old program": ("- Lebt in München\n- Mag Brötchen\n- Größe 1,80\n", "cp1252"),
    "by Notepad": ("- Lives in Berlin\r\n- Likes tea\r\n- Has a dog\r\n", "utf-16"),
}


@pytest.mark.parametrize("written_", LISTS)
def test_a_pasted_list_is_read_as_it_was_saved(run, tmp_path, written_):
    content, encoding = LISTS[written_]
    path = written(tmp_path / "pasted.txt", content, encoding)
    assert format_of(path).name == "bullets"
    assert brought(run, path)["taken"] == 3
    assert all(text[:1] not in "-（2" and "Ã" not in text for text in texts())
