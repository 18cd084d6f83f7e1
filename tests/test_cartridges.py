"""Bundles: made by picking, seen by whom they are shared with, mounted by each for herself; and evidence edges."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from holders.ask import ask
from holders.models import SignIn, Token
from memories import cartridges, edges
from memories.errors import Invalid, NotAllowed, NotFound
from memories.evidence import evidence
from memories.forget import forget
from memories.models import Mount
from memories.recall import recall
from memories.remember import remember
from memories.visibility import Viewer


@pytest.fixture
def kept(cast: Any) -> dict[str, str]:
    return {
        word: remember(cast.viewer(holder), text, visibility=visibility, scenario="home").atom_id
        for word, holder, text, visibility in (
            ("bed", "mira", "Lea goes to bed at eight.", "household"),
            (
                "milk",
                "mira",
                "The milk stands in the door of the fridge.",
                {"scope": "holders", "holders": ["gus"]},
            ),
            ("safe", "mira", "The safe opens with our wedding day.", "private"),
            ("saw", "jonas", "The saw hangs in the shed.", "household"),
            ("note", "jonas", "Jonas is nervous about Monday.", "private"),
        )
    }


def api(holder_id: str) -> Client:
    _, plain = Token.objects.issue(holder_id, ["read", "write", "ask"])
    return Client(headers={"authorization": f"Bearer {plain}"})


def browser(holder_id: str) -> Client:
    user = get_user_model().objects.create_user(holder_id)
    SignIn.objects.create(user=user, holder_id=holder_id)
    client = Client()
    client.force_login(user)
    return client


class TestBundles:
    def test_it_is_made_of_what_its_maker_may_read_and_nothing_else(self, cast, kept):
        card = cartridges.make(cast.mira, "Babysitter", [*kept.values(), "f" * 16])
        inside = {one.atom_id for one in cartridges.members(cast.mira, card.cartridge_id)}
        assert inside == {kept[word] for word in ("bed", "milk", "safe", "saw")}
        assert card.memories == 4

    def test_it_shows_to_its_owner_and_to_whom_it_is_shared_with(self, cast, kept):
        card = cartridges.make(cast.mira, "Babysitter", [kept["bed"], kept["milk"], kept["safe"]])
        cartridges.change(cast.mira, card.cartridge_id, shared_with=["holder:gus", "group:kids"])

        seen = {one: [card.memories for card in cartridges.list_cartridges(cast.viewer(one))]
                for one in ("mira", "gus", "lea", "jonas", "ben", "cura", "bot", "boiler", "stranger")}  # fmt: skip
        assert seen == {
            "mira": [3], "gus": [1], "lea": [1], "jonas": [], "ben": [], "cura": [], "bot": [], "boiler": [], "stranger": [],
        }  # fmt: skip
        assert cartridges.get_cartridge(cast.gus, card.cartridge_id).shared_with == ()

    def test_one_that_is_not_shared_and_a_missing_one_are_refused_alike(self, cast, kept):
        card = cartridges.make(cast.mira, "Babysitter", [kept["bed"]])
        refusals = set()
        for cartridge_id in (card.cartridge_id, "f" * 16):
            for verb in (
                cartridges.get_cartridge,
                cartridges.members,
                cartridges.mount,
                cartridges.remove,
                cartridges.change,
            ):
                with pytest.raises(NotFound) as caught:
                    verb(cast.jonas, cartridge_id)
                refusals.add(str(caught.value))
        assert len(refusals) == 1
        assert recall(cast.jonas, "When does Lea go to bed?", cartridge=card.cartridge_id).hits == ()

    def test_only_its_owner_changes_it_or_takes_it_apart(self, cast, kept):
        card = cartridges.make(cast.mira, "Babysitter", [kept["bed"]])
        cartridges.change(cast.mira, card.cartridge_id, shared_with=["holder:gus"])
        with pytest.raises(NotAllowed):
            cartridges.change(cast.gus, card.cartridge_id, name="Mine")
        with pytest.raises(NotAllowed):
            cartridges.remove(cast.gus, card.cartridge_id)
        changed = cartridges.change(
            cast.mira, card.cartridge_id, name="Sitter", add=[kept["safe"]], remove=[kept["bed"]]
        )
        assert (changed.name, changed.memories) == ("Sitter", 1)
        cartridges.remove(cast.mira, card.cartridge_id)
        assert cartridges.list_cartridges(cast.mira) == []
        assert recall(cast.mira, "How does the safe open?").hits

    @pytest.mark.parametrize("readers", [["gus"], ["holder:"], ["everybody:gus"], ["holder:\x00"]])
    def test_it_is_shared_with_holders_and_groups_by_name(self, cast, kept, readers):
        card = cartridges.make(cast.mira, "Babysitter")
        with pytest.raises(Invalid):
            cartridges.change(cast.mira, card.cartridge_id, shared_with=readers)
        with pytest.raises(Invalid):
            cartridges.make(cast.mira, "  ")

    def test_a_mount_narrows_its_mounters_questions_alone(self, cast, kept):
        card = cartridges.make(cast.mira, "Babysitter", [kept["bed"]])
        cartridges.mount(cast.mira, card.cartridge_id)

        assert recall(cast.mira, "Where does the saw hang?").hits[:1] == recall(cast.mira, "Where does the saw hang?",
                                                                               cartridge=card.cartridge_id).hits[:1]  # fmt: skip
        assert {hit.memory.atom_id for hit in recall(cast.jonas, "Where does the saw hang?").hits} >= {
            kept["saw"]
        }
        assert ask(cast.mira, "Where does the saw hang?").hops_used > 0
        cartridges.unmount(cast.mira, card.cartridge_id)
        assert ask(cast.mira, "Where does the saw hang?").hops_used == 0

    def test_who_loses_sight_of_it_has_it_no_longer_mounted(self, cast, kept):
        card = cartridges.make(cast.mira, "Babysitter", [kept["bed"]])
        cartridges.change(cast.mira, card.cartridge_id, shared_with=["holder:gus", "group:kids"])
        for viewer in (cast.gus, cast.lea, cast.mira):
            cartridges.mount(viewer, card.cartridge_id)
        cartridges.change(cast.mira, card.cartridge_id, shared_with=["group:kids"])
        scoped = {
            one.holder_id for one in (cast.gus, cast.lea, cast.mira) if cartridges.mounted_by(one).exists()
        }
        assert scoped == {"mira", "lea"}
        assert Mount.objects.filter(holder_id="gus").exists()

    def test_what_is_forgotten_leaves_its_bundles(self, cast, kept):
        card = cartridges.make(cast.mira, "Babysitter", [kept["bed"], kept["safe"]])
        forget(cast.mira, kept["bed"])
        assert cartridges.get_cartridge(cast.mira, card.cartridge_id).memories == 1

    def test_an_agent_acting_for_somebody_sees_the_bundles_both_may_see(self, cast, kept):
        card = cartridges.make(cast.mira, "Babysitter", [kept["bed"], kept["safe"]])
        acting = Viewer("bot", "agent", frozenset({"agents"}), acting_for=cast.mira)
        assert cartridges.list_cartridges(acting) == []
        cartridges.change(cast.mira, card.cartridge_id, shared_with=["holder:bot"])
        assert [one.memories for one in cartridges.list_cartridges(acting)] == [1]
        with pytest.raises(NotAllowed):
            cartridges.make(acting, "Mine")

    def test_over_json(self, cast, kept):
        mira, gus = api("mira"), api("gus")
        made = mira.post(
            "/api/cartridges",
            {"name": "Babysitter", "atom_ids": [kept["milk"]]},
            content_type="application/json",
        )
        assert made.status_code == 201
        path = f"/api/cartridges/{made.json()['cartridge_id']}"
        assert (
            gus.get(path).status_code
            == gus.post(f"{path}/mount", content_type="application/json").status_code
            == 404
        )
        mira.patch(path, {"shared_with": ["holder:gus"]}, content_type="application/json")
        assert gus.get("/api/cartridges").json()["cartridges"][0]["name"] == "Babysitter"
        assert gus.post(f"{path}/mount", content_type="application/json").json()["mounted"] is True
        assert gus.delete(f"{path}/mount").status_code == 204
        assert gus.delete(path).status_code == 403
        assert mira.delete(path).status_code == 204

    def test_on_the_pages(self, cast, kept):
        mira = browser("mira")
        page = mira.post(reverse("make-cartridge"), {"name": "Babysitter"}).url
        picking = mira.get(page, {"q": "bed"}).content.decode()
        assert "Lea goes to bed" in picking
        assert "nervous" not in mira.get(page).content.decode()
        mira.post(f"{page}change/", {"action": "add", "atom": [kept["bed"], kept["safe"], kept["note"]]})
        mira.post(f"{page}change/", {"action": "share", "named": ["holder:gus"]})
        shared = mira.get(page).content.decode()
        assert "can read 0 of 2" in shared
        assert f"atom={kept['safe']}" in shared
        mira.post(f"{page}mount/", {"on": "1"})
        assert "Looking only in" in mira.get("/").content.decode()
        gus = browser("gus").get(page).content.decode()
        assert "Babysitter" in gus
        assert "Lea goes to bed" not in gus
        assert browser("jonas").get(page).status_code == 404
        assert mira.post(f"{page}remove/").status_code == 302

    def test_a_file_goes_out_for_somebody_and_comes_in_for_me_alone(self, cast, kept):
        pytest.importorskip("pyarrow")
        from django.core.files.uploadedfile import SimpleUploadedFile

        mira, jonas = browser("mira"), browser("jonas")
        page = mira.post(
            reverse("make-cartridge"), {"name": "Babysitter", "atom": [kept["bed"], kept["safe"]]}
        ).url
        first = mira.get(f"{page}file/", {"audience": "household"}).content.decode()
        assert "would hold 1 memory" in first
        assert "The safe opens" not in first
        sent = mira.post(f"{page}file/", {"audience": "household", "passphrase": ""})
        content = b"".join(sent.streaming_content)
        brought = jonas.post(reverse("import-cartridge"), {"file": SimpleUploadedFile("b.rekal", content)})
        assert brought.status_code == 302
        assert jonas.get(brought.url).status_code == 200
        broken = jonas.post(reverse("import-cartridge"), {"file": SimpleUploadedFile("b.rekal", b"nothing")})
        assert broken.status_code == 422


class TestEdges:
    def test_an_edge_goes_from_mine_to_one_i_may_read_and_shows_to_who_reads_both(self, cast, kept):
        edges.link(cast.mira, kept["milk"], kept["saw"], "supports", confidence=0.5)
        assert edges.list_edges(cast.gus) == edges.list_edges(cast.jonas) == []
        assert [one.confidence for one in edges.list_edges(cast.mira, atom_id=kept["saw"])] == [0.5]
        assert [one.relation for one in evidence(cast.mira, kept["saw"])] == ["supports"]
        with pytest.raises(NotAllowed):
            edges.link(cast.jonas, kept["bed"], kept["saw"], "cites")
        for hidden in (kept["note"], "f" * 16):
            with pytest.raises(NotFound):
                edges.link(cast.mira, kept["bed"], hidden, "cites")
            with pytest.raises(NotFound):
                edges.list_edges(cast.mira, atom_id=hidden)

    @pytest.mark.parametrize("relation", ["answers", "supersedes", "likes"])
    def test_what_verbs_say_nobody_claims(self, cast, kept, relation):
        with pytest.raises(Invalid):
            edges.link(cast.mira, kept["bed"], kept["saw"], relation)
        with pytest.raises(Invalid):
            edges.link(cast.mira, kept["bed"], kept["bed"], "cites")

    def test_over_json(self, cast, kept):
        mira = api("mira")
        edge = {"from_atom_id": kept["bed"], "to_atom_id": kept["saw"], "relation": "contradicts"}
        assert mira.post("/api/edges", edge, content_type="application/json").status_code == 201
        assert (
            mira.post("/api/edges", edge | {"confidence": 0.2}, content_type="application/json").status_code
            == 201
        )
        assert mira.get("/api/edges").json() == {"edges": [edge | {"confidence": 0.2}]}
        assert (
            mira.delete("/api/edges", QUERY_STRING="&".join(f"{k}={v}" for k, v in edge.items())).status_code
            == 204
        )
        assert mira.get("/api/edges?relation=likes").status_code == 422
