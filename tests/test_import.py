"""Importing our own JSON Lines: streamed, in batches, the same file twice adds nothing, and the file stays as it is."""

import hashlib
import json
import time

import pytest
from django.core.management import call_command

from memories.browse import get_memory
from memories.embedding import cache
from memories.models import Atom, CachedEmbedding, EvidenceEdge
from memories.remember import remember
from memories.transfer import jsonl, load
from memories.visibility import Viewer
from tests.command_line import empty_store, run, store  # noqa: F401

MIRA = Viewer("mira", "person", frozenset({"people"}))


@pytest.fixture
def write(tmp_path):
    """Write a file of lines: dictionaries as JSON, everything else as it is."""

    def written(*lines, name="notes.jsonl"):
        path = tmp_path / name
        path.write_bytes(
            b"\n".join(
                one if isinstance(one, bytes) else json.dumps(one, ensure_ascii=False).encode()
                for one in lines
            )
            + b"\n"
        )
        return path

    return written


def brought(run, path, viewer="mira"):
    ran = run("import", str(path), "--as", viewer, "--json")
    return ran.json


def test_each_line_becomes_the_viewers_memory_with_all_it_says(run, write):
    path = write(
        {
            "text": "备用钥匙在冰箱上面", "scenario": "house", "tags": ["keys", "钥匙"], "event_time": "2026-07-19",
            "valid_from": "2026-07-01", "retention_until": "2099-01-01", "visibility": {"scope": "household"},
            "source": "notes.md#L3", "created_at": "2024-03-01T18:00:00+01:00", "origin": "observed",
        },
        {"text": "The stopcock is under the sink"},
    )  # fmt: skip
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    assert brought(run, path) == {"taken": 2, "already_here": 0, "skipped": []}
    first, second = Atom.objects.order_by("pk")
    assert (first.text, first.holder_id, first.recorded_by, first.scenario) == (
        "备用钥匙在冰箱上面",
        "mira",
        "",
        "house",
    )
    assert first.tag_list == ["keys", "钥匙"]
    assert (first.event_time, first.event_time_precision) == ("2026-07-19T00:00:00.000+00:00", "day")
    assert first.ingested_at == "2024-03-01T17:00:00.000+00:00"
    assert (first.source, first.origin, first.audience) == ("notes.md#L3", "observed", "household")
    assert second.audience == "private"
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert (
        run("recall", "钥匙", "--as", "mira", "--json").json["hits"][0]["memory"]["atom_id"] == first.atom_id
    )


def test_the_same_file_twice_adds_nothing(run, write):
    path = write(
        {"text": "Lea plays judo", "valid_from": "2022-01-01", "valid_to": "2023-01-01"},
        {"text": "Lea plays judo", "valid_from": "2025-01-01"},
        {"text": "Thanks!", "source": "chat/1:3"},
        {"text": "Thanks!", "source": "chat/1:9"},
        {"text": "Thanks!", "source": "chat/1:9"},
    )
    assert brought(run, path) == {"taken": 4, "already_here": 1, "skipped": []}
    assert brought(run, path) == {"taken": 0, "already_here": 5, "skipped": []}
    assert Atom.objects.count() == 4


def test_what_was_typed_before_is_recognised(run, write):
    run("remember", "The stopcock is under the sink", "--as", "mira")
    assert brought(run, write({"text": "The stopcock is under the sink"})) == {
        "taken": 0,
        "already_here": 1,
        "skipped": [],
    }


def test_a_line_for_somebody_else_is_recorded_for_her(run, write):
    path = write(
        {"text": "I am allergic to walnuts", "holder_id": "lea", "recorded_by": "grandma", "origin": "self"}
    )
    assert brought(run, path)["taken"] == 1
    atom = Atom.objects.get()
    assert (atom.holder_id, atom.recorded_by, atom.origin) == ("lea", "mira", "third_party")
    assert run("recall", "walnuts", "--as", "lea").code == 0
    assert run("recall", "walnuts", "--as", "jonas").code == 1


def test_bad_lines_are_named_with_their_number_and_the_rest_is_taken(run, write):
    path = write(
        {"text": "One"},
        b"",
        b"{not json",
        b'["a list"]',
        b'{"text": "caf\xe9"}',
        {"text": ""},
        {"text": "a\x00b"},
        {"text": "x", "colour": "red"},
        {"text": "x", "event_time": "soon"},
        {"text": "x", "visibility": "everybody"},
        {"text": "x", "tags": "keys"},
        {"text": 7},
        {"holder_id": "mira"},
        {"text": "y" * (2 * 1024 * 1024)},
        b"[" * 100_000,
        b'{"text": "\\ud800"}',
        {"text": "x", "replaces": ["0123456789abcdef"]},
        {"text": "Two"},
    )
    ran = run("import", str(path), "--as", "mira", "--json")
    assert ran.code == 0
    assert ran.json["taken"] == 2
    assert [one["line"] for one in ran.json["skipped"]] == [*range(3, 18)]
    assert all(one["why"].endswith(".") for one in ran.json["skipped"])
    assert ran.err.count("\n") == 15
    assert {atom.text for atom in Atom.objects.all()} == {"One", "Two"}


def test_a_file_of_another_shape_is_refused_as_a_whole(run, write):
    ran = run("import", str(write(b"just words", name="words.jsonl")), "--as", "mira")
    assert ran.code == 1
    assert run("import", str(write(b"just words", name="words.txt")), "--as", "mira").code == 2


def test_a_byte_order_mark_and_windows_line_ends_are_read_over(run, write):
    path = write(b'\xef\xbb\xbf{"text": "One"}\r', b'{"text": "Two"}\r')
    assert brought(run, path)["taken"] == 2


def test_a_line_can_replace_an_earlier_one_by_the_id_it_states(run, write):
    path = write(
        {"atom_id": "00000000000000aa", "text": "Ben is vegetarian", "created_at": "2025-01-01"},
        {"text": "Ben eats fish since May", "replaces": ["00000000000000aa"], "valid_from": "2026-05-01"},
    )
    assert brought(run, path) == {"taken": 2, "already_here": 0, "skipped": []}
    old, new = Atom.objects.order_by("pk")
    assert old.valid_to == new.valid_from
    assert new.supersedes == [old.atom_id]
    assert brought(run, path) == {"taken": 0, "already_here": 2, "skipped": []}


def test_what_recall_prints_can_be_brought_in_again_with_its_ids(run, write, store):
    for text in ("Ben is vegetarian", "The stopcock is under the sink"):
        run("remember", text, "--as", "mira", "--visibility", "household")
    old = Atom.objects.get(text="Ben is vegetarian")
    run("remember", "Ben eats fish", "--as", "mira", "--replaces", old.atom_id)
    from memories.browse import list_memories
    from rekal_site.render import body

    path = write(*body(list_memories(MIRA, current=False).items))
    ids = set(Atom.objects.values_list("atom_id", flat=True))
    assert brought(run, path) == {"taken": 0, "already_here": 3, "skipped": []}
    Atom.objects.all().delete()
    EvidenceEdge.objects.all().delete()
    assert brought(run, path) == {"taken": 3, "already_here": 0, "skipped": []}
    assert set(Atom.objects.values_list("atom_id", flat=True)) == ids
    assert Atom.objects.get(text="Ben eats fish").supersedes == [old.atom_id]


def test_an_id_that_is_taken_by_somebody_else_is_not_overwritten(run, write):
    run("remember", "Mira's secret", "--as", "mira")
    theirs = Atom.objects.get()
    assert (
        brought(run, write({"atom_id": theirs.atom_id, "text": "Jonas was here"}), viewer="jonas")["taken"]
        == 1
    )
    assert Atom.objects.get(atom_id=theirs.atom_id).text == "Mira's secret"
    assert Atom.objects.count() == 2


def test_an_import_cut_short_leaves_whole_batches_and_goes_on(store, write, monkeypatch):
    monkeypatch.setattr(load, "BATCH", 4)
    path = write(*({"text": f"Box {number} is in the attic"} for number in range(10)))

    class Cut(Exception):
        pass

    def stop(record):
        if record.line == 8:
            raise Cut

    with pytest.raises(Cut):
        load.load(MIRA, jsonl.read(path), progress=stop)
    assert Atom.objects.count() == 8
    report = load.load(MIRA, jsonl.read(path))
    assert (report.taken, report.already_here) == (2, 8)


def test_a_batch_that_fails_leaves_nothing_half_written(store, write, monkeypatch):
    monkeypatch.setattr(cache, "keep", lambda fresh: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        load.load(MIRA, jsonl.read(write({"text": "Box 1"}, {"text": "Box 2"})))
    assert Atom.objects.count() == CachedEmbedding.objects.count() == 0


@pytest.mark.benchmark(group="import")
def test_importing_reaches_most_of_the_bare_embedding_rate(store, write, benchmark):
    texts = [
        f"Box {number} in the attic holds the winter things of {name}"
        for number in range(64)
        for name in ("Mira", "Jonas")
    ]
    cache.engine().embed_passages(texts[:8])
    begin = time.perf_counter()
    for start in range(0, len(texts), load.BATCH):
        cache.engine().embed_passages([f"{text}." for text in texts[start : start + load.BATCH]])
    bare = time.perf_counter() - begin
    path = write(*({"text": text} for text in texts))
    benchmark.pedantic(lambda: load.load(MIRA, jsonl.read(path)), rounds=1)
    benchmark.extra_info["share of the bare rate"] = round(bare / benchmark.stats.stats.min, 2)
    assert bare / benchmark.stats.stats.min >= 0.6


def test_a_file_from_outside_closes_nothing_that_was_here_before(cast, write):
    mine = remember(cast.mira, "The alarm is armed at ten.")
    path = write(
        {
            "export": {"by": "somebody-else", "counts": {}},
            "text": "The alarm is never armed.",
            "atom_id": "a" * 16,
            "supersedes": [mine.atom_id],
            "edges": [{"relation": "supersedes", "to": mine.atom_id}],
        },
        {"text": "It is never armed at all.", "replaces": [mine.atom_id]},
    )

    call_command("import", str(path), "--as", "mira")

    assert get_memory(cast.mira, mine.atom_id).valid_to is None
    assert Atom.objects.count() == 3
