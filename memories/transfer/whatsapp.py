"""WhatsApp's exported chats: a message a memory, its author the holder; the whole file decides the order of dates.

Phones write `[19.07.26, 18:30:05] Ann: …` or `7/19/26, 6:30 PM - Ann: …` by their language, with invisible marks and
narrow spaces among them; a message goes on until the next line that begins with a time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from memories.encodings import text_lines, text_of
from memories.errors import Invalid
from memories.transfer import files
from memories.transfer.records import Options, Record

ORDERS = ("dmy", "mdy", "ymd")
LONGEST = 60_000  # characters of one message
LONGEST_TAIL = 400  # of what WhatsApp adds to it
BUDDHIST = 543  # what the years of a telephone in Thai are ahead
NOTICE = "It is a notice of WhatsApp’s, no message."
NOT_SAID = "It is a picture, a recording, a notice or a deleted message."
_MARK = "\u200e"  # stands before what WhatsApp itself wrote
_MARKS = dict.fromkeys(map(ord, "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"))
_SPACES = {ord(one): " " for one in "\u202f\u00a0\u2009\u200a"}
_HOURS = {  # the half or the part of the day, without spaces and stops: what it adds to the hour on a clock of twelve
    "am": 0, "pm": 12, "上午": 0, "下午": 12, "凌晨": 0, "早上": 0, "清晨": 0, "傍晚": 12, "晚上": 12, "深夜": 12,
    "오전": 0, "오후": 12, "午前": 0, "午後": 12, "ص": 0, "م": 12, "πμ": 0, "μμ": 12, "pg": 0, "ptg": 12,
}  # fmt: skip
_LINE = re.compile(
    r"^\[?(?P<a>\d{1,4})(?:[./-]|年)\s?(?P<b>\d{1,2})(?:[./-]|月)\s?(?P<c>\d{1,4})[.日]?(?: г\.)?[,،]?\s+"
    r"(?:(?:à|klo|kl\.|um|at)\s)?(?:(?P<early>[上下中]午|凌晨|早上|清晨|傍晚|晚上|深夜|오전|오후|午前|午後)\s?)?"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
    r"\s?(?P<half>[AaPp]\.?\s?[Mm]\.?|[πμ]\.μ\.|[صم]|PT?G)?(?: ч\.)?"
    r"(?:\]|\s[-–])\s?(?P<rest>.*)$"
)
_AUTHOR = re.compile(r"^(?P<author>[^:]{1,80}?):\s(?P<text>.*)$", re.DOTALL)
_QUOTES = re.compile(r"[\"“”„«»]")
_NOTHING = re.compile(
    r"^<[^<>]{3,60}>$|^(image|video|audio|sticker|GIF|document|Contact card) omitted$|^null$"
    r"|^(Missed|Verpasster|Llamada perdida)\b.{0,40}$"
    r"|^(This message was deleted|You deleted this message|Diese Nachricht wurde gelöscht"
    r"|Du hast diese Nachricht gelöscht|Se eliminó este mensaje|Eliminaste este mensaje|Ce message a été supprimé"
    r"|Vous avez supprimé ce message|Mensagem apagada|Essa mensagem foi apagada|Você apagou esta mensagem"
    r"|Questo messaggio è stato eliminato|Hai eliminato questo messaggio|Dit bericht is verwijderd"
    r"|此消息已删除|您删除了此消息|你删除了此消息|此訊息已刪除|你已刪除此訊息)[.。]?$",
    re.IGNORECASE,
)
# `IMG-20260719-WA0001.jpg (file attached)`, with its caption on the lines below
_FILE = re.compile(
    rf"^(?:{_MARK}[^\n]{{1,200}}\.\w{{2,5}} \([^()\n]{{2,40}}\)|[A-Z]{{3}}-\d{{8}}-WA\d+\.\w{{2,5}} \([^()\n]{{2,40}}\)"
    r"|[^\n]{1,200}\.\w{2,5} \((?:file attached|Datei angehängt|archivo adjunto|fichier joint|arquivo anexado"
    r"|file allegato|bestand bijgevoegd|文件附件)\))(?:\n|$)"
)
# `<attached: 1.jpg>`, `<This message was edited>`
_TAIL = re.compile(
    rf"\s*(?:{_MARK}<[^<>\n]{{3,200}}>"
    r"|<[^<>\n]{0,40}(?:edited|bearbeitet|editó|editad|modifi|bewerkt|изменено|已编辑|已編輯|編集)[^<>\n]{0,20}>)$"
)


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it stands: the line it begins on, the numbers of its date, its clock, and who says what."""

    line: int
    date: tuple[int, int, int]
    clock: tuple[int, int, int]
    rest: str


def recognises(path: Path, head: bytes) -> bool:
    """Text whose lines begin with a date and a time; or the folder or zip it comes in, whatever else is in there."""
    return _is_chat(head) or files.any_begins(path, _is_chat, ".txt")


def _is_chat(head: bytes) -> bool:
    """Whether a text begins with a message, or has enough of them among its first lines."""
    lines = [one for one in text_of(head, cut=True).splitlines() if one.strip()]
    found = [_LINE.match(_clean(one)) for one in lines]
    said = [one is not None and ": " in one["rest"] for one in found]
    if found and found[0]:
        return any(said)
    return any(said[:20]) and sum(said[:20]) * 5 >= len(said[:20])


def read(path: Path, options: Options) -> Iterator[Record]:
    """A record a message, in the zone of the household. Raises `Invalid` when nothing in it is a message."""
    empty = True
    with files.pieces(path, ".txt") as found:
        for piece in found:
            if not _is_chat(files.start(piece)):  # what hangs on a message may be a text too
                continue
            empty = False
            with piece.open() as file:
                order = options.order or date_order(_messages(file), piece.name)
            nameless = piece.name.rsplit("/", 1)[-1] == "_chat.txt"
            with piece.open() as file:
                yield from _records(file, order, _chat(path.name if nameless else piece.name), options)
    if empty:
        raise Invalid(f"{path.name} holds no message of a chat.", "path")


def _clean(line: str) -> str:
    return line.translate(_MARKS).translate(_SPACES)


def _messages(file: BinaryIO) -> Iterator[Message]:
    """Every message, its marks still in it; lines before the first are passed over."""
    begun: re.Match[str] | None = None
    start, held = 0, [""]
    for number, raw in enumerate(text_lines(file), start=1):
        if found := _LINE.match(_clean(raw)):
            if begun:
                yield _message(start, begun, held)
            begun, start, held = found, number, [_marked(raw, found["rest"]).translate(_SPACES)]
        elif begun and sum(map(len, held)) < LONGEST:
            held.append(raw)
    if begun:
        yield _message(start, begun, held)


def _marked(raw: str, rest: str) -> str:
    """The end of a line that is `rest` without its marks."""
    before = len(raw.translate(_MARKS)) - len(rest)
    for place, one in enumerate(raw):
        if not before:
            return raw[place:]
        before -= ord(one) not in _MARKS
    return ""


def _message(line: int, found: re.Match[str], held: list[str]) -> Message:
    hour = int(found["hour"])
    part = re.sub(r"[.\s]", "", found["half"] or found["early"] or "").lower()
    if part == "中午":
        hour += 12 if hour < 3 else 0  # noon is said from eleven to two
    elif part:
        hour = hour % 12 + _HOURS[part]
    clock = (hour, int(found["minute"]), int(found["second"] or 0))
    return Message(line, (int(found["a"]), int(found["b"]), int(found["c"])), clock, "\n".join(held).strip())


def date_order(messages: Iterator[Message], name: str) -> str:
    """`dmy`, `mdy` or `ymd`: what every date of the file allows, then what keeps the messages in order of time.

    When both hold, day before month, as most of the world writes. Raises `Invalid` when there is no message.
    """
    possible = dict.fromkeys(ORDERS, 0)
    last: dict[str, Any] = dict.fromkeys(ORDERS)
    count = 0
    for message in messages:
        count += 1
        for order in list(possible):
            moment = moment_of(message, order)
            if moment is None:
                del possible[order]
            else:
                possible[order] += bool(last[order] and moment < last[order])
                last[order] = moment
    if not count:
        raise Invalid(f"{name} holds no message.", "path")
    if not possible:
        raise Invalid(f"{name} has dates of several orders; say which with --date-order.", "order")
    return min(possible, key=lambda order: (possible[order], ORDERS.index(order)))


def moment_of(message: Message, order: str) -> datetime | None:
    """The message's moment on the wall clock in this order of dates; None when there is no such day."""
    parts = dict(zip(order, message.date, strict=True))
    year = parts["y"]
    if (order != "ymd" and 100 <= year < 1000) or (order == "ymd" and year < 100):
        return None
    year += 2000 if year < 100 else -BUDDHIST if year > 2400 else 0
    try:
        return datetime(year, parts["m"], parts["d"], *message.clock)  # noqa: DTZ001
    except ValueError:
        return None


def _records(file: BinaryIO, order: str, chat: str, options: Options) -> Iterator[Record]:
    seen: dict[tuple[Any, ...], int] = {}
    for message in _messages(file):
        if not (found := _speaker(message.rest)):
            yield Record(message.line, why=NOTICE)
            continue
        author, text = found["author"].translate(_MARKS).strip().lstrip("~").strip(), _said(found["text"])
        moment = moment_of(message, order)
        if not text or _NOTHING.match(text) or _is_notice(found["text"]):
            yield Record(message.line, why=NOT_SAID)
        elif moment is None:
            yield Record(
                message.line, why="Its date is not on the calendar; say the order with --date-order."
            )
        else:
            key = (message.date, message.clock)
            seen = seen if key in seen else {key: 0}
            seen[key] += 1
            identity = f"{chat}\n{message.date}{message.clock}\n{author}\n{seen[key]}"
            yield _record(message.line, author, text, moment, identity, chat, options)


def _speaker(rest: str) -> re.Match[str] | None:
    """Who says what; None for a notice, also for one whose colon stands within quotes: `Ann named it “Rome: May”`."""
    found = _AUTHOR.match(rest)
    return None if found and len(_QUOTES.findall(found["author"])) % 2 else found


def _is_notice(text: str) -> bool:
    """Whether WhatsApp wrote it itself: marked, one line, and neither a place nor somebody spoken to."""
    said = text.strip()
    return (
        said.startswith(_MARK)
        and "\n" not in said
        and "://" not in said
        and said.translate(_MARKS)[:1] != "@"
    )


def _said(text: str) -> str:
    """What somebody wrote, without the names of files and what WhatsApp adds at the end."""
    if f" • {_MARK}" in text and "\n" not in text:  # `Manual.pdf • 3 pages document omitted`
        return ""
    while found := _TAIL.search(text, max(0, len(text) - LONGEST_TAIL)):
        text = text[: found.start()]
    return _FILE.sub("", text.strip()).translate(_MARKS).strip()


def _record(
    line: int, author: str, text: str, moment: datetime, identity: str, chat: str, options: Options
) -> Record:
    when = moment.replace(tzinfo=options.zone).isoformat()
    fields = {
        "text": text, "holder_id": author, "event_time": when, "created_at": when, "source": f"whatsapp:{chat}",
        "metadata": {"imported": {"format": "whatsapp", "chat": chat, "author": author}},
    }  # fmt: skip
    return Record(line, fields, identity=identity)


def _chat(name: str) -> str:
    """The chat's name out of its file's: `WhatsApp Chat with Ann.txt`."""
    stem = re.sub(r"\.(txt|zip)$", "", name.rsplit("/", 1)[-1], flags=re.IGNORECASE)
    stem = re.sub(r"\s*\(\d+\)$", "", stem)  # the second time it was saved
    return re.sub(r"^WhatsApp[ -]*Chat( with| mit| de| con| -)?\s*", "", stem) or stem
