"""The embedding cache: the same text is not embedded twice, and its counters cost no write of their own.

Passages are kept in the store under sha256(model, text), written in the transaction that stores their atoms.
Queries are kept in memory alone: a read never writes. Nobody is spared what somebody else asked, or wrote where she
cannot read it: how long a call takes would tell her that these very words are there. Hits, misses and writes are
counted and go to `cache_events` one row a kind and batch, when a write transaction is open anyway.
"""

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from django.conf import settings
from django.db import connection

from memories.embedding import MAX_EMBEDDED_CHARACTERS, Engine, Vector, bounded, load_engine
from memories.fields import Beginning, dump_json
from memories.models import TEXT_KEY, Atom, CachedEmbedding, CacheEvent
from memories.visibility import Viewer

QUERIES_KEPT = 1_024
PASSAGES_KEPT = 64  # from embedding before a transaction to storing within it
SAME_LOOKED_AT = 2_000  # memories of the same words: chats say "ok" very often
EVENTS_A_BATCH = 200

# Texts beside the atoms' whose vectors belong here; the app of holders sets it (their topics), we never import it.
other_texts: Callable[[], Iterable[str]] = tuple

# Keys that atoms name in `embedding_refs_json`: the end of "model:dims:sha256".
UNREFERRED = """
SELECT key FROM embedding_cache
WHERE key NOT IN (
    SELECT substr(reference.value, -64)
    FROM atoms,
        json_each(CASE WHEN json_valid(embedding_refs_json) THEN embedding_refs_json ELSE '[]' END) AS reference
    WHERE reference.type = 'text'
)
"""

Key = tuple[str, str, str]  # who, for whom, and what
_queries: OrderedDict[Key, Vector] = OrderedDict()
_passages: OrderedDict[Key, Vector] = OrderedDict()
_counts: Counter[tuple[str, str]] = Counter()
_lock = Lock()


@dataclass(slots=True)
class Embedded:
    """Vectors for a batch of passages: `(n, dimensions) float32`, and the rows the cache lacked."""

    vectors: Vector
    fresh: list[CachedEmbedding] = field(default_factory=list)


def engine() -> Engine:
    """The configured engine, loaded once a process."""
    return load_engine(settings.REKAL_ENGINE)


def passage_key(model: str, text: str) -> str:
    """The cache key of a passage: sha256 over the model's name and the text that is really embedded."""
    return hashlib.sha256(f"{model}\0{bounded(text, MAX_EMBEDDED_CHARACTERS)}".encode()).hexdigest()


def embed_query(viewer: Viewer, text: str) -> Vector:
    """The vector of a question of the viewer's, `(dimensions,) float32`, unit length."""
    model = engine()
    key = (*_who(viewer), f"{model.name}\0{text}")
    with _lock:
        known = _recalled(_queries, key)
        _counts["query", "hit" if known is not None else "miss"] += 1
    if known is None:
        known = model.embed_query(text)
        _recall(_queries, {key: known}, QUERIES_KEPT)
    return known


def embed_passages(texts: Sequence[str], viewer: Viewer | None = None) -> Embedded:
    """Vectors of passages, from the cache where it has them; store `fresh` with `keep` in the same transaction.

    `viewer` is who writes them: spared are texts she may read, or has embedded a moment ago. None is the host.
    """
    model = engine()
    keys = [passage_key(model.name, text) for text in texts]
    who = _who(viewer)
    readable = set(texts) if viewer is None else _readable(viewer, texts)
    spared = {key for key, text in zip(keys, texts, strict=True) if text in readable}
    rows = CachedEmbedding.objects.filter(pk__in=spared).values_list("key", "vector") if spared else ()
    known = {key: np.frombuffer(vector, dtype=np.float32) for key, vector in rows}
    unwritten = [key for key in dict.fromkeys(keys) if key not in known]
    with _lock:
        known |= {key: vector for key in keys if (vector := _recalled(_passages, (*who, key))) is not None}
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    fresh = model.embed_passages(list(missing.values()))
    known |= dict(zip(missing, fresh, strict=True))
    with _lock:
        _counts["passage", "hit"] += len(texts) - len(missing)
        _counts["passage", "miss"] += len(missing)
    if viewer is not None and len(missing) <= PASSAGES_KEPT:
        _recall(_passages, {(*who, key): known[key] for key in missing}, PASSAGES_KEPT)
    vectors = np.stack([known[key] for key in keys]) if keys else fresh
    return Embedded(vectors, [CachedEmbedding(key=key, vector=known[key].tobytes()) for key in unwritten])


def _who(viewer: Viewer | None) -> tuple[str, str]:
    if viewer is None:
        return "", ""
    return viewer.holder_id, viewer.acting_for.holder_id if viewer.acting_for else ""


def _readable(viewer: Viewer, texts: Sequence[str]) -> set[str]:
    """The texts that memories say which this viewer may read.

    By the index of texts first: over half a million memories the visibility rule alone would take 200 ms. Both
    queries run either way, so that their time tells nothing.
    """
    same = Atom.objects.alias(text_key=Beginning("text", TEXT_KEY))
    same = same.filter(text_key__in={text[:TEXT_KEY] for text in texts}, text__in=set(texts))
    pks = [0, *same.values_list("pk", flat=True)[:SAME_LOOKED_AT]]
    return set(Atom.objects.visible_to(viewer).filter(pk__in=pks).values_list("text", flat=True))


def _recalled(kept: OrderedDict[Key, Vector], key: Key) -> Vector | None:
    """What is kept in memory under a key, which then is the newest; hold the lock."""
    if (known := kept.get(key)) is not None:
        kept.move_to_end(key)
    return known


def _recall(kept: OrderedDict[Key, Vector], fresh: Mapping[Key, Vector], most: int) -> None:
    """Keep vectors in memory; the oldest go."""
    with _lock:
        kept.update(fresh)
        while len(kept) > most:
            kept.popitem(last=False)


def keep(fresh: list[CachedEmbedding]) -> None:
    """Write fresh vectors to the cache; call inside the transaction that stores their atoms."""
    if not fresh:
        return
    CachedEmbedding.objects.bulk_create(fresh, ignore_conflicts=True)
    with _lock:
        _counts["passage", "write"] += len(fresh)
        due = sum(_counts.values()) >= EVENTS_A_BATCH
    if due:
        record_events()


def drop(texts: Sequence[str]) -> None:
    """Take these passages out of the cache, as `forget` must."""
    model = engine()
    keys = {passage_key(model.name, text) for text in texts}
    CachedEmbedding.objects.filter(pk__in=keys).delete()
    with _lock:
        for one in [one for one in _passages if one[-1] in keys]:
            del _passages[one]


def unreferred(model: str) -> list[str]:
    """Keys of vectors that nothing needs: those of another model, and leftovers of what was forgotten."""
    with connection.cursor() as cursor:
        cursor.execute(UNREFERRED)
        keys = [key for (key,) in cursor.fetchall()]
    needed = {passage_key(model, text) for text in other_texts()} if keys else set()
    return [key for key in keys if key not in needed]


def drop_unreferred(model: str) -> None:
    """Take out of the cache what nothing needs; inside a write transaction."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "DELETE FROM embedding_cache WHERE key = %s", [(key,) for key in unreferred(model)]
        )


def record_events() -> None:
    """Write the counters as one `cache_events` row a kind and start anew; call inside a write transaction."""
    with _lock:
        counts = dict(_counts)
        _counts.clear()
    size = engine().dimensions * 4
    CacheEvent.objects.bulk_create(
        CacheEvent(
            layer=f"embedding.{layer}", cache_key="", event=event, bytes_estimate=size * count,
            metadata_json=dump_json({"count": count}),
        )
        for (layer, event), count in sorted(counts.items())
    )  # fmt: skip
