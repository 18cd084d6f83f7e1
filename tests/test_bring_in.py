"""The page that brings files in, the pages of sources, and the `sources` command."""

import io
import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from holders import bring_in_views
from holders.models import Holder
from memories.models import Atom, Source
from memories.transfer import stages, waiting
from tests.command_line import empty_store, run, store  # noqa: F401  (fixtures)
from tests.documents import pdf

FIXTURES = Path(__file__).parent / "fixtures"
CHAT = b"""19.07.26, 18:31 - Ann B.: The key is in the blue box
19.07.26, 18:32 - Mum: The cat eats at seven
19.07.26, 18:33 - Ann B.: <Media omitted>
"""
CHAT_NAME = "WhatsApp Chat with Family.txt"


@pytest.fixture(autouse=True)
def own_folder(settings, tmp_path):
    settings.REKAL_DB = tmp_path / "memory.db"


@pytest.fixture
def mira(browser_of) -> Client:
    return browser_of("mira")


def put(browser: Client, content: bytes, name: str = CHAT_NAME) -> str:
    """Upload a file to be brought in; the address of its page."""
    reply = browser.post(reverse("bring-in"), {"file": SimpleUploadedFile(name, content)})
    assert reply.status_code == 302, reply.content.decode()
    return str(reply.url)


def text_of(reply: Any) -> str:
    return " ".join(reply.content.decode().split())


def left(folder: Path) -> list[Path]:
    return [one for one in folder.glob("memory.db.incoming/**/*") if one.is_file()]


class TestLook:
    def test_it_says_what_the_file_is_and_what_would_come_in_and_takes_nothing(self, mira, tmp_path):
        page = put(mira, CHAT)
        shown = text_of(mira.get(page))
        for words in (
            "a WhatsApp chat", "2 memories", "The key is in the blue box", "Ann B.", "1 entry is left out", "Line 3",
        ):  # fmt: skip
            assert words in shown, words
        assert not Atom.objects.exists()
        assert [one.name for one in left(tmp_path)] == [CHAT_NAME]
        assert left(tmp_path)[0].stat().st_mode & 0o77 == 0

    def test_a_file_is_its_uploaders_alone(self, mira, browser_of):
        page = put(mira, CHAT)
        for action in ("look", "take", "drop"):
            reply = browser_of("jonas").post(page, {"action": action})
            assert reply.url == reverse("bring-in")
        assert not Atom.objects.exists()
        assert "The cat eats" in text_of(mira.get(page))
        assert CHAT_NAME in text_of(mira.get(reverse("bring-in")))
        assert CHAT_NAME not in text_of(browser_of("jonas").get(reverse("bring-in")))

    def test_after_an_hour_it_is_gone(self, mira, tmp_path):
        page = put(mira, CHAT)
        old = time.time() - waiting.LASTS - 5
        os.utime(left(tmp_path)[0].parent, (old, old))
        assert mira.get(page).url == reverse("bring-in")
        assert left(tmp_path) == []

    def test_thrown_away_it_is_gone(self, mira, tmp_path):
        page = put(mira, CHAT)
        assert mira.post(page, {"action": "drop"}).status_code == 302
        assert left(tmp_path) == []
        assert not Atom.objects.exists()

    def test_too_large_empty_and_missing_files_are_refused(self, mira, tmp_path, monkeypatch):
        assert mira.post(reverse("bring-in"), {}).status_code == 422
        empty = SimpleUploadedFile("a.txt", b"")
        assert mira.post(reverse("bring-in"), {"file": empty}).status_code == 422
        monkeypatch.setattr(waiting, "MAX_BYTES", 100)
        large = SimpleUploadedFile("a.txt", b"- x\n" * 100)
        assert mira.post(reverse("bring-in"), {"file": large}).status_code == 422
        assert left(tmp_path) == []

    @pytest.mark.parametrize(
        "name", ["../../etc/passwd", "..", "a\x00b/\n.txt", "漢" * 300 + ".csv", ".hidden", "C:\\x\\y.csv"]
    )
    def test_no_name_leads_out_of_the_folder(self, cast, tmp_path, name):
        ticket = waiting.keep(cast.mira, name, io.BytesIO(b"text\nhello\n"))
        place = waiting.find(cast.mira, ticket)
        assert place.resolve().is_relative_to((tmp_path / "memory.db.incoming").resolve())
        assert place.parent.name == ticket
        assert not place.name.startswith(".")

    @pytest.mark.parametrize("ticket", ["..", "x", "%2e%2e", "a" * 16, "*" * 16])
    def test_made_up_tickets_open_nothing(self, mira, ticket):
        put(mira, CHAT)
        assert mira.get(reverse("look-at-file", args=[ticket])).status_code in (302, 404)

    def test_nobody_keeps_more_than_a_few(self, mira, tmp_path):
        for _ in range(waiting.MOST + 2):
            put(mira, CHAT)
        assert len(left(tmp_path)) == waiting.MOST

    def test_a_bundle_is_sent_to_its_own_page_and_an_unknown_file_asked_about(self, mira):
        assert "This is a bundle" in text_of(mira.get(put(mira, b"PK\x03\x04 no zip", "garden.rekal")))
        reply = mira.get(put(mira, b"\x00\x01\x02", "what.bin"))
        assert reply.status_code == 422
        assert "Nobody can tell" in text_of(reply)

    def test_a_zip_that_would_fill_the_disk_is_refused(self, mira, monkeypatch):
        import zipfile

        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("WhatsApp Chat with Ann.txt", CHAT * 1_000)
        monkeypatch.setattr(stages, "UNPACKED", 10_000)
        reply = mira.get(put(mira, out.getvalue(), "chat.zip"))
        assert reply.status_code == 422
        assert "unpack" in text_of(reply)

    def test_a_store_whose_table_is_an_endless_view_is_none(self, mira, tmp_path):
        from pysqlite3 import dbapi2 as sqlite

        made = sqlite.connect(str(tmp_path / "endless.db"))
        made.execute(
            "CREATE VIEW memories AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id,"
            " 'x' AS content, 'fact' AS memory_type, '' AS project, '' AS conversation_id, '[]' AS tags,"
            " '2026-01-01' AS created_at, '2026-01-01' AS updated_at, 0 AS access_count FROM n ORDER BY id DESC"
        )
        made.close()
        page = put(mira, (tmp_path / "endless.db").read_bytes(), "endless.db")
        assert mira.get(page).status_code == 422
        assert "Nothing new" in text_of(mira.post(page, {"format": "rekal", "action": "look"}))

    def test_who_is_not_signed_in_goes_to_the_door(self, client, db):
        for address in (reverse("bring-in"), reverse("look-at-file", args=["a" * 16]), reverse("sources")):
            assert client.get(address).status_code == 302


class TestTake:
    def test_names_are_mapped_and_readers_chosen_and_the_file_is_gone_then(self, mira, tmp_path):
        page = put(mira, CHAT)
        choices = {"name": ["Ann B.", "Mum"], "who": ["", "mira"], "readers": "household", "action": "take"}
        reply = mira.post(page, choices)
        assert "2 memories brought in" in text_of(reply)
        assert dict(Atom.objects.values_list("text", "holder_id")) == {
            "The key is in the blue box": "theirs:ann-b.", "The cat eats at seven": "mira",
        }  # fmt: skip
        assert {one.audience for one in Atom.objects.all()} == {"household"}
        assert set(Atom.objects.values_list("recorded_by", flat=True)) <= {"mira", None, ""}
        assert left(tmp_path) == []
        assert mira.post(page, choices).url == reverse("bring-in")

    def test_without_a_choice_only_its_importer_reads_it(self, mira, cast):
        mira.post(put(mira, CHAT), {"action": "take"})
        assert Atom.objects.visible_to(cast.mira).count() == 2
        assert not Atom.objects.visible_to(cast.jonas).exists()

    def test_names_become_nobody_outside_the_directory(self, mira):
        mira.post(put(mira, CHAT), {"name": ["Mum"], "who": ["somebody-else"], "action": "take"})
        assert set(Atom.objects.values_list("holder_id", flat=True)) == {"theirs:ann-b.", "theirs:mum"}

    def test_the_same_file_again_adds_nothing(self, mira):
        mira.post(put(mira, CHAT), {"action": "take"})
        page = put(mira, CHAT)
        assert "2 are here already" in text_of(mira.get(page))
        mira.post(page, {"action": "take"})
        assert Atom.objects.count() == 2

    def test_a_long_file_comes_in_piece_by_piece(self, mira, monkeypatch):
        monkeypatch.setattr(bring_in_views, "TAKE_SECONDS", 0.0)
        monkeypatch.setattr("memories.transfer.load.BATCH", 10)
        page = put(
            mira, b"".join(b'{"text": "Box %d holds jar %d."}\n' % (n, n) for n in range(35)), "boxes.jsonl"
        )
        choices, replies = {"action": "take", "readers": "household"}, []
        while not replies or "brought in so far" in replies[-1]:
            replies.append(text_of(mira.post(page, choices)))
            choices = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', replies[-1]))
        shown = [int(found) for reply in replies for found in re.findall(r'<progress value="(\d+)"', reply)]
        assert len(replies) > 2
        assert shown == sorted(shown)
        assert 20 < shown[0] < 40
        assert "35 memories brought in" in replies[-1]
        assert "here already" not in replies[-1]
        assert Atom.objects.count() == 35
        assert {one.audience for one in Atom.objects.all()} == {"household"}

    def test_a_second_press_meets_the_first(self, mira):
        page = put(mira, CHAT)
        bring_in_views._busy.add("mira")
        try:
            assert mira.post(page, {"action": "take"}).status_code == 409
        finally:
            bring_in_views._busy.discard("mira")
        assert not Atom.objects.exists()

    def test_a_tables_columns_are_chosen_where_their_names_say_nothing(self, mira):
        page = put(mira, b"Was;Wann\nThe bin day is Thursday;2026-03-04\n", "rows.csv")
        asked = mira.get(page)
        assert asked.status_code == 422
        assert 'name="column_text"' in text_of(asked)
        choices = {"format": "csv", "column_text": "Was", "column_event_time": "Wann"}
        assert "1 memory" in text_of(mira.post(page, choices | {"action": "look"}))
        mira.post(page, choices | {"action": "take"})
        atom = Atom.objects.get()
        assert (atom.text, atom.event_time[:10]) == ("The bin day is Thursday", "2026-03-04")

    def test_people_of_an_address_book_are_registered_by_a_curator_alone(self, browser_of):
        cards = (FIXTURES / "cards.vcf").read_bytes()
        before = set(Holder.objects.values_list("pk", flat=True))
        mira, cura = browser_of("mira"), browser_of("cura")
        page = put(mira, cards, "cards.vcf")
        assert 'name="directory"' not in text_of(mira.get(page))
        mira.post(page, {"action": "take", "directory": "on"})
        assert set(Holder.objects.values_list("pk", flat=True)) == before
        page = put(cura, cards, "cards.vcf")
        assert 'name="directory"' in text_of(cura.get(page))
        cura.post(page, {"action": "take", "directory": "on"})
        new = Holder.objects.exclude(pk__in=before)
        assert new.exists()
        assert all(one.pk.startswith("theirs:") and one.groups == ["guests"] for one in new)

    def test_an_export_of_mine_keeps_its_readers_and_somebody_elses_is_a_foreign_file(self, browser_of, cast):
        from django.core.management import call_command

        from memories.remember import remember

        remember(cast.mira, "The oven light is broken.", visibility="household")
        out = io.StringIO()
        call_command("export", "--as", "mira", stdout=out)
        Atom.objects.all().delete()
        jonas, mira = browser_of("jonas"), browser_of("mira")
        jonas.post(put(jonas, out.getvalue().encode(), "mira.jsonl"), {"action": "take", "readers": ""})
        theirs = Atom.objects.get()
        assert (theirs.holder_id, theirs.audience) == ("theirs:mira", "private")
        Atom.objects.all().delete()
        mira.post(put(mira, out.getvalue().encode(), "mira.jsonl"), {"action": "take", "readers": ""})
        mine = Atom.objects.get()
        assert (mine.holder_id, mine.audience) == ("mira", "household")


class TestSources:
    def add(self, browser: Client, content: bytes, name: str = "manual.pdf", **more: Any) -> str:
        reply = browser.post(reverse("sources"), {"file": SimpleUploadedFile(name, content), **more})
        assert reply.status_code == 302, reply.content.decode()
        return str(reply.url)

    def test_a_file_is_kept_shown_downloaded_and_deleted(self, mira):
        page = self.add(mira, pdf(["Descale the machine.", "Water plants on Monday."]), readers="household")
        shown = text_of(mira.get(page, follow=True))
        assert "Descale the machine." in shown
        assert "2 memories come from it" in shown
        file = mira.get(f"{page}file/")
        assert file["Content-Disposition"].startswith("attachment")
        assert file["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in file["Content-Security-Policy"]
        assert b"".join(file.streaming_content).startswith(b"%PDF")
        assert mira.get(f"{page}preview/").status_code == 404
        assert mira.get(f"{page}delete/").status_code == 405
        assert mira.post(f"{page}delete/").url == reverse("sources")
        assert not Atom.objects.exists()
        assert not Source.objects.exists()

    def test_others_open_it_when_they_may_read_all_of_it_and_never_delete_it(self, mira, browser_of):
        page = self.add(mira, pdf(["One page.", "Another page."]), readers="household")
        jonas, gus = browser_of("jonas"), browser_of("gus")
        assert jonas.get(page).status_code == 200
        assert "delete/" not in text_of(jonas.get(page))
        assert jonas.post(f"{page}delete/").status_code == 403
        for part in ("", "file/", "preview/"):
            assert gus.get(f"{page}{part}").status_code == 404
        assert "manual.pdf" not in text_of(gus.get(reverse("sources")))
        Atom.objects.filter(text="One page.").update(visibility_json='{"scope": "private"}')
        assert jonas.get(page).status_code == 404
        assert "manual.pdf" not in text_of(jonas.get(reverse("sources")))

    def test_html_never_opens_in_the_browser(self, mira):
        page = self.add(
            mira, b"<html><body><p>Tea at four.</p><script>alert(1)</script></body></html>", "a.html"
        )
        file = mira.get(f"{page}file/")
        assert b"".join(file.streaming_content).startswith(b"<html>")
        assert file["Content-Type"] == "application/octet-stream"
        assert file["Content-Disposition"].startswith("attachment")

    def test_what_is_no_document_is_refused_in_the_form(self, mira):
        reply = mira.post(reverse("sources"), {"file": SimpleUploadedFile("a.exe", b"MZ\x00\x00")})
        assert reply.status_code == 422
        assert "no kind of file" in text_of(reply)
        assert mira.post(reverse("sources"), {}).status_code == 422

    def test_many_memories_are_shown_page_by_page(self, mira):
        page = self.add(mira, pdf([f"Page {n} speaks of plant {n}." for n in range(60)]))
        assert "?page=2" in text_of(mira.get(page))
        assert "Page 59 speaks" in text_of(mira.get(page, {"page": 2}))

    def test_the_list_takes_no_more_queries_when_it_is_longer(self, mira):
        counts = []
        for number in range(6):
            self.add(mira, pdf([f"Page {number}."]), f"manual-{number}.pdf")
            if number in (1, 5):
                with CaptureQueriesContext(connection) as asked:
                    assert f"manual-{number}.pdf" in text_of(mira.get(reverse("sources")))
                counts.append(len(asked))
        assert counts[0] == counts[1]

    def test_by_command(self, run, tmp_path):
        file = tmp_path / "notes.md"
        file.write_text("# Garden\n\nThe hose is in the shed.\n")
        assert run("sources", "--as", "mira").code == 1
        added = run("sources", "add", str(file), "--as", "mira", "--tag", "garden", "--json")
        assert added.code == 0, added.err
        source_id = added.json["source"]["source_id"]
        listed = run("sources", "--as", "mira", "--json")
        assert [one["source_id"] for one in listed.json["items"]] == [source_id]
        assert "notes.md" in run("sources", "--as", "mira").out
        assert run("sources", "--as", "jonas").code == 1
        assert run("sources", "rm", source_id, "--as", "jonas").code == 1
        assert run("sources", "add", str(tmp_path / "none"), "--as", "mira").code == 2
        assert run("sources", "add", "--as", "mira").code == 2
        assert run("sources", "rm", source_id, "--as", "mira", "--json").json["deleted"] == source_id
        assert not Source.objects.exists()

    def test_the_lists_body_is_the_apis(self, mira, client):
        from django.core.management import call_command

        from holders.models import Token

        self.add(mira, pdf(["One page."]))
        _, plain = Token.objects.issue("mira", ["read"])
        api = client.get("/api/sources", headers={"authorization": f"Bearer {plain}"}).json()
        out = io.StringIO()
        call_command("sources", "--as", "mira", "--json", stdout=out)
        assert json.loads(out.getvalue()) == api
