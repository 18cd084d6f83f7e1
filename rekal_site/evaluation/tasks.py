"""The questions, asked through the real verbs; each task yields plain rows, one an asking, to keep as JSON.

A task runs over the households of a set, each opened in turn: see `stores`. Nothing is written into the book.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from holders.ask import Asked, ask
from holders.who_knows import who_knows
from memories.embedding import cache
from memories.recall import recall
from memories.scoring import neighbour_sources
from rekal_site.evaluation.leaks import Texts
from rekal_site.evaluation.sets import EvaluationSet, Query
from rekal_site.evaluation.stores import Household, asker, keep_private, pointed_at, without
from rekal_site.evaluation.vector_cache import CachingEngine

Row = dict[str, Any]

RECALLED = 10
ANSWERS_LOOKED_AT = 5
HOLDERS_LOOKED_AT = 3
THREE_STATE_QUESTIONS = 200
SEED = 20_240_501
ANSWERED, REFERRED, NOBODY = "answered", "referred", "no_holder_knows"


@dataclass(frozen=True, slots=True)
class Trial:
    """A set with its households open to questions."""

    evaluation_set: EvaluationSet
    households: Mapping[str, Household]
    engine: CachingEngine

    def by_pool(self, queries: Iterable[Query]) -> Iterator[list[Query]]:
        """The questions of each pool in turn, while Django is pointed at its household."""
        grouped: defaultdict[str, list[Query]] = defaultdict(list)
        for query in queries:
            grouped[query.pool].append(query)
        for pool, own in grouped.items():
            with pointed_at(self.households[pool].path):
                yield own

    def with_several_holders(self) -> list[Query]:
        """The questions of pools with two or more holders: elsewhere nobody is left to be referred to."""
        return [
            query for query in self.evaluation_set.queries if len(self.evaluation_set.holders(query.pool)) > 1
        ]

    def holders_of(self, query: Query) -> frozenset[str]:
        """Who holds the memories that answer."""
        docs = self.households[query.pool].docs
        return frozenset(doc.holder for doc in docs if doc.id in query.relevant)


def recall_rows(trial: Trial) -> Iterator[Row]:
    """Every memory is the household's: what is found, and in how many milliseconds, embedding included."""
    cache._queries.clear()  # so that no question's time is that of one asked before
    for queries in trial.by_pool(trial.evaluation_set.queries):
        keep_private(())
        viewer = asker()
        for query in queries:
            trial.engine.spared()
            begin = time.perf_counter()
            hits = recall(viewer, query.text, limit=RECALLED).hits
            seconds = time.perf_counter() - begin + trial.engine.spared()
            found = [hit.memory.source for hit in hits]
            yield {"id": query.id, "pool": query.pool, "found": found, "ms": round(seconds * 1_000, 3)}


def who_knows_rows(trial: Trial) -> Iterator[Row]:
    """Every memory is private to its holder: whom a further holder is told of."""
    for queries in trial.by_pool(query for query in trial.evaluation_set.queries if query.gold_holders):
        keep_private(trial.evaluation_set.holders(queries[0].pool))
        viewer = asker()
        for query in queries:
            holders = who_knows(viewer, query.text, limit=HOLDERS_LOOKED_AT, note=False).holders
            yield {"id": query.id, "pool": query.pool, "holders": [one.holder_id for one in holders]}


def referral_rows(trial: Trial) -> Iterator[Row]:
    """Who knows keeps it private, the rest is the household's: where a further holder is sent, and what leaks."""
    texts: dict[tuple[str, frozenset[str]], tuple[Texts, Texts]] = {}
    for query, asked, holders in _referrals(trial, trial.with_several_holders()):
        if (query.pool, holders) not in texts:
            texts[query.pool, holders] = _hidden_and_readable(trial.households[query.pool], holders)
        hidden, readable = texts[query.pool, holders]
        leaked = hidden.stand_in(asked, but_for=readable, question=query.text)
        right = _referred_rightly(asked, holders)
        yield {"id": query.id, "pool": query.pool, "right": right, "leaked": leaked}


def _hidden_and_readable(household: Household, holders: frozenset[str]) -> tuple[Texts, Texts]:
    return (
        Texts(doc.text for doc in household.docs if doc.holder in holders),
        Texts(doc.text for doc in household.docs if doc.holder not in holders),
    )


def _referrals(trial: Trial, queries: Iterable[Query]) -> Iterator[tuple[Query, Asked, frozenset[str]]]:
    """Ask while the memories of those who know are private; questions to the same holders one after another."""
    for own in trial.by_pool(queries):
        for holders in sorted({trial.holders_of(query) for query in own}, key=sorted):
            keep_private(holders)
            viewer = asker()
            for query in own:
                if trial.holders_of(query) == holders:
                    yield query, ask(viewer, query.text, limit=ANSWERS_LOOKED_AT, note=False), holders


def three_state_rows(trial: Trial) -> Iterator[Row]:
    """Each question three times: readable, held privately by somebody, and not there at all."""
    queries = three_state_queries(trial)
    yield from _readable_rows(trial, queries)
    for query, asked, holders in _referrals(trial, queries):
        got = (
            asked.status if asked.status != REFERRED or _referred_rightly(asked, holders) else "wrong_holder"
        )
        yield {"id": query.id, "pool": query.pool, "expected": REFERRED, "got": got}
    yield from _absent_rows(trial, queries)


def three_state_queries(trial: Trial) -> list[Query]:
    """The same sample each time, in the set's order."""
    queries = trial.with_several_holders()
    if len(queries) <= THREE_STATE_QUESTIONS:
        return queries
    chosen = sorted(Random(SEED).sample(range(len(queries)), THREE_STATE_QUESTIONS))  # noqa: S311  (a sample)
    return [queries[number] for number in chosen]


def _readable_rows(trial: Trial, queries: Iterable[Query]) -> Iterator[Row]:
    for own in trial.by_pool(queries):
        keep_private(())
        viewer = asker()
        for query in own:
            asked = ask(viewer, query.text, limit=ANSWERS_LOOKED_AT, note=False)
            right = any(hit.memory.source in query.relevant for hit in asked.answers[:ANSWERS_LOOKED_AT])
            got = asked.status if asked.status != ANSWERED or right else "wrong_answer"
            yield {"id": query.id, "pool": query.pool, "expected": ANSWERED, "got": got}


def _absent_rows(trial: Trial, queries: Iterable[Query]) -> Iterator[Row]:
    """Asked in the next pool's household; of one pool alone, without what answers and its neighbours."""
    pools = sorted(trial.households)
    for own in trial.by_pool(queries):
        pool = own[0].pool
        other = pools[(pools.index(pool) + 1) % len(pools)]
        with pointed_at(trial.households[other].path):
            keep_private(())
            viewer = asker()
            for query in own:
                with without(_with_neighbours(query) if other == pool else ()):
                    got = ask(viewer, query.text, limit=ANSWERS_LOOKED_AT, note=False).status
                yield {"id": query.id, "pool": pool, "expected": NOBODY, "got": got}


def _with_neighbours(query: Query) -> set[str]:
    return {near for one in query.relevant for near in (one, *(neighbour_sources(one) or ()))}


def _referred_rightly(asked: Asked, holders: frozenset[str]) -> bool:
    return asked.status == REFERRED and asked.referrals[0].holder_id in holders


TASKS: Mapping[str, Callable[[Trial], Iterator[Row]]] = {
    "recall": recall_rows,
    "who_knows": who_knows_rows,
    "referral": referral_rows,
    "three_state": three_state_rows,
}


def askings(task: str, trial: Trial) -> int:
    """How many rows a task will yield."""
    queries = trial.evaluation_set.queries
    counts = {
        "recall": len(queries),
        "who_knows": sum(bool(query.gold_holders) for query in queries),
        "referral": len(trial.with_several_holders()),
        "three_state": 3 * len(three_state_queries(trial)),
    }
    return counts[task]
