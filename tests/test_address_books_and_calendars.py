"""Address books and calendars as programs write them: in folders and zips, repeated, done, in zones of their own."""

import zipfile

import pytest

from holders.models import Holder
from memories.models import Atom
from tests.command_line import empty_store, run, store  # noqa: F401


def brought(run, path, *options):
    ran = run("import", str(path), "--as", "mira", "--json", *options)
    assert ran.out, ran.err
    return ran.json


def zipped(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return path


def calendar(tmp_path, *parts):
    path = tmp_path / "family.ics"
    path.write_bytes("\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", *parts, "END:VCALENDAR", ""]).encode())
    return path


def event(uid, *lines, kind="VEVENT"):
    return "\r\n".join([f"BEGIN:{kind}", f"UID:{uid}", *lines, f"END:{kind}"])


ZONE = """\
BEGIN:VTIMEZONE
TZID:The office
BEGIN:STANDARD
DTSTART:16010101T000000
TZOFFSETFROM:+0300
TZOFFSETTO:+0300
END:STANDARD
END:VTIMEZONE""".replace("\n", "\r\n")
MEETING = event("a", "DTSTART;TZID=The office:20260719T183000", "SUMMARY:Meeting")


def test_a_zip_of_calendars_is_read_one_after_the_other(run, tmp_path):
    one = "BEGIN:VCALENDAR\r\n{}\r\nEND:VCALENDAR\r\n"
    path = zipped(
        tmp_path / "mira@example.org.ical.zip",
        Family_ics=one.format(event("a", "DTSTART:20260719T100000Z", "SUMMARY:Judo")),
        Work_ics=one.format(event("b", "DTSTART:20260720T100000Z", "SUMMARY:Meeting")),
    )
    assert brought(run, path)["taken"] == 2
    assert brought(run, path)["already_here"] == 2


def test_a_repeated_event_says_when_it_takes_place_and_when_not(run, tmp_path):
    path = calendar(
        tmp_path,
        event(
            "judo", "DTSTART:20260105T180000Z", "RRULE:FREQ=WEEKLY;INTERVAL=2;UNTIL=20261231T225959Z;BYDAY=MO,WE",
            "EXDATE:20260119T180000Z", "EXDATE:20260202T180000Z,20260216T180000Z", "SUMMARY:Judo",
        ),
        event("birthday", "DTSTART;VALUE=DATE:20260719", "RRULE:FREQ=YEARLY", "SUMMARY:Birthday"),
        event("course", "DTSTART:20260105T180000Z", "RRULE:FREQ=DAILY;COUNT=10", "SUMMARY:Course"),
    )  # fmt: skip
    brought(run, path)
    assert [*Atom.objects.order_by("pk").values_list("text", flat=True)] == [
        "Judo\nRepeats: weekly, every 2, on MO WE, until 2026-12-31\nNot on: 2026-01-19, 2026-02-02, 2026-02-16",
        "Birthday\nRepeats: yearly",
        "Course\nRepeats: daily, 10 times",
    ]


def test_what_is_done_is_not_to_do(run, tmp_path):
    todo = ("STATUS:COMPLETED", "COMPLETED:20260701T100000Z", "SUMMARY:Renew the passport")
    brought(run, calendar(tmp_path, event("a", *todo, kind="VTODO")))
    assert Atom.objects.get().text == "Done: Renew the passport"


@pytest.mark.parametrize("parts", [(ZONE, MEETING), (MEETING, ZONE)])
def test_a_zone_of_the_files_own_counts_wherever_it_stands(run, tmp_path, parts):
    assert "notes" not in brought(run, calendar(tmp_path, *parts))
    assert Atom.objects.get().event_time == "2026-07-19T15:30:00.000+00:00"


def test_a_zone_nobody_knows_is_said_and_one_file_never_explains_anothers(run, tmp_path):
    brought(run, calendar(tmp_path, ZONE, MEETING))
    report = brought(run, calendar(tmp_path, MEETING.replace("Meeting", "Another meeting")))
    assert "The office" in report["notes"][0]["why"]
    assert Atom.objects.get(text="Another meeting").event_time == "2026-07-19T18:30:00.000+00:00"


def test_a_zip_of_cards_is_read_and_a_group_is_nobody(run, tmp_path):
    run("holder-set", "mira", "--group", "curators")
    card = "BEGIN:VCARD\r\nVERSION:4.0\r\n{}\r\nEND:VCARD\r\n"
    path = zipped(
        tmp_path / "contacts.zip",
        Takeout__Contacts__a_vcf=card.format("N:Doe;John;;;"),
        Takeout__Contacts__b_vcf=card.format("KIND:group\r\nFN:The Does"),
    )
    report = brought(run, path)
    assert [*Holder.objects.exclude(pk="mira").values_list("name", flat=True)] == ["John Doe"]
    assert [one["why"] for one in report["skipped"]] == ["The card is of a group, not of somebody."]


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("family.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\nSUMMARY:Judo\n", 2),
        ("cards.vcf", "BEGIN:VCARD\nVERSION:3.0\nFN:Ada\n", 1),
    ],
)
def test_a_file_that_ends_too_early_says_so(run, tmp_path, name, content, line):
    path = tmp_path / name
    path.write_text(content)
    (skipped,) = brought(run, path)["skipped"]
    assert skipped["line"] == line
    assert skipped["why"].startswith("The file ends within")
