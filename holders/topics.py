"""What holders declare to know about, held against a question: by its words and by its meaning.

Topics are public in the household, so nothing here is hidden from anybody. Meaning is the cosine of question
and topic, each less what all sentences share and what only tells their language (`memories.background`). Over
fourteen topics and twenty-one questions in English, German and Chinese the right topics lay at .17–.38 (most
over .28), the nearest wrong one at .18, and one close relative at .24 (dumplings to “heating”, after “cooking”
at .25).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from holders.models import Holder
from memories.background import background_of
from memories.embedding import Engine, EngineUnavailable, Vector, cache
from memories.text import query_terms
from memories.visibility import Viewer

NEAR = 0.25


@dataclass(frozen=True, slots=True)
class DeclaredTopic:
    """The topic that fits a question best.

    `coverage` is the share of its words that the question has, `nearness` the cosine of their meanings.
    """

    topic: str
    coverage: float
    nearness: float = 0.0

    @property
    def fits(self) -> bool:
        """Whether the question is about it at all."""
        return self.coverage > 0 or self.nearness >= NEAR

    @property
    def fits_well(self) -> bool:
        """Whether the question has all its words, or some and its meaning too."""
        return self.coverage == 1 or (self.coverage > 0 and self.nearness >= NEAR)

    @property
    def sentence(self) -> str:
        """The reason it gives."""
        near = "" if self.coverage else f", near in meaning (cosine {self.nearness:.2f})"
        return f"Declared the topic “{self.topic}”{near}."


def declared(viewer: Viewer, question: str, holders: Iterable[Holder]) -> dict[str, DeclaredTopic]:
    """The best topic for the viewer's question by holder id; holders without one are left out."""
    topics = {holder.holder_id: holder.topics for holder in holders}
    distinct = list(dict.fromkeys(one for names in topics.values() for one in names))
    forms = frozenset(form for term in query_terms(question) for form in term.forms)
    nearness = _nearness(viewer, question, distinct)
    fits = {one: DeclaredTopic(one, _coverage(forms, one), nearness.get(one, 0.0)) for one in distinct}
    found = {holder: _best([fits[one] for one in names]) for holder, names in topics.items()}
    return {holder: best for holder, best in found.items() if best is not None}


def _best(topics: Sequence[DeclaredTopic]) -> DeclaredTopic | None:
    fitting = [one for one in topics if one.fits]
    return max(fitting, key=lambda one: (one.coverage, one.nearness), default=None)


def _coverage(forms: frozenset[str], topic: str) -> float:
    """Share of the topic's terms whose stem, word or character pair stands in the question too."""
    terms = query_terms(topic)
    return sum(1 for term in terms if forms.intersection(term.forms)) / len(terms) if terms else 0.0


def _nearness(viewer: Viewer, question: str, topics: Sequence[str]) -> dict[str, float]:
    """Each topic's cosine to the question; nothing without topics or without an engine."""
    if not topics:
        return {}
    try:
        engine = cache.engine()
    except EngineUnavailable:
        return {}
    asked = _turned(engine, cache.embed_query(viewer, question))
    return {one: float(_vector(engine.name, one) @ asked) for one in topics}


@lru_cache(maxsize=2_048)
def _vector(_engine_name: str, topic: str) -> Vector:
    """A topic's vector as `_turned` leaves it, once a process; `keep` spares the first time too."""
    return _turned(cache.engine(), cache.embed_passages([topic]).vectors[0])


def _turned(engine: Engine, vector: Vector) -> Vector:
    """A vector less what all sentences share and its language, `(dimensions,) float32`, unit length."""
    shared = background_of(engine)
    rest = shared.language_free(np.asarray(vector - shared.mean, dtype=np.float32))
    return np.asarray(rest / max(float(np.linalg.norm(rest)), 1e-6), dtype=np.float32)


def every_topic() -> set[str]:
    """What anybody declared to know about."""
    return {topic for holder in Holder.objects.all() for topic in holder.topics}


def keep(topics: Sequence[str]) -> None:
    """Put the topics' vectors into the embedding cache; inside a write transaction."""
    if not topics:
        return
    try:
        cache.keep(cache.embed_passages(topics).fresh)
    except EngineUnavailable:
        return  # a record can be written without an engine; questions then go by words
