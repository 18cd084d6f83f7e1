"""Events: the table, the stream of a real server, and signed webhooks; each only to whom it concerns."""

import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from django.test import Client, override_settings

from holders import events, outgoing, webhooks
from holders.models import Event, Token, Webhook
from memories.errors import Conflict, Invalid, NotAllowed, NotFound
from memories.forget import forget
from memories.models import Atom
from memories.remember import edit, remember
from memories.visibility import Viewer
from tests.command_line import empty_store  # noqa: F401
from tests.conftest import Cast
from tests.servers import Household, free_port, new_household  # noqa: F401
from tests.test_live import answering

SOON = (datetime.now(UTC) + timedelta(days=2)).date().isoformat()
LATER = (datetime.now(UTC) + timedelta(days=40)).date().isoformat()


PERMIT = "The parking permit hangs on the fridge"


def told(viewer: Any, **given: Any) -> list[tuple[str, str]]:
    return [(line.kind, line.subject) for line in events.events_for(viewer, **given)[0]]


def test_only_the_one_concerned_is_told(cast: Cast) -> None:
    events.emit("question", "mira", "q1")
    assert told(cast.mira) == [("question", "q1")]
    assert told(cast.jonas) == told(cast.cura) == []


def test_the_same_thing_is_told_once(cast: Cast) -> None:
    for _ in range(2):
        events.emit("question", "mira", "q1")
    assert told(cast.mira) == [("question", "q1")]


def test_a_memory_that_may_not_be_read_is_not_named(cast: Cast) -> None:
    memory = remember(
        cast.mira, "The present is in the loft", visibility={"scope": "holders", "holders": ["jonas"]}
    )
    events.emit("answered", "jonas", "q1", atom_id=memory.atom_id)
    assert told(cast.jonas) == [("answered", "q1")]
    edit(cast.mira, memory.atom_id, visibility="private")
    assert told(cast.jonas) == []
    forget(cast.mira, memory.atom_id)
    assert told(cast.jonas) == []


def test_an_agent_is_not_told_what_concerns_the_person_it_acts_for(cast: Cast) -> None:
    events.emit("question", "mira", "q1")
    agent = Viewer("bot", "agent", cast.bot.groups, acting_for=cast.mira)
    assert told(agent) == []
    with pytest.raises(NotAllowed):
        webhooks.add_webhook(agent, "https://agent.example")


def test_lapsing_memories_are_announced_to_their_holder_once(cast: Cast) -> None:
    lapsing = remember(
        cast.mira, "The parking permit hangs on the fridge", retention_until=SOON, visibility="household"
    )
    ending = remember(cast.mira, "The loan of the ladder", valid_to=SOON)
    remember(cast.mira, "The passport of Lea is valid", valid_to=LATER)
    for _ in range(2):
        events.note_expiring()
    assert sorted(told(cast.mira)) == sorted([("expiring", lapsing.atom_id), ("expiring", ending.atom_id)])
    assert told(cast.jonas) == []
    edit(cast.mira, ending.atom_id, valid_to=(datetime.now(UTC) + timedelta(days=4)).date().isoformat())
    events.note_expiring()
    assert len(told(cast.mira)) == 3


def test_closed_and_lapsed_memories_are_not_announced(cast: Cast) -> None:
    remember(cast.mira, "The old permit", retention_until="2020-01-01")
    first = remember(cast.mira, "The permit hangs on the door")
    remember(cast.mira, "The permit hangs on the fridge", replaces=[first.atom_id])
    events.note_expiring()
    assert told(cast.mira) == []


def test_events_go_on_after_the_last_one_seen(cast: Cast) -> None:
    for number in range(3):
        events.emit("question", "mira", f"q{number}")
    lines, cursor = events.events_for(cast.mira, limit=2)
    assert [line.subject for line in lines] == ["q0", "q1"]
    assert told(cast.mira, after=cursor) == [("question", "q2")]
    assert told(cast.mira, kinds=["answered"]) == []
    with pytest.raises(Invalid):
        events.events_for(cast.mira, kinds=["gossip"])


def test_old_events_go_but_not_what_is_still_to_lapse(cast: Cast) -> None:
    events.emit("question", "mira", "q1")
    remember(cast.mira, "The parking permit hangs on the fridge", retention_until=LATER)
    events.note_expiring(datetime.now(UTC) + timedelta(days=35))
    Event.objects.update(created_at="2020-01-01T00:00:00.000+00:00")
    events.drop_old()
    assert [event.kind for event in Event.objects.all()] == ["expiring"]


def test_a_webhook_gets_signed_events_of_its_holder_alone(cast: Cast) -> None:
    with answering(lambda body: (204, None, {})) as (address, seen):
        outgoing.allow(address, token="rekal_secret")
        events.emit("question", "mira", "before")
        card = webhooks.add_webhook(cast.mira, f"{address}/hook", ["question"])
        events.emit("question", "mira", "q1")
        events.emit("answered", "mira", "q2")
        events.emit("question", "jonas", "q3")
        assert webhooks.deliver() == 1
        assert webhooks.deliver() == 0
    path, headers, body = seen[0]
    assert (len(seen), path, body["subject"], body["kind"]) == (1, "/hook", "q1", "question")
    assert "Authorization" not in headers
    stamp, signature = (part.partition("=")[2] for part in headers["Rekal-Signature"].split(","))
    signed = f"{stamp}.{json.dumps(body)}".encode()
    assert card.secret is not None
    assert hmac.new(card.secret.encode(), signed, hashlib.sha256).hexdigest() == signature
    assert abs(time.time() - int(stamp)) < 60


def test_what_cannot_be_delivered_is_tried_again_in_order(cast: Cast) -> None:
    statuses = iter([500, 204, 204])
    with answering(lambda body: (next(statuses), None, {})) as (address, seen):
        outgoing.allow(address)
        webhooks.add_webhook(cast.mira, address)
        for number in range(2):
            events.emit("question", "mira", f"q{number}")
        assert webhooks.deliver() == 0
        assert Webhook.objects.get().failures == 1
        assert webhooks.deliver() == 0
        Webhook.objects.update(next_try_at=None)
        assert webhooks.deliver() == 2
    assert [body["subject"] for _, _, body in seen] == ["q0", "q0", "q1"]
    assert Webhook.objects.get().failures == 0


def test_a_webhook_goes_only_where_the_owner_pointed(cast: Cast) -> None:
    with pytest.raises(Invalid):
        webhooks.add_webhook(cast.mira, "http://169.254.169.254/latest")
    with answering(lambda body: (204, None, {})) as (address, seen):
        outgoing.allow(address)
        webhooks.add_webhook(cast.mira, address)
        outgoing.disallow(address)
        events.emit("question", "mira", "q1")
        assert (webhooks.deliver(), seen) == (0, [])


def test_webhooks_are_their_holders_own(cast: Cast) -> None:
    outgoing.allow("https://agent.example")
    card = webhooks.add_webhook(cast.mira, "https://agent.example/a")
    with pytest.raises(Conflict):
        webhooks.add_webhook(cast.mira, "https://agent.example/a")
    assert [one.secret for one in webhooks.webhooks_of(cast.mira)] == [None]
    assert webhooks.webhooks_of(cast.jonas) == []
    with pytest.raises(NotFound):
        webhooks.remove_webhook(cast.jonas, card.id)
    webhooks.remove_webhook(cast.mira, card.id)
    assert webhooks.webhooks_of(cast.mira) == []


def test_webhooks_over_the_api(cast: Cast, client: Client) -> None:
    outgoing.allow("https://agent.example")
    token = {"Authorization": f"Bearer {Token.objects.issue('bot', ['read', 'write'])[1]}"}

    def call(method: str, path: str, body: Any = None) -> tuple[int, Any]:
        data = json.dumps(body) if body is not None else ""
        reply = client.generic(method, path, data, content_type="application/json", headers=token)
        return reply.status_code, reply.json() if reply.content else None

    status, made = call("POST", "/api/webhooks", {"url": "https://agent.example/a", "kinds": ["question"]})
    assert (status, made["kinds"], bool(made["secret"])) == (201, ["question"], True)
    assert call("POST", "/api/webhooks", {"url": "https://agent.example/a"})[0] == 409
    assert call("POST", "/api/webhooks", {"url": "https://else.example/a"})[0] == 422
    status, listed = call("GET", "/api/webhooks")
    assert (status, [one["id"] for one in listed["webhooks"]], listed["webhooks"][0]["secret"]) == (
        200,
        [made["id"]],
        None,
    )
    assert call("DELETE", f"/api/webhooks/{made['id']}")[0] == 204
    assert call("DELETE", f"/api/webhooks/{made['id']}")[0] == 404


@pytest.fixture(scope="module")
def household(new_household: Callable[[str], Household]) -> Iterator[Household]:
    home = new_household("events")
    home.register(mira={}, jonas={}, lea={}, bot={"kind": "agent"})
    home.remember("mira", PERMIT, retention_until=SOON)
    with home.serving():
        yield home


@contextmanager
def listening(
    home: Household, holder: str, query: str = "", **headers: str
) -> Iterator[Callable[[], dict[str, Any]]]:
    """A listener's next event, as `{"id": …, "event": …, "data": …}`."""
    request = Request(
        f"{home.url}api/events{query}", headers={"Authorization": f"Bearer {home.tokens[holder]}"} | headers
    )
    with urlopen(request, timeout=20) as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")

        def following() -> dict[str, Any]:
            event: dict[str, Any] = {}
            for raw in stream:
                line = raw.decode().rstrip("\n")
                if not line and "data" in event:
                    return event
                name, _, value = line.partition(": ")
                if name in ("id", "event", "data"):
                    event[name] = json.loads(value) if name == "data" else value
            raise AssertionError("the stream ended")

        yield following


def test_the_server_announces_what_lapses_and_streams_it(household: Household) -> None:
    with household.inside():
        lapsing = Atom.objects.get(text=PERMIT).atom_id
    with listening(household, "mira", "?after=0&kinds=expiring") as following:
        event = following()
    assert (event["event"], event["data"]["atom_id"]) == ("expiring", lapsing)


def test_a_stream_goes_on_after_the_last_event_seen(household: Household) -> None:
    with listening(household, "lea") as following:
        with household.inside():
            events.emit("question", "lea", "q1")
            events.emit("question", "lea", "q2")
        seen = following()
    assert seen["data"]["subject"] == "q1"
    with listening(household, "lea", **{"Last-Event-ID": seen["id"]}) as following:
        assert following()["data"]["subject"] == "q2"


def test_a_question_and_its_answer_are_announced(household: Household) -> None:
    question = {"to": "mira", "question": "Which day is the bulky waste collected?"}
    with (
        listening(household, "mira", "?kinds=question") as at_mira,
        listening(household, "jonas") as at_jonas,
    ):
        status, asked = household.call("POST", "/api/questions", question, holder="jonas")
        assert status == 201
        assert at_mira()["data"]["subject"] == asked["question_id"]
        status, _ = household.call(
            "POST", f"/api/questions/{asked['question_id']}/answers", {"text": "On Thursday."}, holder="mira"
        )
        assert status in (200, 201)
        heard = at_jonas()
    assert (heard["event"], heard["data"]["subject"]) == ("answered", asked["question_id"])


def test_a_stream_carries_only_its_listeners_events(household: Household) -> None:
    with listening(household, "lea", "?kinds=question") as following:
        with household.inside():
            events.emit("question", "mira", "not for lea")
            events.emit("question", "lea", "for lea")
        assert following()["data"]["subject"] == "for lea"


def test_a_stream_ends_with_its_token(household: Household) -> None:
    with listening(household, "bot") as following:
        with household.inside():
            Token.objects.filter(holder_id="bot").update(revoked_at="2020-01-01T00:00:00.000+00:00")
            events.emit("question", "bot", "q1")
        assert following()["data"]["subject"] == "q1"
        with pytest.raises(AssertionError, match="ended"):
            following()


@pytest.mark.parametrize(
    ("headers", "path", "status"),
    [
        ({}, "", 401),
        ({"Authorization": "Bearer rekal_no"}, "", 401),
        ({"Cookie": "sessionid=nonsense"}, "", 401),
        ({"Host": "evil.example"}, "", 421),
        ({"Origin": "https://evil.example"}, "", 403),
        ({"Origin": "null"}, "", 403),
        ({}, "/more", 404),
    ],
)
def test_strangers_hear_nothing(
    household: Household, headers: dict[str, str], path: str, status: int
) -> None:
    got, body = household.call("GET", f"/api/events{path}", headers=headers)
    assert (got, list(body)) == (status, ["detail"])


@pytest.mark.parametrize("query", ["?after=x", "?after=-1", "?kinds=gossip"])
def test_a_stream_says_what_it_cannot_read(household: Household, query: str) -> None:
    assert household.call("GET", f"/api/events{query}", holder="mira")[0] == 422


def test_the_server_stops_promptly_while_somebody_listens(new_household: Callable[[str], Household]) -> None:
    home = new_household("stopping")
    home.register(mira={})
    with home.serving():
        stream = urlopen(
            Request(f"{home.url}api/events", headers={"Authorization": f"Bearer {home.tokens['mira']}"})
        )
        begin = time.monotonic()
    took = time.monotonic() - begin
    stream.close()
    assert took < 5


def test_a_signed_in_browser_may_listen(household: Household) -> None:
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
    from django.contrib.sessions.backends.db import SessionStore

    from holders.models import SignIn

    secret = household.path.with_name(f"{household.path.name}.secret").read_text().strip()
    with household.inside(), override_settings(SECRET_KEY=secret):
        user = get_user_model().objects.create_user("mira", password="a long pass phrase")
        SignIn.objects.create(user=user, holder_id="mira")
        session = SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = "allauth.account.auth_backends.AuthenticationBackend"
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.create()
    request = Request(f"{household.url}api/events", headers={"Cookie": f"sessionid={session.session_key}"})
    try:
        with urlopen(request, timeout=20) as stream:
            assert stream.readline() == b"retry: 3000\n"
    except HTTPError as refusal:
        refusal.close()
        raise


def test_the_server_sends_webhooks_while_another_does_not_answer(household: Household) -> None:
    dead = f"http://127.0.0.1:{free_port()}"
    with answering(lambda body: (200, {}, {})) as (address, seen):
        for one in (dead, address):
            household.allow(one)
            assert household.call("POST", "/api/webhooks", {"url": one}, holder="lea")[0] == 201
        with household.inside():
            events.emit("question", "lea", "by webhook")
        deadline = time.monotonic() + 20
        while not seen and time.monotonic() < deadline:
            time.sleep(0.1)
    assert [body["subject"] for _, _, body in seen] == ["by webhook"]
