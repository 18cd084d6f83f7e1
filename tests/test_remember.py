"""Writing, replacing, editing and forgetting, through the verbs every face calls."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories import timestamps
from memories.browse import get_memory, history, list_memories
from memories.errors import Conflict, Invalid, NotAllowed, NotFound
from memories.forget import forget, prune
from memories.models import Atom, CachedEmbedding, EvidenceEdge, Scenario
from memories.remember import confirm, edit, remember


def rows(table):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return cursor.fetchone()[0]


def test_it_stores_a_statement_with_all_its_index_entries(cast):
    memory = remember(cast.mira, "The spare keys are in the blue tin.", scenario="house", tags=["keys"])

    assert get_memory(cast.mira, memory.atom_id) == memory
    assert (memory.holder_id, memory.origin, memory.scenario, memory.tags) == (
        "mira",
        "self",
        "house",
        ("keys",),
    )
    assert rows("atoms") == rows("atom_fts") == rows("atom_vec") == 1


def test_a_fresh_store_keeps_memories_private(cast):
    memory = remember(cast.mira, "The PIN of the alarm is on the fridge.")

    assert memory.visibility["scope"] == "private"
    with pytest.raises(NotFound):
        get_memory(cast.jonas, memory.atom_id)


def test_a_scenario_hands_down_its_default_visibility(cast):
    Scenario.objects.create(name="kitchen", default_visibility_json='{"scope": "household"}')

    memory = remember(cast.mira, "Flour is in the top drawer.", scenario="kitchen")

    assert get_memory(cast.jonas, memory.atom_id).visibility == {"scope": "household"}


def test_the_same_statement_is_not_stored_twice(cast):
    first = remember(cast.mira, "Milo is allergic to chicken.", visibility="household")
    again = remember(cast.mira, "Milo is allergic to chicken.", visibility="household")

    assert again == first
    assert rows("atoms") == 1


def test_facts_true_in_two_periods_stay_two(cast):
    remember(cast.mira, "Lea plays judo.", valid_from="2022-01-01", valid_to="2023-01-01")
    remember(cast.mira, "Lea plays judo.", valid_from="2025-01-01")

    assert rows("atoms") == 2


def test_identical_text_of_two_owners_stays_two_and_neither_learns_of_the_other(cast):
    mine = remember(cast.mira, "The safe opens with 7741.")
    his = remember(cast.jonas, "The safe opens with 7741.")

    assert mine.atom_id != his.atom_id
    recorded = remember(cast.jonas, "The safe opens with 7741.", holder_id="mira")
    assert recorded.atom_id != mine.atom_id


def test_replacing_closes_the_old_one_at_the_moment_the_new_one_begins(cast):
    old = remember(cast.mira, "Ben is vegetarian.", scenario="kitchen", tags=["ben"], visibility="household")
    new = remember(cast.mira, "Ben eats fish since May.", replaces=[old.atom_id], valid_from="2026-05-01")

    closed = get_memory(cast.mira, old.atom_id)
    assert closed.valid_to == new.valid_from == "2026-04-30T22:00:00.000+00:00"
    assert new.supersedes == (old.atom_id,)
    assert (new.scenario, new.tags, new.visibility["scope"]) == ("kitchen", ("ben",), "household")
    assert EvidenceEdge.objects.filter(relation="supersedes", from_atom_id=new.atom_id).exists()
    assert [one.text for one in history(cast.mira, old.atom_id)] == [old.text, new.text]


def test_of_several_olds_the_narrowest_visibility_is_inherited(cast):
    shared = remember(cast.mira, "The wifi is called Home.", visibility="household")
    private = remember(cast.mira, "The wifi password is blue-kettle.", visibility="private")

    new = remember(cast.mira, "Wifi: Home, red-kettle.", replaces=[shared.atom_id, private.atom_id])

    assert new.visibility["scope"] == "private"


def test_nobody_replaces_what_is_not_his(cast):
    hers = remember(cast.mira, "Dinner is at seven.", visibility="household")
    secret = remember(cast.mira, "I am planning a party.", visibility="private")

    with pytest.raises(NotAllowed):
        remember(cast.jonas, "Dinner is at eight.", replaces=[hers.atom_id])
    with pytest.raises(NotFound) as unreadable:
        remember(cast.jonas, "x", replaces=[secret.atom_id])
    with pytest.raises(NotFound) as missing:
        remember(cast.jonas, "x", replaces=["0" * 16])
    assert str(unreadable.value) == str(missing.value)
    assert get_memory(cast.mira, hers.atom_id).valid_to is None
    assert rows("atoms") == 2


def test_recording_for_somebody_else_is_third_party_until_she_confirms(cast):
    memory = remember(cast.jonas, "Grandma takes her pills at eight.", holder_id="mira")

    assert (memory.origin, memory.recorded_by) == ("third_party", "jonas")
    assert not Atom.objects.get(atom_id=memory.atom_id).counts_for_holder
    with pytest.raises(NotAllowed):
        confirm(cast.jonas, memory.atom_id)
    confirm(cast.mira, memory.atom_id)
    assert Atom.objects.get(atom_id=memory.atom_id).counts_for_holder


def test_editing_the_text_keeps_the_id_and_the_old_wording(cast):
    memory = remember(cast.mira, "The vet is Dr. Adam.", visibility="household")
    edited = edit(cast.mira, memory.atom_id, text="The vet is Dr. Eva.")

    assert edited.atom_id == memory.atom_id
    old = get_memory(cast.mira, edited.supersedes[0])
    assert (old.text, old.valid_to) == ("The vet is Dr. Adam.", edited.valid_from)
    assert rows("atoms") == rows("atom_fts") == rows("atom_vec") == 2
    assert list_memories(cast.mira, q="Adam").items == ()
    assert list_memories(cast.mira, q="Eva").items == (edited,)


def test_two_editors_never_overwrite_each_other_silently(cast):
    memory = remember(cast.mira, "The bin goes out on Monday.")
    edit(cast.mira, memory.atom_id, tags=["bins"], if_updated_at=memory.updated_at)

    with pytest.raises(Conflict):
        edit(cast.mira, memory.atom_id, tags=["waste"], if_updated_at=memory.updated_at)
    assert get_memory(cast.mira, memory.atom_id).tags == ("bins",)


def test_a_curator_narrows_and_never_widens_what_is_not_hers(cast):
    memory = remember(cast.mira, "The plumber is expensive.", visibility="household")
    limited = remember(
        cast.mira, "Ask me about the plumber.", visibility={"scope": "holders", "holders": ["cura", "jonas"]}
    )

    with pytest.raises(NotAllowed):
        edit(cast.cura, limited.atom_id, visibility="household")
    edit(cast.cura, limited.atom_id, visibility={"scope": "holders", "holders": ["cura"]})
    edit(cast.cura, memory.atom_id, valid_to="2026-01-01")
    with pytest.raises(NotAllowed):
        edit(cast.jonas, memory.atom_id, tags=["no"])


def test_forgetting_leaves_nothing_behind(cast):
    memory = remember(cast.mira, "The diary is under the mattress.")
    edit(cast.mira, memory.atom_id, text="The diary is behind the books.")
    remember(cast.mira, "Other things stay.")

    forget(cast.mira, memory.atom_id)

    assert rows("atoms") == rows("atom_fts") == rows("atom_vec") == 1
    assert CachedEmbedding.objects.count() == 1
    assert not EvidenceEdge.objects.exists()
    with pytest.raises(NotFound):
        forget(cast.mira, memory.atom_id)


def test_forgetting_a_successor_takes_its_id_out_of_nothing_else_than_the_lists(cast):
    old = remember(cast.mira, "Ben is vegetarian.")
    new = remember(cast.mira, "Ben eats fish.", replaces=[old.atom_id])

    forget(cast.mira, old.atom_id)

    assert get_memory(cast.mira, new.atom_id).supersedes == ()
    assert Atom.objects.get(atom_id=new.atom_id).supersedes == []


def test_pruning_is_a_dry_run_until_told_and_takes_only_ones_own(cast):
    remember(cast.mira, "Parking permit until June.", retention_until="2026-06-30", visibility="household")
    remember(cast.jonas, "Visitor badge.", retention_until="2026-06-30", visibility="household")

    assert prune(cast.mira, lapsed=True).count == 1
    assert rows("atoms") == 2
    assert prune(cast.mira, lapsed=True, dry_run=False).count == 1
    assert Atom.objects.get().holder_id == "jonas"
    with pytest.raises(Invalid):
        prune(cast.mira)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": "a\0b"}, "text"),
        ({"text": "\ud800"}, "text"),
        ({"text": "x" * 70_000}, "text"),
        ({"text": "x", "visibility": "everybody"}, "visibility"),
        ({"text": "x", "visibility": {"scope": "holders", "holders": "jonas"}}, "visibility"),
        ({"text": "x", "event_time": "yesterday"}, "event_time"),
        ({"text": "x", "event_time": "2026-02-30"}, "event_time"),
        ({"text": "x", "valid_from": "2026-05-01", "valid_to": "2026-04-01"}, "valid_to"),
        ({"text": "x", "origin": "gossip"}, "origin"),
        ({"text": "x", "scenario": "x" * 300}, "scenario"),
        ({"text": "x", "tags": "one"}, "tags"),
    ],
)
def test_nonsense_is_refused_with_a_sentence_and_nothing_is_half_written(cast, given, field):
    with pytest.raises(Invalid) as refusal:
        remember(cast.mira, **given)

    assert refusal.value.field == field
    assert str(refusal.value).endswith(".")
    assert rows("atoms") == rows("atom_fts") == rows("atom_vec") == 0


def test_a_date_alone_stays_that_date(cast):
    memory = remember(cast.mira, "The boiler was serviced.", event_time="2026-07-19")

    assert (memory.event_time, memory.event_time_precision) == ("2026-07-19T00:00:00.000+00:00", "day")


def test_a_local_time_is_read_in_the_households_zone(cast):
    memory = remember(cast.mira, "The train left.", event_time="2026-07-19T23:30")

    assert memory.event_time == "2026-07-19T21:30:00.000+00:00"


def test_no_two_versions_share_a_stamp(cast, monkeypatch):
    memory = remember(cast.mira, "Tea at four.")
    monkeypatch.setattr(timestamps, "now", lambda: memory.updated_at)

    assert edit(cast.mira, memory.atom_id, tags=["tea"]).updated_at > memory.updated_at


def test_pages_follow_each_other_without_gap_or_repeat(cast):
    made = [remember(cast.mira, f"Note number {n}.").atom_id for n in range(7)]

    seen, cursor = [], None
    while True:
        page = list_memories(cast.mira, limit=3, cursor=cursor)
        seen += [one.atom_id for one in page.items]
        if not (cursor := page.next):
            break
    assert sorted(seen) == sorted(made)
    with pytest.raises(Invalid):
        list_memories(cast.mira, cursor="not-a-cursor")


def test_the_same_words_are_looked_up_by_their_index(cast):
    remember(cast.mira, "The bins go out on Tuesday.", visibility="household")
    with CaptureQueriesContext(connection) as looked:
        remember(cast.mira, "The bins go out on Friday.", visibility="household")
    with connection.cursor() as cursor:
        plans = []
        for one in looked.captured_queries:
            if "SUBSTR" in one["sql"]:
                cursor.execute(f"EXPLAIN QUERY PLAN {one['sql']}")
                plans.append(" ".join(row[3] for row in cursor.fetchall()))
    assert len(plans) >= 2  # whether it is there, and whether its vector may be spared
    assert all("idx_atoms_same_text" in plan for plan in plans), plans
