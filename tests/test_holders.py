"""The directory: who may change which record, what a record may hold, and who sees whom."""

import pytest

from holders.auth import viewer_for
from holders.models import Holder, Invite, SignIn, Token
from holders.registry import NO_SUCH_HOLDER, get_holder, list_holders, remove_holder, set_holder
from memories.errors import Invalid, NotAllowed, NotFound
from memories.remember import remember
from memories.visibility import Viewer


def ids(cards):
    return [card.holder_id for card in cards]


def test_everybody_changes_her_own_name_topics_and_contact(cast):
    card = set_holder(
        cast.mira,
        "mira",
        name="Mira B.",
        knows_about=["heating", " the car ", "heating"],
        contact={"signal": "+49 30 5550101"},
    )
    assert (card.name, card.knows_about, card.contact) == (
        "Mira B.",
        ("heating", "the car"),
        {"signal": "+49 30 5550101"},
    )


def test_what_is_not_given_stays(cast):
    before = get_holder(cast.mira, "mira")
    after = set_holder(cast.mira, "mira", name="Mirabelle")
    assert (after.kind, after.groups, after.contact) == (before.kind, before.groups, before.contact)


@pytest.mark.parametrize("change", [{"kind": "service"}, {"groups": ["adults", "kids"]}, {"groups": []}])
def test_nobody_changes_her_own_kind_or_groups(cast, change):
    with pytest.raises(NotAllowed):
        set_holder(cast.mira, "mira", **change)
    assert Holder.objects.get(pk="mira").groups == ["adults"]


def test_repeating_the_groups_one_has_is_no_change(cast):
    assert set_holder(cast.mira, "mira", kind="person", groups=["adults"], name="M").name == "M"


@pytest.mark.parametrize("who", ["jonas", "gus", "bot", "boiler", "stranger"])
def test_other_records_need_a_curator(cast, who):
    with pytest.raises(NotAllowed):
        set_holder(viewer_for(who), "mira", name="Mallory")
    with pytest.raises(NotAllowed):
        set_holder(viewer_for(who), "newcomer", name="New")
    with pytest.raises(NotAllowed):
        remove_holder(viewer_for(who), "mira")


def test_an_unregistered_holder_does_not_register_herself_into_the_household(cast):
    with pytest.raises(NotAllowed):
        set_holder(viewer_for("stranger"), "stranger", name="I live here")


def test_a_curator_keeps_other_records_in_order(cast):
    card = set_holder(cast.cura, "lea", kind="person", groups=["kids", "readers"], name="Léa")
    assert (card.name, card.groups) == ("Léa", ("kids", "readers"))
    assert set_holder(cast.cura, "奶奶", name="Grandma").registered


def test_the_group_curators_and_a_curators_own_groups_are_the_hosts_business(cast):
    for holder_id, groups in (("lea", ["kids", "curators"]), ("cura", ["adults", "curators", "kids"])):
        with pytest.raises(NotAllowed):
            set_holder(cast.cura, holder_id, groups=groups)
    assert set_holder(None, "lea", groups=["kids", "curators"]).groups == ("curators", "kids")
    with pytest.raises(NotAllowed):
        set_holder(cast.cura, "lea", groups=["kids"])
    with pytest.raises(NotAllowed):
        remove_holder(cast.cura, "lea")


def test_an_agent_acting_for_a_curator_is_no_curator(cast):
    agent = Viewer("bot", "agent", cast.bot.groups, acting_for=cast.cura)
    with pytest.raises(NotAllowed):
        set_holder(agent, "mira", name="Mallory")
    with pytest.raises(NotAllowed):
        set_holder(agent, "cura", name="Mallory")


@pytest.mark.parametrize(
    "holder_id", ["", " ", "a b", "a/b", "a\nb", "<b>", "x" * 201, "ann;drop", "a\u202eb", None, 7]
)
def test_an_id_is_letters_digits_and_a_few_signs(cast, holder_id):
    with pytest.raises(Invalid):
        set_holder(None, holder_id)


@pytest.mark.parametrize(
    "holder_id", ["mira", "奶奶", "मीरा", "o.hara@example.org", "theirs:mira", "bot_2-a"]
)
def test_ids_of_every_script_are_fine(cast, holder_id):
    assert set_holder(None, holder_id).holder_id == holder_id


@pytest.mark.parametrize(
    "change",
    [
        {"name": "x" * 201},
        {"name": "two\nlines"},
        {"name": 5},
        {"kind": "dragon"},
        {"knows_about": "heating"},
        {"knows_about": ["x" * 201]},
        {"knows_about": ["a"] * 101},
        {"knows_about": [1]},
        {"groups": ["people"]},
        {"groups": "adults"},
        {"contact": ["phone"]},
        {"contact": {"phone": 5}},
        {"contact": {"phone": "x" * 501}},
        {"contact": {"x" * 41: "5"}},
        {"contact": {"chat": "javascript:alert(1)"}},
        {"contact": {"chat": " JavaScript :alert(1)"}},
        {"contact": {"chat": "java script:alert(1)"}},
        {"contact": {"web": "data:text/html,<script>"}},
        {"contact": {"rekal_url": "ftp://other.example"}},
        {"contact": {"rekal_url": "other.example"}},
        {"contact": {str(n): "5" for n in range(21)}},
    ],
)
def test_a_record_that_will_not_do_is_refused_with_a_sentence_and_nothing_changes(cast, change):
    before = Holder.objects.filter(pk="mira").values().get()
    with pytest.raises(Invalid) as refused:
        set_holder(None, "mira", **change)
    assert str(refused.value).endswith(".")
    assert Holder.objects.filter(pk="mira").values().get() == before


def test_removing_a_holder_keeps_her_memories_and_ends_her_ways_in(cast, django_user_model):
    remember(cast.mira, "The spare key is in the blue box.", visibility="household")
    SignIn.objects.create(user=django_user_model.objects.create_user("mira"), holder_id="mira")
    token, _ = Token.objects.issue("mira", ["read"])
    acting, _ = Token.objects.issue("bot", ["read"], acting_for="mira")
    other, _ = Token.objects.issue("jonas", ["read"])
    Invite.objects.create(sha256="0" * 64, holder_id="mira", expires_at="2999-01-01T00:00:00.000+00:00")
    remove_holder(cast.cura, "mira")
    assert get_holder(cast.jonas, "mira").registered is False
    assert not SignIn.objects.exists()
    assert not Invite.objects.exists()
    live = set(Token.objects.live().values_list("pk", flat=True))
    assert live == {other.pk}
    assert viewer_for("mira").groups == frozenset()
    assert {token.pk, acting.pk}.isdisjoint(live)


def test_removing_nobody_says_so(cast):
    with pytest.raises(NotFound, match=NO_SUCH_HOLDER):
        remove_holder(None, "nobody")


def test_the_directory_shows_unregistered_holders_of_readable_memories_alone(cast):
    remember(cast.mira, "Uncle Tom's boat is called Petrel.", holder_id="tom", visibility="household")
    remember(cast.mira, "Vera's surgery is on Monday.", holder_id="vera", visibility="private")
    assert "tom" in ids(list_holders(cast.jonas))
    assert "vera" not in ids(list_holders(cast.jonas))
    assert "vera" in ids(list_holders(cast.mira))
    with pytest.raises(NotFound) as hidden:
        get_holder(cast.jonas, "vera")
    with pytest.raises(NotFound) as missing:
        get_holder(cast.jonas, "nobody")
    assert str(hidden.value) == str(missing.value)


@pytest.mark.parametrize(
    ("who", "sees"), [("jonas", True), ("bot", True), ("gus", False), ("boiler", False), ("stranger", False)]
)
def test_how_to_reach_somebody_is_for_the_household(cast, who, sees):
    card = get_holder(viewer_for(who), "mira")
    assert bool(card.contact) is sees
    assert bool(card.groups) is sees
    assert card.name == "Mira"


def test_an_agent_acting_for_a_guest_learns_what_both_may(cast):
    agent = Viewer("bot", "agent", cast.bot.groups, acting_for=viewer_for("gus"))
    assert get_holder(agent, "mira").contact == {}
    assert get_holder(viewer_for("gus"), "gus").contact


def test_who_becomes_a_curator_may_enter_the_admin_and_who_stops_may_not(cast, django_user_model):
    account = django_user_model.objects.create_user("jonas", password="x" * 12)
    SignIn.objects.create(user=account, holder_id="jonas")

    for groups, staff in ((["adults", "curators"], True), (["adults"], False)):
        set_holder(None, "jonas", groups=groups)
        account.refresh_from_db()
        assert account.is_staff is staff
