"""DOC"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np

from memories.background import Background
from memories.embedding import Vector
from memories.text import Term, content_words, document_terms, has_spaces, query_terms
from memories.time_expressions import PartialDate, named_dates

NAMED = 0.2
DATED = 0.6
NEIGHBOUR = 0.5
RECENCY = 0.02
RECENCY_LATELY = 0.1
HALF_LIFE_DAYS = 30.0
MIN_NAME_LETTERS = 2
MAX_NUMBER_DIGITS = 18
_LOCATOR = re.compile(r"^(.*?)(\d+)(\D*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Question:
    """What a question asks for. `content` is embedded: the question less the names of holders.

    `named` are the names it holds, casefolded; `terms` are those of `content`.
    """

    text: str
    content: str
    named: frozenset[str]
    terms: tuple[Term, ...]
    dates: tuple[PartialDate, ...]
    lately: bool = False


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over the memories the viewer may read, and over nothing else.

    `frequencies`: by `Term.key`, how many of the `memories` hold the term; missing keys count as 0.
    """

    memories: int
    frequencies: Mapping[str, int]

    def information(self, term: Term) -> float:
        """BM25's inverse document frequency, ln(1 + (N - n + ½) / (n + ½)): positive for every n."""
        holding = min(self.frequencies.get(term.key, 0), self.memories)
        return math.log1p((self.memories - holding + 0.5) / (holding + 0.5))


@dataclass(frozen=True, slots=True)
class Passage:
    """A text and its unit vector, `(dimensions,) float32`, None where it has none: all that a neighbour is.

    `held`: keys of the question's terms in it, for callers who know them from the index; read off `text` if None.
    """

    text: str
    vector: Vector | None
    held: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A readable memory to be ranked. `names`: display name and id of its holder; times are ISO text."""

    pk: int
    passage: Passage
    names: tuple[str, ...] = ()
    source: str = ""
    event_time: str | None = None
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's score and what it is made of.

    `signals`: raw numbers `cosine`, `context_cosine`, `meaning`, `words` (0..1), `own_words` (0..1), `named`
    (0 or 1), `dated` (0..1), `recency` (0..1). `matched`: keys of the question's terms in the text itself,
    `nearby`: those that only its neighbours hold. `strength` is the score without recency.
    """

    candidate: Candidate
    score: float
    strength: float
    signals: dict[str, float] = field(default_factory=dict)
    matched: tuple[str, ...] = ()
    nearby: tuple[str, ...] = ()


def read_question(text: str, names: Iterable[str] = (), lately: bool = False) -> Question:
    """Take a question apart. `names`: names and ids of the holders the viewer knows of, several words allowed.

    A name is left out of what is searched, and the memories of its holder get a boost instead: "When did Mira
    paint the shed?" lies near every memory that greets Mira, and those are other people's. A question of
    nothing but names is kept whole.
    """
    content, named = without_names(text, names)
    terms = query_terms(content)
    return Question(text, content, named, terms, named_dates(text), lately)


def without_names(text: str, names: Iterable[str]) -> tuple[str, frozenset[str]]:
    """`text` less the names in it, and those names casefolded; possessive endings go with them.

    A whole name counts however it is written. A word of a longer name ("Rose" of "Grandma Rose", "kitchen" of
    "kitchen-agent") and a name that is a stop word ("Will") count only with a capital, where there are capitals.
    """
    folded = text.casefold()
    parts: dict[str, bool] = {}
    for name in names:
        for part, whole in _name_parts(name).items():
            if part in folded:
                parts[part] = whole or parts.get(part, False)
    rest, named = text, set()
    for part in sorted(parts, key=lambda one: (-len(one), one)):
        shorter = _name_pattern(part, parts[part]).sub(" ", rest)
        if shorter != rest:
            named.add(part)
            rest = shorter
    if not named:
        return text, frozenset()
    rest = re.sub(r"\s+([?.,!;:])", r"\1", " ".join(rest.split()))
    return (rest if re.search(r"[^\W_]", rest) else text), frozenset(named)


@lru_cache(maxsize=4_096)
def _name_parts(name: str) -> dict[str, bool]:
    """The name and its words, casefolded; True for what counts however it is written, see `without_names`."""
    folded = name.casefold().strip()
    parts = dict.fromkeys(re.split(r"[\s_.:-]+", folded), False)
    parts[folded] = bool(content_words(folded))
    return {part: whole for part, whole in parts.items() if len(part) >= MIN_NAME_LETTERS}


@lru_cache(maxsize=4_096)
def _name_pattern(part: str, whole: bool) -> re.Pattern[str]:
    """Whole words where there are spaces, anywhere where there are none."""
    if not has_spaces(part):
        return re.compile(re.escape(part), re.IGNORECASE)
    capital = "" if whole or not part[0].islower() else rf"(?-i:{re.escape(part[0].upper())})"
    spelled = capital + re.escape(part[1:] if capital else part)
    return re.compile(rf"(?<!\w){spelled}(?:['’`´]?s|['’])?(?!\w)", re.IGNORECASE)


def neighbour_sources(source: str) -> tuple[str, ...]:
    """The locators just before and after: they differ in the last number alone; () where there is none."""
    match = _LOCATOR.match(source)
    if not match or len(match[2]) > MAX_NUMBER_DIGITS:
        return ()
    return tuple(f"{match[1]}{int(match[2]) + step}{match[3]}" for step in (-1, 1))


def score(
    question: Question,
    vector: Vector | None,
    candidates: Sequence[Candidate],
    neighbours: Mapping[str, Passage],
    statistics: Statistics,
    now: datetime,
    background: Background,
) -> list[Scored]:
    """Rank readable `candidates`, best first; ties break on newest, then on the higher primary key.

    `vector`: of `question.content`, `(dimensions,)` unit length, None without an embedder. `neighbours`: readable
    memories by source, for the sources that `neighbour_sources` names. `now` is aware. No number here depends
    on how many candidates there are.
    """
    weights = {term.key: statistics.information(term) for term in question.terms}
    meaning = _Meaning(vector, background)
    held_by = _holder_of_terms(question.terms)
    scored = []
    for candidate in candidates:
        sources = neighbour_sources(candidate.source)
        around = [neighbours[source] for source in sources if source in neighbours]
        own, near = held_by(candidate.passage), [held_by(passage) for passage in around]
        signals = meaning.signals(candidate.passage, around) | {
            "words": _words(weights, own, near),
            "own_words": _words(weights, own, ()),
            "named": _named(question.named, candidate.names),
            "dated": _dated(question.dates, candidate.event_time),
            "recency": _recency(candidate.event_time or candidate.created_at, now),
        }
        nearby = frozenset().union(*near) - own
        scored.append(_scored(candidate, signals, own, nearby, question.lately))
    return sorted(scored, key=_order, reverse=True)


def _holder_of_terms(terms: Sequence[Term]) -> Callable[[Passage], frozenset[str]]:
    """A function that tells which of the terms a passage holds, by key; every text is read once."""
    by_form: dict[str, set[str]] = {}
    for term in terms:
        for form in term.forms:
            by_form.setdefault(form, set()).add(term.key)
    read: dict[str, frozenset[str]] = {}

    def held_by(passage: Passage) -> frozenset[str]:
        if passage.held is not None:
            return passage.held
        if passage.text not in read:
            forms = by_form.keys() & document_terms(passage.text).keys()
            read[passage.text] = frozenset(key for form in forms for key in by_form[form])
        return read[passage.text]

    return held_by


def _words(weights: Mapping[str, float], own: frozenset[str], near: Sequence[frozenset[str]]) -> float:
    """The share of the question's information that is there, 0..1; 0 for a question without terms.

    A term in the text itself counts whole, else `NEIGHBOUR` for each neighbour that holds it.
    """
    total = sum(weights.values())
    if not total:
        return 0.0
    there = sum(weights[key] for key in own)
    nearby = sum(weights[key] for held in near for key in held - own)
    return (there + NEIGHBOUR * nearby) / total


class _Meaning:
    """Nearness to one question's vector, aimed away from the background once for all candidates."""

    def __init__(self, vector: Vector | None, background: Background) -> None:
        self.plain, self.background = vector, background
        if vector is not None:
            self.own, self.around = background.aim(vector), background.language_free(vector)

    def signals(self, passage: Passage, near: Sequence[Passage]) -> dict[str, float]:
        """`cosine` as the engine gives it, `meaning` as it is scored; meaning 0 alone where a vector is missing."""
        if self.plain is None or passage.vector is None:
            return {"meaning": 0.0}
        context = np.sum([passage.vector, *(one.vector for one in near if one.vector is not None)], axis=0)
        own = float(passage.vector @ self.own)
        around = float(context @ self.around) / max(float(np.linalg.norm(context)), 1e-9)
        return {"cosine": float(passage.vector @ self.plain), "meaning": self.background.meaning(own, around)}


def _named(named: frozenset[str], names: Iterable[str]) -> float:
    """1 when the question names this holder, by the whole name or by a word of it."""
    return float(any(not named.isdisjoint(_name_parts(name)) for name in names)) if named else 0.0


def _dated(dates: Sequence[PartialDate], event_time: str | None) -> float:
    return max((one.nearness(event_time) for one in dates), default=0.0) if event_time else 0.0


def _recency(moment: str, now: datetime) -> float:
    """1 for now, halved every `HALF_LIFE_DAYS`; 0 for times that cannot be read."""
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return 0.0
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return float(0.5 ** (max((now - then).total_seconds(), 0.0) / 86_400 / HALF_LIFE_DAYS))


def _scored(
    candidate: Candidate, signals: dict[str, float], own: frozenset[str], nearby: frozenset[str], lately: bool
) -> Scored:
    strength = signals["meaning"] + signals["words"] + NAMED * signals["named"] + DATED * signals["dated"]
    return Scored(
        candidate=candidate,
        score=strength + (RECENCY_LATELY if lately else RECENCY) * signals["recency"],
        strength=strength,
        signals=signals,
        matched=tuple(sorted(own)),
        nearby=tuple(sorted(nearby)),
    )


def _order(hit: Scored) -> tuple[float, str, int]:
    """Best first under `reverse=True`; equals by newest, then by the higher primary key."""
    return (round(hit.score, 6), hit.candidate.created_at, hit.candidate.pk)
