"""The family's pages through Django's test client: what every page keeps to, asking, and people."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from holders import questions
from holders.accounts import open_account
from holders.models import Holder
from memories import cartridges, store
from memories.browse import get_memory
from memories.errors import NotFound
from memories.remember import remember
from tests.pages import HTMX, PASSWORD, keep, text_of

PAGES = ("inbox", "me", "leave", "scenarios", "visibility", "change-visibility", "cartridges")


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

    @pytest.mark.parametrize("page", PAGES)
    @pytest.mark.parametrize("member", ["mira", "gus", "cura", "stranger"])
    def test_each_opens_for_each(self, cast, browser_of, page, member):
        remember(cast.mira, "The key hangs in the hall.", visibility="household", scenario="house")
        response = browser_of(member).get(reverse(page))
        assert response.status_code == 200
        assert "no-store" in response["Cache-Control"]

    @pytest.mark.parametrize("page", PAGES)
    def test_each_asks_who_one_is(self, cast, page):
        open_account("mira", "mira", PASSWORD)
        response = Client().get(reverse(page))
        assert response.status_code == 302
        assert response.url.startswith(reverse("sign-in"))

    @pytest.mark.parametrize("page", ["inbox", "scenarios", "visibility", "cartridges", "change-visibility"])
    def test_the_number_of_queries_is_flat(self, cast, browser_of, page):
        mira = browser_of("mira")

        def queries() -> int:
            mira.get(reverse(page))
            with CaptureQueriesContext(connection) as seen:
                assert mira.get(reverse(page)).status_code == 200
            return len(seen)

        def more(number: int) -> None:
            remember(cast.mira, f"Fact {number}.", scenario=f"s{number % 3}", visibility="household")
            questions.put_on_board(cast.jonas, f"Question {number}?")
            questions.ask_holder(cast.mira, f"Mine {number}?", "jonas")
            cartridges.make(cast.mira, f"Bundle {number}")

        for number in range(3):
            more(number)
        few = queries()
        for number in range(3, 9):
            more(number)
        assert queries() <= few

    def test_a_script_in_a_name_stays_words(self, cast, browser_of):
        evil = "<img src=x onerror=alert(1)>"
        remember(cast.mira, evil, scenario=evil, visibility="household")
        questions.put_on_board(cast.jonas, evil)
        card = cartridges.make(cast.mira, evil)
        mira = browser_of("mira")
        for address in [
            *map(reverse, PAGES),
            reverse("cartridge", args=[card.cartridge_id]),
            reverse("view-as", args=["jonas"]),
        ]:
            assert "<img src=x" not in text_of(mira.get(address))

    def test_a_retired_holder_s_memories_are_nobody_s(self, cast, browser_of):
        memory = remember(cast.mira, "The diary lies under the bed.", visibility="private")
        Holder.objects.filter(pk="mira").delete()
        with pytest.raises(NotFound):
            get_memory(cast.cura, memory.atom_id)


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
