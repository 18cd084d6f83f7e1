"""Files as sources: known by their bytes, kept once, read into memories that point back, opened by few, gone when deleted."""

import io
import json
import time
import wave
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from PIL import ExifTags, Image, ImageOps

from holders.audience import audience_of
from memories import cartridges, source_files, undo
from memories.cartridge_files.write import preview
from memories.errors import Invalid, NotFound
from memories.extract import apart, child, images, sniff
from memories.extract.chunks import cut
from memories.extract.text import extract
from memories.forget import forget
from memories.models import Atom, Source
from memories.recall import recall
from memories.sources import add_source, delete_source, list_sources, open_file
from tests.documents import pdf

FIXTURES = Path(__file__).parent / "fixtures"
MANUAL = ["Descale the coffee machine every month.", "Use soft water only.", "The warranty lasts two years."]


@pytest.fixture(autouse=True)
def _folder(settings, tmp_path):
    settings.REKAL_DB = tmp_path / "memory.db"


@pytest.fixture
def upload(client, cast, api_token):
    """POST a file as somebody: the reply."""

    def sent(content, name="manual.pdf", holder="mira", **details):
        file = io.BytesIO(content)
        file.name = name
        return client.post("/api/sources", {"file": file, **details}, headers=api_token(holder))

    return sent


@pytest.fixture
def api_token(cast):
    from holders.models import Token

    def made(holder):
        _, plain = Token.objects.issue(holder, ["read", "write", "ask"])
        return {"Authorization": f"Bearer {plain}"}

    return made


def current(holder="mira"):
    return {atom.source: atom.text for atom in Atom.objects.filter(holder_id=holder).current()}


def files():
    return sorted(one.name for one in source_files.folder().rglob("*") if one.is_file())


def test_a_manual_becomes_memories_that_point_to_its_pages(upload):
    reply = upload(pdf(MANUAL), scenario="kitchen", tags="coffee, machine", visibility="household")
    assert reply.status_code == 201, reply.content
    assert (reply.json()["new"], reply.json()["source"]["kind"]) == (3, "pdf")
    assert current() == {f"manual.pdf#page={n}": text for n, text in enumerate(MANUAL, start=1)}
    atom = Atom.objects.get(source="manual.pdf#page=2")
    assert (atom.origin, atom.modality, atom.layout_json, atom.audience) == (
        "artifact",
        "pdf_page",
        '{"page": 2}',
        "household",
    )
    assert json.loads(atom.trust_json) == {"parser": 0.9}
    assert (atom.scenario, atom.tag_list) == ("kitchen", ["coffee", "machine"])
    assert atom.token_equivalent == max(1, len(atom.text) // 4)


def test_a_changed_file_supersedes_only_what_changed(upload):
    upload(pdf(MANUAL), visibility="household")
    before = {atom.source: atom.atom_id for atom in Atom.objects.all()}
    changed = ["Descale the coffee machine every week.", MANUAL[1], "A page that is new."]
    reply = upload(pdf([*changed, MANUAL[2]])).json()
    assert {key: reply[key] for key in ("new", "unchanged", "superseded", "closed")} == {
        "new": 2, "unchanged": 2, "superseded": 1, "closed": 0,
    }  # fmt: skip
    assert current() == {
        f"manual.pdf#page={n}": text for n, text in enumerate([*changed, MANUAL[2]], start=1)
    }
    week = Atom.objects.get(text=changed[0])
    assert week.supersedes == [before["manual.pdf#page=1"]]
    assert week.audience == "household"
    assert Atom.objects.get(text=MANUAL[2]).atom_id == before["manual.pdf#page=3"]
    assert upload(pdf(MANUAL[1:2])).json()["closed"] == 3


def test_the_same_file_again_changes_nothing(upload):
    first, again = upload(pdf(MANUAL)).json(), upload(pdf(MANUAL)).json()
    assert again["source"] == first["source"]
    assert (again["new"], again["unchanged"]) == (0, 3)
    assert Atom.objects.count() == 3


def test_bytes_that_somebody_else_has_are_taken_as_new(upload):
    mine, his = upload(pdf(MANUAL)), upload(pdf(MANUAL), holder="jonas")
    assert his.status_code == mine.status_code == 201
    one, other = mine.json(), his.json()
    for reply in (one, other):
        for key in ("source_id", "created_at", "uploaded_by"):
            reply["source"].pop(key)
    assert one == other
    assert Source.objects.count() == 2
    assert len(files()) == 1


def test_only_its_uploader_and_who_reads_all_of_it_open_the_file(client, upload, api_token):
    source_id = upload(pdf(MANUAL), visibility="household").json()["source"]["source_id"]
    url = f"/api/sources/{source_id}"
    assert client.get(url, headers=api_token("jonas")).status_code == 200
    assert client.get(url, headers=api_token("gus")).status_code == 404
    Atom.objects.filter(source__endswith="=2").update(visibility_json='{"scope": "private"}')
    for holder, status in (("mira", 200), ("jonas", 404), ("cura", 404), ("gus", 404)):
        for part in ("", "/file"):
            reply = client.get(url + part, headers=api_token(holder))
            assert reply.status_code == status
            reply.close()
    missing = client.get("/api/sources/0123456789abcdef", headers=api_token("jonas"))
    assert missing.content == client.get(url, headers=api_token("jonas")).content
    assert client.get("/api/sources", headers=api_token("jonas")).json()["items"] == []
    assert client.delete(url, headers=api_token("jonas")).status_code == 404
    Atom.objects.all().delete()
    assert client.get(url, headers=api_token("jonas")).status_code == 404


class TestAFileThatLostAMemory:
    """It still holds those words, and nobody can tell any more who else might read them."""

    @pytest.fixture
    def letter(self, upload, cast):
        """Page 2 is Mira's alone, the others are the household's."""
        source_id = upload(pdf(MANUAL), visibility="household").json()["source"]["source_id"]
        Atom.objects.filter(source__endswith="=2").update(visibility_json='{"scope": "private"}')
        assert [one.source_id for one in list_sources(cast.jonas)] == []
        return source_id

    def may_open(self, viewer, source_id):
        try:
            return open_file(viewer, source_id)[1].is_file()
        except NotFound:
            return False

    def test_an_earlier_version_stays_closed_when_its_private_page_moves_on(self, letter, upload, cast):
        upload(pdf(["Descale it weekly.", *MANUAL[1:]]))
        assert not self.may_open(cast.jonas, letter)
        assert list_sources(cast.jonas) == []
        assert self.may_open(cast.mira, letter)

    def test_it_stays_closed_when_its_private_page_is_forgotten_and_opens_to_nobody_else(self, letter, cast):
        private = Atom.objects.get(source__endswith="=2")
        copy = undo.copy_of(cast.mira, [private.atom_id])
        forget(cast.mira, private.atom_id)
        assert not self.may_open(cast.jonas, letter)
        assert self.may_open(cast.mira, letter)
        undo.restore(cast.mira, copy)
        Atom.objects.filter(source__endswith="=2").update(visibility_json='{"scope": "household"}')
        assert self.may_open(cast.jonas, letter)

    def test_it_goes_into_no_cartridge(self, letter, cast):
        forget(cast.mira, Atom.objects.get(source__endswith="=2").atom_id)
        left = list(Atom.objects.values_list("atom_id", flat=True))
        cartridge = cartridges.make(cast.mira, "Kitchen", left)
        found = preview(cast.mira, cartridge.cartridge_id, audience_of("outside"))
        assert (found.count, found.sources) == (2, ())


def test_a_file_goes_out_so_that_no_browser_runs_it(client, upload, api_token):
    page = b"<!doctype html><html><body><script>alert(1)</script><p>The key is blue</p></body></html>"
    reply = upload(page, name='a"b<c>.html').json()
    assert list(current().values()) == ["The key is blue"]
    out = client.get(f"/api/sources/{reply['source']['source_id']}/file", headers=api_token("mira"))
    assert b"".join(out.streaming_content) == page
    assert out["Content-Type"] == "application/octet-stream"
    assert out["Content-Disposition"].startswith("attachment")
    assert out["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in out["Content-Security-Policy"]
    assert "no-store" in out["Cache-Control"]
    out.close()


def test_deleting_a_source_takes_its_memories_versions_and_files(client, upload, api_token, cast):
    upload(pdf(["The penguin code is quartz."]))
    source_id = upload(pdf(["The penguin code is marble."])).json()["source"]["source_id"]
    assert len(files()) == Source.objects.count() == 2
    assert client.delete(f"/api/sources/{source_id}", headers=api_token("mira")).status_code == 204
    assert Atom.objects.count() == Source.objects.count() == 0
    assert files() == []
    assert recall(cast.mira, "penguin code").hits == ()


def test_forgetting_the_last_memory_of_a_file_takes_the_file_too(
    upload, cast, django_capture_on_commit_callbacks
):
    upload(pdf(MANUAL[:2]))
    for atom, left in zip(Atom.objects.all(), (1, 0), strict=True):
        with django_capture_on_commit_callbacks(execute=True):
            forget(cast.mira, atom.atom_id)
        assert len(files()) == Source.objects.count() == left


def test_forgetting_the_last_memory_of_a_file_can_be_undone_with_the_file(
    cast, django_capture_on_commit_callbacks
):
    content = b"The stopcock is under the sink."
    added = add_source(cast.mira, "note.txt", io.BytesIO(content))
    memory = Atom.objects.get()
    copy = undo.copy_of(cast.mira, [memory.atom_id])
    with django_capture_on_commit_callbacks(execute=True):
        forget(cast.mira, memory.atom_id)
    assert not source_files.path_of(added.source.sha256).exists()
    undo.restore(cast.mira, copy)
    card, place = open_file(cast.mira, added.source.source_id)
    assert (card.name, place.read_bytes()) == ("note.txt", content)


def test_whoever_forgets_is_told_of_the_file_that_still_says_so(cast, browser_of):
    content = b"# Water\n\nThe stopcock is under the sink.\n\n# Power\n\nThe fuse box is in the hall."
    added = add_source(cast.mira, "house.md", io.BytesIO(content))
    first, last = Atom.objects.order_by("pk")
    page = browser_of("mira").post(f"/memories/{first.atom_id}/forget/").content.decode()
    assert f"/files/{added.source.source_id}/" in page
    page = browser_of("mira").post(f"/memories/{last.atom_id}/forget/").content.decode()
    assert "/files/" not in page.split("<main")[1].split("</main")[0]


def test_no_undo_is_offered_that_would_lose_the_file(cast, monkeypatch):
    monkeypatch.setattr(undo, "FILE_BYTES", 10)
    add_source(cast.mira, "note.txt", io.BytesIO(b"The stopcock is under the sink."))
    assert undo.copy_of(cast.mira, [Atom.objects.get().atom_id]) == ""


def test_a_file_others_also_uploaded_stays_for_them(upload, cast):
    mine = upload(pdf(MANUAL)).json()["source"]["source_id"]
    upload(pdf(MANUAL), holder="jonas")
    delete_source(cast.mira, mine)
    assert len(files()) == 1
    assert len(current("jonas")) == 3


def test_what_a_file_is_shows_in_its_bytes(upload, tmp_path):
    assert upload(pdf(MANUAL), name="holiday.jpg").json()["source"]["kind"] == "pdf"
    assert upload(b"MZ\x90\x00" + bytes(200), name="manual.pdf").status_code == 422
    assert upload(b"", name="empty.txt").status_code == 422
    assert upload(b"%PDF-1.7 rubbish", name="x.pdf").status_code == 422
    assert upload(b"PK\x03\x04rubbish", name="x.docx").status_code == 422
    assert upload(b"\x89PNG\r\n\x1a\nrubbish", name="x.png").status_code == 422
    assert upload("日本語のメモ".encode(), name="memo.txt").json()["source"]["mime"] == "text/plain"
    assert upload(b"# Title\n\nBody", name="../../etc/note.md").json()["source"]["name"] == "note.md"
    assert {name for name in files() if name.startswith("incoming")} == set()


@pytest.mark.parametrize(
    "note", ["# PDF\n\nA PDF begins with %PDF-1.7.", "ID3 tags say who sings.", "OggS is Ogg's."]
)
def test_a_note_about_a_kind_of_file_is_a_note(tmp_path, note):
    path = tmp_path / "note.md"
    path.write_text(note)
    assert sniff.sniff(path, "note.md") is sniff.MARKDOWN
    path.write_bytes(b"\n\n" + pdf(MANUAL))
    assert sniff.sniff(path, "note.md") is sniff.PDF
    path.write_bytes(b"sent by mail\n" + pdf(MANUAL))
    assert sniff.sniff(path, "note.md") is sniff.PDF


def test_a_telephones_recording_is_sound_and_its_film_is_not_taken(upload):
    sound = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + b"\0\0\0\x21hdlr" + bytes(8) + b"soun" + bytes(40)
    reply = upload(sound, name="Voice 001.m4a")
    assert (reply.status_code, reply.json()["source"]["mime"]) == (201, "audio/mp4")
    film = sound + b"\0\0\0\x21hdlr" + bytes(8) + b"vide" + bytes(40)
    assert upload(film, name="Voice 002.m4a").status_code == 422


def test_files_beyond_the_limit_are_refused(upload, monkeypatch):
    monkeypatch.setattr(source_files, "MAX_BYTES", 1_000)
    assert upload(b"word " * 1_000, name="long.txt").status_code == 422
    assert files() == []


def test_a_locked_pdf_and_one_without_text_are_told(upload):
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(MANUAL))))
    writer.encrypt("secret", algorithm="RC4-128")
    locked = io.BytesIO()
    writer.write(locked)
    reply = upload(locked.getvalue(), name="locked.pdf")
    assert reply.status_code == 422
    assert "password" in reply.json()["detail"]
    scanned = upload(pdf([""]), name="scan.pdf").json()
    assert scanned["new"] == 0
    assert "nothing was read" in scanned["source"]["notes"][0]


def photo(**exif_ifd):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    exif[ExifTags.Base.Make] = "Spy camera 5000"
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.DateTimeOriginal] = "2026:07:19 18:30:00"
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitude] = (52.0, 31.0, 12.0)
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitudeRef] = "N"
    out = io.BytesIO()
    Image.new("RGB", (600, 300), "teal").save(out, "JPEG", exif=exif, comment=b"at home", quality=85)
    return out.getvalue()


def test_a_photo_is_kept_without_its_place_with_a_preview_and_a_proposed_time(
    client, upload, api_token, monkeypatch
):
    monkeypatch.setattr(images, "can_read_text", lambda: False)
    reply = upload(photo(), name="receipt.jpg", text="Receipt for the boiler").json()["source"]
    assert reply["proposed_event_time"] == "2026-07-19T18:30:00"
    assert "tesseract" in reply["notes"][0]
    atom = Atom.objects.get()
    assert (atom.text, atom.modality, atom.image_ref, atom.event_time) == (
        "Receipt for the boiler",
        "image",
        "receipt.jpg",
        None,
    )
    out = client.get(f"/api/sources/{reply['source_id']}/file", headers=api_token("mira"))
    kept = b"".join(out.streaming_content)
    out.close()
    assert b"Spy camera" not in kept
    assert b"at home" not in kept
    with Image.open(io.BytesIO(kept)) as image:
        assert image.getexif().get_ifd(ExifTags.IFD.GPSInfo) == {}
        assert image.getexif()[ExifTags.Base.Orientation] == 6
    out = client.get(f"/api/sources/{reply['source_id']}/preview", headers=api_token("mira"))
    with Image.open(io.BytesIO(b"".join(out.streaming_content))) as small:
        assert (small.format, small.size) == ("WEBP", (240, 480))
    out.close()
    assert upload(photo(), name="receipt.jpg").json()["new"] == 0


def test_the_cameras_time_becomes_the_memorys_when_its_uploader_says_so(cast, browser_of):
    added = add_source(
        cast.mira, "receipt.jpg", io.BytesIO(photo()), text="The receipt", visibility="household"
    )
    page = f"/files/{added.source.source_id}/"
    assert f"{page}taken/" in browser_of("mira").get(page).content.decode()
    assert f"{page}taken/" not in browser_of("jonas").get(page).content.decode()
    assert browser_of("jonas").post(f"{page}taken/").status_code == 403
    browser_of("mira").post(f"{page}taken/")
    assert {one.event_time_precision for one in Atom.objects.current()} == {"instant"}
    assert Atom.objects.current().first().event_time.startswith("2026-07-19T")
    assert f"{page}taken/" not in browser_of("mira").get(page).content.decode()
    assert browser_of("ben").post(f"/files/{added.source.source_id[::-1]}/taken/").status_code == 404


def test_a_camera_that_writes_words_for_a_time_has_them_stripped():
    exif = Image.Exif()
    exif[ExifTags.Base.DateTime] = "Grunewald, Berlin"
    out = io.BytesIO()
    Image.new("RGB", (8, 8)).save(out, "JPEG", exif=exif)
    picture = images.prepare(out.getvalue())
    assert (b"Grunewald" in picture.content, picture.taken) == (False, None)


def test_a_moving_picture_of_gigabytes_is_refused(monkeypatch):
    monkeypatch.setattr(images, "MAX_MOVING", 5_000)
    out = io.BytesIO()
    frames = [Image.new("RGB", (40, 30), (20 * n, 0, 0)) for n in range(9)]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    with pytest.raises(Invalid, match="too many frames"):
        images.prepare(out.getvalue())


@pytest.mark.parametrize("name", ["photo.heic", "photo.avif"])
def test_a_telephones_photo_is_kept_as_a_jpeg_the_right_way_up(client, upload, api_token, name):
    content = (FIXTURES / "pictures" / name).read_bytes()
    assert b"SECRETPLACE" in content
    reply = upload(content, name=name).json()["source"]
    assert (reply["name"], reply["mime"]) == (f"{name}.jpg", "image/jpeg")
    assert reply["proposed_event_time"] == "2026-07-19T18:30:00+02:00"
    assert images.KEPT_AS_JPEG in reply["notes"]
    out = client.get(f"/api/sources/{reply['source_id']}/file", headers=api_token("mira"))
    kept = b"".join(out.streaming_content)
    out.close()
    assert b"SECRETPLACE" not in kept
    assert b"Telephone" not in kept
    with Image.open(io.BytesIO(kept)) as image:
        upright = ImageOps.exif_transpose(image)
        assert (image.format, upright.size) == ("JPEG", (64, 96))
        assert upright.getpixel((32, 10))[2] > 150  # blue is at the top once it is turned
    assert upload(content, name=name).json()["new"] == 0


def test_text_in_pictures_is_read_where_that_is_installed(upload, monkeypatch):
    monkeypatch.setattr(images, "can_read_text", lambda: True)
    monkeypatch.setattr(images, "read_text", lambda path: "TOTAL 42.00")
    assert upload(photo(), name="receipt.jpg").json()["source"]["notes"] == []
    assert "TOTAL 42.00" in current().values()


def test_a_picture_that_unfolds_to_gigabytes_is_refused(upload):
    out = io.BytesIO()
    Image.new("1", (8_000, 8_000)).save(out, "PNG")
    assert len(out.getvalue()) < 10_000
    assert "60 million pixels" in upload(out.getvalue(), name="bomb.png").json()["detail"]


class TestAFileThatIsMeantToHarm:
    """It is read in a process of its own: whatever it does there, the server goes on and nothing of it is kept."""

    def test_one_that_crashes_its_parser_is_refused(self, upload):
        harmful = bytearray((FIXTURES / "pictures" / "photo.heic").read_bytes())
        harmful[178] = harmful[755] = 255
        reply = upload(bytes(harmful), name="photo.heic")
        assert (reply.status_code, files()) == (422, [])

    def test_one_that_takes_too_long_is_refused(self, upload, monkeypatch):
        monkeypatch.setattr(apart, "SECONDS", 0.01)
        reply = upload(pdf(MANUAL))
        assert (reply.status_code, reply.json()["detail"], files()) == (422, apart.BEYOND, [])

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("comments.txt", b"<!---->" * 9_000 + b"x"),
            ("headings.md", b"# a\n" * 100_000),
            ("paragraphs.txt", b"a\n\n" * 100_000),
            ("sentences.txt", b"a. " * 1_000_000),
        ],
    )
    def test_the_time_text_takes_grows_with_its_length_alone(self, tmp_path, name, content):
        place = tmp_path / name
        place.write_bytes(content)
        begun = time.process_time()
        pieces = extract(place, sniff.sniff(place, name))
        assert time.process_time() - begun < 10
        assert pieces

    def test_the_child_writes_what_it_found(self, tmp_path, monkeypatch):
        place = tmp_path / "letter.txt"
        place.write_text("The key is blue.")
        monkeypatch.setattr(child, "bound", lambda: None)
        for name in (place, FIXTURES / "pictures" / "photo.heic", tmp_path / "empty"):
            name.touch()
            monkeypatch.setattr("sys.argv", ["child", str(name), name.name, str(tmp_path)])
            child.main()
        assert json.loads((tmp_path / "found.json").read_text()) == {
            "refused": "The file is empty.",
            "field": "file",
        }
        assert (tmp_path / "picture").read_bytes()


def test_a_recording_is_kept_and_says_that_nobody_wrote_it_down(upload):
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8_000)
        sound.writeframes(bytes(800))
    reply = upload(out.getvalue(), name="memo.wav").json()
    assert reply["source"]["mime"] == "audio/wav"
    assert "not written down" in reply["source"]["notes"][0]
    assert Atom.objects.get().modality == "audio"


def test_documents_are_read_with_headings_and_tables(tmp_path):
    document = docx.Document()
    document.add_heading("Boiler", 1)
    document.add_paragraph("Serviced every two years.")
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Plumber", "555-0199"
    path = tmp_path / "letter.docx"
    document.save(str(path))
    assert sniff.sniff(path, "x") is sniff.DOCX
    pieces = extract(path, sniff.DOCX)
    assert [piece.text for piece in pieces] == ["# Boiler\n\nServiced every two years.\n\nPlumber | 555-0199"]
    assert pieces[0].fragment == "paragraph=1"


def test_a_document_says_what_it_says_once_its_tracked_changes_are_taken(tmp_path):
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "Huber Heating, 555-0123"
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    for xml in (
        "<w:p><w:r><w:t>Due in </w:t></w:r><w:del><w:r><w:delText>May</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>June</w:t></w:r></w:ins></w:p>",
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>In a control</w:t></w:r></w:p></w:sdtContent></w:sdt>",
        '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2000000000"/><w:vMerge w:val="restart"/></w:tcPr>'
        "<w:p><w:r><w:t>Monday</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>bins</w:t></w:r></w:p></w:tc></w:tr>"
        "<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc><w:p><w:r><w:t>choir</w:t></w:r></w:p>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>at eight</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>",
    ):
        document.element.body.insert(-1, parse_xml(xml.replace(">", f" {space}>", 1)))
    path = tmp_path / "letter.docx"
    document.save(str(path))
    assert extract(path, sniff.DOCX)[0].text.split("\n\n") == [
        "Due in June", "In a control", "Monday | bins", "Monday | choir", "at eight", "Huber Heating, 555-0123",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.html", '<html><meta charset="shift_jis"><body><p>車庫の鍵'.encode("shift_jis"), "車庫の鍵"),
        (
            "a.html",
            '<html><head><meta http-equiv=x content="text/html; charset=cp1251"><p>ключ'.encode("cp1251"),
            "ключ",
        ),
        ("a.html", "<html><meta charset=utf-8><body><p>Schlüssel".encode("utf-16"), "Schlüssel"),
        ("a.html", "<html><meta charset=no-such><body><p>Schlüssel".encode(), "Schlüssel"),
        ("a.htm", b"<style>p {}</style><p>the key<script>steal()</script>", "the key"),
        ("a.xml", b'<?xml version="1.0"?>\n<!-- x -->\n<!DOCTYPE html><html><body><p>the key', "the key"),
        ("a.html", b"<html><p>the key<p hidden>x<p style='color:red; DISPLAY: none'>y", "the key"),
    ],
)
def test_a_page_is_read_as_a_browser_shows_it(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    assert [one.text for one in extract(path, sniff.sniff(path, name))] == [said]


def test_text_is_cut_at_headings_and_paragraphs_never_inside_a_word():
    text = "# One\n\nfirst\n\n# Two\n\n" + "\n\n".join(f"Paragraph {n} " + "word " * 60 for n in range(10))
    chunks = cut(text)
    assert chunks[0].text == "# One\n\nfirst"
    assert chunks[1].text.startswith("# Two\n\nParagraph 0")
    assert all(len(chunk.text) < 1_900 for chunk in chunks)
    assert [text.split("\n")[chunk.line - 1] for chunk in chunks[:2]] == ["# One", "# Two"]
    assert "".join("".join(chunk.text.split()) for chunk in cut("x" * 10_000)) == "x" * 10_000
    assert cut("  \n\n ") == []


@pytest.mark.parametrize("between", [". ", " ", "\n", "。"])
def test_a_long_paragraph_is_cut_into_pieces_that_hold_it_once(between):
    text = between.join(f"word{n} and another of the long paragraph" for n in range(300))
    pieces = [chunk.text for chunk in cut(text)]
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece) <= 1_200 for piece in pieces)
    if between != "。":
        assert " ".join(pieces).split() == text.split()


def test_a_failed_upload_leaves_nothing(cast, monkeypatch):
    from memories import sources

    monkeypatch.setattr(sources, "_point_back", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        add_source(cast.mira, "manual.pdf", io.BytesIO(pdf(MANUAL)))
    assert files() == []
    assert Atom.objects.count() == Source.objects.count() == 0


def test_files_are_readable_by_their_owner_alone(upload):
    upload(pdf(MANUAL))
    for one in source_files.folder().rglob("*"):
        assert Path(one).stat().st_mode & 0o077 == 0
