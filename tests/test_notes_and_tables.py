"""Notes, diaries, tables and lists as their programs write them: nothing lost without a word, no date made up."""

import json
import zipfile

from memories.models import Atom
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
