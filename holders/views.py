"""Pages about who knows: asking, and the directory of people."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from holders import limits
from holders.accounts import any_account
from holders.ask import Asked
from holders.ask import ask as ask_household
from holders.forms import NewPersonForm, PersonForm
from holders.reader import hidden_topics, hide_topics
from holders.registry import HolderCard, get_holder, list_holders, set_holder
from memories.browse import list_memories
from memories.errors import Invalid, RekalError, TooMany
from memories.facets import tags_of
from memories.pages import blame, member, members_only, unfinished, viewer_of, wants_part
from memories.results import Hit
from memories.visibility import Viewer

RECENT = "recent_questions"
RECENT_SHOWN = 6
FITTING = 0.5  # of the relevance: what is shown unasked
RECENT_CHARACTERS = 300
SHOWN_TOPICS = 15


@require_GET
def ask(request: HttpRequest) -> HttpResponseBase:
    """The home page: one box, and below it the answer, who probably knows, or that nobody does."""
    if viewer_of(request) is None and not any_account():
        return redirect("first-run")
    return _ask(request)


@members_only
def _ask(request: HttpRequest) -> HttpResponse:
    viewer = member(request)
    question = request.GET.get("q", "").strip()
    context: dict[str, object] = {"question": question, "suggested": question}
    status = 200
    if question:
        try:
            limits.spend(viewer, "ask")
            context["asked"] = asked = ask_household(viewer, question)
            context["fitting"], context["loose"] = _sorted_out(asked)
            _note_recent(request, asked)
        except RekalError as error:
            context["sentence"] = str(error)
            status = 429 if isinstance(error, TooMany) else 422
    context["recent"] = [one for one in request.session.get(RECENT, []) if one != question]
    page = "ask.html#outcome" if wants_part(request) else "ask.html"
    return render(request, page, context, status=status)


def _sorted_out(asked: Asked) -> tuple[list[Hit], list[Hit]]:
    """The answers worth a card of their own, the best one always, and the rest."""
    fitting = [hit for place, hit in enumerate(asked.answers) if place == 0 or hit.relevance >= FITTING]
    return fitting, [hit for hit in asked.answers if hit not in fitting]


def _note_recent(request: HttpRequest, asked: Asked) -> None:
    """Keep my last questions in my session: they go when I sign out."""
    question = asked.question[:RECENT_CHARACTERS]
    before = [one for one in request.session.get(RECENT, []) if one != question]
    request.session[RECENT] = [question, *before][:RECENT_SHOWN]


@require_POST
@members_only
def clear_recent(request: HttpRequest) -> HttpResponse:
    """Forget my recent questions."""
    request.session.pop(RECENT, None)
    return redirect("ask")


@require_GET
@members_only
def people(request: HttpRequest) -> HttpResponse:
    """Everybody who may know something: topics and ways to reach them."""
    viewer = member(request)
    cards = list_holders(viewer)
    wanted = request.GET.get("q", "").strip().casefold()
    if wanted:
        cards = [
            card
            for card in cards
            if wanted in f"{card.name} {card.holder_id} {' '.join(card.knows_about)}".casefold()
        ]
    form = NewPersonForm(initial=unfinished(request))
    return render(request, "people.html", {"cards": cards, "q": request.GET.get("q", ""), "form": form})


@members_only
def person(request: HttpRequest, holder_id: str) -> HttpResponse:
    """One person: what she says she knows, what she shows she knows (to me), and how to reach her."""
    viewer = member(request)
    card = get_holder(viewer, holder_id)
    may_edit = viewer.is_curator or viewer.holder_id == holder_id
    form = PersonForm(_posted(request), initial=PersonForm.initial_of(card))
    if request.method == "POST" and may_edit and form.is_valid():
        try:
            set_holder(viewer, holder_id, **form.changes())
            return redirect("person", holder_id)
        except RekalError as error:
            blame(form, error)
    context = {
        "card": card,
        "form": form,
        "may_edit": may_edit,
        "editing": bool(form.errors) or "edit" in request.GET,
        **_shown_by(viewer, card),
    }
    status = 422 if request.method == "POST" and form.errors else 200
    return render(request, "person.html", context, status=status)


def _shown_by(viewer: Viewer, card: HolderCard) -> dict[str, object]:
    """What somebody's readable memories show: a few of them, and topics beside those she declared or hides."""
    hidden = hidden_topics(card.holder_id)
    shown = list_memories(viewer, holder=card.holder_id, limit=5)
    known = {*hidden, *card.knows_about}
    topics = tags_of(viewer, holder=card.holder_id, limit=SHOWN_TOPICS)
    return {
        "memories": shown.items,
        "more": f"{reverse('browse')}?{urlencode({'holder': card.holder_id})}" if shown.next else "",
        "shows": [facet for facet in topics if facet[0] not in known],
        "hidden": hidden,
    }


def _posted(request: HttpRequest) -> QueryDict | None:
    """What was sent, or what was half filled before the session ended."""
    return request.POST if request.method == "POST" else unfinished(request)


@require_POST
@members_only
def register(request: HttpRequest, holder_id: str) -> HttpResponse:
    """Put somebody who holds memories into the directory, in one tap."""
    viewer = member(request)
    get_holder(viewer, holder_id)
    set_holder(viewer, holder_id, kind="person")
    return redirect("person", holder_id)


@require_POST
@members_only
def add_person(request: HttpRequest) -> HttpResponse:
    """Add somebody new to the directory; that alone lets nobody sign in."""
    viewer = member(request)
    holder_id, kind = request.POST.get("holder_id", "").strip(), request.POST.get("kind", "person")
    if not holder_id:
        raise Invalid(_("Give a short name."), "holder_id")
    set_holder(viewer, holder_id, name=request.POST.get("name", "").strip() or holder_id, kind=kind)
    return redirect("person", holder_id)


@require_POST
@members_only
def topic(request: HttpRequest) -> HttpResponse:
    """A topic my memories show: have people ask me about it, show it no more, or show it again."""
    viewer = member(request)
    named, say = request.POST.get("topic", "").strip()[:200], request.POST.get("say", "")
    card = get_holder(viewer, viewer.holder_id)
    hidden = hidden_topics(viewer.holder_id)
    if say == "ask-me" and named and named not in card.knows_about:
        set_holder(viewer, viewer.holder_id, knows_about=[*card.knows_about, named])
    elif say == "hide" and named:
        hide_topics(viewer.holder_id, [*hidden, named])
    elif say == "show":
        hide_topics(viewer.holder_id, [one for one in hidden if one != named])
    return redirect("person", viewer.holder_id)
