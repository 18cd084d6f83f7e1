"""The curators' admin of memories: the list, its filters, the form, the history."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories import timestamps
from memories.browse import get_memory, list_memories
from memories.embedding import cache
from memories.models import Atom, Cartridge, CartridgeAtom, Source
from memories.recall import recall
from tests.curators import ATOMS, curators, enter, form_of, hidden, submit  # noqa: F401
from tests.pages import keep, text_of


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
