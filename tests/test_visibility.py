"""Every face × every member of the cast: a memory's words reach those who may read it, and nobody else.

The faces stand in `tests.faces`; after them, the rule itself.
"""

import json
import logging

import pytest
from django.db import connection

from holders.models import SignIn, Token
from memories.browse import get_memory, history
from memories.errors import NotFound
from memories.models import Atom
from memories.remember import remember
from memories.visibility import Viewer
from tests.faces import FACES, HOUSEHOLD, MEMBERS, MEMORIES, READERS, SHOWS_EVERYTHING, household  # noqa: F401


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("member", MEMBERS)
def test_a_memory_reaches_those_who_may_read_it_and_nobody_else(household, cast, face, member, caplog):
    caplog.set_level(logging.DEBUG, logger="memories")
    caplog.set_level(logging.DEBUG, logger="holders")

    shown = FACES[face](cast.viewer(member), household)

    for word, readers in READERS.items():
        sentence = Atom.objects.get(atom_id=household[word]).text.encode()
        if member not in readers:
            assert sentence not in shown
            assert f"about-{word}".encode() not in shown
            assert f"tag-{word}".encode() not in shown
        elif face in SHOWS_EVERYTHING:
            assert sentence in shown
    assert not any(MEMORIES["sapphire"][0] in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize(
    "url", ["/", "/admin/", "/api/memories", "/api/recall?q=x", "/api/holders", "/api/me"]
)
def test_nobody_signed_in_sees_nothing(household, client, url):
    reply = client.get(url, follow=True)

    assert reply.status_code in (200, 401, 403)
    for word in READERS:
        assert word.encode() not in reply.content


def test_no_viewer_and_an_empty_id_read_nothing(household):
    assert not Atom.objects.visible_to(None).exists()
    assert not Atom.objects.visible_to(Viewer("")).exists()


def test_a_holder_whose_id_begins_like_anothers_is_somebody_else(cast):
    remember(Viewer("ann"), "Ann hid the chocolate.", visibility="private")
    shared = {"scope": "holders", "holders": ["ann"]}
    remember(cast.mira, "For Ann alone.", visibility=shared)

    assert Atom.objects.visible_to(Viewer("ann")).count() == 2
    for other in ("ann1", "an", "Ann", "ann "):
        assert not Atom.objects.visible_to(Viewer(other)).exists()


def test_an_unregistered_viewer_has_no_groups_and_reads_no_household_memory(household, cast):
    assert cast.stranger.groups == frozenset()
    assert not Atom.objects.visible_to(cast.stranger).exists()


def test_who_wrote_a_memory_down_reads_it_unless_denied(cast):
    mine = remember(cast.jonas, "Grandma takes half a pill.", holder_id="mira", visibility="private")
    assert get_memory(cast.jonas, mine.atom_id).text == "Grandma takes half a pill."

    Atom.objects.update(visibility_json='{"scope": "private", "deny": ["jonas"]}')
    with pytest.raises(NotFound):
        get_memory(cast.jonas, mine.atom_id)
    assert get_memory(cast.mira, mine.atom_id)


def test_an_agent_acting_for_a_person_reads_what_both_may(household, cast):
    acting = Viewer("bot", "agent", frozenset({"agents"}), acting_for=cast.mira)

    readable = set(Atom.objects.visible_to(acting).values_list("atom_id", flat=True))

    assert readable == {household["marmalade"], household["telescope"]}


@pytest.mark.parametrize(
    "stored",
    [
        '{"scope": "everyone"}',
        '{"scope": ["household"]}',
        '{"holders": ["jonas"]}',
        '{"scope": "holders", "holders": "jonas"}',
        '{"scope": "holders", "holders": {"0": "jonas"}}',
        '{"scope": "household", "deny": "ben"}',
        '{"scope": null}',
    ],
)
def test_unknown_visibility_fails_closed(cast, stored):
    memory = remember(cast.mira, "Nobody else may read this.")
    Atom.objects.update(visibility_json=stored)

    assert get_memory(cast.mira, memory.atom_id)
    for member in set(MEMBERS) - {"mira"}:
        assert not Atom.objects.visible_to(cast.viewer(member)).exists()
        assert not Atom.objects.hinting_to(cast.viewer(member)).exists()


def test_an_upgraded_row_without_visibility_reads_as_household(cast):
    remember(cast.mira, "An old row.")
    Atom.objects.update(visibility_json="{}")

    assert {one for one in MEMBERS if Atom.objects.visible_to(cast.viewer(one)).exists()} == HOUSEHOLD


def test_a_row_of_no_holder_is_nobodys_own(cast):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO atoms (atom_id, ingested_at, updated_at, text, visibility_json) VALUES "
            "('a', '2026-01-01T00:00:00.000+00:00', '2026-01-01T00:00:00.000+00:00', 'orphan', '{\"scope\": \"private\"}')"
        )
    assert not any(Atom.objects.visible_to(cast.viewer(one)).exists() for one in MEMBERS)


def test_unknown_and_unreadable_ids_answer_alike(household, cast):
    def refusal(atom_id: str) -> str:
        with pytest.raises(NotFound) as caught:
            get_memory(cast.ben, atom_id)
        return repr(caught.value)

    assert refusal(household["sapphire"]) == refusal("f" * 16)


def test_a_signed_in_account_without_a_holder_sees_nothing(household, django_user_model, client):
    client.force_login(django_user_model.objects.create_user("nobody", password="x" * 12))

    assert client.get("/api/memories").status_code in (401, 403)
    assert not SignIn.objects.exists()


def test_other_peoples_lists_of_readers_stay_theirs(household, cast):
    memory = get_memory(cast.jonas, household["telescope"])

    assert memory.visibility == {"scope": "household"}
    assert get_memory(cast.mira, household["telescope"]).visibility["deny"] == ["ben"]


def test_superseded_ids_show_only_to_those_who_may_read_them(cast):
    old = remember(cast.mira, "The code was green.", visibility="private")
    new = remember(cast.mira, "The code is blue.", visibility="household", replaces=[old.atom_id])

    assert get_memory(cast.mira, new.atom_id).supersedes == (old.atom_id,)
    assert get_memory(cast.jonas, new.atom_id).supersedes == ()
    assert [one.atom_id for one in history(cast.jonas, new.atom_id)] == [new.atom_id]


def test_json_replies_are_never_kept_by_a_cache(household, cast, client):
    _, plain = Token.objects.issue("mira", ["read"])
    reply = client.get("/api/memories", headers={"authorization": f"Bearer {plain}"})

    assert "no-store" in reply.headers["Cache-Control"]
    assert json.loads(reply.content)["items"]


@pytest.mark.parametrize("name", ['o"hara', "back\\slash", "jürgen", "奶奶", "percent%s", "tab-free 'quote'"])
def test_a_name_is_met_however_json_spells_it(cast, name):
    memory = remember(cast.mira, "For one reader.", visibility={"scope": "holders", "holders": [name]})
    spelt = json.dumps({"scope": "holders", "holders": [name], "deny": []}, ensure_ascii=True)

    assert Atom.objects.visible_to(Viewer(name)).count() == 1
    Atom.objects.filter(atom_id=memory.atom_id).update(visibility_json=spelt)
    assert Atom.objects.visible_to(Viewer(name)).count() == 1
    denied = json.dumps({"scope": "holders", "holders": [name], "deny": [name]}, ensure_ascii=True)
    Atom.objects.filter(atom_id=memory.atom_id).update(visibility_json=denied)
    assert not Atom.objects.visible_to(Viewer(name)).exists()


def test_escapes_do_not_hide_a_name_from_a_denial(cast):
    remember(cast.mira, "Not for Ben.", visibility="household")
    Atom.objects.update(visibility_json='{"scope": "household", "deny": ["\\u0062en"]}')

    assert not Atom.objects.visible_to(cast.ben).exists()
    assert Atom.objects.visible_to(cast.jonas).exists()
