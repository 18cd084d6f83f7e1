"""The command line as scripts meet it: spellings, exit codes, stdout for results and stderr for sentences."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from memories.models import Atom
from rekal_site import render
from rekal_site.management.base import CommandExit, RekalCommand
from tests.command_line import empty_store, run, store  # noqa: F401

ROOT = Path(__file__).parent.parent
OURS = sorted(name for name, app in get_commands().items() if app == "rekal_site" and name != "migrate")
MEMORY_KEYS = {
    "atom_id", "text", "holder_id", "recorded_by", "origin", "scenario", "tags", "event_time", "event_time_end",
    "event_time_precision", "valid_from", "valid_to", "retention_until", "visibility", "supersedes", "source",
    "created_at", "updated_at",
}  # fmt: skip


@pytest.fixture
def household(run):
    run("holder-set", "mira", "--name", "Mira", "--group", "adults", "--contact", "phone=+49 30 5550100")
    run("holder-set", "jonas", "--name", "Jonas", "--group", "adults")
    run("holder-set", "lea", "--name", "Lea", "--group", "kids")
    return run


def remember(run, text, *options, viewer="mira"):
    ran = run("remember", text, "--as", viewer, "--json", *options)
    assert ran.code == 0, ran.err
    return ran.json


@pytest.mark.parametrize("name", OURS)
def test_every_command_teaches_with_examples(name):
    command = load_command_class("rekal_site", name)
    assert isinstance(command, RekalCommand)
    text = command.create_parser("rekal", name).format_help()
    assert f"rekal {name}" in text
    assert "examples:" in text
    assert "--json" in text
    assert "--settings" not in text


def test_a_memory_is_printed_as_the_api_gives_it(household):
    memory = remember(
        household, "The spare key is in the blue box", "--scenario", "house", "--tag", "keys", "--tag", "hall"
    )
    assert memory.keys() == MEMORY_KEYS
    assert (memory["holder_id"], memory["scenario"], memory["tags"]) == ("mira", "house", ["keys", "hall"])
    assert memory["visibility"]["scope"] == "private"


def test_remember_takes_every_spelling_of_the_contract(household):
    old = remember(household, "Ben is vegetarian", "--visibility", "household")
    memory = remember(
        household, "Ben eats fish since May", "--holder", "ben", "--scenario", "kitchen", "--replaces", old["atom_id"],
        "--event-time", "2026-05", "--valid-from", "2026-05-01", "--valid-to", "2099-01-01",
        "--visibility", '{"scope": "holders", "holders": ["jonas"], "deny": ["lea"]}',
    )  # fmt: skip
    assert memory["supersedes"] == [old["atom_id"]]
    assert (memory["holder_id"], memory["recorded_by"], memory["origin"]) == ("ben", "mira", "third_party")
    assert (memory["event_time"], memory["event_time_precision"]) == (
        "2026-05-01T00:00:00.000+00:00",
        "month",
    )
    assert memory["visibility"]["holders"] == ["jonas"]


def test_recall_finds_it_and_says_so_in_json_and_in_text(household):
    memory = remember(household, "The spare key is in the blue box")
    ran = household("recall", "where is the spare key", "--as", "mira", "--limit", "1", "--json")
    assert ran.code == 0
    assert ran.json.keys() == {"query", "hits"}
    (hit,) = ran.json["hits"]
    assert hit.keys() == {"memory", "score", "relevance", "signals", "basis"}
    assert hit["memory"] == memory
    shown = household("recall", "where is the spare key", "--as", "mira")
    assert "blue box" in shown.out
    assert memory["atom_id"] in shown.out
    assert "\x1b" not in shown.out


@pytest.mark.parametrize("query", ["--child-lock", "-4*", "-", "--as"])
def test_a_query_that_begins_with_a_dash_works_after_two_dashes(household, query):
    remember(household, f"The oven takes {query} to lock")
    ran = household("recall", "--as", "mira", "--json", "--", query)
    assert (ran.code, ran.json["query"]) == (0, query)


def test_nothing_found_is_exit_1_with_a_sentence(household):
    ran = household("recall", "spare key", "--as", "lea")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.endswith(".\n")
    empty = household("recall", "spare key", "--as", "lea", "--json")
    assert (empty.code, empty.json) == (1, {"query": "spare key", "hits": []})


def test_ask_and_who_knows_refer_without_telling(household):
    remember(household, "The notary Hansen in Kiel keeps the will of Grandma", "--visibility", "private")
    ran = household("ask", "Which notary keeps the will of Grandma?", "--as", "jonas", "--json")
    assert ran.code == 0
    assert ran.json["status"] == "referred"
    assert ran.json.keys() >= {"status", "question", "hops_used", "visited", "answers", "referrals"}
    assert ran.json["referrals"][0]["holder_id"] == "mira"
    knows = household("who-knows", "Which notary keeps the will of Grandma?", "--as", "jonas", "--json")
    assert knows.code == 0
    assert knows.json["holders"][0].keys() == {
        "holder_id",
        "name",
        "kind",
        "registered",
        "confidence",
        "basis",
        "contact",
    }
    text = household("ask", "Which notary keeps the will of Grandma?", "--as", "jonas")
    assert "+49 30 5550100" in text.out
    assert "Hansen" not in ran.out + knows.out + text.out + text.err


def test_ask_answers_what_the_viewer_may_read(household):
    remember(
        household, "The spare key of the garage is in the blue box in the hall", "--visibility", "household"
    )
    ran = household("ask", "Where is the spare key of the garage?", "--as", "lea", "--json")
    assert (ran.code, ran.json["status"], ran.json["hops_used"]) == (0, "answered", 0)
    assert household("ask", "Where is the spare key of the garage?", "--as", "lea").out.startswith("Answered")


def test_nobody_knows_is_exit_1_with_the_body(household):
    remember(household, "The spare key is in the blue box")
    ran = household("ask", "Quelle est la capitale du Burkina Faso ?", "--as", "lea", "--json")
    assert (ran.code, ran.json["status"]) == (1, "no_holder_knows")
    text = household("ask", "Quelle est la capitale du Burkina Faso ?", "--as", "lea")
    assert (text.code, text.out) == (1, "")
    assert text.err.startswith("Nobody knows")


def test_forget_asks_nothing_and_an_unreadable_id_looks_like_a_missing_one(household):
    memory = remember(household, "The spare key is in the blue box")
    hidden = household("forget", memory["atom_id"], "--as", "jonas")
    missing = household("forget", "0123456789abcdef", "--as", "jonas")
    assert (hidden.code, hidden.err) == (missing.code, missing.err)
    assert hidden.code == 1
    assert household("forget", memory["atom_id"], "--as", "mira").code == 0
    assert Atom.objects.count() == 0


def test_prune_is_a_dry_run_until_yes(household):
    remember(household, "Train at nine", "--scenario", "travel")
    remember(household, "The spare key is in the blue box", "--scenario", "house")
    dry = household("prune", "--as", "mira", "--scenario", "travel", "--json")
    assert (dry.code, dry.json["count"], dry.json["dry_run"]) == (0, 1, True)
    assert Atom.objects.count() == 2
    assert household("prune", "--as", "jonas", "--scenario", "travel", "--yes").code == 1
    assert household("prune", "--as", "mira", "--scenario", "travel", "--yes").code == 0
    assert [one.scenario for one in Atom.objects.all()] == ["house"]
    assert household("prune", "--as", "mira").code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("recall",),
        ("recall", "key"),
        ("recall", "key", "--as"),
        ("recall", "key", "--as", ""),
        ("recall", "--child-lock", "--as", "mira"),
        ("recall", "key", "--as", "mira", "--limit", "many"),
        ("recall", "key", "--as", "mira", "--limit", "0"),
        ("recall", "key", "--as", "mira", "--limit", "-1"),
        ("recall", "key", "--as", "mira", "--limit", "201"),
        ("recall", "   ", "--as", "mira"),
        ("recall", "key", "--as", "mira", "--as-of", "yesterday-ish"),
        ("remember", "", "--as", "mira"),
        ("remember", "a\0b", "--as", "mira"),
        ("remember", "a key", "--as", "mira", "--visibility", "secret"),
        ("remember", "a key", "--as", "mira", "--visibility", "{scope: private}"),
        ("remember", "a key", "--as", "mira", "--event-time", "soon"),
        ("remember", "x" * 70_000, "--as", "mira"),
        ("ask", "where?", "--as", "mira", "--max-hops", "-1"),
        ("holder-set", "a b"),
        ("holder-set", "mira", "--kind", "ghost"),
        ("holder-set", "mira", "--contact", "phone"),
        ("holder-set", "mira", "--contact", "web=javascript:alert(1)"),
        ("token", "mira", "--scope", "everything"),
        ("token", "mira", "--days", "0"),
        ("import", "no-such-file.jsonl", "--as", "mira"),
        ("prune", "--as", "mira", "--before", "long ago"),
        ("no-such-option", "--as", "mira"),
    ],
    ids=lambda arguments: " ".join(one[:12] for one in arguments),
)
def test_wrong_usage_is_exit_2_or_an_unknown_command_and_stores_nothing(household, arguments):
    ran = household(*arguments)
    assert ran.code == (1 if arguments[0] == "no-such-option" else 2)
    assert ran.out == ""
    assert ran.err
    assert "Traceback" not in ran.err
    assert Atom.objects.count() == 0


def test_holders_are_set_listed_and_removed(run):
    card = run(
        "holder-set", "bot", "--name", "House agent", "--kind", "agent", "--topic", "heating", "--topic", "doors",
        "--contact", "chat=@house:example.org", "--contact", "rekal_url=https://house.example.org/", "--group", "tech", "--json",
    ).json  # fmt: skip
    assert card == {
        "holder_id": "bot", "name": "House agent", "kind": "agent", "registered": True, "knows_about": ["heating", "doors"],
        "contact": {"chat": "@house:example.org", "rekal_url": "https://house.example.org/"}, "groups": ["tech"],
    }  # fmt: skip
    changed = run(
        "holder-set", "bot", "--contact", "chat=", "--contact", "email=bot@example.org", "--json"
    ).json
    assert changed["contact"] == {"rekal_url": "https://house.example.org/", "email": "bot@example.org"}
    assert changed["knows_about"] == ["heating", "doors"]
    assert run("holders", "--json").json == {"holders": [changed]}
    assert "House agent" in run("holders").out
    assert run("holder-rm", "bot").code == 0
    assert run("holder-rm", "bot").code == 1
    assert run("holders").code == 1


def test_with_as_the_rights_are_that_holders(household):
    assert household("holder-set", "jonas", "--name", "Jo", "--as", "mira").code == 1
    assert household("holder-set", "jonas", "--name", "Jo", "--as", "jonas").code == 0
    assert household("holder-rm", "jonas", "--as", "mira").code == 1
    assert household("token", "jonas", "--as", "mira").code == 1


def test_a_token_is_alone_on_stdout_and_opens_the_api(household, client):
    ran = household("token", "mira", "--scope", "read", "--scope", "ask", "--days", "1")
    assert (ran.code, ran.err) == (0, "")
    token = ran.out.removesuffix("\n")
    assert token.split() == [token]
    reply = client.get("/api/me", headers={"authorization": f"Bearer {token}"})
    assert reply.status_code == 200
    assert (reply.json()["holder_id"], set(reply.json()["scopes"])) == ("mira", {"read", "ask"})


def test_json_is_the_apis_body_byte_for_value(household, client):
    remember(household, "The spare key is in the blue box", "--visibility", "household", "--tag", "🔑")
    token = household("token", "lea").out.strip()
    headers = {"authorization": f"Bearer {token}"}

    def body(reply):
        assert reply.status_code == 200, reply.content
        return still(reply.json())

    question = "Where is the spare key?"
    recalled = household("recall", question, "--as", "lea", "--json").json
    assert still(recalled) == body(client.get("/api/recall", {"q": question}, headers=headers))
    known = household("who-knows", question, "--as", "lea", "--json").json
    assert still(known) == body(client.get("/api/who_knows", {"q": question}, headers=headers))
    asked = household("ask", question, "--as", "lea", "--json").json
    payload = {"question": question}
    assert still(asked) == body(
        client.post("/api/ask", payload, content_type="application/json", headers=headers)
    )
    listed = household("holders", "--as", "lea", "--json").json
    assert still(listed) == body(client.get("/api/holders", headers=headers))


def still(value):
    """A reply body without the one number that moves with the clock."""
    if isinstance(value, dict):
        return {key: still(one) for key, one in value.items() if key != "recency"}
    return [still(one) for one in value] if isinstance(value, list) else value


def test_a_command_called_from_python_raises_its_exit_code(household):
    from django.core.management import call_command

    with pytest.raises(CommandExit) as leaving:
        call_command("recall", "key", viewer="lea")
    assert leaving.value.returncode == 1


def test_stored_text_cannot_drive_a_terminal(household):
    remember(household, "Click \x1b]8;;http://evil.example\x1b\\here\x1b]8;;\x1b\\ for the key \x1b[2J")
    assert "\x1b" not in household("recall", "key", "--as", "mira").out


def test_a_terminal_gets_colours_and_a_pipe_does_not(capsys):
    class Terminal:
        def __init__(self):
            self.text = ""

        def write(self, text):
            self.text += text

        def flush(self):
            pass

        def isatty(self):
            return True

    terminal = Terminal()
    render.write(terminal, [render.line(("Answered", "bold green"))])
    render.write(sys.stdout, [render.line(("Answered", "bold green"))])
    assert "\x1b[" in terminal.text
    assert capsys.readouterr().out == "Answered\n"


# ── in a process of its own ──────────────────────────────────────────────────────────────────────────────────────


def command(path, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT, env={**os.environ, "REKAL_DB": str(path), **environment}, capture_output=True, timeout=120, check=False,
    )  # fmt: skip


def test_the_first_commands_of_a_script(tmp_path):
    path = tmp_path / "memory.db"
    assert command(path, "recall", "key", "--as", "mira").returncode == 1
    assert command(path, "migrate").returncode == 0
    stored = command(path, "remember", "The spare key 🔑 is in the blue box", "--as", "mira", "--json")
    assert stored.returncode == 0, stored.stderr
    found = command(path, "recall", "spare key", "--as", "mira", PYTHONIOENCODING="cp1252")
    assert found.returncode == 0, found.stderr
    assert b"blue box" in found.stdout
    assert path.with_name("memory.db.secret").stat().st_mode & 0o077 == 0


def test_the_front_page_names_the_commands(tmp_path):
    for arguments in ([], ["--help"], ["help"]):
        ran = command(tmp_path / "none.db", *arguments)
        assert ran.returncode == 0
        for name in ("remember", "who-knows", "demo"):
            assert name.encode() in ran.stdout
    assert list(tmp_path.iterdir()) == []


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_serve_makes_a_store_answers_and_stops_gracefully(tmp_path):
    path, port = tmp_path / "memory.db", free_port()
    server = subprocess.Popen(
        [sys.executable, "manage.py", "serve", "--port", str(port)],
        cwd=ROOT, env={**os.environ, "REKAL_DB": str(path)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert f"http://127.0.0.1:{port}/" in server.stdout.readline()
        assert "type this code" in server.stdout.readline()
        assert wait_for(f"http://127.0.0.1:{port}/api/health") == {"status": "ok"}
        taken = command(path, "serve", "--port", str(port))
        assert taken.returncode == 1
        assert b"--port" in taken.stderr
    finally:
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=20)
    assert server.returncode == 0
    assert errors == ""


def wait_for(url, seconds=20):
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as reply:
                return json.load(reply)
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def test_the_demo_shows_the_three_ends_and_fills_its_store_once(store, run):
    store.unlink()
    first = run("demo", "--no-serve")
    assert first.code == 0, first.err
    shown = first.out.split("\n$ rekal ask ")
    assert len(shown) == 4
    assert "memories remembered" in shown[0]
    for text, beginning in zip(shown[1:], ("Answered", "Referred", "Nobody knows"), strict=True):
        assert text.splitlines()[1].startswith(beginning)
    assert "with the password" in shown[3]
    count = Atom.objects.count()
    assert count >= 120
    assert run("doctor").out == "The store is sound.\n"

    again = run("demo", "--no-serve")
    assert again.code == 0
    assert "memories remembered" not in again.out
    assert Atom.objects.count() == count


def test_the_demo_never_moves_into_a_households_own_store(household):
    remember(household, "The spare key is in the blue box")
    ran = household("demo", "--no-serve")
    assert ran.code == 1
    assert "REKAL_DB" in ran.err
    assert Atom.objects.count() == 1


def test_a_demo_that_was_cut_short_is_made_anew(store, run, monkeypatch):
    from rekal_site.demo import load as demo

    store.unlink()
    monkeypatch.setattr(demo, "_remember_all", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run("demo", "--no-serve")
    monkeypatch.setattr(demo, "_remember_all", lambda: iter(["nothing remembered"]))
    ran = run("demo", "--no-serve")
    assert ran.code == 0, ran.err
    assert "making the demo store" in ran.out
