"""The curators' admin: many memories at once, each change shown before it is made."""

import re
from typing import Any

import pytest
from django.test import Client

from memories.browse import get_memory, list_memories
from memories.models import Atom, Cartridge, CartridgeAtom, EvidenceEdge
from tests.curators import ATOMS, curators, enter, hidden  # noqa: F401
from tests.pages import keep, text_of


def tick(browser: Client, action: str, *memories: Any, **given: Any) -> Any:
    data = {"action": action, "_selected_action": [one.atom_id for one in memories], **given}
    return browser.post(ATOMS if not given else f"{ATOMS}bulk/", data)


@pytest.mark.parametrize(
    ("action", "value"), [("scenario", "garden"), ("visibility", "private"), ("close", ""), ("forget", "")]
)
def test_a_bulk_action_changes_nothing_before_it_was_shown(curators, cast, action, value):
    mine, hers = keep(cast.cura, "The ladder hangs in the shed."), keep(cast.mira, "The key is blue.")
    before = list(Atom.objects.values())
    for given in ({}, {"value": value}):
        reply = tick(curators, action, mine, hers, **given)
        assert "The ladder hangs in the shed." in text_of(reply) or reply.status_code == 200
    assert list(Atom.objects.values()) == before


def test_all_that_fit_the_list_can_be_shown_and_changed_at_once(curators, cast, monkeypatch):
    monkeypatch.setattr("memories.curators.CuratorAdmin.list_per_page", 2)
    garden = {keep(cast.mira, f"Bed {n} holds beans.", scenario="garden").atom_id for n in range(5)}
    keep(cast.mira, "Bed 9 is Ben's.", scenario="bedroom")
    keep(cast.jonas, "Bed 7 hides a present.", scenario="garden", visibility="private")
    shown = text_of(curators.get(f"{ATOMS}?scenario=garden"))
    assert 'name="whole"' in shown
    reply = curators.post(f"{ATOMS}?scenario=garden&q=bed", {"action": "scenario", "whole": "1"})
    assert set(re.findall(r'name="_selected_action" value="(\w+)"', text_of(reply))) == garden
    assert "present" not in text_of(reply)
    chosen = {"action": "scenario", "_selected_action": list(garden), "value": "beds", "agreed": "1"}
    curators.post(f"{ATOMS}bulk/", chosen)
    assert set(Atom.objects.filter(scenario="beds").values_list("atom_id", flat=True)) == garden


def test_a_list_of_one_page_offers_its_ticks_alone(curators, cast):
    keep(cast.mira, "Bed 1 holds beans.")
    assert 'name="whole"' not in text_of(curators.get(ATOMS))


def test_set_scenario_close_and_visibility_work_as_shown(curators, cast):
    mine, hers = keep(cast.cura, "The ladder hangs in the shed."), keep(cast.mira, "The key is blue.")
    tick(curators, "scenario", mine, hers, value="garden", agreed="1")
    assert {get_memory(cast.cura, one.atom_id).scenario for one in (mine, hers)} == {"garden"}
    assert [one.atom_id for one in list_memories(cast.cura, q="garden").items] != []
    tick(curators, "close", mine, hers, value="", agreed="1")
    assert not list_memories(cast.cura).items
    reply = tick(curators, "close", mine, hers, value="")
    assert "It is closed already." in text_of(reply)
    tick(curators, "visibility", mine, hers, value="private", agreed="1")
    assert {one.audience for one in Atom.objects.all()} == {"private"}


def test_a_bulk_action_never_widens_what_is_not_hers(curators, cast):
    hers = keep(cast.mira, "For curators alone.", visibility={"scope": "holders", "groups": ["curators"]})
    reply = tick(curators, "visibility", hers, value="household", agreed="1")
    assert Atom.objects.get().audience == "listed"
    reply = tick(curators, "visibility", hers, value="household")
    assert "never widen it" in text_of(reply)


def test_a_surprise_stays_one_when_its_readers_change(curators, cast):
    mine = keep(
        cast.cura,
        "The telescope is hidden.",
        visibility={"scope": "private", "discoverable": False, "deny": ["ben"]},
    )
    tick(curators, "visibility", mine, value="household", agreed="1")
    after = get_memory(cast.cura, mine.atom_id).visibility
    assert (after["scope"], after["discoverable"], after["deny"]) == ("household", False, ["ben"])


def test_forgetting_many_takes_hers_and_leaves_the_others(curators, cast):
    mine, hers = keep(cast.cura, "The ladder hangs in the shed."), keep(cast.mira, "The key is blue.")
    reply = tick(curators, "forget", mine, hers, value="")
    assert "only its holder" in text_of(reply)
    tick(curators, "forget", mine, hers, value="", agreed="1")
    assert [one.atom_id for one in Atom.objects.all()] == [hers.atom_id]


def test_add_to_a_cartridge_of_hers_only(curators, cast):
    memory = keep(cast.mira, "The key is blue.")
    own = Cartridge.objects.create(name="Keys", owner_id="cura")
    other = Cartridge.objects.create(name="Other", owner_id="mira")
    tick(curators, "cartridge", memory, value=other.pk, agreed="1")
    assert not CartridgeAtom.objects.exists()
    tick(curators, "cartridge", memory, value=own.pk, agreed="1")
    assert CartridgeAtom.objects.get().atom_id == memory.atom_id


def test_duplicates_are_closed_and_stand_in_the_history_of_the_one_that_stays(curators, cast):
    kept, double = keep(cast.mira, "The key is blue."), keep(cast.cura, "The key is blue!")
    tick(curators, "duplicates", kept, double, value=kept.atom_id, agreed="1")
    assert [one.atom_id for one in list_memories(cast.cura).items] == [kept.atom_id]
    assert get_memory(cast.cura, kept.atom_id).supersedes == (double.atom_id,)
    assert EvidenceEdge.objects.get().relation == "supersedes"


def test_unreadable_ids_in_a_bulk_action_are_as_good_as_missing(curators, hidden):
    memory = hidden[0]
    before = list(Atom.objects.values())
    reply = tick(curators, "scenario", memory, value="x", agreed="1")
    assert "sapphire" not in text_of(reply)
    assert list(Atom.objects.values()) == before


def test_an_action_nobody_knows_changes_nothing(curators, cast):
    memory = keep(cast.cura, "The key is blue.")
    assert tick(curators, "explode", memory).status_code == 302
    assert curators.get(f"{ATOMS}bulk/").status_code == 302
