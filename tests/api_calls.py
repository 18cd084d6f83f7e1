"""Calls of the JSON API with a token, and who makes them."""

import json

import pytest
from django.test import Client

from holders.models import Token

JSON = "application/json"


def with_token(holder_id: str, *scopes: str) -> Client:
    """A client whose every call carries a new token."""
    _, plain = Token.objects.issue(holder_id, list(scopes or ("read", "write", "ask")))
    return Client(headers={"authorization": f"Bearer {plain}"})


class Api:
    """A caller with a token."""

    def __init__(self, holder_id, scopes, **extra):
        _, plain = Token.objects.issue(holder_id, list(scopes), **extra)
        self.client = Client()
        self.headers = {"Authorization": f"Bearer {plain}"}

    def __call__(self, method, path, body=None, **headers):
        extra = {} if body is None else {"data": json.dumps(body), "content_type": JSON}
        return getattr(self.client, method)(f"/api{path}", headers=self.headers | headers, **extra)

    def remember(self, text, **given):
        reply = self("post", "/memories", {"text": text, **given})
        assert reply.status_code == 201, reply.content
        return reply.json()


@pytest.fixture
def api(cast):
    return lambda holder_id, *scopes: Api(holder_id, scopes or ("read", "write", "ask", "curate"))


@pytest.fixture
def mira(api):
    return api("mira")


@pytest.fixture
def jonas(api):
    return api("jonas")


def sentence(reply):
    """The one sentence of a refusal."""
    body = reply.json()
    assert list(body) == ["detail"], body
    assert isinstance(body["detail"], str)
    assert body["detail"].endswith((".", "?"))
    return body["detail"]
