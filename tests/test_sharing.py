"""Who sees what: counted, previewed, changed, seen with other eyes, explained; the rule's own word every time."""

from typing import Any

import pytest
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holders.auth import viewer_for, viewer_of
from holders.models import Holder
from memories import sharing
from memories.browse import get_memory
from memories.errors import Invalid, NotAllowed, NotFound
from memories.models import Atom
from memories.remember import remember
from memories.visibility import parse_visibility
from tests.pages import signed_in

MEMBERS = ("jonas", "lea", "ben", "gus", "cura", "bot", "boiler")
KINDS = [("person", ""), ("person", "kids"), ("person", "guests"), ("agent", ""), ("service", "")]


@pytest.fixture
def mine(cast: Any) -> dict[str, str]:
    return {
        word: remember(
            cast.mira, f"The {word} is somewhere.", scenario=scenario, visibility=visibility
        ).atom_id
        for word, scenario, visibility in (
            ("key", "house", "household"),
            ("safe", "house", "private"),
            ("toy", "kids", {"scope": "holders", "groups": ["kids"]}),
            ("gift", "kids", {"scope": "household", "deny": ["ben"], "discoverable": False}),
            ("code", "", {"scope": "holders", "holders": ["jonas"], "groups": ["guests", "services"]}),
        )
    } | {"his": remember(cast.jonas, "The saw is Jonas’s.", scenario="house", visibility="private").atom_id}


def others() -> list[Any]:
    return [viewer_for(one) for one in MEMBERS]


def test_the_table_counts_my_own_memories_for_each_group(cast, mine):
    rows = sharing.matrix(cast.mira, [sharing.a_member_of(*one) for one in KINDS])

    assert {row.scenario: (row.total, row.readable) for row in rows} == {
        "": (1, (0, 0, 1, 0, 1)),
        "house": (2, (1, 1, 0, 1, 0)),
        "kids": (2, (1, 2, 0, 1, 0)),
    }


def test_a_preview_names_exactly_who_would_read_more_or_less_and_changes_nothing(cast, mine):
    before = list(Atom.objects.order_by("pk").values_list("visibility_json", "updated_at"))
    ids = [mine["key"], mine["safe"], mine["gift"], mine["his"], "f" * 16]
    found = sharing.preview(cast.mira, ids, {"scope": "holders", "holders": ["gus", "ben"]}, others())

    changes = {one.memory.atom_id: (set(one.gains), set(one.loses)) for one in found.changes}
    assert changes == {
        mine["key"]: ({"gus"}, {"jonas", "lea", "cura", "bot"}),
        mine["safe"]: ({"gus", "ben"}, set()),
        mine["gift"]: ({"gus"}, {"jonas", "lea", "cura", "bot"}),
    }
    assert list(Atom.objects.order_by("pk").values_list("visibility_json", "updated_at")) == before


def test_a_change_does_what_its_preview_said(cast, mine):
    ids = [mine["key"], mine["safe"], mine["toy"], mine["gift"], mine["his"]]
    wanted = {"scope": "household", "deny": ["lea"]}
    found = sharing.preview(cast.mira, ids, wanted, others())
    read = {
        one.holder_id: set(Atom.objects.visible_to(one).values_list("atom_id", flat=True)) for one in others()
    }
    assert sharing.share(cast.mira, ids, wanted) == 4

    for change in found.changes:
        for holder_id in change.gains:
            read[holder_id].add(change.memory.atom_id)
        for holder_id in change.loses:
            read[holder_id].remove(change.memory.atom_id)
    assert read == {
        one.holder_id: set(Atom.objects.visible_to(one).values_list("atom_id", flat=True)) for one in others()
    }
    gift = get_memory(cast.mira, mine["gift"]).visibility
    assert (gift["deny"], gift["discoverable"]) == (["ben", "lea"], False)


def test_nobody_changes_what_is_not_hers_not_even_a_curator(cast, mine):
    assert sharing.share(cast.cura, list(mine.values()), {"scope": "household"}) == 0
    assert sharing.preview(cast.jonas, [mine["key"]], {"scope": "private"}, others()) == sharing.Preview(
        (), 0
    )
    with pytest.raises(Invalid):
        sharing.share(cast.mira, [mine["key"]], {"scope": "everybody"})


def test_another_s_eyes_show_what_both_may_read(cast, mine):
    def seen(viewer: Any, other: Any) -> set[str]:
        return {one.atom_id for one in sharing.seen_by(viewer, other, limit=200).items}

    assert seen(cast.mira, cast.lea) == {mine["key"], mine["toy"], mine["gift"]}
    assert seen(cast.mira, cast.jonas) == {mine["key"], mine["gift"], mine["code"]}
    assert mine["his"] not in seen(cast.mira, cast.jonas)
    assert seen(cast.jonas, cast.mira) == {mine["key"], mine["gift"], mine["code"]}
    for other in MEMBERS:
        both = set(
            Atom.objects.visible_to(cast.mira)
            .visible_to(cast.viewer(other))
            .values_list("atom_id", flat=True)
        )
        assert seen(cast.mira, cast.viewer(other)) == both
    assert sharing.counts_seen_by(cast.mira, cast.lea) == (3, 5)


def test_a_question_with_another_s_eyes_finds_no_more_than_both_may_read(cast, mine):
    hits = sharing.recall_as(cast.mira, cast.jonas, "Where is the safe, the saw, the code?").hits
    assert {hit.memory.atom_id for hit in hits} <= {mine["key"], mine["gift"], mine["code"]}
    assert mine["code"] in {hit.memory.atom_id for hit in hits}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (
            "key",
            {"jonas": "household", "gus": "not_household", "boiler": "not_household", "bot": "household"},
        ),
        ("safe", {"jonas": "private", "cura": "private", "gus": "private"}),
        ("toy", {"lea": "group", "jonas": "not_named"}),
        ("gift", {"ben": "denied", "lea": "household"}),
        ("code", {"jonas": "named", "gus": "group", "boiler": "group", "lea": "not_named"}),
    ],
)
def test_every_memory_says_why_somebody_can_or_cannot_read_it(cast, mine, word, expected):
    found = {one.holder_id: one for one in sharing.explain(cast.mira, mine[word], others())}
    for holder_id, reason in expected.items():
        assert found[holder_id].reason == reason


def test_it_says_who_may_be_told_to_ask_about_it(cast, mine):
    safe = {one.holder_id: one.hinted for one in sharing.explain(cast.mira, mine["safe"], others())}
    gift = {one.holder_id: one.hinted for one in sharing.explain(cast.mira, mine["gift"], others())}
    assert safe["jonas"]
    assert not any(gift.values())


def test_only_who_may_change_a_memory_is_told_why(cast, mine):
    with pytest.raises(NotAllowed):
        sharing.explain(cast.lea, mine["key"], others())
    for atom_id in (mine["safe"], "f" * 16):
        with pytest.raises(NotFound):
            sharing.explain(cast.lea, atom_id, others())


CAN = {"hers", "wrote", "named", "group", "household"}
NAMES = st.lists(
    st.sampled_from(["jonas", "lea", "ben", "gus", "bot", "kids", "adults", "guests", "agents"]), max_size=3
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    scope=st.sampled_from(["household", "private", "holders"]), holders=NAMES, groups=NAMES, deny=NAMES,
    recorded=st.booleans(),
)  # fmt: skip
def test_an_explanation_always_says_what_the_rule_says(cast, scope, holders, groups, deny, recorded):
    visibility = parse_visibility({"scope": scope, "holders": holders, "groups": groups, "deny": deny})
    author = cast.jonas if recorded else cast.mira
    atom_id = remember(
        author, "Whatever it is.", holder_id="mira", visibility=visibility, if_new=False
    ).atom_id
    atom = Atom.objects.get(atom_id=atom_id)
    for holder in Holder.objects.exclude(pk="mira"):
        explained = sharing.explain(cast.mira, atom_id, [viewer_of(holder)])[0]
        assert explained.reads == Atom.objects.visible_to(viewer_of(holder)).filter(pk=atom.pk).exists()
        assert explained.reads == (explained.reason in CAN)


class TestPages:
    def test_the_way_from_the_table_over_the_preview_to_the_change(self, cast, mine):
        mira = signed_in("mira")
        assert "house" in mira.get(reverse("visibility")).content.decode()
        page = mira.get(reverse("change-visibility"), {"scenario": "house"}).content.decode()
        assert "The safe is somewhere." in page
        assert "The toy is somewhere." not in page
        nothing = mira.post(reverse("change-visibility"), {"atom": [mine["safe"]]})
        assert nothing.status_code == 422
        choice = {"atom": [mine["safe"]], "readers": "holders", "named": ["holder:jonas", "group:kids"]}
        first = mira.post(reverse("change-visibility"), choice).content.decode()
        assert "1 memory would change" in first
        assert "Jonas, Lea" in first
        with pytest.raises(NotFound):
            get_memory(cast.jonas, mine["safe"])
        assert mira.post(reverse("change-visibility"), choice | {"sure": "1"}).status_code == 302
        assert get_memory(cast.lea, mine["safe"])

    def test_another_s_eyes_on_a_page(self, cast, mine):
        jonas = signed_in("jonas")
        page = jonas.get(reverse("view-as", args=["mira"])).content.decode()
        assert "The key is somewhere." in page
        assert "The safe is somewhere." not in page
        asked = jonas.get(
            reverse("view-as", args=["lea"]), {"q": "Where is the safe or the toy?"}
        ).content.decode()
        assert "The safe is somewhere." not in asked
        assert "The toy is somewhere." not in asked
        assert jonas.get(reverse("view-as", args=["nobody"])).status_code == 404
        assert signed_in("gus").get(reverse("view-as", args=["mira"])).status_code == 403

    def test_why_on_a_page(self, cast, mine):
        page = signed_in("mira").get(reverse("memory-readers", args=[mine["gift"]])).content.decode()
        assert "because you keep it from them by name" in page
        assert signed_in("lea").get(reverse("memory-readers", args=[mine["gift"]])).status_code == 403
        assert signed_in("ben").get(reverse("memory-readers", args=[mine["gift"]])).status_code == 404
