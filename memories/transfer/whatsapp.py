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

from memories.errors import Invalid
from memories.transfer import files
from memories.transfer.records import Options, Record

ORDERS = ("dmy", "mdy", "ymd")
LONGEST = 60_000  # characters of one message
_MARKS = dict.fromkeys(map(ord, "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"))
_SPACES = {ord(one): " " for one in "\u202f\u00a0\u2009\u200a"}
_LINE = re.compile(
    r"^\[?(?P<a>\d{1,4})[./-]\s?(?P<b>\d{1,2})[./-]\s?(?P<c>\d{1,4})\.?,?\s+(?:(?P<early>上午|下午|오전|오후|午前|午後)\s?)?"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?\s?(?P<half>[AaPp]\.?\s?[Mm]\.?)?"
    r"(?:\]|\s[-–])\s?(?P<rest>.*)$"
)
_AUTHOR = re.compile(r"^(?P<author>[^:]{1,80}?):\s(?P<text>.*)$", re.DOTALL)
_NOTHING = re.compile(
    r"^<[^<>]{3,60}>$|^(image|video|audio|sticker|GIF|document|Contact card) omitted$"
    r"|^(This message was deleted|You deleted this message)\.?$|^(Missed|Verpasster|Llamada perdida)\b.{0,40}$|^null$",
    re.IGNORECASE,
)
_AFTERNOON = ("下午", "오후", "午後")


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it stands: the line it begins on, the numbers of its date, its clock, and who says what."""

    line: int
    date: tuple[int, int, int]
    clock: tuple[int, int, int]
    rest: str


def recognises(path: Path, head: bytes) -> bool:
    """Text whose lines begin with a date and a time; or the zip it comes in."""
    if any(name.endswith("_chat.txt") or "WhatsApp" in name for name in files.names(path, 20)):
        return True
    lines = [one for one in files.text_of(head[:8_000]).splitlines() if one.strip()][:20]
    found = [match for one in lines if (match := _LINE.match(_clean(one)))]
    return bool(found) and sum(1 for one in found if ": " in one["rest"]) >= max(1, len(lines) // 5)


def read(path: Path, options: Options) -> Iterator[Record]:
    """A record a message, in the zone of the household. Raises `Invalid` when nothing in it is a message."""
    with files.pieces(path, ".txt") as found:
        for piece in found:
            with piece.open() as file:
                order = options.order or date_order(_messages(file), piece.name)
            nameless = piece.name.rsplit("/", 1)[-1] == "_chat.txt"
            chat = _chat(path.name if nameless else piece.name)
            with piece.open() as file:
                yield from _records(file, order, chat, options)


def _clean(line: str) -> str:
    return line.translate(_MARKS).translate(_SPACES)


def _messages(file: BinaryIO) -> Iterator[Message]:
    """Every message; lines before the first are passed over."""
    begun: re.Match[str] | None = None
    start, held = 0, [""]
    for number, raw in enumerate(files.text_lines(file), start=1):
        if found := _LINE.match(_clean(raw)):
            if begun:
                yield _message(start, begun, held)
            begun, start, held = found, number, [found["rest"]]
        elif begun and sum(map(len, held)) < LONGEST:
            held.append(raw.translate(_MARKS))
    if begun:
        yield _message(start, begun, held)


def _message(line: int, found: re.Match[str], held: list[str]) -> Message:
    hour = int(found["hour"])
    half = (found["half"] or "").lower()
    early = found["early"] or ""
    if half or early:
        hour = hour % 12 + (12 if half.startswith("p") or early in _AFTERNOON else 0)
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
    try:
        return datetime(year if year >= 100 else 2000 + year, parts["m"], parts["d"], *message.clock)  # noqa: DTZ001
    except ValueError:
        return None


def _records(file: BinaryIO, order: str, chat: str, options: Options) -> Iterator[Record]:
    seen: dict[tuple[Any, ...], int] = {}
    for message in _messages(file):
        if not (found := _AUTHOR.match(message.rest)):
            yield Record(message.line, why="It is a notice of WhatsApp’s, no message.")
            continue
        author, text = found["author"].strip().lstrip("~").strip(), found["text"].strip()
        moment = moment_of(message, order)
        if not text or _NOTHING.match(text):
            yield Record(message.line, why="It is a picture, a recording or a deleted message.")
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
    return re.sub(r"^WhatsApp[ -]*Chat( with| mit| de| con| -)?\s*", "", stem) or stem
