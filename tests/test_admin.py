"""The curators' admin through a browser: who comes in, what it shows, what it changes, and that it shows no more."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from holders.models import Holder, SignIn, Token
from memories import timestamps
from memories.browse import get_memory, list_memories
from memories.embedding import cache
from memories.models import (
    Atom,
    AuditEntry,
    CacheEvent,
    Cartridge,
    CartridgeAtom,
    EvidenceEdge,
    Mount,
    Scenario,
    Source,
)
from memories.recall import recall
from memories.remember import remember

ATOMS = "/admin/memories/atom/"
SECRET = "The sapphire ring lies in the sewing box."


@pytest.fixture
def enter(cast: Any) -> Callable[..., Client]:
    """A browser with a staff account that signs in as a holder of the cast."""

    def sign_in(holder_id: str | None, *, staff: bool = True, superuser: bool = False) -> Client:
        user = get_user_model().objects.create_user(
            f"user-of-{holder_id}", is_staff=staff, is_superuser=superuser
        )
        if holder_id:
            SignIn.objects.create(user=user, holder_id=holder_id)
        browser = Client()
        browser.force_login(user)
        return browser

    return sign_in


@pytest.fixture
def curators(enter: Any) -> Client:
    return enter("cura")


def keep(viewer: Any, text: str, **given: Any) -> Any:
    return remember(viewer, text, **{"visibility": "household", **given})


def text_of(response: Any) -> str:
    return response.content.decode()


def form_of(browser: Client, address: str) -> dict[str, str]:
    """What the form on a page would send untouched."""
    form = browser.get(address).context["adminform"].form
    data = {}
    for name in form.fields:
        value = form[name].value()
        if value not in (None, False):
            data[name] = value.isoformat() if hasattr(value, "isoformat") else value
    return data


def submit(browser: Client, address: str, **changes: Any) -> Any:
    return browser.post(address, form_of(browser, address) | changes)


# The door.


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


# Only what this curator may read.


@pytest.fixture
def hidden(cast: Any) -> Any:
    """A private memory of Mira's in a scenario, with a tag, an edge and a cartridge of its own; nobody else reads it."""
    memory = remember(
        cast.mira, SECRET, scenario="hidden-scenario", tags=["hidden-tag"], visibility="private",
        holder_id="hidden-holder", event_time="1987-03-02", source="hidden.pdf",
    )  # fmt: skip
    other = keep(cast.mira, "The ladder hangs in the shed.")
    EvidenceEdge.objects.create(from_atom_id=memory.atom_id, to_atom_id=other.atom_id, relation="supports")
    EvidenceEdge.objects.create(from_atom_id=other.atom_id, to_atom_id=memory.atom_id, relation="supersedes")
    source = Source.objects.create(
        path="hidden-file.pdf", kind="pdf", mime="application/pdf", sha256="0" * 64, size_bytes=1
    )
    Atom.objects.filter(atom_id=memory.atom_id).update(source_ref=source)
    cartridge = Cartridge.objects.create(name="hidden-cartridge", owner_id="mira")
    CartridgeAtom.objects.create(cartridge=cartridge, atom_id=memory.atom_id)
    return memory, other, source, cartridge


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


# Memories: the list.


def test_the_list_shows_what_matters(curators, cast):
    keep(
        cast.mira,
        "The marmalade recipe\n is in the red   cookbook.",
        scenario="kitchen",
        event_time="2026-07-19",
    )
    page = text_of(curators.get(ATOMS))
    for words in (
        "The marmalade recipe is in the red cookbook.",
        "Mira",
        "kitchen",
        "Everyone at home",
        "self",
        "July 19, 2026",
    ):
        assert words in page


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("state=current", {"current", "expiring"}),
        ("state=closed", {"closed"}),
        ("state=expiring", {"expiring"}),
        ("state=lapsed", {"lapsed"}),
        ("scenario=kitchen", {"current"}),
        ("holder=cura", {"expiring"}),
        ("origin=artifact", {"closed"}),
        ("readers=private", {"expiring"}),
        ("readers=household", {"current", "closed", "lapsed"}),
        ("tag=red+box", {"current"}),
        ("tag=red", set()),
        ("tag=%F0%9F%8D%93", {"closed"}),
        ("modality=code", {"lapsed"}),
        ("happened=2026", {"current", "closed"}),
        ("happened=2026-07", {"current"}),
        ("happened=2026-07-19", {"current"}),
        ("happened=20__", set()),
        ("q=kept+words", {"current", "closed", "expiring", "lapsed"}),
        ("q=closed", {"closed"}),
        ("o=2", {"current", "closed", "expiring", "lapsed"}),
    ],
)
def test_filters_and_search(curators, cast, given, wanted):
    soon = timestamps.to_text(timestamps.from_text(timestamps.now()) + timedelta(days=5))
    keep(cast.mira, "kept words current", scenario="kitchen", tags=["red box"], event_time="2026-07-19")
    keep(
        cast.mira, "kept words closed", valid_from="2020-01-01", valid_to="2021-01-01", source="manual.pdf",
        tags=["🍓"], event_time="2026-08-01",
    )  # fmt: skip
    keep(cast.cura, "kept words expiring", valid_to=soon, visibility="private")
    keep(cast.mira, "kept words lapsed", retention_until="2021-01-01", modality="code")
    page = text_of(curators.get(f"{ATOMS}?{given}"))
    shown = {word for word in ("current", "closed", "expiring", "lapsed") if f"kept words {word}" in page}
    assert shown == wanted


def test_what_has_lapsed_opens_for_who_clears_it_away(curators, cast):
    lapsed = keep(cast.mira, "kept words lapsed", retention_until="2021-01-01")
    for page in ("change", "delete", "history"):
        assert curators.get(f"{ATOMS}{lapsed.atom_id}/{page}/").status_code == 200


def test_filters_by_source_file_and_cartridge(curators, cast):
    one, two = keep(cast.cura, "Drawn from the manual."), keep(cast.cura, "Drawn from nothing.")
    source = Source.objects.create(
        path="manual.pdf", kind="pdf", mime="application/pdf", sha256="1" * 64, size_bytes=1
    )
    Atom.objects.filter(atom_id=one.atom_id).update(source_ref=source)
    cartridge = Cartridge.objects.create(name="Boiler", owner_id="cura")
    CartridgeAtom.objects.create(cartridge=cartridge, atom_id=two.atom_id)
    page = text_of(curators.get(f"{ATOMS}?source_file={source.pk}"))
    assert ("Drawn from the manual." in page, "Drawn from nothing." in page) == (True, False)
    page = text_of(curators.get(f"{ATOMS}?cartridge={cartridge.pk}"))
    assert ("Drawn from the manual." in page, "Drawn from nothing." in page) == (False, True)


def test_time_is_drilled_into_by_year_month_and_day(curators, cast):
    for day in ("2024-02-29", "2026-07-19", "2026-07-20", "2026-08-01"):
        keep(cast.mira, f"It was on {day}.", event_time=day)
    for start, finer in (
        ("", ["2026", "2024"]),
        ("2026", ["2026-08", "2026-07"]),
        ("2026-07", ["2026-07-20", "2026-07-19"]),
    ):
        page = text_of(curators.get(f"{ATOMS}?happened={start}" if start else ATOMS))
        dates = dict.fromkeys(re.findall(r'href="\?happened=([\d-]+)"', page))
        assert [date for date in dates if len(date) > len(start)] == finer


def test_pages_are_leafed_without_counting(curators, cast, monkeypatch):
    from memories.admin.atoms import AtomAdmin

    monkeypatch.setattr(AtomAdmin, "list_per_page", 2)
    for number in range(5):
        keep(cast.mira, f"Fact number {number}.")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        first = text_of(curators.get(ATOMS))
    assert not [one for one in queries if "COUNT(" in one["sql"].upper() and "atoms" in one["sql"]]
    assert ("Fact number 4." in first, "Fact number 2." in first, 'rel="next"' in first) == (
        True,
        False,
        True,
    )
    last = text_of(curators.get(f"{ATOMS}?p=3"))
    assert ("Fact number 0." in last, 'rel="next"' in last, 'rel="prev"' in last) == (True, False, True)
    assert curators.get(f"{ATOMS}?p=51").status_code == 302


def test_the_list_asks_the_store_as_often_for_a_hundred_rows_as_for_one(curators, cast):
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert curators.get(ATOMS).status_code == 200
        return len(asked)

    keep(cast.mira, "Fact number 0.", tags=["a"], scenario="s", event_time="2026-01-01")
    queries()
    alone = queries()
    for number in range(1, 100):
        keep(cast.mira, f"Fact number {number}.", tags=["a"], scenario="s", event_time="2026-01-01")
    assert queries() == alone


# Memories: the forms.


def test_an_edit_is_found_by_its_new_words_and_not_by_the_old(curators, cast):
    memory = keep(cast.cura, "The ladder hangs in the shed.")
    reply = submit(curators, f"{ATOMS}{memory.atom_id}/change/", text="A violin lesson costs forty euros.")
    assert reply.status_code == 302
    assert [one.atom_id for one in list_memories(cast.cura, q="violin").items] == [memory.atom_id]
    assert not list_memories(cast.cura, q="ladder").items
    best = recall(cast.cura, "What does music tuition cost?").hits[0].memory
    assert (best.atom_id, best.text) == (memory.atom_id, "A violin lesson costs forty euros.")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT embedding FROM atom_vec WHERE atom_pk = %s", [Atom.objects.get(atom_id=memory.atom_id).pk]
        )
        stored = cursor.fetchone()[0]
    assert stored == cache.embed_passages(["A violin lesson costs forty euros."]).vectors[0].tobytes()


def test_a_change_elsewhere_leaves_text_and_vector_alone(curators, cast):
    memory = keep(cast.mira, "The ladder hangs in the shed.")
    submit(
        curators, f"{ATOMS}{memory.atom_id}/change/", tags="tools, shed", scenario="garden", on="2026-05-01"
    )
    after = get_memory(cast.mira, memory.atom_id)
    assert (after.tags, after.scenario, after.event_time) == (
        ("tools", "shed"),
        "garden",
        "2026-05-01T00:00:00.000+00:00",
    )
    assert after.supersedes == ()


def test_an_untouched_form_changes_nothing_but_the_stamp(curators, cast):
    memory = keep(
        cast.cura, "  kept as it is ", tags=["a", "b"], event_time="2026-07-19T18:30", valid_from="2026-01-01",
        visibility={"scope": "holders", "holders": ["mira"], "groups": ["kids"], "deny": ["ben"], "discoverable": False},
    )  # fmt: skip
    assert submit(curators, f"{ATOMS}{memory.atom_id}/change/").status_code == 302
    after = get_memory(cast.cura, memory.atom_id)
    same = [name for name in type(after).__slots__ if name != "updated_at"]
    assert [getattr(after, name) for name in same] == [getattr(memory, name) for name in same]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"text": "   "}, "Write something first."),
        ({"text": "nul \0 inside"}, "ull"),
        ({"on": "2026-02-31"}, "valid date"),
        ({"on": "2026-02-02", "until": "2026-02-01"}, "The event ends before it begins."),
        ({"until": "2026-02-01"}, "Say which day as well."),
        ({"true_from": "2026-02-02", "true_until": "2026-01-01"}, "stops being true before it begins"),
        ({"scenario": "x" * 201}, "at most 200 characters"),
        ({"scenario": "two\x07bells"}, "without control characters"),
        ({"tags": ",".join(f"t{n}" for n in range(51))}, "at most 50"),
        ({"readers": "holders", "named": "mira"}, "Write holder:ID or group:NAME"),
        ({"readers": "everybody"}, "everybody"),
        ({"exact": "century", "on": "2026-01-01"}, "century"),
    ],
)
def test_what_the_store_would_refuse_is_a_sentence_at_the_form(curators, cast, changes, sentence):
    memory = keep(cast.cura, "The ladder hangs in the shed.")
    for address in (f"{ATOMS}{memory.atom_id}/change/", f"{ATOMS}add/"):
        reply = submit(curators, address, **{"text": "The ladder hangs.", **changes})
        assert reply.status_code == 422
        assert sentence in text_of(reply)
    assert get_memory(cast.cura, memory.atom_id) == memory
    assert Atom.objects.count() == 1


def test_each_field_explains_itself(curators, cast):
    form = curators.get(f"{ATOMS}add/").context["adminform"].form
    assert [name for name, field in form.fields.items() if not field.help_text and name != "seen"] == []


def test_who_was_faster_is_not_overwritten(curators, cast):
    memory = keep(cast.cura, "The ladder hangs in the shed.")
    old = form_of(curators, f"{ATOMS}{memory.atom_id}/change/")
    submit(curators, f"{ATOMS}{memory.atom_id}/change/", scenario="garden")
    reply = curators.post(f"{ATOMS}{memory.atom_id}/change/", old | {"scenario": "attic"})
    assert reply.status_code == 422
    assert "meanwhile" in text_of(reply)


def test_a_curator_narrows_somebody_elses_memory_and_never_widens_it(curators, cast):
    memory = keep(cast.mira, "The telescope is hidden.", visibility={"scope": "household", "deny": ["ben"]})
    address = f"{ATOMS}{memory.atom_id}/change/"
    assert submit(curators, address, readers="household").status_code == 422
    assert submit(curators, address, readers="private").status_code == 302
    after = get_memory(cast.mira, memory.atom_id).visibility
    assert (after["scope"], after["deny"]) == ("private", ["ben"])
    assert curators.get(address).status_code == 404


def test_writing_one_down_for_somebody_else(curators, cast):
    reply = submit(
        curators,
        f"{ATOMS}add/",
        text="Jonas parks behind the church.",
        holder_id="jonas",
        readers="household",
    )
    assert reply.status_code == 302
    stored = list_memories(cast.jonas, q="church").items[0]
    assert (stored.holder_id, stored.recorded_by, stored.origin) == ("jonas", "cura", "third_party")


def test_forgetting_asks_first_and_lists_nothing_else(curators, cast):
    mine, hers = keep(cast.cura, "The ladder hangs in the shed."), keep(cast.mira, "The key is blue.")
    page = text_of(curators.get(f"{ATOMS}{mine.atom_id}/delete/"))
    assert "The ladder hangs in the shed." in page
    assert curators.post(f"{ATOMS}{mine.atom_id}/delete/").status_code == 302
    assert not Atom.objects.filter(atom_id=mine.atom_id).exists()
    curators.post(f"{ATOMS}{hers.atom_id}/delete/")
    assert Atom.objects.filter(atom_id=hers.atom_id).exists()


def test_history_shows_wordings_and_who_changed_them(curators, cast):
    memory = keep(cast.cura, "The ladder hangs in the shed.")
    submit(curators, f"{ATOMS}{memory.atom_id}/change/", text="The ladder stands in the garage.")
    page = text_of(curators.get(f"{ATOMS}{memory.atom_id}/history/"))
    for words in (
        "The ladder hangs in the shed.",
        "The ladder stands in the garage.",
        "user-of-cura",
        "Changed",
    ):
        assert words in page


# Many at once.


def tick(browser: Client, action: str, *memories: Any, **given: Any) -> Any:
    data = {"action": action, "_selected_action": [one.atom_id for one in memories], **given}
    return browser.post(ATOMS if not given else f"{ATOMS}bulk/", data)


@pytest.mark.parametrize(
    ("action", "value"), [("scenario", "garden"), ("visibility", "private"), ("close", ""), ("forget", "")]
)
def test_a_bulk_action_changes_nothing_before_it_was_shown(curators, cast, action, value):
    mine, hers = keep(cast.cura, "The ladder hangs in the shed."), keep(cast.mira, "The key is blue.")
    before = list(Atom.objects.values())
    for given in ({}, {"value": value}):
        reply = tick(curators, action, mine, hers, **given)
        assert "The ladder hangs in the shed." in text_of(reply) or reply.status_code == 200
    assert list(Atom.objects.values()) == before


def test_all_that_fit_the_list_can_be_shown_and_changed_at_once(curators, cast, monkeypatch):
    monkeypatch.setattr("memories.curators.CuratorAdmin.list_per_page", 2)
    garden = {keep(cast.mira, f"Bed {n} holds beans.", scenario="garden").atom_id for n in range(5)}
    keep(cast.mira, "Bed 9 is Ben's.", scenario="bedroom")
    keep(cast.jonas, "Bed 7 hides a present.", scenario="garden", visibility="private")
    shown = text_of(curators.get(f"{ATOMS}?scenario=garden"))
    assert 'name="whole"' in shown
    reply = curators.post(f"{ATOMS}?scenario=garden&q=bed", {"action": "scenario", "whole": "1"})
    assert set(re.findall(r'name="_selected_action" value="(\w+)"', text_of(reply))) == garden
    assert "present" not in text_of(reply)
    chosen = {"action": "scenario", "_selected_action": list(garden), "value": "beds", "agreed": "1"}
    curators.post(f"{ATOMS}bulk/", chosen)
    assert set(Atom.objects.filter(scenario="beds").values_list("atom_id", flat=True)) == garden


def test_a_list_of_one_page_offers_its_ticks_alone(curators, cast):
    keep(cast.mira, "Bed 1 holds beans.")
    assert 'name="whole"' not in text_of(curators.get(ATOMS))


def test_set_scenario_close_and_visibility_work_as_shown(curators, cast):
    mine, hers = keep(cast.cura, "The ladder hangs in the shed."), keep(cast.mira, "The key is blue.")
    tick(curators, "scenario", mine, hers, value="garden", agreed="1")
    assert {get_memory(cast.cura, one.atom_id).scenario for one in (mine, hers)} == {"garden"}
    assert [one.atom_id for one in list_memories(cast.cura, q="garden").items] != []
    tick(curators, "close", mine, hers, value="", agreed="1")
    assert not list_memories(cast.cura).items
    reply = tick(curators, "close", mine, hers, value="")
    assert "It is closed already." in text_of(reply)
    tick(curators, "visibility", mine, hers, value="private", agreed="1")
    assert {one.audience for one in Atom.objects.all()} == {"private"}


def test_a_bulk_action_never_widens_what_is_not_hers(curators, cast):
    hers = keep(cast.mira, "For curators alone.", visibility={"scope": "holders", "groups": ["curators"]})
    reply = tick(curators, "visibility", hers, value="household", agreed="1")
    assert Atom.objects.get().audience == "listed"
    reply = tick(curators, "visibility", hers, value="household")
    assert "never widen it" in text_of(reply)


def test_a_surprise_stays_one_when_its_readers_change(curators, cast):
    mine = keep(
        cast.cura,
        "The telescope is hidden.",
        visibility={"scope": "private", "discoverable": False, "deny": ["ben"]},
    )
    tick(curators, "visibility", mine, value="household", agreed="1")
    after = get_memory(cast.cura, mine.atom_id).visibility
    assert (after["scope"], after["discoverable"], after["deny"]) == ("household", False, ["ben"])


def test_forgetting_many_takes_hers_and_leaves_the_others(curators, cast):
    mine, hers = keep(cast.cura, "The ladder hangs in the shed."), keep(cast.mira, "The key is blue.")
    reply = tick(curators, "forget", mine, hers, value="")
    assert "only its holder" in text_of(reply)
    tick(curators, "forget", mine, hers, value="", agreed="1")
    assert [one.atom_id for one in Atom.objects.all()] == [hers.atom_id]


def test_add_to_a_cartridge_of_hers_only(curators, cast):
    memory = keep(cast.mira, "The key is blue.")
    own = Cartridge.objects.create(name="Keys", owner_id="cura")
    other = Cartridge.objects.create(name="Other", owner_id="mira")
    tick(curators, "cartridge", memory, value=other.pk, agreed="1")
    assert not CartridgeAtom.objects.exists()
    tick(curators, "cartridge", memory, value=own.pk, agreed="1")
    assert CartridgeAtom.objects.get().atom_id == memory.atom_id


def test_duplicates_are_closed_and_stand_in_the_history_of_the_one_that_stays(curators, cast):
    kept, double = keep(cast.mira, "The key is blue."), keep(cast.cura, "The key is blue!")
    tick(curators, "duplicates", kept, double, value=kept.atom_id, agreed="1")
    assert [one.atom_id for one in list_memories(cast.cura).items] == [kept.atom_id]
    assert get_memory(cast.cura, kept.atom_id).supersedes == (double.atom_id,)
    assert EvidenceEdge.objects.get().relation == "supersedes"


def test_unreadable_ids_in_a_bulk_action_are_as_good_as_missing(curators, hidden):
    memory = hidden[0]
    before = list(Atom.objects.values())
    reply = tick(curators, "scenario", memory, value="x", agreed="1")
    assert "sapphire" not in text_of(reply)
    assert list(Atom.objects.values()) == before


def test_an_action_nobody_knows_changes_nothing(curators, cast):
    memory = keep(cast.cura, "The key is blue.")
    assert tick(curators, "explode", memory).status_code == 302
    assert curators.get(f"{ATOMS}bulk/").status_code == 302


# Who.

HOLDERS = "/admin/holders/holder/"


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


# Shelves and records.


def test_a_scenario_gets_its_default_readers_without_json(curators, cast):
    curators.post(
        "/admin/memories/scenario/add/",
        {"name": "school", "description": "d", "usual": "groups", "groups": "adults"},
    )
    stored = Scenario.objects.get()
    assert '"groups": ["adults"]' in stored.default_visibility_json
    assert (
        submit(
            curators, f"/admin/memories/scenario/{stored.pk}/change/", usual="groups", groups=""
        ).status_code
        == 200
    )
    page = text_of(curators.get(f"/admin/memories/scenario/{stored.pk}/change/"))
    assert 'value="adults"' in page


def test_a_scenario_is_renamed_after_a_look_at_what_moves(curators, cast):
    memory, secret = (
        keep(cast.mira, "Bring boots.", scenario="scool"),
        remember(cast.mira, SECRET, scenario="scool"),
    )
    scenario = Scenario.objects.create(name="scool")
    address = f"/admin/memories/scenario/{scenario.pk}/move/"
    assert "Bring boots." in text_of(curators.post(address, {"into": "school"}))
    assert get_memory(cast.mira, memory.atom_id).scenario == "scool"
    assert curators.post(address, {"into": "x" * 201}).status_code == 422
    curators.post(address, {"into": "school", "agreed": "1"})
    assert get_memory(cast.mira, memory.atom_id).scenario == "school"
    assert get_memory(cast.mira, secret.atom_id).scenario == "scool"


def test_the_audit_log_is_of_her_own_removals(curators, cast):
    AuditEntry.objects.create(action="pruned", holder_id="cura", by="", count=3)
    AuditEntry.objects.create(action="pruned", holder_id="mira", by="", count=77_777)
    page = text_of(curators.get("/admin/memories/auditentry/"))
    assert "pruned" in page
    assert "77777" not in page


def test_sources_and_cartridges_show_what_is_in_them(curators, cast):
    memory = keep(cast.mira, "Press the red button for ten seconds.")
    source = Source.objects.create(
        path="manual.pdf", kind="pdf", mime="application/pdf", sha256="1" * 64, size_bytes=1
    )
    Atom.objects.filter(atom_id=memory.atom_id).update(source_ref=source)
    cartridge = Cartridge.objects.create(name="Boiler", owner_id="cura")
    CartridgeAtom.objects.create(cartridge=cartridge, atom_id=memory.atom_id)
    Mount.objects.create(holder_id="lea", cartridge=cartridge)
    assert "Press the red button" in text_of(curators.get(f"/admin/memories/source/{source.pk}/change/"))
    page = text_of(curators.get(f"/admin/memories/cartridge/{cartridge.pk}/change/"))
    assert "Press the red button" in page
    assert "lea" in page


def test_an_edge_shows_only_with_both_its_ends(curators, cast):
    one, two = keep(cast.mira, "The key is blue."), keep(cast.mira, "The key is not red.")
    EvidenceEdge.objects.create(from_atom_id=one.atom_id, to_atom_id=two.atom_id, relation="supports")
    page = text_of(curators.get("/admin/memories/evidenceedge/"))
    assert one.atom_id in page
    assert two.atom_id in page


def test_the_cache_tells_its_hit_rate_by_layer_and_day(curators, cast):
    for event, count in (("hit", 3), ("miss", 1)):
        CacheEvent.objects.create(
            ts="2026-07-19T10:00:00.000+00:00", layer="embedding.query", cache_key="", event=event, bytes_estimate=1,
            metadata_json=f'{{"count": {count}}}',
        )  # fmt: skip
    page = text_of(curators.get("/admin/memories/cacheevent/"))
    assert re.search(r"2026-07-19</td><td>embedding.query</td><td>3</td><td>1</td><td>75 %", page)


def test_the_front_page_charts_what_she_may_read(curators, cast):
    keep(cast.mira, "The key is blue.", scenario="house")
    remember(cast.mira, SECRET, visibility="private", scenario="hidden-scenario")
    reply = curators.get("/admin/")
    page = text_of(reply)
    assert "<svg" in page
    assert "style=" not in page.split("<main")[1].split("</main")[0]
    assert "hidden-scenario" not in page
    assert reply.context["figures"].states == (("current", 1),)


def test_the_doctors_findings_name_no_hidden_memory(curators, cast):
    hidden_one, seen = remember(cast.mira, SECRET, visibility="private"), keep(cast.mira, "The key is blue.")
    assert "nothing is missing" in text_of(curators.post("/admin/examine/"))
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM atom_vec")
    page = text_of(curators.post("/admin/examine/"))
    assert "Some memories have no vector." in page
    assert seen.atom_id in page
    assert hidden_one.atom_id not in page


def test_every_page_keeps_to_the_content_security_policy(curators, cast):
    memory = keep(cast.cura, "The key is blue.")
    addresses = [
        "/admin/",
        ATOMS,
        f"{ATOMS}add/",
        f"{ATOMS}{memory.atom_id}/change/",
        HOLDERS,
        f"{HOLDERS}lea/change/",
    ]
    for address in addresses:
        reply = curators.get(address)
        assert "default-src 'self'" in reply["Content-Security-Policy"]
        assert "no-store" in reply["Cache-Control"]
        assert not re.search(r"<script(?![^>]*src=)[^>]*>|<style|\sstyle=\"|\son\w+=\"", text_of(reply)), (
            address
        )
