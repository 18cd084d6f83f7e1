"""`evaluate`: figures over our own two miniature sets, in stores that are thrown away."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from rekal_site.evaluation import metrics, references, runs, stores, tasks
from rekal_site.evaluation.leaks import Texts
from rekal_site.evaluation.sets import read_set
from rekal_site.management.commands import evaluate as command
from tests.command_line import Ran, Run, empty_store, run, store  # noqa: F401  (fixtures)

DATA = Path(__file__).parent / "data"
MINI_EN, MINI_ZH = DATA / "mini_en.json", DATA / "mini_zh.json"
KEYS = {
    "set": None,
    "n": None,
    "recall": {"R@1", "R@5", "R@10", "MRR@10", "hit@5"},
    "who_knows": {"at1", "at3", "n"},
    "referral": {"at1", "leaks", "n"},
    "three_state": {"macro_f1", "false_answered", "confusion", "n"},
    "latency_ms": {"p50", "p95"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for the module: what a set's run kept is what the next run reads."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def evaluate(folder: Path, run: Run, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    settings.REKAL_CACHE = folder
    monkeypatch.setattr(command, "version_of", lambda model: "this")  # a file may be edited while tests run
    return lambda *arguments: run("evaluate", *map(str, arguments))


@pytest.fixture
def untouched(store: Path) -> Iterator[None]:
    """The household's store is the same file, byte for byte, after the test."""
    before = store.read_bytes()
    yield
    assert store.read_bytes() == before
    assert str(connection.settings_dict["NAME"]) == str(store)


def test_one_set_prints_one_object_of_the_agreed_shape(evaluate: Callable[..., Ran], untouched: None) -> None:
    ran = evaluate(MINI_EN, "--json")
    assert ran.code == 0, ran.err
    assert {name: set(value) if isinstance(value, dict) else None for name, value in ran.json.items()} == KEYS
    assert ran.json["set"] == "mini_en"
    assert ran.json["n"] == ran.json["who_knows"]["n"] == ran.json["referral"]["n"] == 8
    assert ran.json["three_state"]["n"] == 8
    assert set(ran.json["three_state"]["confusion"]) == set(metrics.STATES)
    assert all(sum(got.values()) == 8 for got in ran.json["three_state"]["confusion"].values())


@pytest.mark.parametrize("path", [MINI_EN, MINI_ZH])
def test_the_verbs_are_right_about_the_miniatures(evaluate: Callable[..., Ran], path: Path) -> None:
    body = evaluate(path, "--json").json
    assert body["recall"]["R@5"] == 1
    assert body["recall"]["MRR@10"] >= 0.8
    assert body["who_knows"]["at3"] == 1
    assert body["referral"]["leaks"] == 0
    assert 0 < body["latency_ms"]["p50"] <= body["latency_ms"]["p95"]


def test_several_sets_print_an_array_and_people_get_a_table(evaluate: Callable[..., Ran]) -> None:
    assert [one["set"] for one in evaluate(MINI_EN, MINI_ZH, "--json").json] == ["mini_en", "mini_zh"]
    ran = evaluate(MINI_EN, MINI_ZH, "--references", "--worst", "1")
    assert "mini_zh" in ran.out
    assert "RRF" in ran.out
    assert "no_holder_knows → " in ran.out
    assert "the worst questions" in ran.out


def test_a_second_run_asks_and_embeds_nothing(
    evaluate: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = evaluate(MINI_ZH, "--json").json
    monkeypatch.setattr(runs, "throw_away_stores", None)
    assert evaluate(MINI_ZH, "--json").json == first


def test_a_run_that_was_cut_short_goes_on_with_the_next_task(
    evaluate: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "cut.json"
    path.write_text(MINI_ZH.read_text("utf-8").replace('"mini_zh"', '"cut"'), "utf-8")

    def stopped(trial: tasks.Trial) -> Iterator[tasks.Row]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setitem(tasks.TASKS, "referral", stopped)
        assert evaluate(path, "--json").code == 130
    asked: list[str] = []
    for name, task in list(tasks.TASKS.items()):
        monkeypatch.setitem(
            tasks.TASKS, name, lambda trial, name=name, task=task: asked.append(name) or task(trial)
        )
    assert evaluate(path, "--json").json["referral"]["n"] == 4
    assert asked == ["referral", "three_state"]


def test_the_references_rank_the_same_memories(evaluate: Callable[..., Ran]) -> None:
    body = evaluate(MINI_EN, "--json", "--references", "--tasks", "recall").json
    assert set(body["references"]) == set(references.FORMULAS)
    assert body["references"]["vectors"]["R@10"] == 1
    assert body["who_knows"] is body["referral"] is body["three_state"] is None


def test_a_limit_takes_the_same_sample_each_time(evaluate: Callable[..., Ran]) -> None:
    assert evaluate(MINI_EN, "--json", "--limit", "3", "--tasks", "recall").json["n"] == 3
    few = runs.limited(read_set(MINI_EN), 3)
    assert few.queries == runs.limited(read_set(MINI_EN), 3).queries


def test_gzipped_sets_are_read(tmp_path: Path) -> None:
    path = tmp_path / "mini.json.gz"
    path.write_bytes(gzip.compress(MINI_EN.read_bytes()))
    assert read_set(path).queries == read_set(MINI_EN).queries


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"not json", b"[1, 2]", b'{"docs": [], "queries": []}', b"\x1f\x8b"]
)
def test_a_file_that_is_no_set_is_refused_with_one_sentence(
    evaluate: Callable[..., Ran], tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "wrong.json"
    path.write_bytes(content)
    ran = evaluate(path)
    assert ran.code == 2
    assert len(ran.err.strip().splitlines()) == 1


@pytest.mark.parametrize("wrong", [("--tasks", "dance"), ("--limit", "0")])
def test_wrong_options_are_refused(evaluate: Callable[..., Ran], wrong: tuple[str, str]) -> None:
    assert evaluate(MINI_EN, *wrong).code == 2


def test_it_needs_no_store_of_the_household(
    evaluate: Callable[..., Ran], store: Path, tmp_path: Path
) -> None:
    connection.close()
    store.unlink()
    assert evaluate(MINI_ZH, "--json", "--tasks", "recall", "--limit", "2").code == 0
    assert not store.exists()


def test_a_pool_of_one_holder_has_nobody_to_be_referred_to(
    evaluate: Callable[..., Ran], tmp_path: Path
) -> None:
    content = json.loads(MINI_ZH.read_text("utf-8"))
    for doc in content["docs"]:
        doc["holder"] = None
    for query in content["queries"]:
        query["gold_holders"] = []
    path = tmp_path / "alone.json"
    path.write_text(json.dumps(content), "utf-8")
    body = evaluate(path, "--json").json
    assert body["recall"]["R@10"] == 1
    assert body["who_knows"] is body["referral"] is body["three_state"] is None


def test_a_household_can_be_without_some_memories_for_a_while(store: Path) -> None:
    from memories.models import Atom

    docs = read_set(MINI_ZH).pools["all"]
    with stores.throw_away_stores() as made, stores.pointed_at(made.household("all", docs).path):
        with stores.without({"a/1:1", "a/1:2"}):
            assert Atom.objects.count() == len(docs) - 2
        assert Atom.objects.visible_to(stores.asker()).count() == len(docs)
        stores.keep_private({"苏宁"})
        assert set(Atom.objects.visible_to(stores.asker()).values_list("holder_id", flat=True)) == {"何川"}


def test_private_text_in_a_reply_is_seen() -> None:
    private = Texts(
        ["the spare key of the boathouse hangs behind the can", "地下室的备用钥匙挂在蓝色水壶后面。"]
    )
    nothing = Texts([])
    leak = {"answers": [{"basis": ["She said: The spare key of the boathouse hangs behind it"]}]}
    assert private.stand_in(leak, but_for=nothing, question="where?")
    assert not private.stand_in(leak, but_for=private, question="where?")
    assert not private.stand_in(
        leak, but_for=nothing, question="Is it so that the spare key of the boathouse hangs behind it?"
    )
    assert private.stand_in(["她说地下室的备用钥匙挂在蓝色水壶"], but_for=nothing, question="?")
    assert not private.stand_in(["备用钥匙挂在哪里"], but_for=nothing, question="?")


def test_figures_are_those_of_the_books() -> None:
    figures = metrics.recall_of(["x", "a", "y", "b"], ("a", "b", "c", "d"))
    assert figures == {"R@1": 0, "R@5": 0.5, "R@10": 0.5, "MRR@10": 0.5, "hit@5": 1.0}
    rows = [
        {"expected": "answered", "got": "answered"},
        {"expected": "answered", "got": "wrong_answer"},
        {"expected": "referred", "got": "referred"},
        {"expected": "referred", "got": "referred"},
        {"expected": "no_holder_knows", "got": "answered"},
        {"expected": "no_holder_knows", "got": "no_holder_knows"},
    ]
    state = metrics.three_state(rows)
    assert state is not None
    assert state["false_answered"] == 0.5
    assert state["macro_f1"] == pytest.approx((0.5 + 1 + 2 / 3) / 3, abs=1e-4)
