"""Questions and the inbox over JSON."""

from typing import Literal

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema, Status

from holders import questions
from holders.questions import Inbox, QuestionCard
from memories.http import caller, refusals
from memories.schemas import Body, Limit, MemoryOut, Parameters

router = Router(tags=["questions"])


class QuestionIn(Body):
    """A question to somebody, or to everybody."""

    question: str = Field(examples=["Where is the spare key?"], max_length=questions.MAX_QUESTION)
    to: str | None = Field(
        None, description="A holder’s id; left out: the household’s board.", examples=["mira"]
    )


class AnswerIn(Body):
    """An answer: a sentence, or the id of a memory of the caller’s own."""

    text: str | None = Field(None, examples=["The spare key hangs behind the boiler."])
    atom_id: str | None = Field(None, description="Instead of a text: a memory that answers it.")
    readers: Literal["asker", "household"] = Field("asker", description="Who may read the answer.")


class PassIn(Body):
    """Whom to ask instead."""

    to: str | None = Field(None, description="A holder’s id; left out: nobody is named (or the board).")


class HelpedIn(Body):
    """Whether an answer helped."""

    atom_id: str
    helped: bool


class AnswerOut(Schema):
    """An answer the caller may read."""

    memory: MemoryOut
    helped: bool | None = Field(description="Told to the asker and the answerer; null until the asker says.")


class PassedOut(Schema):
    """Somebody who did not know."""

    by: str
    to: str = Field(description="Whom she named instead; empty for nobody.")


class QuestionOut(Schema):
    """A question, shown to its parties (the board: to the household)."""

    question_id: str
    text: str
    asker_id: str
    to: str = Field(description="Empty: on the board.")
    state: str = Field(description="open, answered or closed.")
    created_at: str
    answers: list[AnswerOut]
    passed: list[PassedOut] = Field(description="Told to the asker alone.")


class QuestionsOut(Schema):
    """Questions, newest first."""

    questions: list[QuestionOut]


class ReferralOut(Schema):
    """Somebody was told that the caller may know."""

    asker_id: str
    question: str
    verb: str
    confidence: str
    created_at: str


class InboxOut(Schema):
    """What waits for the caller."""

    for_me: list[QuestionOut]
    board: list[QuestionOut]
    mine: list[QuestionOut]
    referrals: list[ReferralOut]


class QuestionParameters(Parameters):
    """Which questions."""

    state: Literal["open", "answered", "closed"] | None = None
    limit: Limit = 50


@router.get(
    "/inbox", response={200: InboxOut, **refusals()}, operation_id="inbox", summary="What waits for me"
)
def get_inbox(request: HttpRequest) -> Inbox:
    """Questions to the caller, the board, the caller’s own questions, and who was referred to her."""
    return questions.inbox(caller(request, "read"))


@router.get(
    "/questions",
    response={200: QuestionsOut, **refusals()},
    operation_id="list_questions",
    summary="Questions of mine, to me and on the board",
)
def get_questions(request: HttpRequest, filters: Query[QuestionParameters]) -> dict[str, list[QuestionCard]]:
    """The questions the caller is a party to, newest first."""
    return {"questions": questions.list_questions(caller(request, "read"), **filters.model_dump())}


@router.post(
    "/questions",
    response={201: QuestionOut, **refusals(404)},
    operation_id="put_question",
    summary="Ask somebody, or everybody",
)
def post_question(request: HttpRequest, payload: QuestionIn) -> Status[QuestionCard]:
    """Put a question. An open one with the same words to the same holder comes back instead of a second one."""
    viewer = caller(request, "ask")
    if payload.to:
        return Status(201, questions.ask_holder(viewer, payload.question, payload.to))
    return Status(201, questions.put_on_board(viewer, payload.question))


@router.get(
    "/questions/{question_id}",
    response={200: QuestionOut, **refusals(404)},
    operation_id="read_question",
    summary="One question",
)
def get_question(request: HttpRequest, question_id: str) -> QuestionCard:
    """One question. Missing ones and those put to others are answered alike."""
    return questions.get_question(caller(request, "read"), question_id)


@router.delete(
    "/questions/{question_id}",
    response={204: None, **refusals(404)},
    operation_id="close_question",
    summary="Close my question",
)
def delete_question(request: HttpRequest, question_id: str) -> Status[None]:
    """The asker needs no answer any more; a question that nobody answered is forgotten."""
    questions.close(caller(request, "ask"), question_id)
    return Status(204, None)


@router.post(
    "/questions/{question_id}/answers",
    response={201: QuestionOut, **refusals(404, 409)},
    operation_id="answer_question",
    summary="Answer a question",
)
def post_answer(request: HttpRequest, question_id: str, payload: AnswerIn) -> Status[QuestionCard]:
    """The answer becomes a memory of the caller’s that the asker may read."""
    viewer = caller(request, "write")
    card = questions.answer(
        viewer, question_id, payload.text or "", atom_id=payload.atom_id, readers=payload.readers
    )
    return Status(201, card)


@router.post(
    "/questions/{question_id}/pass_on",
    response={200: QuestionOut, **refusals(404, 409)},
    operation_id="pass_on_question",
    summary="Say that I do not know",
)
def post_pass(request: HttpRequest, question_id: str, payload: PassIn) -> QuestionCard:
    """Tell the asker so, and whom to ask; nobody else is shown the question by this."""
    return questions.pass_on(caller(request, "write"), question_id, payload.to or "")


@router.post(
    "/questions/{question_id}/ask_instead",
    response={200: QuestionOut, **refusals(404)},
    operation_id="ask_instead",
    summary="Put my question to somebody else",
)
def post_ask_instead(request: HttpRequest, question_id: str, payload: PassIn) -> QuestionCard:
    """The asker moves her question; left without a holder, to the board."""
    return questions.ask_instead(caller(request, "ask"), question_id, payload.to or "")


@router.post(
    "/questions/{question_id}/helped",
    response={200: QuestionOut, **refusals(404)},
    operation_id="answer_helped",
    summary="Say whether an answer helped",
)
def post_helped(request: HttpRequest, question_id: str, payload: HelpedIn) -> QuestionCard:
    """It counts in the answerer’s standing when somebody asks something like it; else the question is open again."""
    return questions.helped(caller(request, "ask"), question_id, payload.atom_id, yes=payload.helped)
