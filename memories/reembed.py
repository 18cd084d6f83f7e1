"""Writing every vector anew with the configured engine: resumable, and searchable until the last moment.

Vectors are first collected in the embedding cache under the new model's name, a batch a transaction; a run that is
cut short finds them there. Then one transaction lays the vector table anew (with the new dimensions), fills it from
the cache and records the model: the store never holds vectors of two models.
"""

from collections.abc import Callable, Iterator

from django.db import connection, transaction

from memories import vectors
from memories.embedding import cache
from memories.models import Atom
from memories.store import set_setting

BATCH = 128
Row = tuple[int, str]  # an atom's primary key and its text


def reembed(progress: Callable[[int, int], None] = lambda done, total: None) -> int:
    """Write every atom's vector with the configured engine and record it; the number of atoms.

    `progress` hears `(done, total)` after each batch. Raises `EngineUnavailable`. Others may read and write
    meanwhile; what they add is caught up with at the end.
    """
    done, total = 0, Atom.objects.count()
    for rows in _batches():
        embedded = cache.embed_passages([text for _, text in rows])
        with transaction.atomic():
            cache.keep(embedded.fresh)
        done += len(rows)
        progress(done, total)
    with transaction.atomic():
        return _lay_anew()


def _lay_anew() -> int:
    """Swap the vectors; inside a transaction, which holds the write lock, so that no atom can slip between."""
    engine = cache.engine()
    count = 0
    _empty_table(engine.dimensions)
    for rows in _batches():
        embedded = cache.embed_passages([text for _, text in rows])  # hits, but for atoms added meanwhile
        cache.keep(embedded.fresh)
        vectors.write_vectors((pk, vector) for (pk, _), vector in zip(rows, embedded.vectors, strict=True))
        _note_references(rows)
        count += len(rows)
    set_setting("embedding_model", engine.name)
    set_setting("embedding_dimensions", engine.dimensions)
    cache.drop_unreferred(engine.name)
    return count


def _empty_table(dimensions: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS atom_vec")
        cursor.execute(vectors.DECLARATION.format(int(dimensions)))


def _note_references(rows: list[Row]) -> None:
    engine = cache.engine()
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE atoms SET embedding_refs_json = %s WHERE id = %s",
            [(vectors.embedding_refs(engine, cache.passage_key(engine.name, text)), pk) for pk, text in rows],
        )


def _batches() -> Iterator[list[Row]]:
    """Every atom by primary key, a batch at a time, without holding a read open in between."""
    last = 0
    while rows := list(Atom.objects.filter(pk__gt=last).order_by("pk").values_list("pk", "text")[:BATCH]):
        yield rows
        last = rows[-1][0]
