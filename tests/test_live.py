"""Live holders: households that ask each other over the wire, on loopback, with real servers."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from holders import live, outgoing
from holders.ask import ask
from holders.auth import viewer_for
from holders.registry import set_holder
from holders.remote import read_reply
from memories.errors import Invalid
from tests.command_line import empty_store, run, store  # noqa: F401
from tests.conftest import Cast
from tests.servers import Household, free_port, new_household  # noqa: F401

QUESTION = "How long does grandma's plum cake stay in the oven?"
ANSWER = "Grandma's plum cake stays in the oven for fifty minutes at 180 degrees."


@pytest.fixture(autouse=True)
def awake() -> Iterator[None]:
    live.wake_all()
    yield
    live.wake_all()


@contextmanager
def answering(
    reply: Callable[[dict[str, Any]], tuple[int, Any, dict[str, str]]],
) -> Iterator[tuple[str, list[Any]]]:
    """A small server that answers every POST with `reply(body)`; its address, and what it was sent."""
    seen: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append((self.path, dict(self.headers), body))
            status, value, headers = reply(body)
            data = json.dumps(value).encode()
            self.send_response(status)
            for name, one in {
                "Content-Type": "application/json",
                "Content-Length": str(len(data)),
                **headers,
            }.items():
                self.send_header(name, one)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def live_holder(
    address: str, *, allowed: bool = True, way: str = "ask_url", holder_id: str = "grandma"
) -> None:
    set_holder(None, holder_id, name="Grandma's house", kind="service", contact={way: address})
    if allowed:
        outgoing.allow(address)


def answered(text: str = ANSWER) -> dict[str, Any]:
    return {
        "status": "answered",
        "hops_used": 0,
        "answers": [{"text": text, "atom_id": "00ff", "holder_id": "oma"}],
    }


@pytest.fixture(scope="module")
def two_households(new_household: Callable[[str], Household]) -> Iterator[tuple[Household, Household]]:
    """The Muellers and grandma's house, who allow and register each other."""
    home, grandma = new_household("home"), new_household("grandma")
    ports = free_port(), free_port()
    addresses = [f"http://127.0.0.1:{port}" for port in ports]
    home.register(
        lea={},
        mira={},
        gus={"groups": ["guests"]},
        grandma={"kind": "service", "contact": {"rekal_url": addresses[1]}},
    )
    grandma.register(
        oma={},
        muellers={"kind": "agent"},
        children={"kind": "service", "contact": {"rekal_url": addresses[0]}},
    )
    grandma.remember("oma", ANSWER, visibility="household")
    grandma.remember("oma", "The pin of the savings card is 7741", visibility="private")
    home.remember(
        "mira",
        "The bicycle pump hangs behind the cellar door",
        visibility={"scope": "holders", "holders": ["grandma"]},
    )
    home.allow(addresses[1], token=grandma.tokens["muellers"])
    grandma.allow(addresses[0], token=home.tokens["grandma"])
    with ExitStack() as stack:
        for household, port in zip((home, grandma), ports, strict=True):
            stack.enter_context(household.serving(port))
        yield home, grandma


def test_another_household_answers_over_the_wire(two_households: tuple[Household, Household]) -> None:
    home, _ = two_households
    status, body = home.call("POST", "/api/ask", {"question": QUESTION}, holder="lea")
    assert (status, body["status"], body["hops_used"], body["visited"]) == (200, "answered", 1, ["grandma"])
    assert body["answers"][0]["memory"]["text"] == ANSWER
    assert body["answers"][0]["memory"]["holder_id"] == "grandma:oma"
    assert body["trail"] == [{"holder_id": "grandma", "hop": 1, "outcome": "It answered."}]


def test_another_household_refers_without_telling(two_households: tuple[Household, Household]) -> None:
    home, _ = two_households
    _, body = home.call(
        "POST", "/api/ask", {"question": "What is the pin of the savings card?"}, holder="lea"
    )
    assert body["status"] == "referred"
    assert [one["holder_id"] for one in body["referrals"]] == ["grandma:oma"]
    assert body["referrals"][0]["hop"] == 2
    assert "7741" not in json.dumps(body)


def test_a_loop_ends(two_households: tuple[Household, Household]) -> None:
    home, _ = two_households
    begin = time.monotonic()
    _, body = home.call(
        "POST", "/api/ask", {"question": "Which planet has the most moons?", "max_hops": 20}, holder="lea"
    )
    assert body["status"] == "no_holder_knows"
    assert body["visited"] == ["grandma", "grandma:children"]
    assert time.monotonic() - begin < 5


def test_what_is_shared_with_a_household_does_not_come_back_to_others(
    two_households: tuple[Household, Household],
) -> None:
    home, _ = two_households
    _, body = home.call(
        "POST", "/api/ask", {"question": "Where does the bicycle pump hang?", "max_hops": 20}, holder="lea"
    )
    assert "cellar" not in json.dumps(body)


def test_a_guests_question_stays_here(two_households: tuple[Household, Household]) -> None:
    home, _ = two_households
    _, body = home.call("POST", "/api/ask", {"question": QUESTION}, holder="gus")
    assert (body["status"], body["trail"]) == ("no_holder_knows", [])


def test_no_hops_no_live_holders(two_households: tuple[Household, Household]) -> None:
    home, _ = two_households
    _, body = home.call("POST", "/api/ask", {"question": QUESTION, "max_hops": 0}, holder="lea")
    assert (body["status"], body["visited"]) == ("no_holder_knows", [])


def test_budget_and_visited_set_go_along(cast: Cast) -> None:
    with answering(lambda body: (200, answered(), {})) as (address, seen):
        live_holder(f"{address}/ask?for=us")
        found = ask(cast.mira, QUESTION, max_hops=4, visited=["cafe/oma"])
    path, _, body = seen[0]
    assert path == "/ask?for=us"
    assert body == {
        "question": QUESTION,
        "max_hops": 3,
        "limit": 5,
        "visited": ["cafe/oma", f"{live.store_id()}/grandma"],
    }
    assert (found.status, found.answers[0].memory.atom_id) == ("answered", "grandma:00ff")
    assert found.answers[0].basis[0] == "Answered live by Grandma's house."


def test_the_owners_token_is_shown_there_and_nowhere_else(cast: Cast) -> None:
    with answering(lambda body: (200, answered(), {})) as (address, seen):
        live_holder(address)
        outgoing.allow(address, token="rekal_secret")
        ask(cast.mira, QUESTION)
    assert seen[0][1]["Authorization"] == "Bearer rekal_secret"
    assert "rekal_secret" not in json.dumps(seen[0][2])


def test_a_question_that_was_here_before_is_a_loop(cast: Cast) -> None:
    assert ask(cast.mira, QUESTION, visited=[f"{live.store_id()}/grandma"]).status == "no_holder_knows"


def test_nothing_is_sent_where_the_owner_did_not_point(cast: Cast) -> None:
    with answering(lambda body: (200, answered(), {})) as (address, seen):
        live_holder(address, allowed=False)
        assert ask(cast.mira, QUESTION).trail == ()
        outgoing.allow("https://elsewhere.example")
        found = ask(cast.mira, QUESTION)
    assert found.trail[0].outcome == "The owner of this server has not allowed its address."
    assert (found.status, seen) == ("no_holder_knows", [])


def test_a_redirect_is_not_followed(cast: Cast) -> None:
    with (
        answering(lambda body: (200, answered(), {})) as (target, seen),
        answering(lambda body: (307, {}, {"Location": target})) as (address, _),
    ):
        live_holder(address)
        outgoing.allow(target)
        found = ask(cast.mira, QUESTION)
    assert found.trail[0].outcome == "It points elsewhere; redirects are not followed."
    assert seen == []


def test_a_public_name_that_leads_home_is_refused(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(lambda body: (200, answered(), {})) as (address, seen):
        port = address.rpartition(":")[2]
        looked_up = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", int(port)))]
        monkeypatch.setattr(outgoing.socket, "getaddrinfo", lambda *args, **given: looked_up)
        live_holder(f"http://public.example:{port}")
        found = ask(cast.mira, QUESTION)
        assert "private network" in found.trail[0].outcome
        assert seen == []
        outgoing.allow(f"http://public.example:{port}", private=True)
        assert ask(cast.mira, QUESTION).status == "answered"


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", ".".join("0000"), "224.0.0.1", "::1", "fe80::1%eth0",
     "fd00::1", "::ffff:127.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1", "240.0.0.1"],
)  # fmt: skip
def test_private_addresses_are_known_in_every_notation(address: str) -> None:
    assert not outgoing.is_public(address)


@pytest.mark.parametrize("address", ["9.9.9.9", "2620:fe::fe", "64:ff9b::909:909"])
def test_public_addresses_are_public(address: str) -> None:
    assert outgoing.is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "ftp://a",
        "http://",
        "http://u:p@a",
        "file:///etc/passwd",
        "http://a:0",
        "http://a:99999",
        "http://a\n",
    ],
)
def test_what_is_no_address_is_not_allowed(db: None, address: str) -> None:
    with pytest.raises(Invalid):
        outgoing.allow(address)


def test_a_dead_holder_is_named_in_the_trail(cast: Cast) -> None:
    live_holder(f"http://127.0.0.1:{free_port()}")
    found = ask(cast.mira, QUESTION)
    assert (found.status, found.visited) == ("no_holder_knows", ("grandma",))
    assert found.trail[0].outcome == "It could not be reached."
    assert ask(cast.mira, QUESTION).trail[0].outcome == "It was not asked: it did not answer a moment ago."


@pytest.mark.parametrize("drips", [False, True])
def test_a_slow_holder_costs_its_timeout_at_most(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, drips: bool
) -> None:
    monkeypatch.setattr(live, "SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        stop = threading.Event()

        def serve() -> None:
            peer, _ = listener.accept()
            with peer:
                while drips and not stop.wait(0.05):
                    try:
                        peer.sendall(b"H")
                    except OSError:
                        return
                stop.wait(5)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        live_holder(f"http://127.0.0.1:{listener.getsockname()[1]}")
        begin = time.monotonic()
        found = ask(cast.mira, QUESTION)
        took = time.monotonic() - begin
        stop.set()
        thread.join()
    assert found.trail[0].outcome == "It did not answer within 0.5 seconds."
    assert took < 1.5


def test_live_holders_share_the_time_of_a_question(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "SECONDS_IN_ALL", 0.0)
    with answering(lambda body: (200, answered(), {})) as (address, seen):
        live_holder(address)
        assert "used up" in ask(cast.mira, QUESTION).trail[0].outcome
    assert seen == []


@pytest.mark.parametrize(
    ("status", "value"),
    [(500, {}), (401, {"detail": "no"}), (200, "<b>hello</b>"), (200, None), (200, {"status": "answered"}),
     (200, {"status": "answered", "answers": [{"text": "\0"}, {"memory": 3}, 7]}), (200, {"answers": {"a": 1}})],
)  # fmt: skip
def test_a_confused_holder_is_no_harm(cast: Cast, status: int, value: Any) -> None:
    with answering(lambda body: (status, value, {})) as (address, _):
        live_holder(address)
        found = ask(cast.mira, QUESTION)
    assert (found.status, len(found.trail)) == ("no_holder_knows", 1)


def test_a_reply_that_is_too_long_is_cut_off(cast: Cast) -> None:
    with answering(lambda body: (200, answered("x" * 1_200_000), {})) as (address, _):
        live_holder(address)
        assert ask(cast.mira, QUESTION).trail[0].outcome == "Its reply was too long."


def test_foreign_names_and_contacts_are_kept_apart_and_harmless() -> None:
    reply = {
        "status": "referred",
        "hops_used": 1,
        "visited": ["mira"],
        "referrals": [
            {
                "holder_id": "mira",
                "name": "Mira\n\x1b[2J",
                "confidence": "certain",
                "contact": {"web": "javascript:alert(1)"},
                "hop": 1,
            },
            {
                "holder_id": "tom",
                "confidence": "strong",
                "basis": ["a", 3],
                "contact": {"phone": "+49 30 1"},
                "hop": 900,
            },
            {"name": "nobody"},
        ],
    }
    remote = read_reply("grandma", "Grandma", reply)
    (first, _), (second, hop) = remote.referrals
    assert (first.holder_id, first.name, first.confidence, first.contact) == (
        "grandma:mira",
        "Mira [2J",
        "possible",
        {},
    )
    assert (second.holder_id, second.registered, second.contact, hop) == (
        "grandma:tom",
        False,
        {"phone": "+49 30 1"},
        1,
    )
    assert remote.visited == ("grandma:mira",)


def test_an_mcp_server_is_asked_too(
    two_households: tuple[Household, Household], new_household: Callable[[str], Household]
) -> None:
    _, grandma = two_households
    cousin = new_household("cousin")
    address = grandma.url.rstrip("/")
    cousin.register(tom={}, grandma={"kind": "agent", "contact": {"mcp_url": f"{address}/mcp"}})
    cousin.allow(address, token=grandma.tokens["muellers"])
    with cousin.inside():
        found = ask(viewer_for("tom"), QUESTION)
    assert found.status == "answered"
    assert found.answers[0].memory.text == ANSWER
    assert found.answers[0].memory.holder_id == "grandma:oma"


def test_the_owner_keeps_the_list_on_the_command_line(run: Callable[..., Any]) -> None:
    assert run("live").code == 1
    assert run("live", "https://Grandma.example", "--token", "rekal_secret", "--json").json == {
        "address": "https://grandma.example:443", "private": False, "has_token": True,
    }  # fmt: skip
    listed = run("live")
    assert "https://grandma.example:443 (with a token)" in listed.out
    assert "rekal_secret" not in listed.out
    assert run("live", "gopher://x").code == 2
    assert run("live", "https://grandma.example", "--remove").code == 0
    assert run("live", "https://grandma.example", "--remove").code == 1
