"""The pages of memories: writing one down, looking through them, everything about one."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from holders.accounts import open_account
from memories import store, timestamps
from memories.browse import get_memory, list_memories
from memories.errors import NotFound
from memories.models import Atom, EvidenceEdge
from memories.remember import edit, remember
from tests.pages import HTMX, PASSWORD, keep, text_of


class TestRemember:
    """Writing something down."""

    def test_one_box_is_enough(self, cast: Any, browser_of: Any) -> None:
        response = browser_of("mira").post("/remember/", {"text": "Bins go out on Tuesday."})
        saved = Atom.objects.get()
        assert response.url == f"/remember/?saved={saved.atom_id}"
        assert (saved.text, saved.holder_id, saved.audience) == ("Bins go out on Tuesday.", "mira", "private")

    def test_a_date_picked_far_west_of_greenwich_stays_that_date(self, cast: Any, browser_of: Any) -> None:
        store.set_setting("time_zone", "America/Los_Angeles")
        browser = browser_of("mira")
        browser.post("/remember/", {"text": "Lea’s recital.", "on": "2026-07-19", "readers": "household"})
        saved = Atom.objects.get()
        assert saved.event_time[:10] == "2026-07-19"
        assert saved.event_time_precision == "day"
        store.set_setting("time_zone", "Pacific/Auckland")
        assert "July 19, 2026" in text_of(browser.get(f"/memories/{saved.atom_id}/"))

    def test_a_time_is_in_the_readers_zone(self, cast: Any, browser_of: Any) -> None:
        store.set_setting("time_zone", "Asia/Shanghai")
        browser_of("mira").post("/remember/", {"text": "Call Grandma.", "on": "2026-07-19", "at": "23:30"})
        assert Atom.objects.get().event_time == "2026-07-19T15:30:00.000+00:00"

    def test_a_last_day_is_included(self, cast: Any, browser_of: Any) -> None:
        store.set_setting("time_zone", "Europe/Berlin")
        browser = browser_of("mira")
        browser.post("/remember/", {"text": "The parking permit is valid.", "true_until": "2026-12-31"})
        saved = Atom.objects.get()
        assert saved.valid_to == "2026-12-31T23:00:00.000+00:00"
        assert "Dec. 31, 2026" in text_of(browser.get(f"/memories/{saved.atom_id}/"))

    def test_readers_are_chosen_one_by_one(self, cast: Any, browser_of: Any) -> None:
        browser_of("mira").post(
            "/remember/",
            {
                "text": "The present is in the cellar.", "readers": "holders", "hidden": "on",
                "named": ["holder:jonas", "group:kids"], "denied": ["ben"],
            },
        )  # fmt: skip
        memory = list_memories(cast.mira).items[0]
        assert memory.visibility == {
            "scope": "holders", "holders": ["jonas"], "groups": ["kids"], "deny": ["ben"], "discoverable": False,
        }  # fmt: skip

    def test_a_refusal_is_told_at_its_field_and_loses_nothing(self, cast: Any, browser_of: Any) -> None:
        given = {"text": "The fair.", "on": "2026-07-19", "until": "2026-07-01", "tags": "fun, summer"}
        response = browser_of("mira").post("/remember/", given)
        html = text_of(response)
        assert response.status_code == 422
        assert "ends before it begins" in html
        assert "The fair." in html
        assert "fun, summer" in html

    def test_similar_ones_are_offered_for_replacing(self, cast: Any, browser_of: Any) -> None:
        old = keep(cast.mira, "The wifi password is bluewhale.", scenario="house")
        browser = browser_of("mira")
        hints = text_of(
            browser.post("/remember/suggestions/", {"text": "The wifi password is greenwhale."}, **HTMX)
        )
        assert old.atom_id in hints
        assert "house" in hints
        browser.post("/remember/", {"text": "The wifi password is greenwhale.", "replaces": [old.atom_id]})
        assert Atom.objects.get(atom_id=old.atom_id).valid_to is not None

    def test_hints_never_show_what_one_may_not_read(self, cast: Any, browser_of: Any) -> None:
        keep(cast.mira, "The wifi password is bluewhale.", visibility="private", scenario="secrets")
        hints = text_of(
            browser_of("jonas").post("/remember/suggestions/", {"text": "The wifi password is"}, **HTMX)
        )
        assert "bluewhale" not in hints
        assert "secrets" not in hints

    def test_a_form_survives_an_expired_session(self, cast: Any) -> None:
        open_account("mira", "mira", PASSWORD)
        browser = Client()
        browser.post(reverse("sign-in"), {"login": "mira", "password": PASSWORD})
        owner = re.search(r'name="form_owner" value="([^"]+)"', text_of(browser.get("/remember/")))
        browser.cookies.pop("sessionid")
        sent = {
            "text": "Half a thought about plums.",
            "form_owner": owner.group(1),
            "form_page": "/remember/",
        }
        door = browser.post("/remember/", sent, follow=True)
        assert "is kept" in text_of(door)
        response = browser.post(
            reverse("sign-in"), {"login": "mira", "password": PASSWORD, "next": "/remember/"}, follow=True
        )
        assert "Half a thought about plums." in text_of(response)
        assert "plums" not in text_of(browser.get("/remember/"))

    def test_a_kept_form_is_not_shown_to_the_next_person(self, cast: Any) -> None:
        open_account("mira", "mira", PASSWORD)
        open_account("jonas", "jonas", PASSWORD)
        browser = Client()
        browser.post(reverse("sign-in"), {"login": "mira", "password": PASSWORD})
        owner = re.search(r'name="form_owner" value="([^"]+)"', text_of(browser.get("/remember/")))
        browser.cookies.pop("sessionid")
        browser.post("/remember/", {"text": "My plums.", "form_owner": owner.group(1)})
        response = browser.post(
            reverse("sign-in"), {"login": "jonas", "password": PASSWORD, "next": "/remember/"}, follow=True
        )
        assert "plums" not in text_of(response)


class TestBrowse:
    """Looking through what one may read."""

    def test_only_what_one_may_read_is_listed_or_counted(self, cast: Any, browser_of: Any) -> None:
        keep(cast.mira, "The tax number is DE123999.", visibility="private", scenario="money", tags=["tax"])
        for query in ({}, {"q": "DE12"}, {"scenario": "money"}, {"tag": "tax"}, {"holder": "mira"}):
            html = text_of(browser_of("jonas").get("/memories/", query))
            assert "DE123999" not in html
            assert "(1)" not in html

    def test_it_pages_without_a_script(self, cast: Any, browser_of: Any) -> None:
        for number in range(45):
            keep(cast.mira, f"Shelf {number} holds jam of the year {2000 + number}.")
        browser, seen, address = browser_of("jonas"), [], "/memories/"
        while address:
            html = text_of(browser.get(address))
            seen += re.findall(r"Shelf (\d+) holds", re.sub(r'aria-label="[^"]*"', "", html))
            following = re.search(
                r'<a role="button" class="secondary outline" href="(/memories/\?[^"]+)"', html
            )
            address = following.group(1).replace("&amp;", "&") if following else ""
        assert sorted(map(int, seen)) == list(range(45))

    def test_states_are_told_apart(self, cast: Any, browser_of: Any) -> None:
        soon = timestamps.to_text(timestamps.from_text(timestamps.now()) + timedelta(days=3))
        keep(cast.mira, "The milk keeps.", valid_to=soon)
        old = keep(cast.mira, "Ben is vegetarian.")
        remember(cast.mira, "Ben eats fish.", replaces=[old.atom_id])
        browser = browser_of("mira")
        shown = {
            state: text_of(browser.get("/memories/", {"state": state}))
            for state in ("current", "past", "ending")
        }
        assert "Ben eats fish." in shown["current"]
        assert "Ben is vegetarian." not in shown["current"]
        assert "Ben is vegetarian." in shown["past"]
        assert "The milk keeps." in shown["ending"]
        assert "Ben eats fish." not in shown["ending"]

    def test_bulk_actions_touch_only_what_is_mine(self, cast: Any, browser_of: Any) -> None:
        mine = keep(cast.jonas, "The bike has 28 inch wheels.")
        hers = keep(cast.mira, "The car has winter tyres.")
        hidden = keep(cast.mira, "My diary is blue.", visibility="private")
        browser = browser_of("jonas")
        ids = [mine.atom_id, hers.atom_id, hidden.atom_id]
        response = browser.post(
            "/memories/change/", {"atom": ids, "action": "tag", "value": "wheels"}, follow=True
        )
        assert get_memory(cast.jonas, mine.atom_id).tags == ("wheels",)
        assert get_memory(cast.mira, hers.atom_id).tags == ()
        assert get_memory(cast.mira, hidden.atom_id).tags == ()
        assert "1 memory changed" in text_of(response)

    def test_forgetting_many_asks_first(self, cast: Any, browser_of: Any) -> None:
        mine, hers = keep(cast.jonas, "The bike is red."), keep(cast.mira, "The car is blue.")
        browser = browser_of("jonas")
        given = {"atom": [mine.atom_id, hers.atom_id], "action": "forget"}
        asked = text_of(browser.post("/memories/change/", given))
        assert "The bike is red." in asked
        assert "The car is blue." not in asked
        browser.post("/memories/change/", {**given, "sure": "1"})
        assert [one.text for one in list_memories(cast.mira).items] == ["The car is blue."]


class TestMemory:
    """The page of a single memory."""

    def test_a_missing_and_an_unreadable_one_look_the_same(self, cast: Any, browser_of: Any) -> None:
        hidden = keep(cast.mira, "My diary is blue.", visibility="private")
        browser = browser_of("jonas")
        there, nowhere = (
            browser.get(f"/memories/{hidden.atom_id}/"),
            browser.get("/memories/0000000000000000/"),
        )
        assert there.status_code == nowhere.status_code == 404
        without_address = [
            re.sub(r'value="[^"]*"|X-CSRFToken": "[^"]*"', "", text_of(one)) for one in (there, nowhere)
        ]
        assert without_address[0] == without_address[1]

    def test_it_shows_its_history_and_what_speaks_against_it(self, cast: Any, browser_of: Any) -> None:
        old = keep(cast.mira, "Ben is vegetarian.")
        new = remember(cast.mira, "Ben eats fish since May.", replaces=[old.atom_id])
        other = keep(cast.jonas, "Ben ate ham yesterday.")
        secret = keep(cast.jonas, "Ben secretly eats sausages.", visibility="private")
        for one in (other, secret):
            EvidenceEdge.objects.create(
                from_atom_id=one.atom_id, to_atom_id=new.atom_id, relation="contradicts"
            )
        html = text_of(browser_of("mira").get(f"/memories/{new.atom_id}/"))
        assert "Ben is vegetarian." in html
        assert "Ben ate ham yesterday." in html
        assert "sausages" not in html

    def test_an_edit_keeps_what_nobody_touched(self, cast: Any, browser_of: Any) -> None:
        memory = keep(
            cast.mira, "The plumber came.", event_time="2026-05-01T14:33:21+00:00", tags=["a,b"],
            valid_to="2099-05-01T10:20:30+00:00",
        )  # fmt: skip
        browser = browser_of("mira")
        form = text_of(browser.get(f"/memories/{memory.atom_id}/"))
        seen = re.search(r'name="seen" value="([^"]+)"', form).group(1)
        given = {"text": "The plumber came at last.", "scenario": "house", "seen": seen, "tags": "a,b",
                 "on": "2026-05-01", "at": "16:33", "exact": "day", "true_until": "2099-05-01",
                 "readers": "household"}  # fmt: skip
        with_zone = {**given, "true_from": ""}
        assert browser.post(f"/memories/{memory.atom_id}/edit/", with_zone).status_code == 302
        after = get_memory(cast.mira, memory.atom_id)
        assert (after.text, after.scenario) == ("The plumber came at last.", "house")
        assert after.tags == ("a,b",)
        assert after.valid_to == "2099-05-01T10:20:30.000+00:00"

    def test_two_people_editing_at_once_are_told(self, cast: Any, browser_of: Any) -> None:
        memory = keep(cast.mira, "The plumber came.")
        edit(cast.mira, memory.atom_id, tags=["plumbing"])
        given = {"text": "The plumber never came.", "seen": memory.updated_at}
        response = browser_of("mira").post(f"/memories/{memory.atom_id}/edit/", given)
        assert response.status_code == 422
        assert "meanwhile" in text_of(response)
        assert "The plumber never came." in text_of(response)
        assert get_memory(cast.mira, memory.atom_id).text == "The plumber came."

    @pytest.mark.parametrize("page", ["edit", "share", "forget", "confirm"])
    def test_what_is_not_mine_stays_as_it_is(self, cast: Any, browser_of: Any, page: str) -> None:
        memory = keep(cast.mira, "The car is blue.")
        given = {"text": "The car is red.", "readers": "private"}
        response = browser_of("jonas").post(f"/memories/{memory.atom_id}/{page}/", given)
        assert response.status_code in {403, 422}
        assert get_memory(cast.mira, memory.atom_id) == memory

    def test_forgetting_is_at_once_and_can_be_undone_from_the_page(self, cast: Any, browser_of: Any) -> None:
        old = keep(cast.mira, "The key hangs in the hall.")
        memory = remember(cast.mira, "The key lies in the drawer.", replaces=[old.atom_id], tags=["key"])
        browser = browser_of("mira")
        page = text_of(browser.post(f"/memories/{memory.atom_id}/forget/"))
        with pytest.raises(NotFound):
            get_memory(cast.mira, memory.atom_id)
        copy = re.search(r'name="copy" value="([^"]+)"', page).group(1)
        assert browser_of("jonas").post("/memories/undo/", {"copy": copy}).status_code == 422
        assert not Atom.objects.filter(atom_id=memory.atom_id).exists()
        browser.post("/memories/undo/", {"copy": copy})
        back = get_memory(cast.mira, memory.atom_id)
        assert back == memory
        assert "drawer" in text_of(browser.get("/memories/", {"q": "drawer"}))
        assert browser.post("/memories/undo/", {"copy": copy}).status_code == 409

    def test_nothing_of_it_stays_in_the_store_or_the_session(self, cast: Any, browser_of: Any) -> None:
        memory = keep(cast.mira, "Zanzibarquux is the word.")
        browser = browser_of("mira")
        browser.post(f"/memories/{memory.atom_id}/forget/")
        assert "Zanzibarquux" not in str(dict(browser.session))
        assert not Atom.objects.filter(text__contains="Zanzibarquux").exists()

    def test_undo_ends_after_a_minute(
        self, cast: Any, browser_of: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import time

        memory = keep(cast.mira, "The key lies in the drawer.")
        browser = browser_of("mira")
        page = text_of(browser.post(f"/memories/{memory.atom_id}/forget/"))
        copy = re.search(r'name="copy" value="([^"]+)"', page).group(1)
        later = time.time() + 90
        monkeypatch.setattr("django.core.signing.time.time", lambda: later)
        response = browser.post("/memories/undo/", {"copy": copy})
        monkeypatch.undo()
        assert response.status_code == 422
        assert not Atom.objects.exists()
