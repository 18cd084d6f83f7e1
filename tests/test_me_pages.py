"""The page about oneself, and leaving."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from holders import questions
from holders.accounts import open_account
from holders.invites import invite, invited
from holders.models import Holder, Preference, Question, SignIn, Token, Webhook
from memories import cartridges, timestamps
from memories.models import Atom, Cartridge
from memories.remember import remember
from tests.pages import PASSWORD, text_of


class TestMe:
    def test_everybody_changes_her_own_record_and_how_the_pages_look(self, cast, browser_of):
        mira = browser_of("mira")
        about = {
            "name": "Mum",
            "knows_about": "the boiler, school",
            "phone": "+49 30 1",
            "other": "room: upstairs",
        }
        assert mira.post(reverse("me-about"), about).status_code == 302
        holder = Holder.objects.get(pk="mira")
        assert (holder.name, holder.topics) == ("Mum", ["the boiler", "school"])
        assert holder.contact == {"room": "upstairs", "phone": "+49 30 1"}
        assert mira.post(reverse("me-about"), {"other": "no colon here"}).status_code == 422
        looks = {"language": "zh-hans", "time_zone": "Asia/Shanghai", "theme": "dark"}
        assert mira.post(reverse("me-looks"), looks).status_code == 302
        kept = Preference.objects.get(pk="mira")
        assert (kept.language, kept.time_zone, kept.theme) == ("zh-hans", "Asia/Shanghai", "dark")
        assert 'data-theme="dark"' in text_of(mira.get(reverse("me")))
        assert mira.post(reverse("me-looks"), {"time_zone": "Mars/Olympus"}).status_code == 422

    def test_a_key_is_shown_once_works_and_can_be_ended(self, cast, browser_of):
        mira = browser_of("mira")
        made = mira.post(
            reverse("me-token"), {"who": "for:bot", "scopes": ["read"], "days": "30", "label": "Tablet"}
        )
        plain = re.search(r'value="(rekal_[^"]+)"', text_of(made)).group(1)
        token = Token.objects.get()
        assert (token.holder_id, token.acting_for, token.label) == ("bot", "mira", "Tablet")
        assert plain not in text_of(mira.get(reverse("me")))
        agent = Client(headers={"authorization": f"Bearer {plain}"})
        assert agent.get("/api/me").json()["acting_for"] == "mira"
        assert browser_of("jonas").post(reverse("me-token-end", args=[token.pk])).status_code == 404
        assert mira.post(reverse("me-token-end", args=[token.pk])).status_code == 302
        assert agent.get("/api/me").status_code == 401

    @pytest.mark.parametrize(
        "form",
        [
            {"who": "for:jonas"},
            {"who": "as:bot"},
            {"who": "me", "scopes": ["curate"]},
            {"who": "me", "scopes": []},
        ],
    )
    def test_a_key_that_is_not_hers_to_make_is_refused(self, cast, browser_of, form):
        sent = {"scopes": ["read"], "days": "30"} | form
        assert browser_of("mira").post(reverse("me-token"), sent).status_code == 422
        assert not Token.objects.exists()

    def test_a_copy_holds_all_that_is_mine_and_nothing_else(self, cast, browser_of):
        remember(cast.mira, "The safe is behind the picture.", visibility="private")
        remember(cast.jonas, "The bin goes out on Monday.", visibility="household")
        sent = browser_of("mira").get(reverse("me-copy"))
        lines = [json.loads(line) for line in b"".join(sent.streaming_content).splitlines()]
        assert [one["text"] for one in lines] == ["The safe is behind the picture."]

    def test_it_reminds_of_what_runs_out(self, cast, browser_of):
        soon = timestamps.to_text(datetime.now(UTC) + timedelta(days=3))
        remember(cast.mira, "The voucher is good until Friday.", valid_to=soon, visibility="private")
        for page in ("me", "inbox"):
            assert "voucher" in text_of(browser_of("mira").get(reverse(page)))
            assert "voucher" not in text_of(browser_of("jonas").get(reverse(page)))


class TestLeaving:
    @pytest.fixture
    def mira(self, cast: Any) -> Client:
        """Mira with an account, two memories, a question, a bundle, a key and a webhook."""
        open_account("mira", "mira", PASSWORD)
        remember(cast.mira, "The kiwi cake needs six eggs.", visibility="household")
        remember(cast.mira, "The diary lies under the bed.", visibility="private")
        remember(cast.jonas, "The bin goes out on Monday.", visibility="household")
        questions.ask_holder(cast.mira, "Who has the ladder?", "jonas")
        cartridges.make(cast.mira, "Mine")
        Token.objects.issue("mira", ["read"])
        Webhook.objects.create(holder_id="mira", url="https://example.org", secret="x")
        client = Client()
        assert client.post(reverse("sign-in"), {"login": "mira", "password": PASSWORD}).status_code == 302
        return client

    def leave(self, browser: Client, memories: str, **more: str) -> Any:
        return browser.post(
            reverse("leave"), {"memories": memories, "password": PASSWORD, "sure": "on"} | more
        )

    def test_all_is_forgotten(self, cast, mira):
        left = self.leave(mira, "forget")
        assert "Your account is gone" in text_of(left)
        assert [one.text for one in Atom.objects.all()] == ["The bin goes out on Monday."]
        assert not Question.objects.exists()
        assert questions.inbox(cast.jonas) == questions.Inbox()

    def test_or_kept_so_that_nobody_reads_it(self, cast, mira):
        self.leave(mira, "unread")
        assert Atom.objects.filter(holder_id="mira").count() == 3
        for other in ("jonas", "cura", "lea", "bot"):
            assert not Atom.objects.visible_to(cast.viewer(other)).filter(holder_id="mira").exists()
            assert not Atom.objects.hinting_to(cast.viewer(other)).filter(holder_id="mira").exists()

    def test_or_what_was_shared_stays_shared(self, cast, mira):
        self.leave(mira, "shared")
        readable = Atom.objects.visible_to(cast.jonas).filter(holder_id="mira", text__contains="kiwi")
        assert readable.exists()
        assert not Atom.objects.visible_to(cast.jonas).filter(text__contains="diary").exists()

    @pytest.mark.parametrize("memories", ["forget", "unread", "shared"])
    def test_the_account_and_all_that_opens_a_door_is_gone(self, cast, mira, memories):
        again = invite("ben")
        self.leave(mira, memories)
        assert mira.get("/").status_code == 302
        assert not get_user_model().objects.filter(username="mira").exists()
        assert not SignIn.objects.exists()
        assert not Token.objects.exists()
        assert not Webhook.objects.exists()
        assert not Cartridge.objects.exists()
        assert not Holder.objects.filter(pk="mira").exists()
        assert invited(again) == "ben"
        refused = Client().post(reverse("sign-in"), {"login": "mira", "password": PASSWORD})
        assert refused.status_code == 200

    def test_it_asks_for_the_password_and_whether_one_is_sure(self, cast, mira):
        assert self.leave(mira, "forget", password="wrong").status_code == 422
        assert mira.post(reverse("leave"), {"memories": "forget", "password": PASSWORD}).status_code == 422
        assert self.leave(mira, "everything").status_code == 422
        assert Atom.objects.filter(holder_id="mira").count() == 3

    def test_guessing_the_password_there_is_slowed_down(self, cast, mira):
        for _ in range(5):
            self.leave(mira, "forget", password="wrong")
        assert self.leave(mira, "forget").status_code == 429
        assert SignIn.objects.filter(holder_id="mira").exists()
