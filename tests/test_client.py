"""The Python client: written from the OpenAPI document, tried on a running server."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rekal_site import client, client_source
from rekal_site.client import Refused, Rekal, etag
from tests.command_line import Run, empty_store, run, store  # noqa: F401
from tests.servers import Household, new_household  # noqa: F401


def test_the_client_is_the_documents_own(run: Run) -> None:
    written = Path(client.__file__).read_text(encoding="utf-8")
    assert written == client_source.source(), "renew it: manage.py client > rekal_site/client.py"
    assert run("client").out == written


def test_every_call_has_a_method_with_its_arguments() -> None:
    for path, _, call in client_source.calls(client_source.document()):
        method = getattr(Rekal, client_source.snake(call["operationId"]))
        taken = set(method.__annotations__) - {"return"}
        wanted = {client_source.snake(one["name"]) for one in call.get("parameters", [])}
        assert wanted <= taken, path


def test_the_document_is_complete() -> None:
    seen = set()
    for path, verb, call in client_source.calls(client_source.document()):
        where = f"{verb} {path}"
        assert call["operationId"] not in seen, where
        seen.add(call["operationId"])
        assert call["summary"], where
        assert call["description"], where
        assert any(status.startswith("2") for status in map(str, call["responses"])), where
        if path != "/api/health":
            assert {"401", "403", "422", "429"} <= set(map(str, call["responses"])), where
            assert call["security"], where


def test_the_client_needs_nothing_but_python() -> None:
    tree = ast.parse(Path(client.__file__).read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert modules == {
        "__future__",
        "json",
        "collections.abc",
        "enum",
        "typing",
        "urllib.error",
        "urllib.parse",
        "urllib.request",
    }


@pytest.fixture(scope="module")
def household(new_household: Callable[[str], Household]) -> Iterator[Household]:
    home = new_household("client")
    home.register(mira={"contact": {"phone": "+49 30 5550100"}}, jonas={})
    with home.serving():
        yield home


@pytest.fixture
def mira(household: Household) -> Rekal:
    return Rekal(household.url, household.tokens["mira"])


def test_a_memorys_life(mira: Rekal) -> None:
    memory = mira.remember(
        "The spare key is in the blue box.", scenario="house", tags=["keys"], visibility="private"
    )
    assert mira.read_memory(memory["atom_id"]) == memory
    assert mira.recall("Where is the spare key?", limit=1)["hits"][0]["memory"]["text"] == memory["text"]
    assert mira.list_memories(tag="keys", current=True)["items"] == [memory]
    changed = mira.edit_memory(
        memory["atom_id"], if_match=etag(memory), tags=["keys", "box"], event_time=None
    )
    assert changed["tags"] == ["keys", "box"]
    with pytest.raises(Refused, match="changed this memory") as refused:
        mira.edit_memory(memory["atom_id"], if_match=etag(memory), tags=[])
    assert refused.value.status == 412
    mira.forget(memory["atom_id"])
    with pytest.raises(Refused) as refused:
        mira.read_memory(memory["atom_id"])
    assert (refused.value.status, refused.value.detail) == (
        404,
        "There is no memory with this id that you may read.",
    )


def test_repeating_with_a_key_creates_nothing_new(mira: Rekal) -> None:
    made = [mira.remember("Milk is in the door.", idempotency_key="milk 1")["atom_id"] for _ in range(2)]
    assert made[0] == made[1]


def test_asking_and_being_referred(mira: Rekal, household: Household) -> None:
    mira.remember("The notary Weber keeps the will.", visibility="private")
    jonas = Rekal(household.url, household.tokens["jonas"])
    asked = jonas.ask("Which notary keeps the will?", max_hops=2)
    assert asked["status"] == "referred"
    assert asked["referrals"][0]["contact"] == {"phone": "+49 30 5550100"}
    assert jonas.who_knows("Which notary keeps the will?")["holders"][0]["holder_id"] == "mira"
    assert jonas.me()["holder_id"] == "jonas"
    assert {one["holder_id"] for one in jonas.list_holders()["holders"]} == {"mira", "jonas"}
    assert jonas.set_holder("jonas", knows_about=["bicycles"])["knows_about"] == ["bicycles"]


@pytest.mark.parametrize("name", ["../health", "a/b", "a?b", "ä#", "%2e"])
def test_ids_stay_in_their_place(mira: Rekal, name: str) -> None:
    with pytest.raises(Refused) as refused:
        mira.read_memory(name)
    assert refused.value.status == 404


def test_a_wrong_token_is_refused(household: Household) -> None:
    with pytest.raises(Refused) as refused:
        Rekal(household.url, "rekal_wrong").me()
    assert refused.value.status == 401


def test_bodies_and_replies_of_other_kinds() -> None:
    document: dict[str, Any] = {
        "components": {"schemas": {}},
        "paths": {
            "/api/things/{thing_id}/import": {
                "post": {
                    "operationId": "import",
                    "summary": "Bring in",
                    "parameters": [
                        {"name": "thing_id", "in": "path", "required": True, "schema": {"type": "integer"}}
                    ],
                    "requestBody": {"content": {"multipart/form-data": {"schema": {"type": "object"}}}},
                    "responses": {200: {"content": {"application/zip": {}}}},
                }
            }
        },
    }
    text = client_source.source(document)
    ast.parse(text)
    assert (
        "def import_(\n        self,\n        thing_id: int,\n        body: bytes,\n        content_type: str,\n    ) -> bytes:"
        in text
    )
    assert 'f"/api/things/{thing_id}/import", body=body, content_type=content_type' in text
