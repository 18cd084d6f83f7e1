"""Finding candidates: the keyword arm over FTS5 and the vector arm over vec0, both inside the readable set.

Nothing here counts a row its viewer may not read: document frequencies are counted inside the subquery of
`visible_to`, and FTS5's own `bm25()`, which knows the whole table, is never asked.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection

from memories import vectors
from memories.embedding import Vector
from memories.fields import dump_json
from memories.text import Term
from memories.visibility import AtomQuerySet, readable_sql

Inside = tuple[str, tuple[Any, ...]]
INSIDE: Inside = ("SELECT pk FROM temp.inside", ())

_NEEDLES = re.compile(r'"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Found:
    """What both arms found in the readable set.

    `memories` is the set's size, `frequencies` says by `Term.key` how many of them hold the term; `by_meaning` and
    `by_words` are the primary keys each arm found, best first.
    """

    memories: int = 0
    frequencies: dict[str, int] = field(default_factory=dict)
    by_meaning: tuple[int, ...] = ()
    by_words: tuple[int, ...] = ()

    @property
    def pks(self) -> tuple[int, ...]:
        """What either arm found, each once."""
        return tuple(dict.fromkeys((*self.by_meaning, *self.by_words)))

    def best(self, count: int) -> tuple[int, ...]:
        """The first of each arm."""
        return tuple(dict.fromkeys((*self.by_meaning[:count], *self.by_words[:count])))


def find(atoms: AtomQuerySet, terms: Sequence[Term], vector: Vector | None, k: int) -> Found:
    """Both arms' best `k` among `atoms`, a queryset that started from `visible_to`."""
    try:
        memories = _hold_fast(readable_sql(atoms))
    except EmptyResultSet:
        return Found()
    frequencies, by_words = keyword_arm(memories, terms, k)
    by_meaning = vectors.nearest(vector, INSIDE, k) if vector is not None and memories else []
    return Found(memories, frequencies, tuple(pk for pk, _ in by_meaning), tuple(by_words))


def _hold_fast(inside: Inside) -> int:
    """Keep the set's primary keys in `temp.inside` for both arms and return how many: the rule is asked once."""
    sql, params = inside
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE IF NOT EXISTS inside (pk INTEGER PRIMARY KEY)")
        cursor.execute("DELETE FROM temp.inside")
        cursor.execute(f"INSERT OR IGNORE INTO temp.inside {sql}", params)
        return int(cursor.rowcount)


def keyword_arm(memories: int, terms: Sequence[Term], k: int) -> tuple[dict[str, int], list[int]]:
    """`(document frequencies by term key, the k atoms that hold most information)`, inside `temp.inside`.

    Information is BM25's idf summed over the terms an atom holds; term frequency adds nothing in statements of
    one or two sentences. One statement, one pass over each term's postings. `memories`: the size of the set.
    """
    if not terms or not memories:
        return {}, []
    postings = " UNION ALL ".join(  # `+ 0` keeps SQLite from asking FTS5 anew for every readable row
        f"SELECT {number} AS term, rowid + 0 AS pk FROM atom_fts WHERE atom_fts MATCH %s"
        for number in range(len(terms))
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            WITH held AS MATERIALIZED (SELECT term, pk FROM ({postings}) WHERE pk IN (SELECT pk FROM temp.inside)),
            frequency(term, n) AS MATERIALIZED (SELECT term, count(*) FROM held GROUP BY term),
            best(pk, information) AS (
                SELECT held.pk, sum(ln(1 + (%s - frequency.n + 0.5) / (frequency.n + 0.5)))
                FROM held JOIN frequency USING (term)
                GROUP BY held.pk ORDER BY 2 DESC, held.pk DESC LIMIT %s
            )
            SELECT 1, term, n FROM frequency
            UNION ALL SELECT 2, pk, 0 FROM best
            """,
            [*(term.match for term in terms), memories, k],
        )
        rows = cursor.fetchall()
    frequencies = {terms[term].key: count for kind, term, count in rows if kind == 1}
    return frequencies, [pk for kind, pk, _ in rows if kind == 2]


def held_terms(pks: Sequence[int], terms: Sequence[Term]) -> dict[int, frozenset[str]]:
    """Which of the terms each atom holds, by key: read from the index's own text, so both always agree."""
    if not pks or not terms:
        return {}
    needles = {term.key: [f" {needle} " for needle in _NEEDLES.findall(term.match)] for term in terms}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT rowid, ' ' || text || '  ' || tags || '  ' || scenario || ' ' FROM atom_fts
            WHERE rowid IN (SELECT value FROM json_each(%s))
            """,
            [dump_json(list(pks))],
        )
        return {
            pk: frozenset(key for key, forms in needles.items() if any(form in indexed for form in forms))
            for pk, indexed in cursor.fetchall()
        }
