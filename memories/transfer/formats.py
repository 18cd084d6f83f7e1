"""The formats `import` knows, by name, and which of them a file seems to be.

Recognised by content, the most particular first: a calendar is text, and a Telegram export is JSON.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memories.errors import Invalid
from memories.transfer import (
    bullets,
    calendar_file,
    day_one,
    files,
    jsonl,
    keep,
    markdown,
    mcp_memory,
    mem0,
    rekal_store,
    table,
    telegram,
    transactive,
    vcard,
    whatsapp,
)
from memories.transfer.records import Reader


@dataclass(frozen=True, slots=True)
class Format:
    """A way memories come in.

    `recognises` looks at the path and the first 64 KiB. `ours` marks our own files, whose ids may be kept.
    """

    name: str
    title: str
    recognises: Callable[[Path, bytes], bool]
    read: Reader
    ours: bool = False


FORMATS = [
    Format("transactive", "a transactive store, SQLite", transactive.recognises, transactive.read),
    Format("rekal", "rekal's earlier SQLite store", rekal_store.recognises, rekal_store.read),
    Format("mcp-memory", "the MCP reference memory's JSON Lines", mcp_memory.recognises, mcp_memory.read),
    Format("telegram", "Telegram's JSON export", telegram.recognises, telegram.read),
    Format("mem0", "mem0's JSON", mem0.recognises, mem0.read),
    Format("day-one", "Day One's JSON export", day_one.recognises, day_one.read),
    Format("keep", "Google Keep's Takeout", keep.recognises, keep.read),
    Format("vcard", "vCard address books", vcard.recognises, vcard.read),
    Format("icalendar", "iCalendar", calendar_file.recognises, calendar_file.read),
    Format("jsonl", "JSON Lines, as rekal exports them", jsonl.recognises, jsonl.read, ours=True),
    Format("whatsapp", "WhatsApp's exported chat", whatsapp.recognises, whatsapp.read),
    Format("csv", "CSV", table.recognises, table.read),
    Format("bullets", "a pasted list, a memory a bullet", bullets.recognises, bullets.read),
    Format("markdown", "a Markdown folder or file", markdown.recognises, markdown.read),
]

DOCUMENTS = {".pdf", ".docx", ".html", ".htm", ".jpg", ".jpeg", ".png", ".webp", ".mp3", ".m4a", ".wav"}


def format_of(path: Path, name: str | None = None) -> Format:
    """The format called `name`, or the first that recognises the file. Raises `Invalid`."""
    known = ", ".join(one.name for one in FORMATS)
    if name is not None:
        for one in FORMATS:
            if one.name == name:
                return one
        raise Invalid(f"There is no format “{name[:40]}”; rekal reads {known}.", "format")
    head = files.head(path)
    for one in FORMATS:
        if one.recognises(path, head):
            return one
    if path.suffix.lower() in DOCUMENTS:
        raise Invalid(f"{path.name} is read as it is, as a source: use `sources add` for it.", "path")
    raise Invalid(
        f"{path.name} is in no format rekal can tell; it reads {known}: name one with --format.", "path"
    )
