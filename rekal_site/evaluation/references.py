"""Four plain rankings of the same memories by the same vectors, to be beaten in the same run.

`BM25` alone (k1 1.2, b 0.75; English stop words, pairs of characters where there are no spaces), `vectors` alone,
`seed`: 0.4 b/(1 + b) of BM25 + 0.4 cosine, the first seed's formula without recency; `RRF`: reciprocal ranks with
60 (Cormack, Clarke and Büttcher, 2009). They see the whole pool, the question as it stands, and "Name: text" of
each memory whose holder has a name: without it they are weaker where people speak of themselves.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memories.stemming import NO_SPACE, stop_words
from rekal_site.evaluation.metrics import recall_of
from rekal_site.evaluation.sets import UNNAMED, Doc, Query, holder_name
from rekal_site.evaluation.tasks import Row, Trial

Scores = NDArray[np.float64]

K1, B = 1.2, 0.75
RRF_CONSTANT = 60
TOP = 10

_TOKEN = re.compile(rf"(?P<run>[{NO_SPACE}]+)|[^\W_{NO_SPACE}]+")


def tokens(text: str) -> list[str]:
    """Words without diacritics, and pairs of characters where there are no spaces."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = unicodedata.normalize("NFC", "".join(one for one in plain if not unicodedata.combining(one)))
    return [
        token for match in _TOKEN.finditer(plain) for token in _tokens(match[0], is_run=bool(match["run"]))
    ]


def _tokens(part: str, *, is_run: bool) -> list[str]:
    return [part[at : at + 2] for at in range(len(part) - 1)] or [part] if is_run else [part]


class Pool:
    """A pool's memories, ready to be scored."""

    def __init__(self, docs: Sequence[Doc], vectors: NDArray[np.float32]) -> None:
        self.docs = docs
        self.vectors = vectors
        counts = [Counter(tokens(named_text(doc))) for doc in docs]
        lengths = np.array([max(1, one.total()) for one in counts], dtype=float)
        self._norm = K1 * (1 - B + B * lengths / lengths.mean())
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for number, one in enumerate(counts):
            for token, count in one.items():
                self._postings.setdefault(token, []).append((number, count))

    def bm25(self, question: str) -> Scores:
        """`(memories,)`, Robertson's formula with the idf that is never negative."""
        scores = np.zeros(len(self.docs))
        for token in set(tokens(question)) - stop_words("en"):
            holding = self._postings.get(token, [])
            idf = np.log1p((len(self.docs) - len(holding) + 0.5) / (len(holding) + 0.5))
            for number, count in holding:
                scores[number] += idf * count * (K1 + 1) / (count + self._norm[number])
        return scores


def named_text(doc: Doc) -> str:
    """The memory with its holder's name in front, unless it begins with it or nobody is named."""
    name = holder_name(doc.holder)
    return doc.text if doc.holder == UNNAMED or doc.text.startswith(f"{name}:") else f"{name}: {doc.text}"


def _bm25(bm25: Scores, cosines: Scores) -> Scores:
    return bm25


def _vectors(bm25: Scores, cosines: Scores) -> Scores:
    return cosines


def _seed(bm25: Scores, cosines: Scores) -> Scores:
    return 0.4 * bm25 / (1 + bm25) + 0.4 * np.clip(cosines, 0, 1)


def _rrf(bm25: Scores, cosines: Scores) -> Scores:
    return _reciprocal_ranks(bm25) + _reciprocal_ranks(cosines)


def _reciprocal_ranks(scores: Scores) -> Scores:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return np.where(scores > 0, 1 / (RRF_CONSTANT + ranks), 0.0)


FORMULAS: Mapping[str, Callable[[Scores, Scores], Scores]] = {
    "BM25": _bm25,
    "vectors": _vectors,
    "seed": _seed,
    "RRF": _rrf,
}


def reference_rows(trial: Trial) -> Iterator[Row]:
    """What each formula finds first, a row a question: `found[formula]` and `holder[formula]`."""
    pools: dict[str, Pool] = {}
    for query in trial.evaluation_set.queries:
        if query.pool not in pools:
            docs = trial.households[query.pool].docs
            pools[query.pool] = Pool(docs, trial.engine.embed_passages([named_text(doc) for doc in docs]))
        yield _row(trial, query, pools[query.pool])


def _row(trial: Trial, query: Query, pool: Pool) -> Row:
    bm25 = pool.bm25(query.text)
    cosines = np.asarray(pool.vectors @ trial.engine.embed_query(query.text), dtype=float)
    orders = {
        name: [int(one) for one in np.argsort(-formula(bm25, cosines), kind="stable")[:TOP]]
        for name, formula in FORMULAS.items()
    }
    return {
        "id": query.id,
        "pool": query.pool,
        "found": {name: [pool.docs[one].id for one in order] for name, order in orders.items()},
        "holder": {name: pool.docs[order[0]].holder for name, order in orders.items()},
    }


def reference_figures(
    relevant: Mapping[tuple[str, str], Sequence[str]], rows: Sequence[Row]
) -> dict[str, dict[str, float]]:
    """By formula: the figures of `metrics.recall`."""
    figures = {}
    for name in FORMULAS:
        each = [recall_of(row["found"][name], relevant[row["pool"], row["id"]]) for row in rows]
        figures[name] = {key: round(sum(one[key] for one in each) / len(each), 4) for key in each[0]}
    return figures
