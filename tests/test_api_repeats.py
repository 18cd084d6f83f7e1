"""The JSON API when a call comes twice, or two come at once: keys, versions, the same statement."""

import pytest

from memories import remember as remember_module
from memories.models import Atom, IdempotentReply
from tests.api_calls import api, jonas, mira, sentence  # noqa: F401


def test_two_editors_never_overwrite_each_other_silently(mira):
    atom_id = mira.remember("The bin goes out on Tuesday.")["atom_id"]
    read = mira("get", f"/memories/{atom_id}")["ETag"]
    first = mira("patch", f"/memories/{atom_id}", {"text": "On Monday."}, **{"If-Match": read})
    assert first.status_code == 200
    second = mira("patch", f"/memories/{atom_id}", {"text": "On Friday."}, **{"If-Match": read})
    assert second.status_code == 412
    sentence(second)
    assert mira("delete", f"/memories/{atom_id}", **{"If-Match": read}).status_code == 412
    assert mira("get", f"/memories/{atom_id}").json()["text"] == "On Monday."
    assert first["ETag"] == mira("get", f"/memories/{atom_id}")["ETag"] != read
    assert (
        mira(
            "patch", f"/memories/{atom_id}", {"tags": ["bin"]}, **{"If-Match": f'"x", {first["ETag"]}'}
        ).status_code
        == 200
    )
    assert mira("delete", f"/memories/{atom_id}", **{"If-Match": "*"}).status_code == 204


def test_a_change_between_reading_and_writing_is_412_too(mira, monkeypatch):
    atom_id = mira.remember("The bin goes out on Tuesday.")["atom_id"]
    read = mira("get", f"/memories/{atom_id}")["ETag"]

    def somebody_is_faster(viewer, found, changes, keep=remember_module._changed_columns):
        Atom.objects.filter(atom_id=atom_id).update(updated_at="2999-01-01T00:00:00.000+00:00")
        return keep(viewer, found, changes)

    monkeypatch.setattr(remember_module, "_changed_columns", somebody_is_faster)
    reply = mira("patch", f"/memories/{atom_id}", {"tags": ["bin"]}, **{"If-Match": read})
    assert reply.status_code == 412


def test_repeating_a_post_with_its_key_creates_nothing_new(mira, jonas):
    body = {"text": "The key is blue.", "event_time": "2026-07-19T18:30"}
    first = mira("post", "/memories", body, **{"Idempotency-Key": "k1"})
    mira("patch", f"/memories/{first.json()['atom_id']}", {"tags": ["key"]})
    again = mira("post", "/memories", dict(reversed(body.items())), **{"Idempotency-Key": "k1"})
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json()["atom_id"] == again.json()["atom_id"]
    assert Atom.objects.count() == 1
    other = mira("post", "/memories", {"text": "The key is red."}, **{"Idempotency-Key": "k1"})
    assert other.status_code == 422
    sentence(other)
    assert (
        jonas("post", "/memories", {"text": "The key is red."}, **{"Idempotency-Key": "k1"}).status_code
        == 201
    )


def test_a_refused_post_uses_up_no_key(mira):
    assert mira("post", "/memories", {"text": ""}, **{"Idempotency-Key": "k"}).status_code == 422
    assert (
        mira("post", "/memories", {"text": "Now.", "origin": "x"}, **{"Idempotency-Key": "k"}).status_code
        == 422
    )
    assert mira("post", "/memories", {"text": "Now."}, **{"Idempotency-Key": "k"}).status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 201, "a\tb"])
def test_a_key_has_1_to_200_printable_characters(mira, key):
    assert mira("post", "/memories", {"text": "x"}, **{"Idempotency-Key": key}).status_code == 422


def test_what_is_kept_of_a_keyed_post_goes_when_the_memory_is_forgotten(mira):
    memory = mira("post", "/memories", {"text": "The key is blue."}, **{"Idempotency-Key": "k"}).json()
    assert "blue" not in str(list(IdempotentReply.objects.values()))
    mira("delete", f"/memories/{memory['atom_id']}")
    assert not IdempotentReply.objects.exists()


def test_the_same_statement_twice_is_stored_once(mira):
    assert mira.remember("The key is blue.")["atom_id"] == mira.remember("The key is blue.")["atom_id"]
