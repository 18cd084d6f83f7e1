"""Whether a store is sound: one vector and one index row an atom, columns that hold what they should, no orphans.

Every finding is a sentence with a count and some ids, never any text of a memory. `repair` rebuilds what can be
rebuilt from `atoms`, which it never changes; edges, memberships and cached vectors that lead nowhere go.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.apps import apps
from django.db import connection, models, transaction

from memories import checks, schema, store_file, vectors
from memories.embedding import cache
from memories.models import Atom
from memories.store import APPLICATION_ID, LOG_HELD_SENTENCE, SCHEMA_VERSION, get_setting, log_is_held

EXAMPLES = 5
BATCH = 256
VECTORS_A_READ = 2_000
UNIT = 1e-2  # how far from 1 a vector's length may be: 4-bit models are not exact

INDEX = "index"
VECTORS = "vectors"
SCHEMA = "schema"
ORPHANS = "orphans"

STALE = """
SELECT atoms.atom_id FROM atoms JOIN atom_fts ON atom_fts.rowid = atoms.id
WHERE atom_fts.text IS NOT index_text(atoms.text) OR atom_fts.source IS NOT index_text(atoms.source)
   OR atom_fts.tags IS NOT index_text(atoms.tags) OR atom_fts.scenario IS NOT index_text(atoms.scenario)
"""
UNINDEXED = "SELECT atom_id FROM atoms WHERE id NOT IN (SELECT rowid FROM atom_fts)"
INDEXED_ALONE = "SELECT rowid FROM atom_fts WHERE rowid NOT IN (SELECT id FROM atoms)"
WITHOUT_VECTOR = "SELECT atom_id FROM atoms WHERE id NOT IN (SELECT atom_pk FROM atom_vec)"
VECTOR_ALONE = "SELECT atom_pk FROM atom_vec WHERE atom_pk NOT IN (SELECT id FROM atoms)"
OF_ANOTHER_MODEL = """
SELECT atom_id FROM atoms
WHERE NOT json_valid(embedding_refs_json)
   OR substr(coalesce(embedding_refs_json ->> 0, ''), 1, length(%s) + 1) <> %s || ':'
"""
EDGES_ALONE = """
SELECT id FROM evidence_edges
WHERE from_atom_id NOT IN (SELECT atom_id FROM atoms) OR to_atom_id NOT IN (SELECT atom_id FROM atoms)
"""
MEMBERS_ALONE = "SELECT id FROM cartridge_atoms WHERE atom_id NOT IN (SELECT atom_id FROM atoms)"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: what, how many, which (some of them), and what `repair` rebuilds for it, if anything."""

    id: str
    sentence: str
    count: int = 1
    examples: tuple[str, ...] = ()
    repair: str = ""


def diagnose() -> list[Finding]:
    """Everything that is wrong with the configured store; empty when it is sound. Only reads."""
    parts: list[Callable[[], Iterator[Finding]]] = [_file, _schema, _index, _vectors, _model, _rows, _orphans]
    return [finding for part in parts for finding in part()]


def repair(findings: list[Finding]) -> None:
    """Rebuild what the findings ask for, from `atoms`, in one transaction."""
    wanted = {finding.repair for finding in findings}
    with transaction.atomic():
        if SCHEMA in wanted:
            _execute(*schema.DROP_TRIGGERS, *schema.DROP_VIEW, *schema.CREATE_TRIGGERS, *schema.CREATE_VIEW)
        if INDEX in wanted:
            _rebuild_index()
        if VECTORS in wanted:
            _rebuild_vectors()
        if ORPHANS in wanted:
            _execute(
                f"DELETE FROM evidence_edges WHERE id IN ({EDGES_ALONE})",
                f"DELETE FROM cartridge_atoms WHERE id IN ({MEMBERS_ALONE})",
            )
            cache.drop_unreferred(_recorded_model())


def _execute(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _rows_of(sql: str, params: list[Any] | None = None) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return [str(row[0]) for row in cursor.fetchall()]


def _found(found_id: str, sentence: str, ids: list[str], repair: str = "") -> Iterator[Finding]:
    """A finding about `ids`, if there are any; `sentence` has a place for how many."""
    if ids:
        yield Finding(found_id, sentence.format(f"{len(ids):,}"), len(ids), tuple(ids[:EXAMPLES]), repair)


def _file() -> Iterator[Finding]:
    """The file itself: SQLite's own checks and the marks that make it ours."""
    problems = [one for one in _rows_of("PRAGMA integrity_check") if one != "ok"]
    yield from _found("damaged", "SQLite finds {} faults in the file; restore a backup.", problems)
    broken = _rows_of("PRAGMA foreign_key_check")
    yield from _found("foreign-keys", "{} rows refer to a row that is gone.", broken)
    marks = (_rows_of("PRAGMA application_id"), _rows_of("PRAGMA user_version"))
    if marks != ([str(APPLICATION_ID)], [str(SCHEMA_VERSION)]):
        yield Finding(
            "marks", "The file does not carry the marks of a rekal store (application_id, user_version)."
        )
    if log_is_held():
        yield Finding("log-held", LOG_HELD_SENTENCE)


def _schema() -> Iterator[Finding]:
    """Triggers and view, as this build writes them."""
    wanted = {statement.split()[2]: statement for statement in [*schema.CREATE_TRIGGERS, *schema.CREATE_VIEW]}
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')")
        present = dict(cursor.fetchall())
    wrong = [
        name
        for name, sql in wanted.items()
        if " ".join((present.get(name) or "").split()) != " ".join(sql.split())
    ]
    yield from _found(
        "schema", "{} triggers or views are missing or not what this build writes.", wrong, SCHEMA
    )


def _index() -> Iterator[Finding]:
    """One index row an atom, holding what its words give."""
    yield from _found(
        "not-indexed", "{} memories are missing from the word index.", _rows_of(UNINDEXED), INDEX
    )
    yield from _found(
        "index-orphans", "{} rows of the word index belong to no memory.", _rows_of(INDEXED_ALONE), INDEX
    )
    yield from _found(
        "index-stale", "{} memories are indexed under other words than theirs.", _rows_of(STALE), INDEX
    )


def _vectors() -> Iterator[Finding]:
    """One vector an atom, finite and of unit length."""
    yield from _found("no-vector", "{} memories have no vector.", _rows_of(WITHOUT_VECTOR), VECTORS)
    yield from _found("vector-orphans", "{} vectors belong to no memory.", _rows_of(VECTOR_ALONE), VECTORS)
    yield from _found("vector-broken", "{} vectors are no unit vectors.", list(_broken_vectors()), VECTORS)


def _broken_vectors() -> Iterator[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT atom_pk, embedding FROM atom_vec")
        while rows := cursor.fetchmany(VECTORS_A_READ):
            lengths = np.linalg.norm(
                np.stack([np.frombuffer(blob, dtype=np.float32) for _, blob in rows]), axis=1
            )
            unsound = ~(np.abs(lengths - 1.0) < UNIT)  # NaN is unsound too
            yield from (str(pk) for (pk, _), bad in zip(rows, unsound, strict=True) if bad)


def _model() -> Iterator[Finding]:
    """The recorded model, the configured one and the one each atom names are the same."""
    path = store_file.configured_path()
    if path is not None:
        for problem in checks.check_model(store_file.inspect(path)):
            yield Finding("model", f"{problem.msg} {problem.hint}")
    recorded = get_setting("embedding_model")
    if recorded is None:
        return
    others = _rows_of(OF_ANOTHER_MODEL, [recorded, recorded])
    yield from _found(
        "model-of-rows",
        "{} memories name another embedding model than the store's; run manage.py reembed.",
        others,
    )


def _rows() -> Iterator[Finding]:
    """Every CHECK of every table of ours, by query: SQLite tests them on writing alone, and can be told not to."""
    for model in apps.get_models():
        if model._meta.app_config is None or model._meta.app_config.name.partition(".")[0] == "django":
            continue
        for constraint in model._meta.constraints:
            if isinstance(constraint, models.CheckConstraint):
                yield from _breaking(model, constraint)


def _breaking(model: type[models.Model], constraint: models.CheckConstraint) -> Iterator[Finding]:
    table = model._meta.db_table
    rule = constraint.name.removeprefix(f"{table}_").replace("_", " ")
    name = "atom_id" if model is Atom else "pk"
    broken = model._default_manager.exclude(constraint.condition).values_list(name, flat=True)
    yield from _found(
        f"{table}-rule", f"{{}} rows of {table} break the rule “{rule}”.", [str(one) for one in broken]
    )


def _orphans() -> Iterator[Finding]:
    """What should have gone with a memory."""
    yield from _found(
        "edges-alone", "{} evidence edges name a memory that is gone.", _rows_of(EDGES_ALONE), ORPHANS
    )
    yield from _found(
        "members-alone", "{} cartridge entries name a memory that is gone.", _rows_of(MEMBERS_ALONE), ORPHANS
    )
    yield from _found(
        "cache-alone", "{} cached vectors belong to no memory.", cache.unreferred(_recorded_model()), ORPHANS
    )


def _recorded_model() -> str:
    return str(get_setting("embedding_model") or checks.configured_model())


def _rebuild_index() -> None:
    _execute(
        "DELETE FROM atom_fts",
        """
        INSERT INTO atom_fts(rowid, source, text, tags, scenario)
        SELECT id, index_text(source), index_text(text), index_text(tags), index_text(scenario) FROM atoms
        """,
    )


def _rebuild_vectors() -> None:
    """Drop vectors that are nobody's or broken, and embed what lacks one."""
    model = cache.engine()
    vectors.record_model(model)
    gone = [*_rows_of(VECTOR_ALONE), *_broken_vectors()]
    with connection.cursor() as cursor:
        cursor.executemany("DELETE FROM atom_vec WHERE atom_pk = %s", [(int(pk),) for pk in gone])
    missing = Atom.objects.filter(atom_id__in=_rows_of(WITHOUT_VECTOR)).order_by("pk")
    rows = list(missing.values_list("pk", "text"))
    for start in range(0, len(rows), BATCH):
        part = rows[start : start + BATCH]
        embedded = cache.embed_passages([text for _, text in part])
        cache.keep(embedded.fresh)
        vectors.write_vectors((pk, vector) for (pk, _), vector in zip(part, embedded.vectors, strict=True))
