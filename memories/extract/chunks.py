"""Long text cut into pieces a memory can hold: at headings, then paragraphs, then sentences, never inside a word."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

SIZE = 1_200  # characters: about 300 tokens, well inside the engine's window of 512
HARD = 4_000  # a run without any space is cut here

_HEADING = re.compile(r"#{1,6}\s+\S")
_GAP = re.compile(r"\s")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a text, and the line of it that the piece begins on, counted from 1."""

    text: str
    line: int


def cut(text: str, size: int = SIZE) -> list[Chunk]:
    """Pieces of about `size` characters at most, whole paragraphs where they fit; a heading goes with what follows."""
    chunks: list[Chunk] = []
    held: list[str] = []
    start, length, only_headings = 1, 0, True
    for line, paragraph in _paragraphs(text):
        heading = _is_heading(paragraph)
        fits = length + len(paragraph) <= size or (only_headings and length <= size)
        if held and ((heading and not only_headings) or not fits):
            chunks.append(Chunk("\n\n".join(held), start))
            held, length, only_headings = [], 0, True
        if not held:
            start = line
        held.append(paragraph)
        length += len(paragraph) + 2
        only_headings = only_headings and heading
    if held:
        chunks.append(Chunk("\n\n".join(held), start))
    return [part for chunk in chunks for part in _within(chunk, size)]


def _is_heading(paragraph: str) -> bool:
    return bool(_HEADING.match(paragraph)) and "\n" not in paragraph


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Runs of lines between blank ones, with the number of their first line; a heading stands alone."""
    held: list[str] = []
    start = 1
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        heading = bool(_HEADING.match(line))
        if held and (not line.strip() or heading):
            yield start, "\n".join(held)
            held = []
        if line.strip():
            if not held:
                start = number
            held.append(line.rstrip())
        if heading:
            yield start, held.pop()
    if held:
        yield start, "\n".join(held)


def _within(chunk: Chunk, size: int) -> Iterator[Chunk]:
    """The chunk, or its sentences packed anew when it is much too long."""
    if len(chunk.text) <= size * 1.5:
        yield chunk
        return
    held = ""
    for sentence in _pieces(chunk.text, size):
        if held and len(held) + len(sentence) > size:
            yield Chunk(held.strip(), chunk.line)
            held = ""
        held += sentence
    if held.strip():
        yield Chunk(held.strip(), chunk.line)


def _pieces(text: str, size: int) -> Iterator[str]:
    """Sentences with the space after them, one after the other; longer ones cut between words."""
    start = 0
    for match in chain(_SENTENCE.finditer(text), (None,)):
        end = match.end() if match else len(text)
        while end - start > size:
            place = _space(text, start, start + size, min(start + HARD, end))
            yield text[start:place]
            start = place
        yield text[start:end]
        start = end


def _space(text: str, start: int, wanted: int, furthest: int) -> int:
    """The end of the last space before `wanted`, else of the first one after it, at most `furthest`."""
    if before := max(text.rfind(" ", start, wanted), text.rfind("\n", start, wanted)) + 1:
        return before
    after = _GAP.search(text, wanted, furthest)
    return after.end() if after else furthest
