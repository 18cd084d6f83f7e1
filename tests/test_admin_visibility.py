"""The curators' admin: who comes in, and that nothing in it tells of what she may not read."""

import re

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from memories.models import Atom
from tests.curators import ATOMS, SECRET, curators, enter, hidden, submit  # noqa: F401
from tests.pages import keep, text_of


@pytest.mark.parametrize("holder_id", ["mira", "gus", "bot", None])
@pytest.mark.parametrize("superuser", [False, True])
def test_staff_and_superusers_who_are_no_curators_stay_outside(enter, cast, holder_id, superuser):
    keep(cast.mira, SECRET)
    browser = enter(holder_id, superuser=superuser)
    for address in ("/admin/", ATOMS, "/admin/holders/holder/", "/admin/memories/cacheevent/"):
        reply = browser.get(address, follow=True)
        assert reply.status_code == 403
        assert "sapphire" not in text_of(reply)


def test_a_curator_without_a_staff_account_stays_outside(enter):
    assert enter("cura", staff=False).get("/admin/", follow=True).status_code == 403


def test_who_is_not_signed_in_goes_to_the_one_door(client, db):
    reply = client.get(ATOMS, follow=True)
    assert reply.redirect_chain[-1][0].startswith(reverse("sign-in"))


def test_accounts_sessions_and_second_factors_are_not_kept_here(cast):
    assert {model._meta.app_label for model in admin.site._registry} == {"memories", "holders"}


@pytest.mark.parametrize(
    "address", ["/admin/password_change/", "/admin/r/1/1/", "/admin/auth/user/", "/admin/nothing/"]
)
def test_ways_around_the_door_do_not_exist(curators, address):
    assert curators.get(address).status_code == 404


def test_no_list_form_or_filter_tells_of_what_she_may_not_read(curators, hidden, cast):
    memory, other, *_ = hidden
    addresses = [
        "/admin/", ATOMS, f"{ATOMS}?q=sapphire", f"{ATOMS}?tag=hidden-tag", f"{ATOMS}?happened=1987",
        f"{ATOMS}?scenario=x", f"{ATOMS}{other.atom_id}/change/", f"{ATOMS}{other.atom_id}/history/",
        f"{ATOMS}{other.atom_id}/delete/", "/admin/memories/source/", "/admin/memories/cartridge/",
        "/admin/memories/evidenceedge/", "/admin/memories/scenario/", "/admin/holders/holder/",
        "/admin/holders/question/", "/admin/memories/cacheevent/", "/admin/holders/token/",
    ]  # fmt: skip
    for address in addresses:
        reply = curators.get(address)
        assert reply.status_code == 200, address
        for word in (
            "sewing",
            memory.atom_id,
            "hidden-holder",
            "hidden-scenario",
            "hidden-file",
            "hidden-cartridge",
        ):
            assert word not in text_of(reply), (address, word)
        if "tag=" not in address:
            assert "hidden-tag" not in text_of(reply)
        if "happened" not in address:
            assert "1987" not in text_of(reply)


def test_an_unreadable_id_and_a_missing_one_answer_alike(curators, hidden):
    memory, _other, source, cartridge = hidden

    def answer(address: str) -> tuple[int, str]:
        reply = curators.get(address)
        return reply.status_code, re.sub(r"\w{64}", "", text_of(reply).replace(address, ""))

    for page in ("change", "history", "delete"):
        assert answer(f"{ATOMS}{memory.atom_id}/{page}/") == answer(f"{ATOMS}{'f' * 16}/{page}/")
        assert answer(f"{ATOMS}{memory.atom_id}/{page}/")[0] == 404
    for kind, one in (("source", source), ("cartridge", cartridge)):
        gone = answer(f"/admin/memories/{kind}/nothing/change/")
        assert answer(f"/admin/memories/{kind}/{one.pk}/change/") == gone
        assert gone[0] == 404


@pytest.mark.parametrize(
    "look",
    [
        "source_ref__path__startswith=hidden",
        "cartridges__name__startswith=h",
        "text__contains=sapphire",
        "pk__gt=0",
    ],
)
def test_no_look_up_of_ones_own_making_works(curators, hidden, look):
    assert curators.get(f"{ATOMS}?{look}").status_code in (302, 400)


def test_the_cartridge_list_cannot_be_asked_about_its_members(curators, hidden):
    assert curators.get("/admin/memories/cartridge/?atoms__text__contains=sapphire").status_code in (302, 400)


def test_row_numbers_are_nowhere(curators, cast):
    keep(cast.mira, "The ladder hangs in the shed.")
    Atom.objects.update(id=987_654)
    page = text_of(curators.get(ATOMS))
    assert "ladder" in page
    assert "987654" not in page


def test_whom_a_memory_leaves_out_is_its_holders_to_know(curators, cast):
    memory = keep(
        cast.mira, "The telescope is in the attic.", visibility={"scope": "household", "deny": ["ben"]}
    )
    page = text_of(curators.get(f"{ATOMS}{memory.atom_id}/change/"))
    assert 'name="denied"' not in page
    assert "Everyone at home but" not in text_of(curators.get(ATOMS))


def test_the_log_of_changes_holds_no_word_of_a_memory(curators, cast):
    memory = keep(cast.cura, "The ladder hangs in the shed.")
    submit(curators, f"{ATOMS}{memory.atom_id}/change/", text="The ladder stands in the garage.")
    curators.post(f"{ATOMS}{memory.atom_id}/delete/")
    written = repr(list(LogEntry.objects.values()))
    assert memory.atom_id in written
    assert "ladder" not in written
