"""Pages about who can read what: the table of groups and situations, many at once, and another's eyes."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET

from holders.auth import viewer_of
from holders.models import Holder
from holders.reader import groups_of_household
from holders.registry import NO_SUCH_HOLDER
from memories import sharing
from memories.browse import get_memory
from memories.errors import Invalid, NotAllowed, NotFound, RekalError
from memories.forms import READERS, ReadersForm
from memories.pages import member, members_only
from memories.visibility import CURATORS, Viewer

PAGE = 20
BUILT_IN: list[tuple[str, str | Promise]] = [
    ("person", gettext_lazy("Any of the family")),
    ("agent", gettext_lazy("Helper programs")),
    ("service", gettext_lazy("Services")),
]


def _others(viewer: Viewer) -> list[Viewer]:
    """Everybody in the directory but the viewer."""
    return [viewer_of(one) for one in Holder.objects.order_by("pk") if one.pk not in viewer.ids]


def _audiences() -> list[tuple[str | Promise, Viewer]]:
    """The columns: the family, the household's own groups, programs, services."""
    own = [(name, sharing.a_member_of("person", name)) for name in groups_of_household() if name != CURATORS]
    family, *machines = [(words, sharing.a_member_of(kind)) for kind, words in BUILT_IN]
    return [family, *own, *machines]


@require_GET
@members_only
def visibility(request: HttpRequest) -> HttpResponse:
    """Situations down, groups across: how many of my memories each can read."""
    viewer = member(request)
    audiences = _audiences()
    rows = sharing.matrix(viewer, [audience for _words, audience in audiences])
    context = {
        "columns": [words for words, _audience in audiences],
        "rows": rows,
        "total": sum(row.total for row in rows),
        "others": _others(viewer) if viewer.in_household else [],
    }
    return render(request, "visibility.html", context)


@members_only
def change(request: HttpRequest) -> HttpResponse:
    """Choose readers for many memories of mine: first for whom it would change what, then the change."""
    viewer = member(request)
    form = ReadersForm(request.POST if request.method == "POST" else None)
    form.fields["readers"].choices = READERS[1:]  # type: ignore[attr-defined]  # “as usual” changes nothing
    ids = request.POST.getlist("atom")
    if request.method == "POST" and form.is_valid():
        try:
            chosen = form.visibility()
            if chosen is None:
                raise Invalid(_("Choose who may read them."))
            if "sure" in request.POST:
                return _changed(request, sharing.share(viewer, ids, chosen))
            found = sharing.preview(viewer, ids, chosen, _others(viewer))
            return render(
                request, "visibility_preview.html", {"preview": found, "ids": ids, "posted": _sent(request)}
            )
        except RekalError as error:
            form.add_error("readers", str(error))
    scenario = request.GET.get("scenario")
    found_mine, total = sharing.mine_in(viewer, scenario)
    picked = set(request.GET.getlist("atom") or ids)
    context = {
        "form": form,
        "memories": [one for one in found_mine if not picked or one.atom_id in picked],
        "total": total,
        "most": sharing.MOST,
        "scenario": scenario,
    }
    return render(request, "visibility_change.html", context, status=422 if form.errors else 200)


def _changed(request: HttpRequest, count: int) -> HttpResponse:
    said = ngettext("%(n)d memory has new readers.", "%(n)d memories have new readers.", count) % {"n": count}
    messages.success(request, said)
    return redirect("visibility")


def _sent(request: HttpRequest) -> list[tuple[str, str]]:
    """The choice, to be sent once more when one is sure."""
    names = ("readers", "named", "denied", "hidden")
    return [(name, value) for name in names for value in request.POST.getlist(name)]


@require_GET
@members_only
def view_as(request: HttpRequest, holder_id: str) -> HttpResponse:
    """With another's eyes: what she can find of what I own or may read."""
    viewer = member(request)
    other = _seen_from_here(viewer, holder_id)
    question = request.GET.get("q", "").strip()
    context: dict[str, object] = {"other": other, "question": question}
    status = 200
    try:
        if question:
            context["hits"] = sharing.recall_as(viewer, other, question).hits
        else:
            page = sharing.seen_by(viewer, other, limit=PAGE, cursor=request.GET.get("cursor"))
            context |= {
                "page": page,
                "next_page": f"?{urlencode({'cursor': page.next})}" if page.next else "",
            }
    except Invalid as error:
        context["sentence"], status = str(error), 422
    context["seen"], context["mine"] = sharing.counts_seen_by(viewer, other)
    return render(request, "view_as.html", context, status=status)


def _seen_from_here(viewer: Viewer, holder_id: str) -> Viewer:
    """Another viewer, for somebody who knows the household's groups. Raises `NotAllowed`, `NotFound`."""
    if not viewer.in_household:
        raise NotAllowed(_("Only the household looks through each other’s eyes."))
    other = next((one for one in _others(viewer) if one.holder_id == holder_id), None)
    if other is None:
        raise NotFound(NO_SUCH_HOLDER)
    return other


@require_GET
@members_only
def readers(request: HttpRequest, atom_id: str) -> HttpResponse:
    """One memory of mine: who can read it, who cannot, and why."""
    viewer = member(request)
    memory = get_memory(viewer, atom_id)
    explained = sharing.explain(viewer, atom_id, _others(viewer))
    context = {
        "memory": memory,
        "can": [one for one in explained if one.reads],
        "cannot": [one for one in explained if not one.reads],
        "change_url": f"{reverse('change-visibility')}?{urlencode({'atom': atom_id})}",
    }
    return render(request, "memory_readers.html", context)
