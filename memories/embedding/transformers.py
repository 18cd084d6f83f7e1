"""Any SentenceTransformer as the engine (extra `transformers`), prompts for query and passage honoured."""

from contextlib import AbstractContextManager

import numpy as np

from memories.embedding import (
    MAX_EMBEDDED_CHARACTERS,
    MAX_QUERY_CHARACTERS,
    EngineUnavailable,
    Vector,
    bounded,
)
from memories.embedding.turns import Turns, portions

PORTION = 16_000  # characters in one go: larger batches are what a GPU is good at


class SentenceTransformerEngine:
    """A sentence-transformers model by name or path, on the GPU where torch finds one."""

    def __init__(self, model: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer  # noqa: PLC0415  (an optional extra)
        except ImportError as error:
            raise EngineUnavailable(
                "sentence-transformers is not installed; install the extra: pip install 'rekal[transformers]'."
            ) from error
        try:
            self._model = SentenceTransformer(model)
        except (OSError, ValueError) as error:
            raise EngineUnavailable(
                f"The model “{model[:80]}” cannot be loaded; give the name or the folder of a SentenceTransformer."
            ) from error
        self.name = f"sentence-transformers:{model}"
        dimension = getattr(self._model, "get_embedding_dimension", None)  # its name since release 5
        self.dimensions = int((dimension or self._model.get_sentence_embedding_dimension)() or 0)
        self._turns = Turns()

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._encode([bounded(text, MAX_QUERY_CHARACTERS)], "query", self._turns.question())[
            0
        ]
        return vector

    def embed_passages(self, texts: list[str]) -> Vector:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        whole = [bounded(text, MAX_EMBEDDED_CHARACTERS) for text in texts]
        return np.concatenate(
            [self._encode(portion, "passage", self._turns.portion()) for portion in portions(whole, PORTION)]
        )

    def _encode(self, texts: list[str], purpose: str, turn: AbstractContextManager[None]) -> Vector:
        """`(n, dimensions) float32`, unit length; `purpose` picks the model's own prompt, where it has one."""
        prompts = self._model.prompts or {}
        name = next((one for one in (purpose, "document") if prompts.get(one)), None)
        if purpose == "query" and name == "document":
            name = None
        with turn:
            vectors = self._model.encode(
                texts,
                prompt_name=name,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return np.asarray(vectors, dtype=np.float32)
