"""Pages of questions: the inbox, and each question with what can be done about it."""

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from holders import questions
from holders.models import SignIn
from holders.questions import QuestionCard
from holders.registry import list_holders
from memories.errors import Invalid, NotFound, RekalError, TooMany
from memories.pages import member, members_only
from memories.recall import recall
from memories.results import Memory
from memories.selection import Selection, selected_page
from memories.visibility import Viewer

OFFERED = 3  # memories of mine that may be the answer
ENDING_SHOWN = 5
HELPS = 0.3  # of the relevance: offered as an answer


@require_GET
@members_only
def inbox(request: HttpRequest) -> HttpResponse:
    """What waits for me: questions, the board, answers, who was sent to me, and what of mine runs out."""
    viewer = member(request)
    ending = selected_page(viewer, Selection(holder=viewer.holder_id, state="ending"), limit=ENDING_SHOWN)
    found = questions.inbox(viewer)
    closed = sum(1 for one in found.mine if one.state == "closed")
    return render(request, "inbox.html", {"inbox": found, "ending": ending.items, "closed": closed})


@require_POST
@members_only
def put(request: HttpRequest) -> HttpResponse:
    """Put a question to somebody, or on the board."""
    viewer = member(request)
    text, to = request.POST.get("question", ""), request.POST.get("to", "")
    card = questions.ask_holder(viewer, text, to) if to else questions.put_on_board(viewer, text)
    messages.success(
        request,
        _("Asked. You find the answer in your inbox.") if to else _("It is on the board for everybody."),
    )
    return redirect("question", card.question_id)


@require_GET
@members_only
def question(request: HttpRequest, question_id: str) -> HttpResponse:
    """One question, and what I can do about it."""
    return _page(request, questions.get_question(member(request), question_id))


def _page(request: HttpRequest, card: QuestionCard, sentence: str = "", typed: str = "") -> HttpResponse:
    viewer = member(request)
    mine = card.asker_id in viewer.ids
    may_answer = not mine and card.state != "closed"
    context = {
        "card": card,
        "mine": mine,
        "may_answer": may_answer,
        "offered": _offered(viewer, card) if may_answer else [],
        "others": _others(viewer, card),
        "reachable": bool(card.to) and SignIn.objects.filter(holder_id=card.to).exists(),
        "sentence": sentence,
        "typed": typed,
    }
    return render(request, "question.html", context, status=422 if sentence else 200)


def _offered(viewer: Viewer, card: QuestionCard) -> list[Memory]:
    """Memories of my own that may be the answer: one tap sends one."""
    given = {answer.memory.atom_id for answer in card.answers}
    hits = recall(
        viewer, card.text, limit=OFFERED, holder=viewer.author, everywhere=True, min_relevance=HELPS
    ).hits
    return [hit.memory for hit in hits if hit.memory.atom_id not in given]


def _others(viewer: Viewer, card: QuestionCard) -> list[tuple[str, str]]:
    """Whom else one could ask."""
    known = [one for one in list_holders(viewer) if one.registered and one.holder_id not in viewer.ids]
    return [
        (one.holder_id, one.name or one.holder_id)
        for one in known
        if one.holder_id not in {card.asker_id, card.to}
    ]


def _about(view: Callable[[HttpRequest, str], str]) -> Callable[..., HttpResponseBase]:
    """A step on a question: what it says on success; a refusal is shown on the question's page."""

    @require_POST
    @members_only
    @wraps(view)
    def stepped(request: HttpRequest, question_id: str) -> HttpResponse:
        try:
            messages.success(request, view(request, question_id))
        except (NotFound, TooMany):
            raise
        except RekalError as error:
            card = questions.get_question(member(request), question_id)
            return _page(request, card, str(error), request.POST.get("text", ""))
        return redirect("question", question_id)

    return stepped


@_about
def answer(request: HttpRequest, question_id: str) -> str:
    """Answer in a sentence, or with a memory of mine."""
    text, atom_id = request.POST.get("text", "").replace("\r\n", "\n"), request.POST.get("atom") or None
    if atom_id is None and not text.strip():
        raise Invalid(_("Write something first."), "text")
    readers = "household" if request.POST.get("readers") == "household" else "asker"
    questions.answer(member(request), question_id, text, atom_id=atom_id, readers=readers)
    return _("Thank you, your answer is on its way.")


@_about
def pass_on(request: HttpRequest, question_id: str) -> str:
    """I don't know; perhaps somebody else does."""
    questions.pass_on(member(request), question_id, request.POST.get("to", ""))
    return _("Thank you, that is a help too.")


@_about
def ask_instead(request: HttpRequest, question_id: str) -> str:
    """Put my question to somebody else, or on the board."""
    questions.ask_instead(member(request), question_id, request.POST.get("to", ""))
    return _("Asked.")


@_about
def helped(request: HttpRequest, question_id: str) -> str:
    """Say whether an answer helped."""
    yes = request.POST.get("helped") == "yes"
    questions.helped(member(request), question_id, request.POST.get("atom", ""), yes=yes)
    return _("Good. That counts for who gave the answer.") if yes else _("Your question is open again.")


@require_POST
@members_only
def close(request: HttpRequest, question_id: str) -> HttpResponse:
    """I need no answer any more."""
    questions.close(member(request), question_id)
    messages.success(request, _("The question is closed."))
    return redirect("inbox")
