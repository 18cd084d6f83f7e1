"""Who embeds next: one caller at a time, and a question before the rest of a long document.

An upload of a whole book embeds for minutes. It goes in portions, and lets whoever asks meanwhile go first.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Condition, Lock

PATIENCE = 0.5  # seconds a portion waits for those who ask, so that many of them never starve it


class Turns:
    """One engine's turns."""

    def __init__(self) -> None:
        self._engine = Lock()
        self._asking = 0
        self._fewer = Condition()

    @contextmanager
    def question(self) -> Iterator[None]:
        """The engine's next turn."""
        with self._fewer:
            self._asking += 1
        try:
            with self._engine:
                yield
        finally:
            with self._fewer:
                self._asking -= 1
                self._fewer.notify_all()

    @contextmanager
    def portion(self) -> Iterator[None]:
        """A turn once nobody is asking, or patience is over."""
        with self._fewer:
            self._fewer.wait_for(lambda: not self._asking, timeout=PATIENCE)
        with self._engine:
            yield


def portions(texts: Sequence[str], most: int) -> Iterator[list[str]]:
    """Runs of texts of at most `most` characters together; a longer text stands alone."""
    portion: list[str] = []
    size = 0
    for text in texts:
        if portion and size + len(text) > most:
            yield portion
            portion, size = [], 0
        portion.append(text)
        size += len(text)
    if portion:
        yield portion
