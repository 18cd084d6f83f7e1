"""Raw SQL over `atom_vec`, the vec0 table of unit vectors joined to atoms by primary key.

sqlite-vec 0.1.9: `IN (subquery)` on the integer key filters *inside* the KNN scan (exact), while joins and other
predicates filter afterwards and starve; `k` may not exceed 4,096; `INSERT OR REPLACE` fails; NaN gives NULL distances.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from django.db import connection

from memories.embedding import Engine, Vector
from memories.errors import Invalid, RekalError
from memories.fields import dump_json
from memories.store import get_setting, set_setting

MAX_K = 4_096
# 64 vectors a chunk: reading one vector walks its chunk's pages, and at the default of 1,024 that took ten times as
# long (200 of 50,000: 79 ms against 8 ms), while a whole scan took the same.
DECLARATION = """
    CREATE VIRTUAL TABLE atom_vec USING vec0(
        atom_pk INTEGER PRIMARY KEY, embedding float[{}] distance_metric=cosine, chunk_size=64
    )
"""


class ModelMismatch(RekalError):
    """The store's vectors were written by another model than the configured one."""


def require_model(engine: Engine) -> None:
    """Refuse to mix vectors of two models. Raises `ModelMismatch`, whose sentence names `manage.py reembed`."""
    recorded = get_setting("embedding_model")
    if recorded and recorded != engine.name:
        raise ModelMismatch(
            f"This store's vectors were written by {recorded}, and REKAL_ENGINE names {engine.name}; "
            "run `manage.py reembed` to write them anew, or set REKAL_ENGINE back."
        )


def record_model(engine: Engine) -> None:
    """Note who writes this store's vectors; inside the writing transaction, once."""
    require_model(engine)
    if get_setting("embedding_model") is None:
        set_setting("embedding_model", engine.name)
        set_setting("embedding_dimensions", engine.dimensions)


def embedding_refs(engine: Engine, sha256: str) -> str:
    """`embedding_refs_json` of an atom: `["model:dims:sha256"]`."""
    return dump_json([f"{engine.name}:{engine.dimensions}:{sha256}"])


def checked(vector: Vector) -> bytes:
    """A vector's bytes; NaN, infinite and empty ones are refused: they would be near to nothing and everything."""
    if vector.size == 0 or not np.isfinite(vector).all():
        raise Invalid("The embedding engine gave no usable vector for this text; nothing was stored.")
    return np.ascontiguousarray(vector, dtype=np.float32).tobytes()


def write_vectors(rows: Iterable[tuple[int, Vector]]) -> None:
    """Write or replace vectors: `(atom primary key, (dimensions,) float32)` each; inside a transaction."""
    pairs = [(pk, checked(vector)) for pk, vector in rows]
    with connection.cursor() as cursor:
        cursor.executemany("DELETE FROM atom_vec WHERE atom_pk = %s", [(pk,) for pk, _ in pairs])
        cursor.executemany("INSERT INTO atom_vec(atom_pk, embedding) VALUES (%s, %s)", pairs)


def read_vectors(pks: Sequence[int]) -> dict[int, Vector]:
    """The vectors of these atoms by primary key; atoms without one are left out."""
    if not pks:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT atom_pk, embedding FROM json_each(%s) AS wanted
            CROSS JOIN atom_vec ON atom_vec.atom_pk = wanted.value
            """,  # one point query an atom: `IN (SELECT …)` would scan the whole table
            [dump_json(list(pks))],
        )
        return {pk: np.frombuffer(blob, dtype=np.float32) for pk, blob in cursor.fetchall()}


def nearest(query: Vector, inside: tuple[str, tuple[Any, ...]], k: int) -> list[tuple[int, float]]:
    """The `k` nearest atoms among the primary keys of a subquery: `(pk, cosine)`, nearest first.

    `inside` is `(sql, params)` of the readable set; the filter works inside the scan, so hidden rows that lie
    nearer cost the viewer nothing.
    """
    sql, params = inside
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT atom_pk, distance FROM atom_vec
            WHERE embedding MATCH %s AND k = %s AND atom_pk IN ({sql})
            ORDER BY distance
            """,
            [checked(query), max(1, min(k, MAX_K)), *params],
        )
        return [(pk, 1.0 - distance) for pk, distance in cursor.fetchall() if distance is not None]
