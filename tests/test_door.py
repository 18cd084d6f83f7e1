"""The door: signing in and out, the first run, invitations."""

import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from holders.accounts import open_account
from holders.first_run import first_run_code
from holders.invites import invite
from holders.models import SignIn
from memories import store
from tests.pages import PASSWORD, keep, text_of


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
