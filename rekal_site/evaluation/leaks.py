"""Looks for private text in a reply: runs of eight words, or of twelve characters where there are no spaces."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from memories.text import has_spaces
from rekal_site import render

WORDS = 8
CHARACTERS = 12


class Texts:
    """Texts by the runs in them that are long enough to tell something."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.runs = frozenset(run for text in texts for run in _runs(text))

    def stand_in(self, reply: Any, *, but_for: "Texts", question: str) -> bool:
        """Whether the reply tells something of these that neither readable texts nor the question hold."""
        told = {run for text in _strings(render.body(reply)) for run in _runs(text)}
        return bool(told & self.runs - but_for.runs - set(_runs(question)))


def _runs(text: str) -> Iterator[str]:
    """Overlapping runs, folded: of words, and of characters whatever spaces are between them."""
    words = re.findall(r"\S+", text.casefold())
    yield from (" ".join(words[start : start + WORDS]) for start in range(len(words) - WORDS + 1))
    if not has_spaces(text):
        together = "".join(words)
        yield from (together[start : start + CHARACTERS] for start in range(len(together) - CHARACTERS + 1))


def _strings(value: Any) -> Iterator[str]:
    """Every string in a reply's body, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield str(key)
            yield from _strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings(one)
