"""The host's invitation links: once, for one registered person, and a way in."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from holders.auth import viewer_of_account
from holders.registry import set_holder
from tests.command_line import Run, empty_store, run, store  # noqa: F401  (fixtures)
from tests.pages import PASSWORD


@pytest.fixture
def lea(store: Any) -> None:
    set_holder(None, "lea", name="Lea", kind="person")


def test_the_link_makes_her_account_once(lea: None, run: Run) -> None:
    link = run("invite", "lea", "--address", "https://rekal.home.example/").out.strip()
    assert link.startswith("https://rekal.home.example/invitation/")
    path = urlsplit(link).path
    browser = Client()
    made = browser.post(path, {"username": "lea", "password": PASSWORD, "again": PASSWORD})
    assert made.status_code == 302
    page = browser.get("/people/")
    assert page.status_code == 200
    assert viewer_of_account(page.wsgi_request.user).holder_id == "lea"  # type: ignore[union-attr]
    assert Client().get(path).status_code == 404


def test_a_second_link_ends_the_first(lea: None, run: Run) -> None:
    first = run("invite", "lea", "--json").json["link"]
    second = run("invite", "lea", "--json").json["link"]
    assert Client().get(urlsplit(first).path).status_code == 404
    assert Client().get(urlsplit(second).path).status_code == 200


@pytest.mark.parametrize("who", ["nobody", "bot"])
def test_only_registered_people_are_invited(lea: None, run: Run, who: str) -> None:
    set_holder(None, "bot", name="Bot", kind="agent")
    ran = run("invite", who)
    assert ran.code == 1
    assert not ran.out


def test_who_has_an_account_needs_no_link(lea: None, run: Run) -> None:
    link = run("invite", "lea").out.strip()
    Client().post(urlsplit(link).path, {"username": "lea", "password": PASSWORD, "again": PASSWORD})
    assert run("invite", "lea").code == 1


@pytest.mark.parametrize(("groups", "status"), [(["adults", "curators"], 200), (["adults"], 403)])
def test_an_invited_curator_comes_into_the_admin(
    store: Any, run: Run, groups: list[str], status: int
) -> None:
    set_holder(None, "ruth", name="Ruth", kind="person", groups=groups)
    browser = Client()
    path = urlsplit(run("invite", "ruth").out.strip()).path
    browser.post(path, {"username": "ruth", "password": PASSWORD, "again": PASSWORD})
    assert browser.get("/admin/", follow=True).status_code == status
