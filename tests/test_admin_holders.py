"""The curators' admin of who: the directory and tokens."""

import re

import pytest

from holders.models import Holder, Token
from memories.models import Atom
from memories.remember import remember
from tests.curators import HOLDERS, SECRET, curators, enter, form_of, submit  # noqa: F401
from tests.pages import keep, text_of


def test_contact_and_topics_are_fields(curators, cast):
    reply = submit(
        curators, f"{HOLDERS}lea/change/", topics="horses\nchess", phone="+49 30 99", other="school = room 12",
        groups="kids, choir",
    )  # fmt: skip
    assert reply.status_code == 302
    lea = Holder.objects.get(pk="lea")
    assert (lea.topics, lea.groups) == (["horses", "chess"], ["choir", "kids"])
    assert lea.contact == {"phone": "+49 30 99", "email": "lea@example.org", "school": "room 12"}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"other": "no sign"}, "one way a line"),
        ({"chat": "javascript:alert(1)"}, "not a script"),
        ({"rekal_url": "ftp://x"}, "http://"),
        ({"groups": "kids, curators"}, "command line"),
        ({"groups": "people"}, "follows from the kind"),
        ({"kind": "ghost"}, "ghost"),
    ],
)
def test_a_record_that_will_not_do_is_refused_in_a_sentence(curators, cast, changes, sentence):
    before = Holder.objects.values().get(pk="lea")
    reply = submit(curators, f"{HOLDERS}lea/change/", **changes)
    assert reply.status_code == 422
    assert sentence in text_of(reply)
    assert Holder.objects.values().get(pk="lea") == before


def test_a_holder_of_memories_whom_nobody_registered_is_one_click_away(curators, cast):
    remember(cast.mira, "Grandma takes half a pill.", holder_id="grandma", visibility="household")
    assert "grandma" in text_of(curators.get(HOLDERS))
    curators.post(f"{HOLDERS}register/", {"holder_id": "grandma", "kind": "person"})
    assert Holder.objects.filter(pk="grandma").exists()
    assert curators.post(f"{HOLDERS}register/", {"holder_id": "nobody-knows-her"}).status_code == 404


def test_counts_are_of_what_this_curator_may_read(curators, cast):
    keep(cast.mira, "The key is blue.")
    remember(cast.mira, SECRET, visibility="private")
    assert re.search(r'holder=mira">1<', text_of(curators.get(HOLDERS)))


def test_a_holder_shows_the_account_that_signs_in(curators):
    assert "user-of-cura" in text_of(curators.get(f"{HOLDERS}cura/change/"))


def test_a_holder_is_taken_out_and_the_memories_stay(curators, cast):
    keep(cast.jonas, "The key is blue.")
    page = text_of(curators.get(f"{HOLDERS}jonas/delete/"))
    assert "The key is blue." not in page
    assert curators.post(f"{HOLDERS}jonas/delete/", {"post": "yes"}).status_code == 302
    assert not Holder.objects.filter(pk="jonas").exists()
    assert Atom.objects.get().holder_id == "jonas"
    assert curators.post(f"{HOLDERS}cura/delete/", {"post": "yes"}).status_code == 403


def test_a_token_is_shown_once_and_revoked_here(curators, cast):
    reply = submit(
        curators, "/admin/holders/token/add/", holder_id="bot", scopes=["read"], days="30", label="bridge"
    )
    plain = re.search(r"rekal_[\w-]{40,}", text_of(reply))[0]
    listed = text_of(curators.get("/admin/holders/token/"))
    assert "bridge" in listed
    assert plain not in listed
    row = Token.objects.get()
    assert row.scopes == {"read"}
    curators.post(f"/admin/holders/token/{row.pk}/delete/")
    assert Token.objects.get().revoked_at
    assert "bridge" not in text_of(curators.get("/admin/holders/token/"))


def test_no_token_is_made_for_another_person(curators, cast):
    data = form_of(curators, "/admin/holders/token/add/") | {"holder_id": "mira", "scopes": ["read"]}
    assert curators.post("/admin/holders/token/add/", data).status_code == 422
    assert not Token.objects.exists()


def test_another_persons_tokens_are_not_there(curators, cast):
    row, _plain = Token.objects.issue("mira", ["read"], label="mira's own")
    assert "mira&#x27;s own" not in text_of(curators.get("/admin/holders/token/"))
    assert curators.post(f"/admin/holders/token/{row.pk}/delete/").status_code == 404
    assert Token.objects.get().revoked_at is None
