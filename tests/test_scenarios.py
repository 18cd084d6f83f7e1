"""Situations: counted, described, renamed and merged, each within what its viewer may read and change."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from holders.models import Token
from memories import scenarios
from memories.browse import get_memory, list_memories
from memories.errors import Invalid, NotAllowed, NotFound
from memories.models import Scenario
from memories.remember import remember
from tests.pages import signed_in


@pytest.fixture
def house(cast: Any) -> dict[str, str]:
    return {
        name: remember(cast.viewer(holder), text, scenario=scenario, visibility=visibility).atom_id
        for name, holder, text, scenario, visibility in (
            ("key", "mira", "The key hangs in the hall.", "hous", "household"),
            ("safe", "mira", "The safe is behind the picture.", "hous", "private"),
            ("bin", "jonas", "The bin goes out on Monday.", "hous", "household"),
            ("tent", "mira", "The tent is in the attic.", "camping", "household"),
            ("diary", "ben", "Ben cried on Friday.", "diary", "private"),
        )
    }


def names(viewer: Any) -> dict[str, int]:
    return {one.name: one.memories for one in scenarios.list_scenarios(viewer)}


def described(viewer: Any, name: str) -> scenarios.ScenarioCard:
    return next(one for one in scenarios.list_scenarios(viewer) if one.name == name)


def test_counts_and_names_are_those_of_readable_memories(cast, house):
    assert names(cast.mira) == {"hous": 3, "camping": 1}
    assert names(cast.jonas) == {"hous": 2, "camping": 1}
    assert names(cast.ben) == {"hous": 2, "camping": 1, "diary": 1}
    assert names(cast.gus) == names(cast.stranger) == {}
    assert {one.name: one.mine for one in scenarios.list_scenarios(cast.jonas)} == {"hous": 1, "camping": 0}


def test_a_preview_changes_nothing_and_names_exactly_what_would_move(cast, house):
    move = scenarios.merge(cast.mira, ["hous"], "house")
    assert (move.moving, move.staying, move.dry_run) == (2, 1, True)
    assert {one.atom_id for one in move.examples} == {house["key"], house["safe"]}
    assert names(cast.mira) == {"hous": 3, "camping": 1}


def test_a_rename_moves_ones_own_and_leaves_the_others(cast, house):
    before = get_memory(cast.mira, house["key"]).updated_at
    scenarios.merge(cast.mira, ["hous"], "house", dry_run=False)

    assert names(cast.mira) == {"house": 2, "hous": 1, "camping": 1}
    assert get_memory(cast.mira, house["key"]).updated_at > before
    assert [one.atom_id for one in list_memories(cast.mira, q="house").items] != []


def test_a_curator_moves_all_she_may_read_and_nothing_else(cast, house):
    scenarios.merge(cast.cura, ["hous", "camping"], "home", dry_run=False)

    assert get_memory(cast.mira, house["safe"]).scenario == "hous"
    assert names(cast.cura) == {"home": 3}


@pytest.mark.parametrize(
    ("sources", "into"), [([], "x"), (["hous"], ""), (["hous"], "hous"), (["hous"], "a\nb"), ([""], "x")]
)
def test_what_is_no_merge_is_refused(cast, house, sources, into):
    with pytest.raises(Invalid):
        scenarios.merge(cast.mira, sources, into)


def test_a_situation_of_hidden_memories_and_a_missing_one_are_refused_alike(cast, house):
    refusals = set()
    for name in ("diary", "nothing"):
        for viewer in (cast.jonas, cast.cura):
            with pytest.raises(NotFound) as caught:
                scenarios.merge(viewer, [name], "x")
            refusals.add(str(caught.value))
    assert len(refusals) == 1


def test_only_a_curator_says_who_reads_what_is_written_there(cast, house):
    for said in ({"description": "Ours."}, {"default_visibility": "household"}):
        with pytest.raises(NotAllowed):
            scenarios.describe(cast.jonas, "hous", **said)
    scenarios.describe(cast.cura, "hous", description="Our home.")
    scenarios.describe(cast.cura, "hous", default_visibility="household")

    assert (
        remember(cast.jonas, "The meter is in the cellar.", scenario="hous").visibility["scope"]
        == "household"
    )
    assert described(cast.jonas, "hous").description == "Our home."
    scenarios.describe(cast.cura, "hous", default_visibility=None)
    assert remember(cast.jonas, "The fuse box is outside.", scenario="hous").visibility["scope"] == "private"


def test_a_rename_by_a_curator_takes_description_and_default_along(cast, house):
    scenarios.describe(cast.cura, "hous", description="Our home.", default_visibility="private")
    scenarios.merge(cast.cura, ["hous"], "house", dry_run=False)

    card = described(cast.cura, "house")
    assert (card.description, card.default_visibility["scope"]) == ("Our home.", "private")
    assert Scenario.objects.get(name="hous").default_visibility_json
    scenarios.remove(cast.cura, "hous")
    with pytest.raises(NotAllowed):
        scenarios.remove(cast.jonas, "house")


def test_a_merge_hands_no_default_to_a_situation_that_had_none(cast, house):
    scenarios.describe(cast.cura, "hous", default_visibility="household")
    scenarios.merge(cast.cura, ["hous"], "camping", dry_run=False)
    assert described(cast.cura, "camping").default_visibility is None


def test_over_json(cast, house):
    _, plain = Token.objects.issue("mira", ["read", "write"])
    mira = Client(headers={"authorization": f"Bearer {plain}"})
    assert mira.get("/api/scenarios").json()["scenarios"][0] == {
        "name": "hous", "description": "", "default_visibility": None, "memories": 3, "mine": 2,
    }  # fmt: skip
    dry = mira.post(
        "/api/scenarios/merge", {"names": ["hous"], "into": "house"}, content_type="application/json"
    )
    assert (dry.json()["moving"], dry.json()["dry_run"]) == (2, True)
    done = {"names": ["hous"], "into": "house", "dry_run": False}
    assert mira.post("/api/scenarios/merge", done, content_type="application/json").json()["moving"] == 2
    put = {"name": "house", "description": "Ours.", "default_visibility": "household"}
    assert mira.put("/api/scenarios", put, content_type="application/json").status_code == 403
    _, plain = Token.objects.issue("cura", ["read", "curate"])
    cura = Client(headers={"authorization": f"Bearer {plain}"})
    card = cura.put("/api/scenarios", put, content_type="application/json").json()
    assert (card["description"], card["default_visibility"]["scope"]) == ("Ours.", "household")
    assert cura.put("/api/scenarios", put | {"x": 1}, content_type="application/json").status_code == 422


def test_the_page_shows_first_and_moves_then(cast, house):
    mira = signed_in("mira")
    page = mira.get(reverse("scenarios")).content.decode()
    assert "hous" in page
    assert "diary" not in page
    first = mira.post(reverse("merge-scenarios"), {"name": ["hous"], "into": "house"}).content.decode()
    assert "2 memories would move" in first
    assert "1 that you may read is not yours" in first
    mira.post(reverse("merge-scenarios"), {"name": ["hous"], "into": "house", "sure": "1"})
    assert names(cast.mira)["house"] == 2
    said = {"name": "house", "description": "Ours.", "default": "household"}
    assert mira.post(reverse("describe-scenario"), said).status_code == 403
