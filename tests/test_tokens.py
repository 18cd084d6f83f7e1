"""Tokens: a person makes her own and those that act for her, and ends them at once."""

import pytest

from holders import tokens
from holders.auth import principal_of_token, viewer_for
from holders.models import Token
from memories.errors import Invalid, NotAllowed, NotFound
from memories.visibility import Viewer


def test_a_person_makes_a_token_for_herself(cast):
    card, plain = tokens.issue(cast.mira, "mira", ["read", "ask"], days=30, label="phone")
    principal = principal_of_token(plain)
    assert principal.viewer == cast.mira
    assert principal.scopes == {"read", "ask"}
    assert (card.holder_id, card.label, card.acting_for) == ("mira", "phone", "")
    assert card.expires_at
    assert [one.token_id for one in tokens.tokens_of(cast.mira)] == [card.token_id]


def test_an_agent_acts_for_the_person_who_made_it_so_and_she_ends_it_at_once(cast):
    card, plain = tokens.issue(cast.mira, "bot", ["read", "write"], acting_for_me=True)
    viewer = principal_of_token(plain).viewer
    assert (viewer.holder_id, viewer.acting_for, viewer.author) == ("bot", cast.mira, "mira")
    assert card in tokens.tokens_of(cast.mira)
    assert tokens.tokens_of(cast.bot) == []
    tokens.revoke(cast.mira, card.token_id)
    assert principal_of_token(plain) is None
    assert tokens.tokens_of(cast.mira) == []


@pytest.mark.parametrize(
    ("who", "holder_id", "scopes", "extra"),
    [
        ("mira", "jonas", ["read"], {}),
        ("cura", "jonas", ["read"], {}),
        ("mira", "nobody", ["read"], {}),
        ("mira", "bot", ["read"], {}),
        ("mira", "mira", ["curate"], {}),
        ("cura", "bot", ["curate"], {"acting_for_me": True}),
        ("mira", "jonas", ["read"], {"acting_for_me": True}),
        ("mira", "mira", ["read"], {"acting_for_me": True}),
        ("mira", "boiler", ["read"], {"acting_for_me": True}),
        ("bot", "bot", ["read"], {}),
        ("boiler", "boiler", ["read"], {}),
        ("stranger", "stranger", ["read"], {}),
    ],
)
def test_nobody_makes_a_token_beyond_her_rights(cast, who, holder_id, scopes, extra):
    with pytest.raises(NotAllowed):
        tokens.issue(viewer_for(who), holder_id, scopes, **extra)
    assert not Token.objects.exists()


def test_who_acts_for_a_person_makes_and_ends_no_tokens(cast):
    agent = Viewer("bot", "person", cast.mira.groups, acting_for=cast.mira)
    card, _ = tokens.issue(cast.mira, "mira", ["read"])
    with pytest.raises(NotAllowed):
        tokens.issue(agent, "mira", ["read"])
    with pytest.raises(NotFound):
        tokens.revoke(agent, card.token_id)


def test_a_curator_makes_and_ends_the_tokens_of_agents_and_services(cast):
    card, plain = tokens.issue(cast.cura, "boiler", ["write"])
    assert principal_of_token(plain).viewer == cast.boiler
    acting, _ = tokens.issue(cast.mira, "bot", ["read"], acting_for_me=True)
    assert [one.token_id for one in tokens.tokens_of(cast.cura)] == [card.token_id]
    tokens.revoke(cast.cura, card.token_id)
    with pytest.raises(NotFound):
        tokens.revoke(cast.cura, acting.token_id)


@pytest.mark.parametrize(
    "change", [{"scopes": []}, {"scopes": ["fly"]}, {"days": 0}, {"days": 4_000}, {"label": "x" * 101}]
)
def test_a_token_that_will_not_do_is_refused(cast, change):
    given = {"scopes": ["read"]} | change
    with pytest.raises(Invalid):
        tokens.issue(cast.mira, "mira", **given)


def test_somebody_elses_token_and_none_are_the_same(cast):
    card, plain = tokens.issue(cast.mira, "mira", ["read"])
    for token_id in (card.token_id, 999):
        with pytest.raises(NotFound, match="no such token"):
            tokens.revoke(cast.jonas, token_id)
    assert principal_of_token(plain)
