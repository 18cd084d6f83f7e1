"""Vectors that outlive a run: a small SQLite file in `settings.REKAL_CACHE`, beside no household's store.

It also keeps how long each question took to embed, so that a second run's latencies are still those of a
question nobody asked before.
"""

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from memories.embedding import Engine, Vector, cache

BATCH = 64
QUESTION, PASSAGE = "question", "passage"


class CachingEngine:
    """An engine that looks in the file first; itself an `Engine`. Close it."""

    def __init__(self, engine: Engine, path: Path) -> None:
        self.name, self.dimensions = engine.name, engine.dimensions
        self._engine = engine
        self._spared = 0.0
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file = sqlite3.connect(path, timeout=60, check_same_thread=False)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = NORMAL")
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB, seconds REAL)"
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def embed_query(self, text: str) -> Vector:
        """`(dimensions,) float32`, unit length."""
        key = vector_key(self.name, QUESTION, text)
        row = self._file.execute("SELECT vector, seconds FROM vectors WHERE key = ?", [key]).fetchone()
        if row is not None:
            self._spared += row[1]
            return np.frombuffer(row[0], dtype=np.float32)
        begin = time.perf_counter()
        vector = self._engine.embed_query(text)
        self._keep([(key, vector.tobytes(), time.perf_counter() - begin)])
        return vector

    def embed_passages(self, texts: list[str]) -> Vector:
        """`(len(texts), dimensions) float32`, unit length."""
        keys = [vector_key(self.name, PASSAGE, text) for text in texts]
        known = self._known(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        fresh = self._engine.embed_passages(list(missing.values()))
        self._keep([(key, vector.tobytes(), 0.0) for key, vector in zip(missing, fresh, strict=True)])
        known |= dict(zip(missing, fresh, strict=True))
        return np.stack([known[key] for key in keys]) if keys else fresh

    def prepare(self, texts: Sequence[str], advance: Callable[[int, int], None]) -> None:
        """Embed what is missing of these passages in batches, telling how far it is."""
        wanted = sorted(dict.fromkeys(texts), key=len)  # of one length a batch, for its speed
        for start in range(0, len(wanted), BATCH):
            self.embed_passages(wanted[start : start + BATCH])
            advance(min(start + BATCH, len(wanted)), len(wanted))

    def spared(self) -> float:
        """Seconds of embedding that the file saved questions since the last call."""
        seconds, self._spared = self._spared, 0.0
        return seconds

    def _known(self, keys: Sequence[str]) -> dict[str, Vector]:
        marks = ",".join("?" * len(keys))
        rows = self._file.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", keys)
        return {key: np.frombuffer(vector, dtype=np.float32) for key, vector in rows}

    def _keep(self, rows: list[tuple[str, bytes, float]]) -> None:
        if rows:
            with self._file:
                self._file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)


def vector_key(model: str, purpose: str, text: str) -> str:
    """sha256 over the model's name, what the vector is for, and the text."""
    return hashlib.sha256(f"{model}\0{purpose}\0{text}".encode()).hexdigest()


@contextmanager
def cached_engine(folder: Path) -> Iterator[CachingEngine]:
    """Put the file in front of the configured engine for the length of the block."""
    former = cache.engine
    engine = CachingEngine(former(), folder / "vectors.db")
    cache.engine = lambda: engine
    try:
        yield engine
    finally:
        cache.engine = former
        engine.close()
