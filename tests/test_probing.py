"""Probing: nothing a viewer can ask tells her more of a hidden memory than that somebody knows."""

import logging

import pytest

from holders.ask import ask
from holders.models import Token
from holders.who_knows import who_knows
from memories.embedding import cache
from memories.models import Atom
from memories.recall import recall
from memories.remember import remember
from memories.text import index_text


def test_a_private_sentence_appears_nowhere_in_anothers_ask(cast, caplog, client):
    caplog.set_level(logging.DEBUG)
    secret = "The clinic confirmed the appointment with Doctor Vogel for the twins."
    remember(cast.mira, secret, visibility="private")
    _, plain = Token.objects.issue("jonas", ["ask"])

    reply = client.post(
        "/api/ask",
        {"question": "Who knows about the appointment with Doctor Vogel at the clinic?"},
        content_type="application/json",
        headers={"authorization": f"Bearer {plain}"},
    )

    body = reply.json()
    assert body["status"] == "referred"
    assert body["referrals"][0]["holder_id"] == "mira"
    assert body["referrals"][0]["contact"]["phone"]
    everything = (
        reply.content + repr(reply.headers).encode() + repr([r.getMessage() for r in caplog.records]).encode()
    )
    for piece in ("clinic confirmed", "twins", "Vogel for"):
        assert piece.encode() not in everything


DIGITS = [
    "7741",
    "What is 7741?",
    "safe code 7741",
    "７７４１",
    "DE123999",
    "DE12",
    "code DE123999 safe",
    "一二三四",
]


@pytest.mark.parametrize("probe", DIGITS)
def test_probing_digits_gives_the_same_bytes_whether_or_not_a_hidden_memory_holds_them(cast, probe):
    remember(cast.jonas, "The bins go out on Tuesday.", visibility="household")
    secret = remember(cast.mira, "The number is 7741 or DE123999 or 一二三四.", visibility="private")

    def shown() -> bytes:
        return b"|".join(
            repr(one).encode()
            for one in (recall(cast.jonas, probe), who_knows(cast.jonas, probe), ask(cast.jonas, probe))
        )

    with_secret = shown()
    Atom.objects.filter(atom_id=secret.atom_id).delete()
    assert shown() == with_secret


@pytest.mark.parametrize("probe", ["saph", "sapphir", "sapphires", "ring sap", "Sapphi re"])
def test_a_part_of_a_hidden_word_meets_nothing_by_its_letters(cast, probe):
    secret = remember(cast.mira, "qqq sapphire zzz", visibility="private")
    before = repr(who_knows(cast.jonas, probe))
    Atom.objects.filter(atom_id=secret.atom_id).delete()

    assert repr(who_knows(cast.jonas, probe)) == before


def test_recall_counts_only_what_its_viewer_may_read(cast):
    """Scores of a readable memory stay the same to the last bit, however many hidden ones share its words."""
    remember(cast.jonas, "The garden hose is in the shed.", visibility="household")
    remember(cast.jonas, "The ladder is in the cellar.", visibility="household")
    alone = repr(recall(cast.jonas, "Where is the garden hose?"))

    for number in range(30):
        remember(cast.mira, f"The garden hose number {number} is broken.", visibility="private")

    assert repr(recall(cast.jonas, "Where is the garden hose?")) == alone


def test_a_surprise_is_known_by_nobody(cast):
    remember(
        cast.mira,
        "The surprise party for Jonas is at the lake.",
        visibility={"scope": "private", "discoverable": False},
    )
    denied = {"scope": "holders", "holders": ["lea"], "deny": ["jonas"]}
    remember(cast.mira, "The surprise cake for Jonas has three layers.", visibility=denied)

    assert who_knows(cast.jonas, "Is there a surprise party for Jonas at the lake?").holders == ()
    assert ask(cast.jonas, "Who bakes the surprise cake with three layers?").status == "no_holder_knows"


def test_what_somebody_else_wrote_down_does_not_count_as_her_knowledge(cast):
    remember(cast.ben, "Mira knows where the passport is kept.", holder_id="mira", visibility="private")

    assert "mira" not in [
        one.holder_id for one in who_knows(cast.jonas, "Where is the passport kept?").holders
    ]


def test_the_index_holds_no_word_of_a_password_that_an_outsider_could_meet():
    assert "horse" not in index_text("correct-horse-battery").split()


@pytest.fixture
def worked(monkeypatch):
    """What the engine really had to embed."""
    engine, texts = cache.engine(), []
    embed_passages, embed_query = engine.embed_passages, engine.embed_query
    monkeypatch.setattr(
        engine, "embed_passages", lambda given: (texts.extend(given), embed_passages(given))[1]
    )
    monkeypatch.setattr(engine, "embed_query", lambda given: (texts.append(given), embed_query(given))[1])
    return texts


def test_how_long_it_takes_tells_nobody_that_these_very_words_are_there(cast, worked):
    secret, open_to_all = "The safe opens with 4711 since Easter.", "The bins go out on Tuesday evening."
    remember(cast.mira, secret, visibility="private")
    remember(cast.mira, open_to_all, visibility="household")
    worked.clear()
    remember(cast.jonas, secret, visibility="private")
    assert worked == [secret]
    remember(cast.jonas, open_to_all, visibility="private")
    assert worked == [secret]  # he may read it anyway, so its vector is spared
    remember(cast.gus, open_to_all, visibility="private")
    assert worked == [secret, open_to_all]


def test_how_long_it_takes_tells_nobody_what_somebody_else_asked(cast, worked):
    question = "Where is the divorce lawyer's office?"
    recall(cast.mira, question)
    recall(cast.mira, question)
    assert worked == [question]
    recall(cast.jonas, question)
    assert worked == [question, question]
