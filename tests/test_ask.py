"""Who knows, and ask: three ends, what is hidden stays hidden, and whoever is named finds it in her book."""

import dataclasses
import json

import pytest
from django.db import OperationalError

from holders import book
from holders.ask import ask
from holders.auth import viewer_for
from holders.models import Referral
from holders.registry import set_holder
from holders.who_knows import HOLDS_HIDDEN, rank, who_knows
from memories.errors import Invalid
from memories.models import Atom, Cartridge, CartridgeAtom, Mount
from memories.remember import remember
from memories.visibility import Viewer

KEY = "The spare key for the garden shed is inside the blue watering can."
WHERE = "Where is the spare key for the garden shed?"


def as_bytes(result):
    return json.dumps(dataclasses.asdict(result), ensure_ascii=False).encode()


def named(result):
    return [one.holder_id for one in result.holders]


def test_what_the_viewer_may_read_answers_at_hop_0(cast):
    remember(cast.mira, KEY, visibility="household")
    result = ask(cast.jonas, WHERE)
    assert (result.status, result.hops_used, result.visited, result.referrals) == ("answered", 0, (), ())
    assert result.answers[0].memory.text == KEY


def test_what_only_somebody_else_may_read_becomes_a_referral_with_a_way_to_reach_her(cast):
    remember(cast.mira, KEY, visibility="private")
    result = ask(cast.jonas, WHERE)
    assert (result.status, result.hops_used, result.visited, result.answers) == ("referred", 1, ("mira",), ())
    referral = result.referrals[0]
    assert (referral.holder_id, referral.name, referral.kind, referral.registered) == (
        "mira",
        "Mira",
        "person",
        True,
    )
    assert referral.confidence in ("strong", "likely", "possible")
    assert (referral.basis, referral.hop) == ((HOLDS_HIDDEN,), 1)
    assert referral.contact["phone"] == "+49 30 5550100"
    assert b"watering" not in as_bytes(result)


def test_nobody_knowing_is_a_result(cast):
    remember(cast.mira, KEY, visibility="private")
    result = ask(cast.jonas, "Which composer wrote the opera Rusalka?")
    assert (result.status, result.question) == ("no_holder_knows", "Which composer wrote the opera Rusalka?")
    assert (result.hops_used, result.visited, result.answers, result.referrals) == (0, (), (), ())


def test_max_hops_0_stays_at_hop_0(cast):
    remember(cast.mira, KEY, visibility="private")
    result = ask(cast.jonas, WHERE, max_hops=0)
    assert (result.status, result.visited, result.referrals) == ("no_holder_knows", (), ())
    assert ask(cast.jonas, WHERE, max_hops=1).status == "referred"


def test_the_asker_is_no_hop(cast):
    remember(
        cast.jonas, "The spare key for the cellar hangs on the hook.", scenario="cellar", visibility="private"
    )
    remember(cast.mira, KEY, visibility="private")
    result = ask(cast.jonas, WHERE, scenario="kitchen", max_hops=1)
    assert result.visited == ("mira",)
    assert "jonas" not in named(who_knows(cast.jonas, WHERE))


def test_an_agent_and_the_person_it_acts_for_are_no_hops_either(cast):
    remember(cast.mira, KEY, visibility="private")
    remember(cast.bot, KEY, visibility="private")
    agent = Viewer("bot", "agent", cast.bot.groups, acting_for=cast.mira)
    assert named(who_knows(agent, WHERE)) == []


def test_nobody_is_visited_twice_and_no_more_than_max_hops(cast):
    for who in (cast.mira, cast.lea, cast.ben, cast.cura):
        remember(who, KEY, visibility="private")
        remember(who, f"{KEY} It is the old one.", visibility="private")
    result = ask(cast.jonas, WHERE, max_hops=3)
    assert len(result.visited) == len(set(result.visited)) == 3
    assert [one.hop for one in result.referrals] == [1, 2, 3]
    assert len(ask(cast.jonas, WHERE, max_hops=3, limit=1).referrals) == 1


def test_a_holders_readable_memory_answers_outside_the_scenario(cast):
    remember(cast.mira, KEY, scenario="garden", visibility="household")
    result = ask(cast.jonas, WHERE, scenario="kitchen")
    assert (result.status, result.hops_used, result.visited) == ("answered", 1, ("mira",))
    assert result.answers[0].memory.text == KEY


def test_a_holders_readable_memory_answers_outside_the_mounts(cast):
    atom = remember(cast.mira, KEY, visibility="household")
    other = remember(cast.mira, "Noodles are boiled for eight minutes.", visibility="household")
    cartridge = Cartridge.objects.create(name="Cooking", owner_id="jonas")
    CartridgeAtom.objects.create(cartridge=cartridge, atom=Atom.objects.get(atom_id=other.atom_id))
    Mount.objects.create(holder_id="jonas", cartridge=cartridge)
    result = ask(cast.jonas, WHERE)
    assert (result.status, result.hops_used, result.answers[0].memory.atom_id) == (
        "answered",
        1,
        atom.atom_id,
    )
    assert ask(cast.ben, WHERE).hops_used == 0


def test_closed_and_superseded_memories_refer_to_nobody(cast):
    remember(cast.mira, KEY, visibility="private", valid_from="2020-01-01", valid_to="2021-01-01")
    old = remember(cast.ben, KEY, visibility="private")
    remember(cast.ben, "The bins are emptied on Thursdays.", replaces=[old.atom_id])
    assert who_knows(cast.jonas, WHERE).holders == ()


def test_a_present_that_must_stay_a_surprise_hints_at_nothing(cast):
    remember(cast.mira, KEY, visibility={"scope": "private", "discoverable": False})
    remember(cast.ben, KEY, visibility={"scope": "household", "deny": ["jonas"]})
    assert who_knows(cast.jonas, WHERE).holders == ()
    assert ask(cast.jonas, WHERE).status == "no_holder_knows"
    assert named(who_knows(cast.lea, WHERE)) == ["ben"]


def test_what_others_wrote_down_for_her_counts_once_she_confirms(cast):
    memory = remember(cast.ben, KEY, holder_id="mira", visibility={"scope": "holders", "holders": ["ben"]})
    assert "mira" not in named(who_knows(cast.jonas, WHERE))
    from memories.remember import confirm

    confirm(cast.mira, memory.atom_id)
    assert named(who_knows(cast.jonas, WHERE)) == ["mira"]


def test_an_unregistered_holder_counts(cast):
    remember(viewer_for("uncle-tom"), KEY, visibility="private")
    knower = who_knows(cast.jonas, WHERE).holders[0]
    assert (knower.holder_id, knower.registered, knower.name, knower.kind, knower.contact) == (
        "uncle-tom", False, "", "", {},
    )  # fmt: skip


def test_readable_evidence_is_named_and_hidden_evidence_is_one_constant_line(cast):
    remember(cast.mira, KEY, visibility="household")
    remember(
        cast.ben, "The spare key for the garden shed also opens the bicycle cellar.", visibility="private"
    )
    found = {one.holder_id: one for one in who_knows(cast.jonas, WHERE).holders}
    assert HOLDS_HIDDEN not in found["mira"].basis
    assert found["mira"].basis
    assert found["ben"].basis == (HOLDS_HIDDEN,)


@pytest.mark.parametrize("who", ["gus", "boiler", "stranger"])
def test_who_is_not_of_the_household_learns_no_contact(cast, who):
    remember(cast.mira, KEY, visibility="private")
    knower = who_knows(viewer_for(who), WHERE).holders[0]
    assert (knower.holder_id, knower.contact) == ("mira", {})


def test_a_declared_topic_makes_somebody_likely(cast):
    set_holder(None, "ben", knows_about=["bicycles", "garden shed"])
    knower = who_knows(cast.jonas, "Who has painted the garden shed?").holders[0]
    assert (knower.holder_id, knower.confidence) == ("ben", "likely")
    assert knower.basis == ("Declared the topic “garden shed”.",)


@pytest.mark.parametrize(
    ("topic", "question"),
    [
        ("暖气", "暖气为什么不热？"),
        ("bicycles", "My bicycle has a flat tyre"),
        ("Heizungen", "Warum ist die Heizung kalt?"),
    ],
)
def test_topics_are_found_by_stem_and_without_spaces(cast, topic, question):
    set_holder(None, "ben", knows_about=[topic])
    assert named(who_knows(cast.jonas, question)) == ["ben"]


@pytest.mark.parametrize(
    ("topic", "question"),
    [
        ("heating", "Why is the radiator cold?"),
        ("heating", "暖气为什么不热？"),
        ("wifi and computers", "Wie lautet das WLAN-Passwort?"),
        ("药和健康", "奶奶的降压药什么时候吃？"),
    ],
)
def test_topics_are_found_by_meaning_and_across_languages_too(cast, topic, question):
    set_holder(None, "ben", knows_about=[topic, "stamps"])
    knower = who_knows(cast.jonas, question).holders[0]
    assert (knower.holder_id, knower.confidence) == ("ben", "possible")
    assert knower.basis[0].startswith(f"Declared the topic “{topic}”, near in meaning (cosine 0.")


@pytest.mark.parametrize(
    "question", ["Where is the spare key?", "What is the capital of Mongolia?", "明天天气怎么样？"]
)
def test_far_topics_make_nobody_know(cast, question):
    set_holder(None, "ben", knows_about=["heating", "the car", "cooking", "药和健康", "garden"])
    assert who_knows(cast.jonas, question).holders == ()


def test_a_topic_does_not_match_in_the_middle_of_a_word(cast):
    set_holder(None, "ben", knows_about=["car"])
    assert named(who_knows(cast.jonas, "How is the carpet cleaned?")) == []


def test_holding_and_declaring_together_are_worth_more(cast):
    remember(cast.mira, KEY, visibility="private")
    before = who_knows(cast.jonas, WHERE).holders[0].confidence
    set_holder(None, "mira", knows_about=["garden"])
    after = who_knows(cast.jonas, WHERE).holders[0]
    order = ("possible", "likely", "strong")
    assert order.index(after.confidence) == min(order.index(before) + 1, 2)
    assert after.basis == (HOLDS_HIDDEN, "Declared the topic “garden”.")


@pytest.mark.parametrize(
    "question",
    [
        "7741",
        "DE123999",
        "DE12",
        "４７７１",
        "①②",
        "code 7741",
        "七七四一",
        "swordf",
        "swordfi*",
        "w",
        "fish7741",
    ],
)
def test_probing_gives_the_same_bytes_whether_or_not_a_hidden_memory_holds_it(cast, question):
    remember(cast.mira, "The shopping list hangs on the fridge.", visibility="household")
    remember(cast.ben, "Code for the parcel box.", visibility="private")

    def replies():
        return as_bytes(who_knows(cast.jonas, question)) + as_bytes(ask(cast.jonas, question))

    without = replies()
    secrets = ["7741", "DE123999", "①②", "七七四一", "swordfish", "swordfish7741"]
    for secret in secrets:
        remember(cast.mira, secret, visibility="private")
    assert replies() == without


def test_the_order_is_the_same_every_time(cast):
    for who in (cast.mira, cast.lea, cast.ben, cast.cura, cast.bot):
        remember(who, KEY, visibility="private")
    first = as_bytes(who_knows(cast.jonas, WHERE))
    assert all(as_bytes(who_knows(cast.jonas, WHERE)) == first for _ in range(3))


@pytest.mark.parametrize("limit", [0, -1, 201, 5_000])
def test_a_limit_is_from_1_to_200(cast, limit):
    for verb in (who_knows, ask):
        with pytest.raises(Invalid, match="1 to 200"):
            verb(cast.jonas, WHERE, limit=limit)


@pytest.mark.parametrize("hops", [-1, 21])
def test_hops_are_from_0_to_20(cast, hops):
    with pytest.raises(Invalid, match="0 to 20"):
        ask(cast.jonas, WHERE, max_hops=hops)


@pytest.mark.parametrize("question", ["", "  ", "a\0b", "\ud800"])
def test_a_question_that_cannot_be_read_is_refused(cast, question):
    for verb in (who_knows, ask):
        with pytest.raises(Invalid):
            verb(cast.jonas, question)


def test_each_holder_sees_who_was_referred_to_her_about_what_and_nobody_else_does(cast):
    remember(cast.mira, KEY, visibility="private")
    who_knows(cast.jonas, WHERE)
    ask(cast.lea, WHERE)
    lines = book.referrals_for(cast.mira)
    assert [(one.asker_id, one.verb, one.question) for one in lines] == [
        ("lea", "ask", WHERE),
        ("jonas", "who_knows", WHERE),
    ]
    assert book.referrals_for(cast.jonas) == []
    agent = Viewer("bot", "agent", cast.bot.groups, acting_for=cast.mira)
    assert book.referrals_for(agent) == []


def test_an_answer_from_what_one_may_read_is_in_nobodys_book(cast):
    remember(cast.mira, KEY, visibility="household")
    ask(cast.jonas, WHERE)
    book.flush()
    assert not Referral.objects.exists()


def test_asking_writes_nothing_until_the_batch_is_due(cast, django_capture_on_commit_callbacks):
    remember(cast.mira, KEY, visibility="private")
    for _ in range(5):
        ask(cast.jonas, WHERE)
    assert not Referral.objects.exists()
    book.flush()
    assert Referral.objects.count() == 5


def test_looking_through_the_ranking_alone_notes_nothing(cast):
    remember(cast.mira, KEY, visibility="private")
    assert rank(cast.jonas, WHERE)
    assert book.referrals_for(cast.mira) == []


def test_a_repeated_ask_with_its_key_is_noted_once(cast, client):
    from holders.models import Token

    remember(cast.mira, KEY, visibility="private")
    _, plain = Token.objects.issue("jonas", ["ask"])
    headers = {"Authorization": f"Bearer {plain}", "Idempotency-Key": "k"}
    body = json.dumps({"question": WHERE})
    replies = [client.post("/api/ask", body, "application/json", headers=headers) for _ in range(2)]
    assert replies[0].status_code == 200
    assert replies[0].json() == replies[1].json()
    keys = ["status", "question", "hops_used", "visited", "answers", "referrals"]
    assert list(replies[0].json())[:6] == keys
    assert len(book.referrals_for(cast.mira)) == 1
    other = client.post("/api/ask", json.dumps({"question": "Else?"}), "application/json", headers=headers)
    assert other.status_code == 422


def test_private_text_is_nowhere_in_anothers_replies_headers_or_logs(cast, client, caplog):
    from holders.models import Token

    remember(cast.mira, KEY, visibility="private", scenario="burglary", tags=["hideout"], source="diary.md#7")
    _, plain = Token.objects.issue("jonas", ["read", "write", "ask"])
    headers = {"Authorization": f"Bearer {plain}"}
    calls = [
        client.post("/api/ask", json.dumps({"question": WHERE}), "application/json", headers=headers),
        *(
            client.get(path, headers=headers)
            for path in (
                "/api/who_knows?q=spare+key+garden+shed",
                "/api/recall?q=watering+can",
                "/api/memories",
                "/api/memories?q=watering",
                "/api/memories?scenario=burglary",
                "/api/holders",
                "/api/holders/mira",
            )
        ),
    ]
    for reply in calls:
        traffic = (str(reply.headers) + reply.content.decode()).casefold()
        for word in ("watering can", "burglary", "hideout", "diary.md"):
            if word not in reply.request["QUERY_STRING"].replace("+", " "):
                assert word not in traffic, (reply.request["PATH_INFO"], word)
    assert "watering" not in caplog.text


class FakeTimer:
    """Remembers when it would have run."""

    made = []

    def __init__(self, seconds, work):
        self.seconds, self.work, self.daemon, self.cancelled = seconds, work, False, False
        FakeTimer.made.append(self)

    def start(self):
        assert self.daemon

    def cancel(self):
        self.cancelled = True


@pytest.fixture
def timers(monkeypatch):
    monkeypatch.setattr(book, "Timer", FakeTimer)
    monkeypatch.setattr(book, "_timer", None)
    monkeypatch.setattr(FakeTimer, "made", [])
    return FakeTimer.made


def test_the_book_is_written_in_a_while_or_at_once_when_it_is_full(cast, settings, monkeypatch, timers):
    monkeypatch.setattr(book, "_store", lambda: "/a/file.db")
    settings.REKAL_BOOK_LINES, settings.REKAL_BOOK_SECONDS = 3, 2.0
    for _ in range(2):
        book.note_referrals(cast.jonas, "ask", WHERE, [("mira", "likely")])
    assert [one.seconds for one in timers] == [2.0]
    book.note_referrals(cast.jonas, "ask", WHERE, [("mira", "likely")])
    assert [(one.seconds, one.cancelled) for one in timers] == [(2.0, True), (0, False)]
    book.flush()
    assert Referral.objects.count() == 3


def test_no_thread_writes_when_there_is_no_time_set_or_the_store_is_in_memory(
    cast, settings, monkeypatch, timers
):
    book.note_referrals(cast.jonas, "ask", WHERE, [("mira", "likely")])
    monkeypatch.setattr(book, "_store", lambda: "/a/file.db")
    settings.REKAL_BOOK_SECONDS = 0
    book.note_referrals(cast.jonas, "ask", WHERE, [("mira", "likely")])
    assert timers == []


def test_notes_about_another_store_are_not_written_here(cast, monkeypatch):
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(book, "_store", lambda: "/another/file.db")
        elsewhere.setattr(book, "_schedule", lambda **given: None)
        book.note_referrals(cast.jonas, "ask", WHERE, [("mira", "likely")])
    book.flush()
    assert not Referral.objects.exists()


def test_what_cannot_be_written_now_waits_and_the_log_holds_no_question(cast, monkeypatch, caplog):
    def locked(lines):
        raise OperationalError("database is locked")

    book.note_referrals(cast.jonas, "ask", WHERE, [("mira", "likely")])
    with monkeypatch.context() as busy:
        busy.setattr(Referral.objects, "bulk_create", locked)
        book._flush_at_exit()
    assert "OperationalError" in caplog.text
    assert "spare key" not in caplog.text
    assert [one.asker_id for one in book.referrals_for(cast.mira)] == ["jonas"]
    book._flush_at_exit()


def test_a_long_question_is_kept_short_in_the_book(cast):
    book.note_referrals(cast.jonas, "ask", "why " * 1_000, [("mira", "likely")])
    assert len(book.referrals_for(cast.mira)[0].question) == book.QUESTION_CHARACTERS
