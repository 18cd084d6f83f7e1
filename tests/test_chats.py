"""Chats as telephones and computers write them out: who said what and when, and nothing that nobody said."""

import json
import zipfile

import pytest

from memories.models import Atom
from memories.transfer.formats import format_of
from tests.command_line import empty_store, run, store  # noqa: F401

KEY = ("theirs:ann", "The key is under the pot", "2026-07-19T18:30")
HEADS = {
    "en-US": "7/19/26, 6:30\u202fPM - ", "en-GB": "19/07/2026, 18:30 - ", "es": "19/7/26, 6:30\u202fp.\u00a0m. - ",
    "fr, earlier": "19/07/2026 à 18:30 - ", "fi": "19.7.2026 klo 18.30 - ", "da": "[19.07.2026 18.30.05] ",
    "hu": "2026. 07. 19. 18:30 - ", "ko": "2026. 7. 19. 오후 6:30 - ", "zh": "2026年7月19日 下午6:30 - ",
    "zh-TW": "2026/7/19 晚上6:30 - ", "ar": "\u200f١٩\u200f/٧\u200f/٢٠٢٦، ٦:٣٠ م - ", "el": "19/7/26, 6:30 μ.μ. - ",
    "bg": "19.07.26 г., 18:30 ч. - ", "th": "19/7/2569 18:30 - ", "ms": "19/07/2026, 6:30 PTG - ",
}  # fmt: skip
PHONE = """\
[7/4/26, 9:05:01\u202fAM] Family: \u200eMessages and calls are end-to-end encrypted.
\u200e[7/4/26, 9:05:01\u202fAM] Ann: \u200eAnn created this group
[7/13/26, 12:00:00\u202fPM] ~\u202fAnn: \u2068Noon\u2069: the plumber comes
and brings a tap
\u200e[7/13/26, 12:01:00\u202fPM] Ann: \u200eBild weggelassen
\u200e[7/13/26, 12:01:10\u202fPM] Ann: The new tap \u200e<attached: 00000012-PHOTO.jpg>
\u200e[7/13/26, 12:01:11\u202fPM] Ann: \u200e<attached: 00000013-PHOTO.jpg>
[7/13/26, 12:02:00\u202fPM] \u202a+1\u00a0(415)\u00a0555-0100\u202c: Bin day is Tuesday \u200e<This message was edited>
\u200e[7/13/26, 12:03:00\u202fPM] Ann: Manual.pdf • \u200e3 pages \u200edocument omitted
\u200e[7/13/26, 12:04:00\u202fPM] Ann: \u200eVoice call, \u200e3 min
[7/13/26, 12:06:00\u202fPM] Ann: \u200eLocation: https://maps.example/?q=48.1,11.5
\u200e[7/13/26, 12:07:00\u202fPM] Ann: \u200ePOLL:
Pizza?
\u200eOPTION: Yes (\u200e2 votes)
[7/13/26, 12:08:00\u202fPM] Ann: \u200e@\u2068Jo\u2069 the code is 7741
"""
ANDROID = """\
19.07.26, 18:30 - Oma hat die Gruppe „Familie: wir“ erstellt
19.07.26, 18:33 - Oma: \u200eIMG-20260719-WA0001.jpg (Datei angehängt)
19.07.26, 18:33 - Oma: \u200eIMG-20260719-WA0002.jpg (Datei angehängt)
Der neue Zaun
19.07.26, 18:34 - Ann "Annie" B.: Um acht <Diese Nachricht wurde bearbeitet.>
19.07.26, 18:34 - Oma: Steht in anleitung.pdf (auf Seite drei)
19.07.26, 18:35 - Oma: Diese Nachricht wurde gelöscht.
"""


def brought(run, path, *options):
    ran = run("import", str(path), "--as", "mira", "--json", *options)
    assert ran.out, ran.err
    return ran.json


def written(path, content):
    path.write_text(content, "utf-8")
    return path


def texts():
    return [*Atom.objects.order_by("pk").values_list("text", flat=True)]


@pytest.mark.parametrize("language", HEADS)
def test_a_chat_is_known_in_the_language_of_the_phone(run, tmp_path, language):
    path = written(tmp_path / "chat.txt", f"{HEADS[language]}Ann: {KEY[1]}\n{HEADS[language]}Jo: Ok\n")
    assert format_of(path).name == "whatsapp"
    brought(run, path)
    atom = Atom.objects.get(text=KEY[1])
    assert (atom.holder_id, atom.text, atom.event_time[:16]) == KEY


def test_what_the_phone_itself_wrote_is_nobodys_memory(run, tmp_path):
    report = brought(run, written(tmp_path / "WhatsApp Chat - Family.txt", PHONE))
    assert texts() == [
        "Noon: the plumber comes\nand brings a tap", "The new tap", "Bin day is Tuesday",
        "Location: https://maps.example/?q=48.1,11.5", "POLL:\nPizza?\nOPTION: Yes (2 votes)",
        "@Jo the code is 7741",
    ]  # fmt: skip
    assert set(report["names"]) == {"Ann", "+1 (415) 555-0100"}
    assert [one["line"] for one in report["skipped"]] == [1, 2, 5, 7, 9, 10]


def test_files_marks_of_editing_and_notices_with_a_colon_are_no_words_of_anybody(run, tmp_path):
    report = brought(run, written(tmp_path / "WhatsApp Chat mit Familie.txt", ANDROID))
    assert texts() == ["Der neue Zaun", "Um acht", "Steht in anleitung.pdf (auf Seite drei)"]
    assert set(report["names"]) == {"Oma", 'Ann "Annie" B.'}


def test_a_chat_is_found_among_its_pictures_and_texts(run, tmp_path):
    path = tmp_path / "WhatsApp Chat - Family.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(40):
            archive.writestr(f"{number:08}-PHOTO.jpg", b"\xff\xd8")
        archive.writestr("00000099-notes.txt", "Some notes\nthat hang on a message\n")
        archive.writestr("_chat.txt", "[19/07/2026, 18:30:05] Ann: The key is under the pot\n")
    assert format_of(path).name == "whatsapp"
    assert brought(run, path)["taken"] == 1
    assert Atom.objects.get().source == "whatsapp:Family"


def test_a_chat_is_known_behind_many_notices_and_a_long_message(tmp_path):
    notices = "".join(f"19/07/2026, 18:{n:02} - Somebody {n} joined\n" for n in range(30))
    recipe = "19/07/2026, 19:00 - Ann: Soup:\n" + "an onion\n" * 300
    assert format_of(written(tmp_path / "a.txt", notices + recipe)).name == "whatsapp"
    assert format_of(written(tmp_path / "b.txt", recipe + "é" * 40_000)).name == "whatsapp"


def test_notes_about_whatsapp_are_no_chat(tmp_path):
    written(tmp_path / "WhatsApp tips.md", "# Tips\n\nBack up your chats.\n")
    assert format_of(tmp_path).name == "markdown"


def test_a_chat_that_was_saved_twice_is_one_chat(run, tmp_path):
    line = f"{HEADS['en-GB']}Ann: {KEY[1]}\n"
    brought(run, written(tmp_path / "WhatsApp Chat with Family.txt", line))
    again = brought(run, written(tmp_path / "WhatsApp Chat with Family (1).txt", line * 2))
    assert (again["taken"], again["already_here"]) == (1, 1)


def telegram(*messages, **more):
    named = [
        {"type": "message", "from": "Jo", "from_id": "user2", "date_unixtime": "1784482200", **one}
        for one in messages
    ]
    return {**more, "messages": named}


def test_all_of_a_telegram_account_comes_in_with_the_chats_its_messages_are_from(run, tmp_path):
    people = [{"first_name": f"Somebody {n}", "phone_number": "00491701234567"} for n in range(2_000)]
    account = {
        "about": "Here is the data you requested.",
        "personal_information": {"first_name": "Mira"},
        "contacts": {"about": "", "list": people},
        "chats": {
            "about": "",
            "list": [
                telegram({"id": 1, "text": "Judo is on Monday"}, name="Family"),
                telegram({"id": 1, "text": "Kept for myself"}, type="saved_messages"),
            ],
        },
        "left_chats": {
            "about": "",
            "list": [telegram({"id": 1, "text": "The club meets at eight"}, name="Club")],
        },
    }
    path = written(tmp_path / "result.json", json.dumps(account, indent=1))
    assert brought(run, path)["taken"] == 3
    assert set(Atom.objects.values_list("text", "source")) == {
        ("Judo is on Monday", "telegram:Family"), ("Kept for myself", "telegram:"),
        ("The club meets at eight", "telegram:Club"),
    }  # fmt: skip


def test_a_telegram_folder_is_read_like_its_file(run, tmp_path):
    folder = tmp_path / "ChatExport_2026-07-19"
    (folder / "photos").mkdir(parents=True)
    (folder / "photos" / "one.jpg").write_bytes(b"\xff\xd8")
    written(
        folder / "result.json", json.dumps(telegram({"id": 1, "text": "Judo is on Monday"}, name="Family"))
    )
    assert brought(run, folder)["taken"] == 1
    assert brought(run, folder / "result.json")["already_here"] == 1


def test_links_and_who_said_it_first_are_kept_of_a_telegram_message(run, tmp_path):
    said = [
        "See ",
        {"type": "text_link", "text": "this page", "href": "https://y.example/a"},
        {"type": "link", "text": "x.example"},
    ]
    message = {"id": 1, "text": said, "forwarded_from": "Dr. Meyer"}
    brought(run, written(tmp_path / "result.json", json.dumps(telegram(message, name="Family"))))
    atom = Atom.objects.get()
    assert atom.text == "See this page (https://y.example/a)x.example"
    assert atom.metadata["imported"]["forwarded_from"] == "Dr. Meyer"


def test_json_of_a_stranger_is_refused_in_one_sentence(run, tmp_path):
    ran = run(
        "import",
        str(written(tmp_path / "other.json", json.dumps({"things": [1, 2]}, indent=1))),
        "--as",
        "mira",
    )
    assert (ran.code, len(ran.err.strip().splitlines())) == (2, 1)
