"""What the JSON API will not take: one sentence each, nothing stored, nothing repeated."""

import logging

import pytest

from memories.models import Atom
from tests.api_calls import JSON, api, jonas, mira, sentence  # noqa: F401


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "“text” is missing."),
        ({"text": ""}, ""),
        ({"text": "  "}, ""),
        ({"text": "a\0b"}, ""),
        ({"text": "x" * 65_537}, ""),
        ({"text": "x" * 1_100_000}, "64 KiB"),
        ({"text": 5}, "“text”"),
        ({"text": None}, "“text”"),
        ({"text": "x", "holder": "jonas"}, "There is no field or parameter “holder” here."),
        ({"text": "x", "viewer": "jonas"}, "“viewer”"),
        ({"text": "x", "tags": "judo"}, "“tags”"),
        ({"text": "x", "origin": "heaven"}, "origin"),
        ({"text": "x", "event_time": "31 February"}, "2026-07-19"),
        ({"text": "x", "event_time": "2026-02-31"}, "calendar"),
        ({"text": "x", "event_time": "2026-07-19", "event_time_end": "2026-07-18"}, "ends before"),
        ({"text": "x", "valid_from": "2026-07-19", "valid_to": "2026-07-18"}, ""),
        ({"text": "x", "visibility": "everybody"}, "scope"),
        ({"text": "x", "visibility": {"scope": "holders", "holder": ["a"]}}, "“holder”"),
        ({"text": "x", "visibility": {"holders": ["a"]}}, "scope"),
        ({"text": "x", "visibility": 5}, "“visibility”"),
        ({"text": "x", "replaces": "abc"}, "“replaces”"),
        ([], ""),
        ("text", ""),
        (5, ""),
    ],
)
def test_what_cannot_be_taken_is_422_with_one_sentence_and_nothing_stored(mira, body, says):
    reply = mira("post", "/memories", body)
    assert reply.status_code == 422
    assert says in sentence(reply)
    assert "xxxxxxxx" not in sentence(reply)
    assert not Atom.objects.exists()


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[" * 100_000, b"\xff", b'{"text": "\\ud800"}', b'{"text": NaN}', b"null"]
)
def test_a_body_that_is_no_json_is_422(mira, raw):
    reply = mira.client.post("/api/memories", raw, content_type=JSON, headers=mira.headers)
    assert reply.status_code == 422
    sentence(reply)


@pytest.mark.parametrize("limit", ["0", "-1", "201", "5000", "many", "1.5", ""])
@pytest.mark.parametrize("path", ["/memories?", "/recall?q=key&", "/who_knows?q=key&"])
def test_a_limit_is_a_number_from_1_to_200(mira, path, limit):
    reply = mira("get", f"{path}limit={limit}")
    assert (reply.status_code, sentence(reply)) == (422, "“limit” is a number from 1 to 200.")


def test_200_is_still_a_limit(mira):
    assert mira("get", "/memories?limit=200").status_code == 200


@pytest.mark.parametrize(
    "path", ["/memories?holders=x", "/recall?q=key&holder_id=x", "/who_knows?q=key&as=mira"]
)
def test_a_misspelt_filter_is_refused_rather_than_ignored(mira, path):
    assert "There is no field or parameter" in sentence(mira("get", path))


@pytest.mark.parametrize("query", ["", "%20%20", "%00", "(" * 300, "NOT", "%22unclosed", "🔑", "x" * 3_000])
def test_any_query_is_answered_or_refused_with_a_sentence(mira, query):
    for path in (f"/recall?q={query}", f"/who_knows?q={query}", f"/memories?q={query}"):
        reply = mira("get", path)
        assert reply.status_code in (200, 422), (path, reply.content)
        if reply.status_code == 422:
            sentence(reply)


@pytest.mark.parametrize(
    "body",
    [
        {"holder_id": "jonas"},
        {"atom_id": "x"},
        {"text": ""},
        {"text": None},
        {"visibility": None},
        {"tags": 5},
    ],
)
def test_a_patch_that_will_not_do_changes_nothing(mira, body):
    memory = mira.remember("Parking permit.")
    reply = mira("patch", f"/memories/{memory['atom_id']}", body)
    assert reply.status_code == 422
    sentence(reply)
    assert mira("get", f"/memories/{memory['atom_id']}").json() == memory


@pytest.mark.parametrize("cursor", ["x", "!!!", "a" * 500, "%00", "é"])
def test_a_cursor_that_is_none_of_ours_is_422(mira, cursor):
    assert mira("get", f"/memories?cursor={cursor}").status_code == 422


@pytest.mark.parametrize(
    "query", ["as_of=yesterday", "min_relevance=2", "min_relevance=nan", "min_relevance=x"]
)
def test_recall_refuses_what_it_cannot_read(mira, query):
    assert mira("get", f"/recall?q=key&{query}").status_code == 422


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("get", "/nothing", 404),
        ("post", "/nothing", 404),
        ("get", "/", 404),
        ("get", "/memories/", 404),
        ("put", "/memories", 405),
        ("post", "/recall", 405),
        ("get", "/ask", 405),
        ("delete", "/health", 405),
    ],
)
def test_unknown_calls_and_methods_are_refused_in_json(mira, method, path, status):
    reply = mira(method, path)
    assert reply.status_code == status
    assert reply["Content-Type"].startswith("application/json")
    sentence(reply)


def test_a_fault_of_ours_is_json_and_neither_reply_nor_log_holds_memory_text(mira, monkeypatch, caplog):
    def broken(*args, **kwargs):
        raise RuntimeError("cannot store: my secret is swordfish")

    monkeypatch.setattr("memories.api.remember", broken)
    with caplog.at_level(logging.DEBUG):
        reply = mira("post", "/memories", {"text": "my secret is swordfish"})
    assert reply.status_code == 500
    sentence(reply)
    assert b"swordfish" not in reply.content
    assert "swordfish" not in caplog.text
    assert "RuntimeError" in caplog.text


def test_refusals_do_not_repeat_what_was_sent(mira, caplog):
    secret = "swordfish-" * 3
    with caplog.at_level(logging.DEBUG):
        for body in (
            {"text": secret, "origin": secret},
            {"text": secret, "visibility": secret},
            {"text": [secret]},
        ):
            reply = mira("post", "/memories", body)
            assert reply.status_code == 422
            assert b"swordfish" not in reply.content
    assert "swordfish" not in caplog.text
