"""What our verbs cost beyond their bare parts, as ratios within one run: `make bench`.

Each benchmark times the whole verb and, interleaved with it, the bare parts; `extra_info` holds both medians and
their ratio. A ratio is asserted, with the bound the project promises; absolute times never are.
"""

import os
import statistics
import time
from collections.abc import Callable
from itertools import count

import pytest
from django.db import connection, transaction

from holders.registry import set_holder
from holders.who_knows import who_knows
from memories.embedding import cache
from memories.recall import recall
from memories.remember import remember
from memories.text import match_query
from memories.visibility import Viewer
from tests.benchmarks.stores import PLACES, THINGS, fill

HOLDERS = [f"h{number}" for number in range(20)]
VIEWER = Viewer("h0", "person", frozenset({"people"}))
ROUNDS = 15

pytestmark = pytest.mark.django_db


def questions():
    """Endless different questions, so that no cache answers."""
    for number in count():
        thing, other = THINGS[number % len(THINGS)], THINGS[(number // len(THINGS) + 3) % len(THINGS)]
        yield f"Which {thing} did somebody keep in the {PLACES[number % len(PLACES)]} beside the {other}?"


def bare_parts(question: str) -> None:
    """Embed, the exact nearest 50 of the whole table, the best 50 word matches."""
    vector = cache.engine().embed_query(question)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT atom_pk, distance FROM atom_vec WHERE embedding MATCH %s AND k = 50", [vector.tobytes()]
        )
        cursor.fetchall()
        cursor.execute(
            "SELECT rowid FROM atom_fts WHERE atom_fts MATCH %s ORDER BY rank LIMIT 50",
            [match_query(question)],
        )
        cursor.fetchall()


def compare(benchmark, ours: Callable[[str], object], bare: Callable[[str], object], bound: float) -> None:
    """Run both in turn on fresh questions; report and check the ratio of the medians."""
    asked = questions()
    times: dict[str, list[float]] = {"ours": [], "bare": []}

    def one_round() -> None:
        for name, run in (("bare", bare), ("ours", ours)):
            question = next(asked)
            begin = time.perf_counter()
            run(question)
            times[name].append(time.perf_counter() - begin)

    benchmark.pedantic(one_round, rounds=ROUNDS, warmup_rounds=2)
    ours_ms, bare_ms = (1000 * statistics.median(times[name]) for name in ("ours", "bare"))
    benchmark.extra_info |= {
        "ours_ms": round(ours_ms, 1),
        "bare_ms": round(bare_ms, 1),
        "ratio": round(ours_ms / bare_ms, 2),
    }
    print(
        f"\n{benchmark.name}: {ours_ms:.1f} ms, bare parts {bare_ms:.1f} ms, ratio {ours_ms / bare_ms:.2f} (≤ {bound})"
    )
    assert ours_ms <= bound * bare_ms


def test_recall_over_10_000_memories(benchmark):
    fill(10_000, holders=HOLDERS)
    compare(benchmark, lambda question: recall(VIEWER, question), bare_parts, 3)


@pytest.mark.skipif("BENCH_LARGE" not in os.environ, reason="takes minutes: BENCH_LARGE=1 make bench")
def test_recall_over_100_000_memories_half_of_them_hidden(benchmark):
    fill(100_000, holders=HOLDERS, hidden_share=0.5)
    compare(benchmark, lambda question: recall(VIEWER, question), bare_parts, 4)


@pytest.mark.skipif("BENCH_LARGE" not in os.environ, reason="takes minutes: BENCH_LARGE=1 make bench")
def test_who_knows_over_20_holders_of_5_000_memories(benchmark):
    for holder in HOLDERS:
        set_holder(None, holder, knows_about=["the boiler"])
    fill(100_000, holders=HOLDERS, hidden_share=0.5)
    compare(
        benchmark,
        lambda question: who_knows(VIEWER, question, note=False),
        lambda question: recall(VIEWER, question),
        2,
    )


def test_remembering_costs_little_more_than_its_embedding_and_one_commit(benchmark, transactional_db):
    fill(1_000, holders=HOLDERS)

    def bare(text: str) -> None:
        cache.engine().embed_passages([text])
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("CREATE TABLE IF NOT EXISTS bare (text)")
            cursor.execute("INSERT INTO bare VALUES (%s)", [text])

    compare(benchmark, lambda text: remember(VIEWER, text), bare, 2)
