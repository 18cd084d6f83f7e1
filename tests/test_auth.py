"""Who is asking: sessions, bearer tokens and what each lets its holder do."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from holders import book, limits
from holders.auth import principal_of_token, viewer_for
from holders.models import SignIn, Token
from memories import timestamps
from memories.errors import TooMany
from memories.models import Atom
from memories.remember import remember

JSON = "application/json"


@pytest.fixture
def token(cast):
    """A bearer header for a holder: `token("mira", "read", "write")`."""

    def issue(holder_id, *scopes, **extra):
        _, plain = Token.objects.issue(holder_id, list(scopes or ("read", "write", "ask")), **extra)
        return {"Authorization": f"Bearer {plain}"}

    return issue


@pytest.fixture
def signed_in(cast):
    """A browser signed in as a holder, which must send its CSRF token."""

    def sign_in(holder_id):
        user = get_user_model().objects.create_user(f"user-of-{holder_id}")
        SignIn.objects.create(user=user, holder_id=holder_id)
        browser = Client(enforce_csrf_checks=True)
        browser.force_login(user)
        return browser

    return sign_in


def post(client, path, body, **headers):
    return client.post(path, json.dumps(body), content_type=JSON, headers=headers)


def test_health_needs_no_sign_in(client, db):
    assert client.get("/api/health").json() == {"status": "ok"}


@pytest.mark.parametrize(
    "path", ["/api/me", "/api/memories", "/api/recall?q=key", "/api/who_knows?q=key", "/api/holders"]
)
def test_everything_else_does(client, db, path):
    reply = client.get(path)
    assert reply.status_code == 401
    assert reply.json() == {"detail": "Sign in, or send an API token."}
    assert reply["WWW-Authenticate"] == "Bearer"


def test_me_says_who_the_token_stands_for(client, token):
    reply = client.get("/api/me", headers=token("mira", "read", "ask"))
    assert reply.json() == {
        "holder_id": "mira",
        "name": "Mira",
        "kind": "person",
        "groups": ["adults"],
        "scopes": ["ask", "read"],
        "acting_for": None,
    }


@pytest.mark.parametrize("ruin", ["", "rekal_wrong", "x" * 5_000, "\u00e9"])
def test_a_wrong_token_is_401_even_with_a_good_session(signed_in, ruin):
    reply = signed_in("mira").get("/api/me", headers={"Authorization": f"Bearer {ruin}"})
    assert reply.status_code == 401


def test_an_expired_or_revoked_token_opens_nothing(client, token):
    expired = token("mira")
    Token.objects.update(expires_at=timestamps.to_text(datetime.now(UTC) - timedelta(seconds=1)))
    assert client.get("/api/me", headers=expired).status_code == 401
    revoked = token("mira")
    Token.objects.filter(expires_at__isnull=True).update(revoked_at=timestamps.now())
    assert client.get("/api/me", headers=revoked).status_code == 401


def test_only_the_hash_of_a_token_is_kept(cast):
    row, plain = Token.objects.issue("mira", ["read"])
    assert plain.removeprefix("rekal_") not in str(Token.objects.filter(pk=row.pk).values().get())


def test_the_viewer_never_comes_from_a_parameter(client, cast, token):
    remember(cast.mira, "My diary is under the mattress.", visibility="private")
    for query in ("as=mira", "viewer=mira", "holder_id=mira", "as_holder=mira"):
        assert client.get(f"/api/memories?{query}", headers=token("jonas")).status_code == 422
    reply = post(client, "/api/memories?as=mira", {"text": "Written by Jonas."}, **token("jonas"))
    assert reply.json()["holder_id"] == "jonas"


@pytest.mark.parametrize(
    ("scopes", "method", "path", "body"),
    [
        (["write", "ask", "curate"], "get", "/api/memories", None),
        (["write", "ask", "curate"], "get", "/api/recall?q=key", None),
        (["write", "ask", "curate"], "get", "/api/holders", None),
        (["read", "ask", "curate"], "post", "/api/memories", {"text": "A key."}),
        (["read", "ask", "curate"], "patch", "/api/memories/x", {"text": "A key."}),
        (["read", "ask", "curate"], "delete", "/api/memories/x", None),
        (["read", "ask", "curate"], "put", "/api/holders/cura", {"name": "C"}),
        (["read", "write", "ask"], "put", "/api/holders/lea", {"name": "L"}),
        (["read", "write", "ask"], "delete", "/api/holders/lea", None),
        (["read", "write", "curate"], "get", "/api/who_knows?q=key", None),
        (["read", "write", "curate"], "post", "/api/ask", {"question": "Where is the key?"}),
    ],
)
def test_a_token_does_what_its_scopes_say_and_no_more(client, token, scopes, method, path, body):
    extra = {} if body is None else {"data": json.dumps(body), "content_type": JSON}
    reply = getattr(client, method)(path, headers=token("cura", *scopes), **extra)
    assert reply.status_code == 403
    assert "scope" in reply.json()["detail"]


def test_a_curators_token_without_the_scope_curate_keeps_nobody_elses_record(client, cast, token):
    memory = remember(cast.mira, "The bin goes out on Tuesday.", visibility="household")
    body = json.dumps({"tags": ["bins"]})
    plain, curating = token("cura", "read", "write"), token("cura", "read", "write", "curate")
    assert client.patch(f"/api/memories/{memory.atom_id}", body, JSON, headers=plain).status_code == 403
    assert client.patch(f"/api/memories/{memory.atom_id}", body, JSON, headers=curating).status_code == 200


def test_a_token_posts_without_cookies_and_without_csrf(cast, token):
    client = Client(enforce_csrf_checks=True)
    assert post(client, "/api/memories", {"text": "The key is blue."}, **token("mira")).status_code == 201


def test_a_browser_posts_with_its_csrf_token_alone(signed_in):
    browser = signed_in("mira")
    refused = post(browser, "/api/memories", {"text": "The key is blue."})
    assert (refused.status_code, list(refused.json())) == (403, ["detail"])
    assert not Atom.objects.exists()
    browser.cookies["csrftoken"] = "a" * 32
    assert (
        post(browser, "/api/memories", {"text": "The key is blue."}, **{"X-CSRFToken": "a" * 32}).status_code
        == 201
    )
    assert browser.get("/api/me").json()["scopes"] == ["ask", "curate", "read", "write"]


def test_a_foreign_origin_does_not_write_with_the_browsers_cookie(signed_in):
    browser = signed_in("mira")
    browser.cookies["csrftoken"] = "a" * 32
    headers = {"X-CSRFToken": "a" * 32, "Origin": "https://evil.example"}
    assert post(browser, "/api/memories", {"text": "x"}, **headers).status_code == 403


def test_an_account_of_nobody_sees_nothing(client, db):
    client.force_login(get_user_model().objects.create_superuser("root"))
    assert client.get("/api/memories").status_code == 403


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_json_under_another_name_is_refused(client, token, content_type):
    reply = client.post(
        "/api/memories", json.dumps({"text": "x"}), content_type=content_type, headers=token("mira")
    )
    assert reply.status_code == 415
    assert not Atom.objects.exists()


def test_an_agent_acting_for_a_person_reads_what_both_may(client, cast, token):
    remember(cast.mira, "Mira's own secret.", visibility="private")
    remember(
        cast.mira, "For agents: water the plants.", visibility={"scope": "holders", "groups": ["agents"]}
    )
    remember(
        cast.jonas,
        "Jonas and the agents know the code.",
        visibility={"scope": "holders", "groups": ["agents"]},
    )
    remember(cast.jonas, "Everybody may know the bin day.", visibility="household")
    remember(cast.bot, "The agent's own note.", visibility="private")
    items = client.get("/api/memories", headers=token("bot", acting_for="mira")).json()["items"]
    assert {item["text"] for item in items} == {
        "For agents: water the plants.",
        "Everybody may know the bin day.",
    }


def test_what_it_writes_is_held_by_the_person_and_recorded_by_the_agent(client, token):
    reply = post(
        client, "/api/memories", {"text": "The plumber comes on Friday."}, **token("bot", acting_for="mira")
    )
    assert (reply.json()["holder_id"], reply.json()["recorded_by"]) == ("mira", "bot")
    assert client.get("/api/me", headers=token("bot", acting_for="mira")).json()["acting_for"] == "mira"


def test_a_token_of_an_unregistered_holder_has_no_groups(client, cast, token):
    remember(cast.mira, "Everybody may know the bin day.", visibility="household")
    assert client.get("/api/memories", headers=token("stranger")).json()["items"] == []


def test_the_last_use_of_a_token_is_written_at_most_once_a_minute(cast, settings, django_assert_num_queries):
    row, plain = Token.objects.issue("mira", ["read"])
    with django_assert_num_queries(2):  # the token and its holder: using one writes nothing by itself
        principal_of_token(plain)
    book.flush()
    first = Token.objects.get(pk=row.pk).last_used_at
    assert first
    principal_of_token(plain)
    book.flush()
    assert Token.objects.get(pk=row.pk).last_used_at == first
    earlier = timestamps.to_text(datetime.now(UTC) - timedelta(seconds=61))
    Token.objects.filter(pk=row.pk).update(last_used_at=earlier)
    principal_of_token(plain)
    book.flush()
    assert Token.objects.get(pk=row.pk).last_used_at > earlier


def test_too_many_calls_wait_as_long_as_they_are_told(client, token, settings):
    settings.REKAL_RATE_LIMITS = {"call": ((3, 60),), "ask": ((2, 60),)}
    headers = token("mira")
    assert [client.get("/api/me", headers=headers).status_code for _ in range(4)] == [200, 200, 200, 429]
    reply = client.get("/api/me", headers=token("mira"))  # another token gives no more calls
    assert reply.status_code == 429
    assert 1 <= int(reply["Retry-After"]) <= 60
    assert client.get("/api/me", headers=token("jonas")).status_code == 200


def test_guessing_who_knows_is_limited_more_strictly(client, token, settings):
    settings.REKAL_RATE_LIMITS = {"call": ((100, 60),), "ask": ((2, 60), (3, 3_600))}
    headers = token("mira")
    asked = [client.get("/api/who_knows?q=the+boiler", headers=headers).status_code for _ in range(2)]
    asked.append(post(client, "/api/ask", {"question": "Where is the boiler?"}, **headers).status_code)
    assert asked == [200, 200, 429]
    assert client.get("/api/me", headers=headers).status_code == 200


def test_a_window_slides(settings, monkeypatch):
    settings.REKAL_RATE_LIMITS = {"call": ((2, 10), (3, 100))}
    now = [1_000.0]
    monkeypatch.setattr(limits.time, "monotonic", lambda: now[0])
    viewer = viewer_for_nobody()

    def allowed():
        try:
            limits.spend(viewer, "call")
        except TooMany as refused:
            return refused.retry_after
        return 0

    assert [allowed(), allowed(), allowed()] == [0, 0, 10]
    now[0] += 10
    assert [allowed(), allowed()] == [0, 90]
    now[0] += 90
    assert allowed() == 0


def viewer_for_nobody():
    from memories.visibility import Viewer

    return Viewer("nobody")


def test_a_registered_holder_is_in_her_kinds_group_and_a_made_up_one_is_not(cast):
    assert viewer_for("mira").groups == {"adults", "people"}
    assert viewer_for("bot").groups == {"agents"}
    assert viewer_for("stranger").groups == frozenset()
