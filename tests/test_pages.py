"""The family's pages through Django's test client: what each shows, to whom, and what it refuses."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from holders.accounts import open_account
from holders.first_run import first_run_code
from holders.invites import invite
from holders.models import Holder, SignIn
from memories import store, timestamps
from memories.browse import get_memory, list_memories
from memories.errors import NotFound
from memories.models import Atom, EvidenceEdge
from memories.remember import edit, remember

PASSWORD = "four ordinary brown words"
HTMX = {"HTTP_HX_REQUEST": "true"}


def text_of(response: Any) -> str:
    return response.content.decode()


def keep(viewer: Any, text: str, **given: Any) -> Any:
    return remember(viewer, text, **{"visibility": "household", **given})


class TestTheDoor:
    """Signing in, out, the first run and invitations."""

    @pytest.mark.parametrize(
        "path", ["/", "/remember/", "/memories/", "/memories/abc/", "/people/", "/people/mira/"]
    )
    def test_every_page_asks_who_one_is(self, cast: Any, path: str) -> None:
        open_account("mira", "mira", PASSWORD)
        response = Client().get(path)
        assert response.status_code == 302
        assert response.url.startswith(reverse("sign-in"))

    def test_right_and_wrong_names_are_refused_alike(self, cast: Any) -> None:
        open_account("mira", "mira", PASSWORD)
        known = Client().post(reverse("sign-in"), {"login": "mira", "password": "wrong wrong wrong"})
        unknown = Client().post(reverse("sign-in"), {"login": "nobody", "password": "wrong wrong wrong"})
        refusal = re.search(r'class="field-error"[^>]*>([^<]+)', text_of(known))
        assert refusal
        assert refusal.group(1) in text_of(unknown)
        assert known.status_code == unknown.status_code

    def test_guessing_one_account_is_slowed_down_even_with_the_right_password(self, cast: Any) -> None:
        open_account("mira", "mira", PASSWORD)
        for _ in range(5):
            Client().post(reverse("sign-in"), {"login": "mira", "password": "wrong wrong wrong"})
        response = Client().post(reverse("sign-in"), {"login": "mira", "password": PASSWORD})
        assert response.status_code == 200
        assert "_auth_user_id" not in response.client.session

    def test_nobody_signs_up_by_herself(self, cast: Any) -> None:
        page = Client().get(reverse("account_signup"))
        Client().post(
            reverse("account_signup"), {"username": "eve", "password1": PASSWORD, "password2": PASSWORD}
        )
        assert "invitation" in text_of(page)
        assert not get_user_model().objects.filter(username="eve").exists()

    def test_an_account_linked_to_nobody_reads_nothing(self, cast: Any) -> None:
        keep(cast.mira, "The spare key hangs behind the boiler.")
        stray = Client()
        stray.force_login(get_user_model().objects.create_user("stray"))
        open_account("mira", "mira", PASSWORD)
        response = stray.get("/")
        assert response.status_code == 403
        assert "not linked" in text_of(response)

    def test_signing_out_everywhere_ends_the_other_browsers_too(self, cast: Any) -> None:
        open_account("mira", "mira", PASSWORD)
        here, there = Client(), Client()
        for browser in (here, there):
            browser.post(reverse("sign-in"), {"login": "mira", "password": PASSWORD})
            assert browser.get("/").status_code == 200
        here.post(reverse("sign-out-everywhere"))
        assert here.get("/").status_code == 302
        assert there.get("/").status_code == 302

    def test_the_admin_has_the_same_door(self, cast: Any) -> None:
        response = Client().get("/admin/login/")
        assert response.status_code == 302
        assert "sign-in" in response.url

    def test_the_first_run_takes_the_printed_code_and_ends_on_the_ask_page(self, db: None) -> None:
        browser = Client()
        code = first_run_code()
        assert browser.get("/").url == reverse("first-run")
        page = reverse("first-run")
        assert browser.post(page, {"code": "AAAA-AAAA"}).status_code == 422
        assert browser.post(page, {"code": code.lower().replace("-", " ")}).status_code == 302
        household = {"name": "Mill Lane", "time_zone": "Asia/Shanghai", "default_visibility": "household"}
        assert browser.post(page, household).status_code == 302
        you = {"name": "Mum", "username": "mira", "password": PASSWORD, "again": PASSWORD}
        assert browser.post(page, you).status_code == 302
        others = browser.post(page, {"name": "Opa", "holder_id": "opa", "kind": "person"})
        link = re.search(r'value="http://testserver(/invitation/[^"]+)"', text_of(others))
        assert browser.post(page, {"done": "1"}).url == "/"
        assert "What would you like to know?" in text_of(browser.get("/"))
        assert str(store.zone()) == "Asia/Shanghai"
        assert link
        opa = Client()
        opa.post(link.group(1), {"username": "opa", "password": PASSWORD, "again": PASSWORD})
        assert "What would you like to know?" in text_of(opa.get("/"))

    def test_no_code_opens_the_first_run_once_there_is_an_account(self, cast: Any) -> None:
        code = first_run_code()
        open_account("mira", "mira", PASSWORD)
        assert first_run_code() is None
        response = Client().post(reverse("first-run"), {"code": code})
        assert response.status_code == 302
        assert response.url == "/"

    def test_guessing_the_code_stops_after_ten_tries(self, db: None) -> None:
        code = first_run_code()
        for _ in range(10):
            Client().post(reverse("first-run"), {"code": "AAAAAAAA"})
        assert Client().post(reverse("first-run"), {"code": code}).status_code == 422

    def test_an_invitation_works_once(self, cast: Any) -> None:
        link = reverse("invitation", args=[invite("jonas")])
        given = {"username": "jonas", "password": PASSWORD, "again": PASSWORD}
        assert Client().post(link, given).status_code == 302
        assert SignIn.objects.get(holder_id="jonas").user.username == "jonas"
        assert Client().get(link).status_code == 404
        assert Client().get(reverse("invitation", args=["made-up"])).status_code == 404

    def test_a_weak_password_is_told_at_its_field(self, cast: Any) -> None:
        link = reverse("invitation", args=[invite("jonas")])
        response = Client().post(link, {"username": "jonas", "password": "short", "again": "short"})
        assert response.status_code == 422
        assert "10 characters" in text_of(response)


class TestEveryPage:
    """Headers, and what one person's page keeps from another."""

    def test_no_cache_keeps_it_and_nothing_foreign_loads(self, cast: Any, browser_of: Any) -> None:
        response = browser_of("mira").get("/memories/")
        assert "no-store" in response.headers["Cache-Control"]
        assert "default-src 'self'" in response.headers["Content-Security-Policy"]
        assert "HX-Request" in response.headers["Vary"]
        assert "http://" not in text_of(response).replace("http://testserver", "").replace(
            "http://www.w3.org", ""
        )

    @pytest.mark.parametrize(
        "path", ["/", "/remember/", "/memories/", "/people/", "/people/mira/", "/people/jonas/"]
    )
    def test_no_inline_script_or_style(self, cast: Any, browser_of: Any, path: str) -> None:
        html = text_of(browser_of("mira").get(path))
        assert not re.search(r"<script(?![^>]*src=)(?![^>]*application/json)", html)
        assert "<style" not in html
        assert " style=" not in html
        assert not re.search(r"\son\w+=", html)

    def test_markup_in_a_memory_stays_text(self, cast: Any, browser_of: Any) -> None:
        keep(
            cast.mira, "<img src=x onerror=alert(1)> [tap](javascript:alert(1))", tags=["<b>"], scenario="<i>"
        )
        html = text_of(browser_of("jonas").get("/memories/"))
        assert "<img src=x" not in html
        assert "&lt;img src=x" in html
        assert 'href="javascript' not in html

    def test_the_number_of_queries_does_not_grow_with_the_memories(
        self, cast: Any, browser_of: Any, django_assert_max_num_queries: Any
    ) -> None:
        from django.db import connection
        from django.test.utils import CaptureQueriesContext

        browser = browser_of("mira")
        keep(cast.jonas, "Number 0 of the things in the cellar.", tags=["t0"])
        browser.get("/memories/")
        with CaptureQueriesContext(connection) as few:
            browser.get("/memories/")
        for number in range(1, 12):
            keep(cast.jonas, f"Number {number} of the things in the cellar.", tags=[f"t{number}"])
        with django_assert_max_num_queries(len(few)):
            browser.get("/memories/")

    def test_the_theme_and_the_language_stay_with_the_person(self, cast: Any, browser_of: Any) -> None:
        browser = browser_of("mira")
        browser.post(reverse("look"), {"theme": "dark", "back": "/people/"})
        browser.post(reverse("look"), {"language": "zh-hans", "back": "https://evil.example/"})
        html = text_of(browser_of("mira").get("/people/"))
        assert 'data-theme="dark"' in html
        assert 'lang="zh-hans"' in html
        assert browser.post(reverse("look"), {"back": "https://evil.example/"}).url == "/"


class TestAsk:
    """The home page's three ends."""

    def test_an_answer_shows_whose_it_is_and_why(self, cast: Any, browser_of: Any) -> None:
        keep(cast.mira, "The spare key hangs behind the boiler in the cellar.")
        html = text_of(browser_of("jonas").get("/", {"q": "Where is the spare key?"}))
        assert 'class="outcome answered"' in html
        assert "behind the boiler" in html
        assert "Mira" in html
        assert "Why?" in html

    def test_a_referral_offers_ways_to_reach_with_the_question_in_them(
        self, cast: Any, browser_of: Any
    ) -> None:
        keep(cast.mira, "The safe opens with the birthday of our cat Milo.", visibility="private")
        html = text_of(browser_of("jonas").get("/", {"q": "How does the safe open?"}))
        assert 'class="outcome referred"' in html
        assert "birthday" not in html
        assert 'href="tel:+49305550100"' in html
        assert "mailto:mira@example.org?subject=" in html
        assert "How%20does%20the%20safe%20open" in html

    def test_nobody_knows_is_an_end_of_its_own(self, cast: Any, browser_of: Any) -> None:
        keep(cast.mira, "The spare key hangs behind the boiler.")
        html = text_of(browser_of("jonas").get("/", {"q": "Which moons does Jupiter have?"}))
        assert 'class="outcome nobody"' in html

    def test_htmx_gets_the_part_and_history_the_page(self, cast: Any, browser_of: Any) -> None:
        browser = browser_of("jonas")
        part = text_of(browser.get("/", {"q": "key"}, **HTMX))
        whole = text_of(browser.get("/", {"q": "key"}, **HTMX, HTTP_HX_HISTORY_RESTORE_REQUEST="true"))
        assert "<!doctype" not in part
        assert "<!doctype" in whole

    def test_my_recent_questions_are_mine(self, cast: Any, browser_of: Any) -> None:
        browser = browser_of("jonas")
        browser.get("/", {"q": "When is the dentist?"})
        assert "When is the dentist?" in text_of(browser.get("/"))
        assert "When is the dentist?" not in text_of(browser_of("mira").get("/"))
        browser.post(reverse("clear-recent"))
        assert "When is the dentist?" not in text_of(browser.get("/"))

    @pytest.mark.parametrize(
        "question", ["O'Hara", '"--child-lock"', "(" * 300, "NOT key", "-4*", "🗝️", "50%"]
    )
    def test_no_question_breaks_the_page(self, cast: Any, browser_of: Any, question: str) -> None:
        assert browser_of("mira").get("/", {"q": question}).status_code == 200

    def test_a_question_with_nul_is_refused_with_a_sentence(self, cast: Any, browser_of: Any) -> None:
        response = browser_of("mira").get("/", {"q": "ke\0y"})
        assert response.status_code in {200, 422}


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


class TestPeople:
    """The directory."""

    def test_topics_and_ways_to_reach_are_shown(self, cast: Any, browser_of: Any) -> None:
        Holder.objects.filter(pk="mira").update(knows_about_json='["the boiler"]')
        html = text_of(browser_of("jonas").get("/people/"))
        assert "the boiler" in html
        assert 'href="tel:+49305550100"' in html

    def test_a_guest_sees_no_ways_to_reach(self, cast: Any, browser_of: Any) -> None:
        html = text_of(browser_of("gus").get("/people/mira/"))
        assert "tel:" not in html
        assert "mira@example.org" not in html

    def test_somebody_known_only_through_hidden_memories_is_nobody(self, cast: Any, browser_of: Any) -> None:
        keep(cast.mira, "Uncle Tom owes us money.", holder_id="uncle-tom", visibility="private")
        assert "uncle-tom" in text_of(browser_of("mira").get("/people/"))
        assert "uncle-tom" not in text_of(browser_of("jonas").get("/people/"))
        assert browser_of("jonas").get("/people/uncle-tom/").status_code == 404

    def test_one_changes_ones_own_record_and_nobody_elses(self, cast: Any, browser_of: Any) -> None:
        given = {
            "name": "Papa",
            "knows_about": "the car、 money",
            "phone": "+49 30 1",
            "other": "room: attic",
        }
        browser = browser_of("jonas")
        assert browser.post("/people/jonas/", given).status_code == 302
        holder = Holder.objects.get(pk="jonas")
        assert holder.topics == ["the car", "money"]
        assert holder.contact == {"phone": "+49 30 1", "room": "attic"}
        browser.post("/people/mira/", {"name": "Nobody"})
        assert Holder.objects.get(pk="mira").name == "Mira"

    def test_a_contact_that_would_run_code_is_refused(self, cast: Any, browser_of: Any) -> None:
        response = browser_of("jonas").post(
            "/people/jonas/", {"name": "J", "other": "chat: javascript:alert(1)"}
        )
        assert response.status_code == 422
        assert Holder.objects.get(pk="jonas").contact["phone"]

    def test_topics_shown_by_memories_can_be_taken_on_or_hidden(self, cast: Any, browser_of: Any) -> None:
        keep(cast.jonas, "The car needs oil.", tags=["car", "oil"])
        browser = browser_of("jonas")
        assert "oil (1)" in text_of(browser_of("mira").get("/people/jonas/"))
        browser.post("/people/topic/", {"topic": "oil", "say": "hide"})
        browser.post("/people/topic/", {"topic": "car", "say": "ask-me"})
        html = text_of(browser_of("mira").get("/people/jonas/"))
        assert "oil (1)" not in html
        assert Holder.objects.get(pk="jonas").topics == ["car"]

    def test_a_curator_registers_in_one_tap_and_others_cannot(self, cast: Any, browser_of: Any) -> None:
        keep(cast.mira, "Uncle Tom has a ladder.", holder_id="uncle-tom")
        assert browser_of("jonas").post("/people/uncle-tom/register/").status_code == 403
        browser_of("cura").post("/people/uncle-tom/register/")
        assert Holder.objects.filter(pk="uncle-tom").exists()


class TestOnAPhone:
    """What makes it installable; none of it holds anything anybody wrote."""

    def test_the_manifest_carries_the_households_name(self, cast: Any) -> None:
        store.set_setting("household_name", "Mill Lane")
        manifest = Client().get("/manifest.webmanifest").json()
        assert manifest["name"] == "Mill Lane"
        assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}

    def test_the_worker_keeps_the_offline_page_and_no_other(self, cast: Any) -> None:
        worker = text_of(Client().get("/service-worker.js"))
        kept = re.search(r"KEPT = \[(.*?)\]", worker).group(1)
        assert all(path.startswith(('"/offline/', '"/static/')) for path in kept.split(", "))
        assert "out of reach" in text_of(Client().get("/offline/"))
