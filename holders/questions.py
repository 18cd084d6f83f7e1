"""Questions that people put to each other: to one holder, or to the household's board.

A question is an atom of the asker's, so that the edge `answers` has two real ends and the one visibility rule decides
who sees it: its parties, or for the board the household. It is never true (it ends as it begins) and not
discoverable, so nothing recalls it or counts it as knowledge. The answer is an atom of the answerer's that the asker
may read. Who does not know can name somebody else; whether to ask her is up to the asker, whose words they are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q

from holders import book, events, limits
from holders.auth import viewer_for
from holders.models import QUESTION_STATES, Answer, Holder, Question, Referral
from holders.registry import NO_SUCH_HOLDER, checked_id
from memories import timestamps
from memories.browse import checked_limit
from memories.drafts import checked_choice, checked_text
from memories.embedding import cache
from memories.errors import Conflict, Invalid, NotAllowed, NotFound
from memories.fields import dump_json
from memories.forget import forget
from memories.models import Atom, EvidenceEdge
from memories.remember import changeable, edit, remember
from memories.results import Memory, memories_for
from memories.visibility import Viewer, narrowest

NO_SUCH_QUESTION = "There is no question with this id that you may read."
MAX_QUESTION = 4_000
SHOWN = 50
LOOKED_AT = 4  # times the limit: some of the board may be unreadable
REFERRALS_SHOWN = 20
READERS = ("asker", "household")


@dataclass(frozen=True, slots=True)
class AnswerCard:
    """An answer the viewer may read; `helped` is told to the asker and the answerer alone."""

    memory: Memory
    helped: bool | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """Somebody who did not know, and whom she named instead ('' for nobody)."""

    by: str
    to: str


@dataclass(frozen=True, slots=True)
class QuestionCard:
    """A question as one of its parties sees it. `to` is empty on the board; `passed` is told to the asker alone."""

    question_id: str
    text: str
    asker_id: str
    to: str
    state: str
    created_at: str
    answers: tuple[AnswerCard, ...] = ()
    passed: tuple[Passed, ...] = ()


@dataclass(frozen=True, slots=True)
class Inbox:
    """What waits for a viewer: questions to her, the board, her own questions, and who was referred to her."""

    for_me: tuple[QuestionCard, ...] = ()
    board: tuple[QuestionCard, ...] = ()
    mine: tuple[QuestionCard, ...] = ()
    referrals: tuple[book.ReferralLine, ...] = ()


def ask_holder(viewer: Viewer, text: str, to: str) -> QuestionCard:
    """Put a question to one holder. The same open question comes back instead of a second one.

    Raises `Invalid`, `NotFound` for a holder the viewer does not know of, `TooMany`.
    """
    return _put(viewer, text, _checked_recipient(viewer, to))


def put_on_board(viewer: Viewer, text: str) -> QuestionCard:
    """Put a question to the whole household. Raises `Invalid`, `TooMany`."""
    return _put(viewer, text, "")


def _put(viewer: Viewer, text: str, to: str) -> QuestionCard:
    words = _checked_question(text)
    if again := _same(viewer, words, to):
        return again
    limits.spend(viewer, "question")
    embedded = cache.embed_passages([words], viewer)
    now = timestamps.now()
    with transaction.atomic():
        if again := _same(viewer, words, to):
            return again
        cache.keep(embedded.fresh)
        atom = remember(
            viewer, words, if_new=False, visibility=_parties(to), valid_from=now, valid_to=now,
            metadata={"question": True},
        )  # fmt: skip
        question = Question.objects.create(question_id=atom.atom_id, asker_id=viewer.author, to_holder=to)
        _tell(question)
    return _cards(viewer, [question])[0]


def _parties(to: str, also: Iterable[str] = ()) -> dict[str, Any]:
    """Who may see a question: the household, or whom it is put to (and was put to before)."""
    if not to:
        return {"scope": "household", "discoverable": False}
    return {"scope": "holders", "holders": sorted({to, *also}), "discoverable": False}


def _tell(question: Question) -> None:
    """Announce it to whom it is put; events name ids alone, and who may not read it is left out on delivery."""
    told = [question.to_holder] if question.to_holder else _people_but(question.asker_id)
    for holder_id in told:
        events.emit("question", holder_id, question.question_id, atom_id=question.question_id)


def _people_but(holder_id: str) -> list[str]:
    people = Holder.objects.filter(kind="person").exclude(pk=holder_id)
    return list(people.order_by("pk").values_list("pk", flat=True))


def _checked_question(text: object) -> str:
    words = checked_text(text).strip()
    if len(words) > MAX_QUESTION:
        raise Invalid(f"A question may have at most {MAX_QUESTION} characters.", "question")
    return words


def _checked_recipient(viewer: Viewer, to: object) -> str:
    """Somebody the viewer knows of: in the directory, by a readable memory, or because she was referred there."""
    key = checked_id(to)
    if key in viewer.ids:
        raise Invalid("A question goes to somebody else than yourself.", "to")
    if Holder.objects.filter(pk=key).exists() or _was_met(viewer, key):
        return key
    raise NotFound(NO_SUCH_HOLDER)


def _was_met(viewer: Viewer, holder_id: str) -> bool:
    if Atom.objects.visible_to(viewer).filter(holder_id=holder_id).exists():
        return True
    book.flush()
    return Referral.objects.filter(holder_id=holder_id, asker_id=viewer.author).exists()


def _same(viewer: Viewer, words: str, to: str) -> QuestionCard | None:
    rows = list(Question.objects.filter(asker_id=viewer.author, to_holder=to).exclude(state="closed"))
    return next((one for one in _cards(viewer, rows) if one.text == words), None)


def get_question(viewer: Viewer, question_id: str) -> QuestionCard:
    """One question. Raises `NotFound`, alike for a missing one and one that is put to others."""
    cards = _cards(viewer, list(Question.objects.filter(pk=question_id)))
    if not cards:
        raise NotFound(NO_SUCH_QUESTION)
    return cards[0]


def list_questions(viewer: Viewer, *, state: str | None = None, limit: int = SHOWN) -> list[QuestionCard]:
    """The questions the viewer asked, was asked, or finds on the board; newest first. Raises `Invalid`."""
    size = checked_limit(limit)
    rows = Question.objects.filter(Q(asker_id=viewer.author) | Q(to_holder__in=[viewer.author, ""]))
    if state is not None:
        rows = rows.filter(state=checked_choice(state, QUESTION_STATES, "state"))
    return _cards(viewer, list(rows.order_by("-created_at", "-pk")[: size * LOOKED_AT]))[:size]


def inbox(viewer: Viewer) -> Inbox:
    """All that waits for the viewer; her book of referrals too."""
    me = viewer.author
    asked = Question.objects.filter(to_holder=me, state="open").order_by("created_at")[:SHOWN]
    board = Question.objects.filter(to_holder="", state="open").exclude(asker_id=me)
    mine = Question.objects.filter(asker_id=me).order_by("-created_at")[:SHOWN]
    return Inbox(
        for_me=tuple(_cards(viewer, _not_passed(me, asked))),
        board=tuple(_cards(viewer, _not_passed(me, board.order_by("-created_at")[:SHOWN]))),
        mine=tuple(_cards(viewer, list(mine))),
        referrals=tuple(book.referrals_for(viewer, REFERRALS_SHOWN)),
    )


def waiting(viewer: Viewer) -> int:
    """How many questions wait for a word of the viewer's: to her, or hers with a fresh answer."""
    me = viewer.author
    asked = _not_passed(me, Question.objects.filter(to_holder=me, state="open")[:SHOWN])
    answered = Question.objects.filter(asker_id=me, state="answered").values_list("pk", flat=True)[:SHOWN]
    ids = [*(one.question_id for one in asked), *answered]
    return Atom.objects.visible_to(viewer).filter(atom_id__in=ids).count() if ids else 0


def _not_passed(me: str, questions: Iterable[Question]) -> list[Question]:
    return [one for one in questions if me not in {passed.get("by") for passed in one.passed}]


def _cards(viewer: Viewer, questions: Sequence[Question]) -> list[QuestionCard]:
    """The questions among these that the viewer may read, in the given order; three queries whatever their number."""
    ids = [one.question_id for one in questions]
    texts = dict(Atom.objects.visible_to(viewer).filter(atom_id__in=ids).values_list("atom_id", "text"))
    readable = [one for one in questions if one.question_id in texts]
    answers = _answers(viewer, {one.question_id: one.asker_id for one in readable})
    return [
        QuestionCard(
            question_id=one.question_id,
            text=texts[one.question_id],
            asker_id=one.asker_id,
            to=one.to_holder,
            state=one.state,
            created_at=one.created_at,
            answers=tuple(answers.get(one.question_id, ())),
            passed=_passed(one) if one.asker_id in viewer.ids else (),
        )
        for one in readable
    ]


def _passed(question: Question) -> tuple[Passed, ...]:
    return tuple(Passed(str(one.get("by", "")), str(one.get("to", ""))) for one in question.passed)


def _answers(viewer: Viewer, askers: Mapping[str, str]) -> dict[str, list[AnswerCard]]:
    """The readable answers by question, oldest first; `askers` names who asked each."""
    rows = (
        list(Answer.objects.filter(question__in=list(askers)).order_by("created_at", "pk")) if askers else []
    )
    atoms = (
        list(Atom.objects.visible_to(viewer).filter(atom_id__in=[row.atom_id for row in rows]))
        if rows
        else []
    )
    memories = {one.atom_id: one for one in memories_for(viewer, atoms)}
    found: dict[str, list[AnswerCard]] = {}
    for row in rows:
        if (memory := memories.get(row.atom_id)) is None:
            continue
        told = viewer.ids & {row.holder_id, askers[row.question_id]}
        found.setdefault(row.question_id, []).append(AnswerCard(memory, row.helped if told else None))
    return found


def answer(
    viewer: Viewer, question_id: str, text: str = "", *, atom_id: str | None = None, readers: str = "asker"
) -> QuestionCard:
    """Answer in a sentence, or with a memory of the viewer's own; the asker may read it from then on.

    `readers` is `asker`, or `household` for everybody else too. The asker is told. Raises `NotFound`, `NotAllowed`,
    `Invalid`, and `Conflict` when the question is closed or the memory is kept from the asker by name.
    """
    question = _answerable(viewer, question_id)
    wide = checked_choice(readers, READERS, "readers") == "household"
    audience = _audience(viewer_for(question.asker_id), wide=wide)
    embedded = cache.embed_passages([checked_text(text)], viewer) if atom_id is None else None
    with transaction.atomic():
        question = _answerable(viewer, question_id)
        if embedded is not None:
            cache.keep(embedded.fresh)
            given = remember(viewer, text, visibility=audience).atom_id
        else:
            given = _shared(viewer, atom_id or "", question.asker_id, audience if wide else None)
        _link(viewer, question, given)
    return get_question(viewer, question_id)


def _answerable(viewer: Viewer, question_id: str) -> Question:
    card = get_question(viewer, question_id)
    if card.asker_id in viewer.ids:
        raise NotAllowed("Your own question is for others to answer; close it when you know.")
    if card.state == "closed":
        raise Conflict("This question is closed.")
    return Question.objects.get(pk=question_id)


def _audience(asker: Viewer, *, wide: bool) -> dict[str, Any]:
    """Who reads an answer: the asker, or the household and the asker even if she is a guest of it."""
    if not wide:
        return {"scope": "holders", "holders": [asker.holder_id]}
    if asker.in_household:
        return {"scope": "household"}
    household = [one for one in Holder.objects.exclude(kind="service") if viewer_for(one.pk).in_household]
    return {"scope": "holders", "holders": sorted({asker.holder_id, *(one.pk for one in household)})}


def _shared(viewer: Viewer, atom_id: str, asker_id: str, audience: Mapping[str, Any] | None) -> str:
    """A stored memory of the viewer's, opened to the asker (or the whole audience) where it is not; its id."""
    atom = changeable(viewer, atom_id)
    asker = viewer_for(asker_id)
    before = narrowest([atom.visibility_json])
    if asker_id in before["deny"]:
        raise Conflict("You keep this memory from her by name; change that first if you mean to share it.")
    reads = Atom.objects.visible_to(asker).filter(pk=atom.pk).exists()
    kept = {"deny": before["deny"], "discoverable": before["discoverable"]}
    if audience is not None and before["scope"] != "household":
        edit(viewer, atom_id, visibility={**audience, **kept})
    elif not reads:
        listed = before["holders"] if before["scope"] == "holders" else []
        groups = before["groups"] if before["scope"] == "holders" else []
        edit(
            viewer, atom_id,
            visibility={"scope": "holders", "holders": sorted({*listed, asker_id}), "groups": groups, **kept},
        )  # fmt: skip
    return atom.atom_id


def _link(viewer: Viewer, question: Question, atom_id: str) -> None:
    """Tie an answer to its question and tell the asker; inside the caller's transaction."""
    EvidenceEdge.objects.get_or_create(
        from_atom_id=atom_id, to_atom_id=question.question_id, relation="answers"
    )
    Answer.objects.get_or_create(question=question, atom_id=atom_id, defaults={"holder_id": viewer.author})
    _set(question, state="answered")
    events.emit("answered", question.asker_id, question.question_id, atom_id=atom_id)


def _set(question: Question, **changes: Any) -> None:
    for name, value in changes.items():
        setattr(question, name, value)
    question.updated_at = timestamps.now()
    question.save(update_fields=[*changes, "updated_at"])


def pass_on(viewer: Viewer, question_id: str, to: str = "") -> QuestionCard:
    """Say “I don't know”, and perhaps whom to ask; the asker is shown both, nobody else is asked by that.

    Raises `NotFound`, `NotAllowed`, `Invalid`, `Conflict`.
    """
    named = _checked_recipient(viewer, to) if to else ""
    with transaction.atomic():
        question = _answerable(viewer, question_id)
        if named == question.asker_id:
            raise Invalid("She is the one who asks; name somebody else.", "to")
        entry = {"by": viewer.author, "to": named}
        if entry not in question.passed:
            _set(question, passed_json=dump_json([*question.passed, entry]))
    return get_question(viewer, question_id)


def ask_instead(viewer: Viewer, question_id: str, to: str = "") -> QuestionCard:
    """The asker puts her question to somebody else, or ('') on the board; who has seen it still does.

    Raises `NotFound`, `NotAllowed`, `Invalid`.
    """
    recipient = _checked_recipient(viewer, to) if to else ""
    with transaction.atomic():
        question = _own(viewer, question_id)
        before = narrowest([changeable(viewer, question_id).visibility_json])["holders"]
        edit(viewer, question_id, visibility=_parties(recipient, before))
        _set(question, to_holder=recipient, state="open")
        _tell(question)
    return get_question(viewer, question_id)


def helped(viewer: Viewer, question_id: str, atom_id: str, *, yes: bool) -> QuestionCard:
    """The asker says whether an answer helped: then the question is closed, else it is open again.

    Raises `NotFound`, `NotAllowed`.
    """
    with transaction.atomic():
        question = _own(viewer, question_id)
        row = Answer.objects.filter(question=question, atom_id=atom_id).first()
        if row is None:
            raise NotFound("There is no such answer to this question.")
        row.helped = yes
        row.save(update_fields=["helped"])
        _set(question, state="closed" if yes else "open")
    return get_question(viewer, question_id)


def close(viewer: Viewer, question_id: str) -> None:
    """The asker needs no answer any more; a question that nobody answered is forgotten for good.

    Raises `NotFound`, `NotAllowed`.
    """
    question = _own(viewer, question_id)
    if question.answers.exists():
        _set(question, state="closed")
        return
    forget(viewer, question_id)
    question.delete()


def _own(viewer: Viewer, question_id: str) -> Question:
    card = get_question(viewer, question_id)
    if card.asker_id != viewer.author:
        raise NotAllowed("Only who asked a question decides what becomes of it.")
    return Question.objects.get(pk=question_id)
