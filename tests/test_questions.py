"""Questions between people: who sees them, how they are answered, and what becomes of them."""

import pytest
from django.urls import reverse

from holders import questions
from holders.ask import ask
from holders.events import events_for
from holders.models import Question
from holders.who_knows import who_knows
from memories.browse import get_memory
from memories.errors import Conflict, Invalid, NotAllowed, NotFound, TooMany
from memories.evidence import evidence
from memories.forget import forget
from memories.hidden import standings
from memories.models import Atom
from memories.recall import recall
from memories.remember import remember
from memories.visibility import Viewer
from tests.api_calls import with_token

KEY = "Where is the spare key to the garden shed?"


class TestWhoSeesAQuestion:
    def test_a_question_to_somebody_shows_to_the_two_alone(self, cast):
        card = questions.ask_holder(cast.jonas, KEY, "mira")

        assert [one.text for one in questions.inbox(cast.mira).for_me] == [KEY]
        assert [one.text for one in questions.inbox(cast.jonas).mine] == [KEY]
        for other in ("ben", "lea", "cura", "gus", "bot", "boiler", "stranger"):
            viewer = cast.viewer(other)
            assert questions.inbox(viewer) == questions.Inbox()
            assert questions.list_questions(viewer) == []
            with pytest.raises(NotFound):
                questions.get_question(viewer, card.question_id)

    def test_the_board_shows_to_the_household_and_not_to_guests_or_services(self, cast):
        questions.put_on_board(cast.jonas, KEY)

        shown = {one for one in ("mira", "ben", "lea", "cura", "bot", "gus", "boiler", "stranger")
                 if questions.inbox(cast.viewer(one)).board}  # fmt: skip
        assert shown == {"mira", "ben", "lea", "cura", "bot"}

    def test_a_missing_question_and_anothers_are_refused_alike(self, cast):
        card = questions.ask_holder(cast.jonas, KEY, "mira")
        refusals = set()
        for question_id in (card.question_id, "f" * 16):
            with pytest.raises(NotFound) as caught:
                questions.answer(cast.ben, question_id, "Here.")
            refusals.add(repr(caught.value))
        assert len(refusals) == 1

    def test_a_question_is_no_memory_that_answers_or_counts(self, cast):
        questions.put_on_board(cast.jonas, KEY)
        questions.put_on_board(cast.jonas, "Where did we use to keep the sledge in the old house?")

        for question in (KEY, "Where did we use to keep the sledge in the old house?"):
            assert recall(cast.mira, question).hits == ()
            assert standings(cast.mira, question) == []
            assert ask(cast.mira, question).status == "no_holder_knows"

    def test_an_agent_acting_for_the_asked_person_sees_only_what_it_may_read_itself(self, cast):
        questions.ask_holder(cast.jonas, KEY, "mira")
        acting = Viewer("bot", "agent", frozenset({"agents"}), acting_for=cast.mira)
        assert questions.inbox(acting).for_me == ()

    def test_a_forgotten_question_is_gone_for_everybody(self, cast):
        card = questions.ask_holder(cast.jonas, KEY, "mira")
        forget(cast.jonas, card.question_id)
        assert questions.inbox(cast.mira) == questions.inbox(cast.jonas) == questions.Inbox()


class TestPutting:
    def test_the_same_open_question_is_put_once(self, cast):
        first = questions.ask_holder(cast.jonas, KEY, "mira")
        assert questions.ask_holder(cast.jonas, f" {KEY} ", "mira").question_id == first.question_id
        assert Question.objects.count() == 1

    @pytest.mark.parametrize("text", ["", "   ", "x" * 4_001, "a\x00b"])
    def test_what_is_no_question_is_refused(self, cast, text):
        with pytest.raises(Invalid):
            questions.put_on_board(cast.jonas, text)

    def test_a_question_goes_to_somebody_else_whom_one_knows_of(self, cast):
        remember(Viewer("ghost"), "The ghost keeps the ladder in the attic.", visibility="private")
        with pytest.raises(Invalid):
            questions.ask_holder(cast.jonas, KEY, "jonas")
        for nobody in ("nobody", "ghost"):
            with pytest.raises(NotFound):
                questions.ask_holder(cast.jonas, KEY, nobody)

    def test_who_was_referred_to_an_unregistered_holder_may_ask_her(self, cast):
        remember(Viewer("ghost"), "The long ladder hangs in the attic of the barn.", visibility="private")
        referred = who_knows(cast.jonas, "Where is the long ladder of the barn?")
        assert "ghost" in [one.holder_id for one in referred.holders]
        assert questions.ask_holder(cast.jonas, "Where is the long ladder?", "ghost").to == "ghost"

    def test_questions_are_limited(self, cast, settings):
        settings.REKAL_RATE_LIMITS = settings.REKAL_RATE_LIMITS | {"question": ((2, 60),)}
        for number in range(2):
            questions.put_on_board(cast.jonas, f"Question number {number}?")
        with pytest.raises(TooMany):
            questions.put_on_board(cast.jonas, "One more?")

    def test_whom_it_is_put_to_is_told(self, cast):
        card = questions.ask_holder(cast.jonas, KEY, "mira")
        questions.put_on_board(cast.jonas, "Who has the drill?")

        told, _ = events_for(cast.mira)
        assert (told[0].kind, told[0].subject) == ("question", card.question_id)
        assert len(told) == 2
        assert [one.subject for one in events_for(cast.ben)[0]] == [told[1].subject]
        assert events_for(cast.gus)[0] == events_for(cast.jonas)[0] == []


class TestAnswering:
    def test_the_answer_is_a_memory_of_the_answerer_that_the_asker_may_read(self, cast):
        card = questions.ask_holder(cast.jonas, KEY, "mira")
        questions.answer(cast.mira, card.question_id, "The shed key lies under the blue pot.")

        answered = questions.get_question(cast.jonas, card.question_id)
        memory = answered.answers[0].memory
        assert (answered.state, memory.holder_id, memory.text) == (
            "answered", "mira", "The shed key lies under the blue pot.",
        )  # fmt: skip
        assert get_memory(cast.jonas, memory.atom_id)
        with pytest.raises(NotFound):
            get_memory(cast.ben, memory.atom_id)
        assert [(one.relation, one.other.text) for one in evidence(cast.mira, memory.atom_id)] == [
            ("answers", KEY)
        ]
        assert [one.kind for one in events_for(cast.jonas)[0]] == ["answered"]

    def test_a_wider_answer_is_for_everyone_and_the_question_stays_with_its_parties(self, cast):
        card = questions.ask_holder(cast.jonas, KEY, "mira")
        answered = questions.answer(cast.mira, card.question_id, "Under the blue pot.", readers="household")
        atom_id = answered.answers[0].memory.atom_id

        assert get_memory(cast.ben, atom_id)
        assert evidence(cast.ben, atom_id) == []
        with pytest.raises(NotFound):
            questions.get_question(cast.ben, card.question_id)

    def test_a_guest_who_asks_reads_the_answer_that_is_for_everyone(self, cast):
        card = questions.ask_holder(cast.gus, KEY, "mira")
        questions.answer(cast.mira, card.question_id, "Under the blue pot.", readers="household")

        assert questions.get_question(cast.gus, card.question_id).answers
        atom_id = questions.get_question(cast.mira, card.question_id).answers[0].memory.atom_id
        assert get_memory(cast.ben, atom_id)
        with pytest.raises(NotFound):
            get_memory(cast.boiler, atom_id)

    def test_an_answer_on_the_board_that_is_for_the_asker_stays_hers(self, cast):
        card = questions.put_on_board(cast.jonas, KEY)
        questions.answer(cast.mira, card.question_id, "Under the blue pot.")

        assert questions.get_question(cast.jonas, card.question_id).answers
        assert questions.get_question(cast.ben, card.question_id).answers == ()

    def test_one_tap_sends_a_memory_that_is_there_and_opens_it_to_the_asker_alone(self, cast):
        mine = remember(cast.mira, "The shed key lies under the blue pot.",
                        visibility={"scope": "holders", "holders": ["ben"], "discoverable": False})  # fmt: skip
        card = questions.ask_holder(cast.jonas, KEY, "mira")
        questions.answer(cast.mira, card.question_id, atom_id=mine.atom_id)

        kept = get_memory(cast.mira, mine.atom_id).visibility
        assert kept["holders"] == ["ben", "jonas"]
        assert kept["discoverable"] is False
        assert get_memory(cast.jonas, mine.atom_id)

    def test_a_memory_kept_from_the_asker_by_name_is_not_sent_by_a_tap(self, cast):
        mine = remember(
            cast.mira, "The present is in the shed.", visibility={"scope": "household", "deny": ["jonas"]}
        )
        card = questions.ask_holder(cast.jonas, KEY, "mira")
        with pytest.raises(Conflict):
            questions.answer(cast.mira, card.question_id, atom_id=mine.atom_id)
        with pytest.raises(NotFound):
            get_memory(cast.jonas, mine.atom_id)

    def test_nobody_answers_with_anothers_memory_or_her_own_question(self, cast):
        theirs = remember(cast.ben, "The shed is locked at night.", visibility="household")
        card = questions.ask_holder(cast.jonas, KEY, "mira")
        with pytest.raises(NotAllowed):
            questions.answer(cast.mira, card.question_id, atom_id=theirs.atom_id)
        with pytest.raises(NotAllowed):
            questions.answer(cast.jonas, card.question_id, "I found it.")

    def test_who_does_not_know_names_somebody_and_shows_the_question_to_nobody(self, cast):
        card = questions.ask_holder(cast.jonas, "What does Ben want for his birthday?", "mira")
        questions.pass_on(cast.mira, card.question_id, "ben")

        assert questions.inbox(cast.ben) == questions.Inbox()
        assert questions.inbox(cast.mira).for_me == ()
        assert [(one.by, one.to) for one in questions.get_question(cast.jonas, card.question_id).passed] == [
            ("mira", "ben")
        ]
        assert questions.get_question(cast.mira, card.question_id).passed == ()

        questions.ask_instead(cast.jonas, card.question_id, "ben")
        assert [one.question_id for one in questions.inbox(cast.ben).for_me] == [card.question_id]
        assert questions.get_question(cast.mira, card.question_id)
        with pytest.raises(NotAllowed):
            questions.ask_instead(cast.mira, card.question_id, "lea")


class TestAfterwards:
    def answered(self, cast):
        card = questions.ask_holder(cast.jonas, KEY, "mira")
        return questions.answer(cast.mira, card.question_id, "The shed key lies under the blue pot.")

    def test_an_answer_that_helped_counts_when_something_like_it_is_asked(self, cast):
        card = self.answered(cast)
        like = "Where do we keep the spare key to the shed in the garden?"
        before = {one.holder_id: one for one in who_knows(cast.jonas, like).holders}
        questions.helped(cast.jonas, card.question_id, card.answers[0].memory.atom_id, yes=True)

        mira = next(one for one in who_knows(cast.jonas, like).holders if one.holder_id == "mira")
        assert any("helped before" in line for line in mira.basis)
        assert not any("helped before" in line for one in before.values() for line in one.basis)
        assert questions.get_question(cast.jonas, card.question_id).state == "closed"
        unlike = who_knows(cast.jonas, "When does the school bus leave?")
        assert not any("helped before" in line for one in unlike.holders for line in one.basis)

    def test_what_helped_is_told_to_nobody_who_may_not_read_question_and_answer(self, cast):
        card = self.answered(cast)
        questions.helped(cast.jonas, card.question_id, card.answers[0].memory.atom_id, yes=True)

        for other in ("ben", "cura", "gus", "bot"):
            found = who_knows(cast.viewer(other), KEY)
            assert not any("helped" in line for one in found.holders for line in one.basis)

    def test_an_answer_that_did_not_help_opens_the_question_again(self, cast):
        card = self.answered(cast)
        with pytest.raises(NotAllowed):
            questions.helped(cast.mira, card.question_id, card.answers[0].memory.atom_id, yes=True)
        again = questions.helped(cast.jonas, card.question_id, card.answers[0].memory.atom_id, yes=False)
        assert (again.state, again.answers[0].helped) == ("open", False)
        assert questions.inbox(cast.mira).for_me

    def test_a_question_that_nobody_answered_is_forgotten_when_it_is_closed(self, cast):
        card = questions.ask_holder(cast.jonas, KEY, "mira")
        with pytest.raises(NotAllowed):
            questions.close(cast.mira, card.question_id)
        questions.close(cast.jonas, card.question_id)
        assert not Question.objects.exists()
        assert not Atom.objects.exists()

        answered = self.answered(cast)
        questions.close(cast.jonas, answered.question_id)
        assert questions.get_question(cast.mira, answered.question_id).state == "closed"


class TestFaces:
    def test_the_whole_way_over_json(self, cast):
        jonas, mira, ben = with_token("jonas"), with_token("mira"), with_token("ben")
        put = jonas.post("/api/questions", {"question": KEY, "to": "mira"}, content_type="application/json")
        assert put.status_code == 201
        path = f"/api/questions/{put.json()['question_id']}"
        assert ben.get(path).status_code == 404
        assert mira.get("/api/inbox").json()["for_me"][0]["text"] == KEY
        said = {"text": "Under the blue pot.", "readers": "asker"}
        answered = mira.post(f"{path}/answers", said, content_type="application/json")
        assert answered.status_code == 201
        atom_id = answered.json()["answers"][0]["memory"]["atom_id"]
        told = jonas.post(
            f"{path}/helped", {"atom_id": atom_id, "helped": True}, content_type="application/json"
        )
        assert told.json()["state"] == "closed"
        assert jonas.get("/api/questions?state=closed").json()["questions"][0]["answers"][0]["helped"] is True
        assert jonas.get("/api/questions?state=lost").status_code == 422
        assert jonas.delete(path).status_code == 204
        assert (
            with_token("jonas", "read")
            .post("/api/questions", {"question": "x?"}, content_type="application/json")
            .status_code
            == 403
        )

    def test_the_whole_way_through_the_pages(self, cast, browser_of):
        mine = remember(
            cast.mira, "The spare key to the garden shed lies under the blue pot.", visibility="private"
        )
        jonas, mira = browser_of("jonas"), browser_of("mira")
        put = jonas.post(reverse("question-new"), {"question": KEY, "to": "mira"})
        page = put.url
        assert "has not answered yet" in jonas.get(page).content.decode()
        assert KEY in mira.get(reverse("inbox")).content.decode()
        asked = mira.get(page).content.decode()
        assert mine.text in asked
        empty = mira.post(f"{page}answer/", {"text": " "})
        assert empty.status_code == 422
        assert mira.post(f"{page}answer/", {"atom": mine.atom_id}).status_code == 302
        assert "Did it help?" in jonas.get(page).content.decode()
        jonas.post(f"{page}helped/", {"atom": mine.atom_id, "helped": "yes"})
        assert "It helped" in mira.get(page).content.decode()

    def test_the_pages_of_a_question_are_for_its_parties(self, cast, browser_of):
        card = questions.ask_holder(cast.jonas, KEY, "mira")
        ben = browser_of("ben")
        assert ben.get(reverse("question", args=[card.question_id])).status_code == 404
        for step in ("answer", "pass", "again", "helped", "close"):
            reply = ben.post(
                reverse(f"question-{step}", args=[card.question_id]), {"text": "x", "helped": "yes"}
            )
            assert reply.status_code == 404
        assert KEY not in ben.get(reverse("inbox")).content.decode()

    def test_the_ask_page_leads_to_a_question(self, cast, browser_of):
        remember(cast.mira, "The long ladder hangs in the attic of the barn.", visibility="private")
        jonas = browser_of("jonas")
        referred = jonas.get("/", {"q": "Where is the long ladder of the barn?"}).content.decode()
        assert f'action="{reverse("question-new")}"' in referred
        nobody = jonas.get("/", {"q": "Who painted the Mona Lisa?"}).content.decode()
        assert "board" in nobody
