"""Memory lists as people paste them out of chat assistants: a bullet, or a line, a memory."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memories.encodings import text_lines, text_of
from memories.transfer import files, times
from memories.transfer.records import Options, Record

LONGEST = 60_000
_BULLET = re.compile(
    r"^\s{0,8}(?:(?:[-*•‣◦–·]|\d{1,4}[.)])\s+|(?:\d{1,4}[、．）]|（\d{1,4}）)\s*)(?P<text>.+)$"
)
_DATED = re.compile(
    r"^\[?(?P<date>\d{4}-\d{2}-\d{2}|unknown)\]?\s*(?:[-–—:]\s*)(?P<text>.+)$", re.IGNORECASE | re.DOTALL
)
_HEADING = re.compile(
    r"^\s*(#{1,6}\s+(?P<hash>.+?)|\*\*(?P<bold>[^*]{1,80})\*\*:?|(?P<plain>[^.!?。！？]{1,60})[:：])\s*$"
)
_FENCE = re.compile(r"^\s*```")


def recognises(path: Path, head: bytes) -> bool:
    """Text that is mostly bullets or dated lines; a `.txt` of several short lines counts, line by line."""
    text = text_of(head, cut=True)
    if not _is_text(head, text):
        return bool(re.match(rb"\s*\[\d{4}-\d{2}-\d{2}\]", head))
    lines = [one for one in text.splitlines() if one.strip() and not _FENCE.match(one)]
    listed = sum(1 for one in lines if _BULLET.match(one) or _DATED.match(one.strip()))
    short = len(lines) > 1 and all(len(one) < 500 for one in lines)
    return bool(lines) and (listed * 10 >= len(lines) * 6 or (path.suffix.lower() == ".txt" and short))


def _is_text(head: bytes, text: str) -> bool:
    """Whether somebody can have typed it, in UTF-8, UTF-16 or a Western code page, and it is no JSON."""
    controls = any((ord(one) < 32 and one not in "\t\n\r\f") or "\x7f" <= one < "\xa0" for one in text)
    return not controls and not head.startswith((b"%PDF", b"---")) and text.lstrip()[:1] not in ("{", "[")


def read(path: Path, options: Options) -> Iterator[Record]:
    """A record a bullet with the lines indented below it; a heading becomes the tag of what follows."""
    with files.opened(path) as file:
        held, start, section, tag = "", 0, "", ""
        for number, line in enumerate(text_lines(file), start=1):
            bullet = _BULLET.match(line)
            heading = None if bullet else _HEADING.match(line)
            goes_on = held and not bullet and not heading and line[:1] in (" ", "\t") and line.strip()
            if goes_on and len(held) < LONGEST:
                held += "\n" + line.strip()
                continue
            if held:
                yield _record(start, held, tag, options, file.tell())
                held = ""
            if heading:
                section = (heading["hash"] or heading["bold"] or heading["plain"]).strip(" *:：")
            elif line.strip() and not _FENCE.match(line):
                held, start, tag = (bullet["text"] if bullet else line).strip(), number, section
        if held:
            yield _record(start, held, tag, options, file.tell())


def _record(line: int, said: str, tag: str, options: Options, end: int) -> Record:
    fields: dict[str, Any] = {"text": said, "metadata": {"imported": {"format": "bullets"}}}
    if tag:
        fields["tags"] = [tag[:100]]
    if dated := _DATED.match(said):
        fields["text"] = dated["text"].strip()
        if dated["date"].lower() != "unknown":
            fields["created_at"] = times.stated(dated["date"], options.zone)
    return Record(line, fields, end=end)
