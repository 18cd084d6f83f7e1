"""Pages about memories: writing one down, looking through them, and everything about a single one."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from memories import facets, sources
from memories import undo as undoing
from memories.browse import get_memory, history
from memories.errors import Invalid, NotAllowed, NotFound, RekalError
from memories.evidence import evidence
from memories.forget import forget
from memories.forms import FORM_FIELDS, BrowseForm, MemoryForm, ReadersForm
from memories.pages import blame, member, members_only, unfinished, wants_part
from memories.remember import confirm, edit, remember
from memories.results import Memory
from memories.selection import selected_page
from memories.sources import SourceCard
from memories.suggest import suggestions
from memories.visibility import Viewer

PAGE = 20
BULK = 200


@members_only
def remember_page(request: HttpRequest) -> HttpResponse:
    """One box, and everything else folded away."""
    viewer = member(request)
    form = MemoryForm(_posted(request), initial=_beginning(request))
    hints = None
    if request.method == "POST" and "look" in request.POST:
        hints = suggestions(viewer, request.POST.get("text", ""))
        form = MemoryForm(initial=_typed(request.POST))
    elif request.method == "POST" and form.is_valid():
        try:
            stored = remember(
                viewer, form.cleaned_data["text"], replaces=form.cleaned_data["replaces"], **form.given()
            )
            return redirect(f"{reverse('remember')}?saved={stored.atom_id}")
        except RekalError as error:
            blame(form, error, FORM_FIELDS)
    context = {
        "form": form,
        "hints": hints,
        "saved": _readable(viewer, request.GET.get("saved", "")),
        "scenarios": facets.scenarios_of(viewer),
    }
    return render(request, "remember.html", context, status=422 if form.errors else 200)


def _posted(request: HttpRequest) -> QueryDict | None:
    return request.POST if request.method == "POST" else None


def _beginning(request: HttpRequest) -> dict[str, Any]:
    """What the form begins with: a form left behind by an expired session, or what a link brought along."""
    if kept := unfinished(request):
        return _typed(kept)
    return {key: request.GET[key] for key in ("text", "scenario", "tags") if key in request.GET}


def _typed(posted: QueryDict) -> dict[str, Any]:
    several = {"named", "denied", "suggested_tags", "replaces"}
    return {
        key: posted.getlist(key) if key in several else posted[key]
        for key in posted
        if key in MemoryForm.base_fields
    }


def _readable(viewer: Viewer, atom_id: str) -> Memory | None:
    try:
        return get_memory(viewer, atom_id) if atom_id else None
    except NotFound:
        return None


@require_POST
@members_only
def suggest(request: HttpRequest) -> HttpResponse:
    """Hints for the text so far; never in the way."""
    try:
        hints = suggestions(member(request), request.POST.get("text", ""))
    except RekalError:
        hints = None
    chosen = _typed(request.POST)
    return render(request, "remember.html#hints", {"hints": hints, "form": MemoryForm(initial=chosen)})


@require_GET
@members_only
def browse(request: HttpRequest) -> HttpResponse:
    """What I may read, filtered, page by page."""
    viewer = member(request)
    form = BrowseForm(request.GET)
    page = selected_page(viewer, form.selection(), limit=PAGE, cursor=request.GET.get("cursor"))
    query = request.GET.copy()
    query.pop("cursor", None)
    following = query.copy()
    following["cursor"] = page.next or ""
    context = {
        "form": form,
        "page": page,
        "filtered": any(query.get(name) for name in BrowseForm.base_fields),
        "narrowed": any(query.get(name) for name in BrowseForm.base_fields if name != "q"),
        "next_page": f"{reverse('browse')}?{following.urlencode()}" if page.next else "",
        "address": request.get_full_path(),
        "first": "cursor" not in request.GET,
    }
    if wants_part(request) and "cursor" in request.GET:
        return render(request, "browse.html#rows", context)
    if wants_part(request):
        return render(request, "browse.html#results", context)
    context |= {
        "scenarios": facets.scenarios_of(viewer),
        "tags": facets.tags_of(viewer, limit=100),
        "holders": facets.holders_of(viewer),
    }
    return render(request, "browse.html", context)


@require_POST
@members_only
def bulk(request: HttpRequest) -> HttpResponse:
    """Change many at once; what is not mine to change stays as it is, and the page says how many did."""
    viewer = member(request)
    ids = list(dict.fromkeys(request.POST.getlist("atom")))[:BULK]
    action = request.POST.get("action", "")
    if action == "forget" and "sure" not in request.POST:
        found = (_readable(viewer, atom_id) for atom_id in ids)
        chosen = [one for one in found if one and _mine(viewer, one)]
        return render(request, "forget_many.html", {"chosen": chosen, "back": request.POST.get("back", "")})
    done = 0
    copies: list[str] = []
    for atom_id in ids:
        try:
            done += _change_one(viewer, atom_id, action, request.POST, copies)
        except (NotFound, NotAllowed):
            continue
    _report(request, done, len(ids) - done)
    if copies:
        context = {"copies": undoing.that_fit(copies), "count": done}
        return render(request, "forgotten.html", context)
    return redirect(_back(request))


def _mine(viewer: Viewer, memory: Memory) -> bool:
    return bool(viewer.ids & {memory.holder_id, memory.recorded_by})


def _change_one(viewer: Viewer, atom_id: str, action: str, posted: QueryDict, copies: list[str]) -> int:
    """One step of a bulk action; 1 when something was done. Raises `NotFound`, `NotAllowed`, `Invalid`."""
    found = get_memory(viewer, atom_id)
    value = posted.get("value", "").strip()
    if action == "forget":
        copies.append(undoing.copy_of(viewer, [atom_id]))
        forget(viewer, atom_id)
    elif not _mine(viewer, found):
        raise NotAllowed(_("This is not yours to change."))
    elif action == "tag" and value:
        edit(viewer, atom_id, tags=[*found.tags, value])
    elif action == "untag" and value:
        edit(viewer, atom_id, tags=[tag for tag in found.tags if tag != value])
    elif action == "scenario":
        edit(viewer, atom_id, scenario=value)
    elif action in {"household", "private"}:
        edit(
            viewer,
            atom_id,
            visibility=dict(found.visibility) | {"scope": action, "holders": [], "groups": []},
        )
    else:
        raise Invalid(_("Choose what to do with them."))
    return 1


def _report(request: HttpRequest, done: int, left: int) -> None:
    messages.success(
        request, ngettext("%(n)d memory changed.", "%(n)d memories changed.", done) % {"n": done}
    )
    if left:
        messages.warning(
            request,
            ngettext(
                "%(n)d is not yours and stays as it was.", "%(n)d are not yours and stay as they were.", left
            )
            % {"n": left},
        )


def _back(request: HttpRequest) -> str:
    """The list one came from; only our own."""
    back = request.POST.get("back", "")
    return back if back.startswith(reverse("browse")) else reverse("browse")


@require_GET
@members_only
def memory(request: HttpRequest, atom_id: str) -> HttpResponse:
    """Everything about one memory."""
    return _memory_page(request, atom_id)


def _memory_page(
    request: HttpRequest, atom_id: str, form: MemoryForm | None = None, opened: str = ""
) -> HttpResponse:
    viewer = member(request)
    found = get_memory(viewer, atom_id)
    kept = unfinished(request)
    form = form or MemoryForm(initial=MemoryForm.initial_of(found) | (_typed(kept) if kept else {}))
    context = {
        "memory": found,
        "history": history(viewer, atom_id),
        "evidence": evidence(viewer, atom_id),
        "form": form,
        "opened": opened or ("edit" if kept else request.GET.get("open", "")),
        "scenarios": facets.scenarios_of(viewer),
        "may_edit": _mine(viewer, found) or viewer.is_curator,
    }
    return render(request, "memory.html", context, status=422 if form.is_bound and form.errors else 200)


@require_POST
@members_only
def edit_memory(request: HttpRequest, atom_id: str) -> HttpResponse:
    """Change it in place; refused when somebody was faster."""
    viewer = member(request)
    form = MemoryForm(request.POST, initial=MemoryForm.initial_of(get_memory(viewer, atom_id)))
    if form.is_valid():
        try:
            edit(viewer, atom_id, if_updated_at=form.cleaned_data["seen"] or None, **form.changes())
            messages.success(request, _("Changed."))
            return redirect("memory", atom_id)
        except NotFound:
            raise
        except RekalError as error:
            blame(form, error, FORM_FIELDS)
    return _memory_page(request, atom_id, form, "edit")


@require_POST
@members_only
def share(request: HttpRequest, atom_id: str) -> HttpResponse:
    """Say who may read it."""
    form = ReadersForm(request.POST)
    if form.is_valid() and (visibility := form.visibility()):
        edit(member(request), atom_id, visibility=visibility)
        messages.success(request, _("Who may read it has changed."))
    return redirect("memory", atom_id)


@require_POST
@members_only
def confirm_memory(request: HttpRequest, atom_id: str) -> HttpResponse:
    """Say that what somebody wrote down for me is so."""
    confirm(member(request), atom_id)
    messages.success(request, _("Thank you, it now counts as what you know."))
    return redirect("memory", atom_id)


@require_POST
@members_only
def forget_memory(request: HttpRequest, atom_id: str) -> HttpResponse:
    """Forget it at once and for good; the page that follows can bring it back for a minute."""
    viewer = member(request)
    copy, behind = undoing.copy_of(viewer, [atom_id]), sources.file_behind(viewer, atom_id)
    forget(viewer, atom_id)
    context = {"copies": undoing.that_fit([copy]), "count": 1, "file": _still_there(viewer, behind)}
    return render(request, "forgotten.html", context)


def _still_there(viewer: Viewer, source_id: str) -> SourceCard | None:
    """The file that still holds the words of what was forgotten, where the viewer may open it."""
    try:
        return sources.get_source(viewer, source_id) if source_id else None
    except NotFound:
        return None


@require_POST
@members_only
def undo(request: HttpRequest) -> HttpResponse:
    """Bring back what was forgotten a moment ago."""
    viewer = member(request)
    back = [
        memory for copy in request.POST.getlist("copy")[:BULK] for memory in undoing.restore(viewer, copy)
    ]
    messages.success(
        request, ngettext("%(n)d memory is back.", "%(n)d memories are back.", len(back)) % {"n": len(back)}
    )
    return redirect("memory", back[0].atom_id) if len(back) == 1 else redirect("browse")
