"""Telegram Desktop's JSON export, one chat or all of them: a message a memory, its author the holder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ijson

from memories.errors import Invalid
from memories.transfer import files, json_stream, times
from memories.transfer.records import Options, Record

NAMES = ("name", "chats.list.item.name", "left_chats.list.item.name")
CHATS = ("chats.list.item", "left_chats.list.item")
MESSAGES = ("messages.item", *(f"{one}.messages.item" for one in CHATS))


def recognises(path: Path, head: bytes) -> bool:
    """JSON with messages that have a `from_id`, or all that Telegram keeps of somebody; or the folder it comes in."""
    return _is_export(head) or files.any_begins(path, _is_export, ".json")


def _is_export(head: bytes) -> bool:
    return head.lstrip()[:1] == b"{" and (
        (b'"messages"' in head and (b'"from_id"' in head or b'"date_unixtime"' in head))
        or (b'"chats"' in head and b'"list"' in head and b'"about"' in head)
        or (
            b'"personal_information"' in head and b'"about"' in head
        )  # a long list of contacts before the chats
    )


def read(path: Path, options: Options) -> Iterator[Record]:
    """A record a message; `line` counts the messages. Raises `Invalid` when it is no whole JSON."""
    with files.pieces(path, ".json") as found:
        for piece in found:
            if _is_export(files.start(piece)):
                yield from _of_file(piece, options)


def _of_file(piece: files.Piece, options: Options) -> Iterator[Record]:
    with piece.open() as file:
        try:
            for number, (chat, message) in enumerate(_messages(file), start=1):
                yield _record(number, chat, message, options, file.tell())
        except ijson.JSONError:
            raise Invalid(
                f"{piece.name} is not whole JSON; what came before the fault is taken.", "path"
            ) from None


def _messages(file: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every message with the name of its chat, which stands before the messages."""
    chat = ""
    builder: Any = None
    depth = 0
    for prefix, event, value in json_stream.events(file):
        if builder is not None:
            builder.event(event, value)
            depth += event in ("start_map", "start_array")
            depth -= event in ("end_map", "end_array")
            if depth == 0:
                yield chat, builder.value
                builder = None
        elif prefix in NAMES or (event == "start_map" and prefix in CHATS):
            chat = value if isinstance(value, str) else ""  # what one saved for oneself has no name
        elif event == "start_map" and prefix in MESSAGES:
            builder, depth = ijson.ObjectBuilder(), 1
            builder.event(event, value)


def _record(number: int, chat: str, message: dict[str, Any], options: Options, end: int) -> Record:
    if message.get("type") != "message":
        return Record(number, why="It is a notice of Telegram’s, no message.", end=end)
    text = _said(message.get("text")).strip()
    if not text:
        return Record(number, why="It is a picture, a recording or a file without words.", end=end)
    author = str(message.get("from") or message.get("from_id") or "")
    try:
        when = times.stated(message.get("date_unixtime") or message.get("date"), options.zone)
    except ValueError as error:
        return Record(number, why=str(error), end=end)
    kept = {"format": "telegram", "chat": chat, "author": author, "id": message.get("id")}
    if forwarded := message.get("forwarded_from"):
        kept["forwarded_from"] = str(forwarded)
    fields = {
        "text": text, "holder_id": author, "event_time": when, "created_at": when, "source": f"telegram:{chat}"[:1_000],
        "metadata": {"imported": kept},
    }  # fmt: skip
    return Record(number, fields, identity=f"{chat}\n{message.get('id')}", end=end)


def _said(text: Any) -> str:
    """A text, a piece with a `text` of its own and perhaps a link behind it, or a list of both."""
    if isinstance(text, str):
        return text
    if isinstance(text, list):
        return "".join(map(_said, text))
    if not isinstance(text, dict):
        return ""
    said, link = _said(text.get("text")), text.get("href")
    return f"{said} ({link})" if isinstance(link, str) and link and link != said else said
