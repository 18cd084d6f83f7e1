"""vCard 2.1, 3.0 and 4.0: people for the directory of holders with their contacts; notes and birthdays as memories."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import vobject

from memories.encodings import text_lines, text_of
from memories.transfer import files
from memories.transfer.identities import apart
from memories.transfer.records import HolderDraft, Options, Record

CUT_SHORT = ""  # the text of a card without an end
LONGEST = 4_000  # lines of one card without its photo
CONTACTS = {"tel": "phone", "email": "email", "url": "url", "adr": "address", "impp": "chat"}
MOST = 20
_BEGIN = re.compile(r"\s*BEGIN:VCARD\s*", re.IGNORECASE)
_END = re.compile(r"\s*END:VCARD\s*", re.IGNORECASE)
_PICTURE = re.compile(r"(?:[\w-]+\.)?(?:PHOTO|LOGO|SOUND|KEY)[;:]", re.IGNORECASE)
_QUOTED = re.compile(r"ENCODING=QUOTED-PRINTABLE|;QUOTED-PRINTABLE", re.IGNORECASE)
_DAY = re.compile(r"(?P<year>\d{4}|--)-?(?P<month>\d{2})-?(?P<day>\d{2})")

_YEAR = re.compile(r"\d{4}(-\d{2})?")


def recognises(path: Path, head: bytes) -> bool:
    """A card begins it, or a file of the folder or zip."""
    return _begins(head) or files.any_begins(path, _begins, ".vcf", ".vcard")


def _begins(head: bytes) -> bool:
    return bool(_BEGIN.match(text_of(head[:400], cut=True)))


def read(path: Path, _: Options) -> Iterator[Record]:
    """A holder a card, and a memory for each note and birthday; `line` is where the card begins."""
    with files.pieces(path, ".vcf", ".vcard") as found:
        for piece in found:
            with piece.open() as file:
                yield from _of_file(file)


def _of_file(file: Any) -> Iterator[Record]:
    for line, text in _cards(file):
        if text == CUT_SHORT:
            yield Record(line, why="The file ends within the card.", end=file.tell())
            continue
        try:
            card = vobject.readOne(text, allowQP=True, ignoreUnreadable=True)
        except Exception as error:  # noqa: BLE001  (the parser lets many kinds of its own faults through)
            yield Record(line, why=f"The card cannot be read ({type(error).__name__}).", end=file.tell())
            continue
        yield from _records(line, card, file.tell())


def _cards(file: Any) -> Iterator[tuple[int, str]]:
    """Each card's text and first line, without pictures; a card cut short ends where the next begins."""
    held: list[str] = []
    start = 0
    skipping = quoted = False
    for number, line in enumerate(text_lines(file), start=1):
        if _BEGIN.fullmatch(line):
            held, start, skipping = [line], number, False
        elif _END.fullmatch(line) and held:
            yield start, "\r\n".join([*held, line, ""])
            held = []
        elif held and len(held) < LONGEST:
            folded = line[:1] in (" ", "\t") or quoted
            skipping = skipping and folded if folded or not _PICTURE.match(line) else True
            if not skipping and line.strip():
                held.append(line)
            quoted = line.endswith("=") and (quoted or bool(_QUOTED.search(line)))
    if held:
        yield start, CUT_SHORT


def _records(line: int, card: Any, end: int) -> Iterator[Record]:
    name = _name(card)
    kind = "".join(str(one.value) for one in card.contents.get("kind", [])).lower()
    if not name or kind in ("group", "location"):
        why = f"The card is of a {kind}, not of somebody." if name else "The card names nobody."
        yield Record(line, why=why, end=end)
        return
    yield Record(line, holder=HolderDraft(name, contact=_contact(card), kind="person"), end=end)
    metadata = {"imported": {"format": "vcard", "name": name, "holder": apart(name)}}
    for note in card.contents.get("note", []):
        if said := "\n".join(str(note.value).strip().splitlines()):
            yield Record(line, {"text": f"{name}: {said}", "metadata": metadata}, end=end)
    for day in [one for one in card.contents.get("bday", []) if str(one.value).strip()][:1]:
        yield from _birthday(line, name, str(day.value).strip(), metadata, end)


def _name(card: Any) -> str:
    for key in ("fn", "nickname", "org"):
        for one in card.contents.get(key, []):
            value = one.value[0] if isinstance(one.value, list) and one.value else one.value
            if text := " ".join(str(value).split()):
                return text[:200]
    return " ".join(" ".join(str(one.value) for one in card.contents.get("n", [])[:1]).split())[:200]


def _contact(card: Any) -> dict[str, str]:
    """The ways to reach somebody: `phone`, `phone 2`, `email` …, each once."""
    contact: dict[str, str] = {}
    for key, title in CONTACTS.items():
        values = [_way(one.value) for one in card.contents.get(key, [])]
        for place, value in enumerate(dict.fromkeys(one for one in values if one), start=1):
            if title == "url" and not value.lower().startswith(("http://", "https://")):
                continue
            label = title if place == 1 else f"{place} {title}" if title == "url" else f"{title} {place}"
            if len(contact) < MOST:
                contact[label] = value[:500]
    return contact


def _way(value: Any) -> str:
    text = re.sub(r"^(tel|mailto):", "", " ".join(str(value).split()), flags=re.IGNORECASE)
    return text.strip(" ,")


def _birthday(line: int, name: str, value: str, metadata: dict[str, Any], end: int) -> Iterator[Record]:
    found = _DAY.match(value)
    if not found:
        fields: dict[str, Any] = {
            "text": f"{name}: born {value}"
        }  # a card may say only the year, or put it in words
        if _YEAR.fullmatch(value):
            fields = {"text": f"{name}: born in {value}", "event_time": value}
        yield Record(line, {**fields, "tags": ["birthday"], "metadata": metadata}, end=end)
        return
    day = f"{found['month']}-{found['day']}"
    if found["year"] == "--" or found["year"] == "1604":  # what address books write for “year unknown”
        fields = {"text": f"{name}: birthday on {day} (month-day)"}
    else:
        fields = {"text": f"{name}: born on {found['year']}-{day}", "event_time": f"{found['year']}-{day}"}
    yield Record(line, {**fields, "tags": ["birthday"], "metadata": metadata}, end=end)
