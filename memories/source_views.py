"""Pages of files that memories come from: what I may open, a new one, and one with what it says."""

from typing import BinaryIO, cast

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_POST

from memories import facets, source_files, sources
from memories.downloads import served
from memories.errors import RekalError
from memories.forms import ReadersForm, split_tags
from memories.pages import blame, member, members_only
from memories.visibility import Viewer

PAGE = 50


class SourceForm(ReadersForm):
    """A file and what its memories get."""

    file = forms.FileField(label=gettext_lazy("The file"))
    text = forms.CharField(
        label=gettext_lazy("What does it show or say?"),
        required=False,
        help_text=gettext_lazy("For a picture or a recording"),
    )
    scenario = forms.CharField(label=gettext_lazy("In which situation is it of use?"), required=False)
    tags = forms.CharField(
        label=gettext_lazy("Tags"), required=False, help_text=gettext_lazy("Separated by commas")
    )


@members_only
def source_list(request: HttpRequest) -> HttpResponse:
    """The files I may open, and a new one."""
    viewer = member(request)
    form = SourceForm(request.POST, request.FILES) if request.method == "POST" else SourceForm()
    if request.method == "POST" and form.is_valid():
        try:
            return _add(request, viewer, form)
        except RekalError as error:
            blame(form, error)
    page = Paginator(sources.list_sources(viewer), PAGE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "page": page,
        "scenarios": facets.scenarios_of(viewer),
        "most": source_files.MAX_BYTES // 1024**2,
    }
    return render(request, "sources.html", context, status=422 if form.errors else 200)


def _add(request: HttpRequest, viewer: Viewer, form: SourceForm) -> HttpResponse:
    """Keep the file and go to its page. Raises what `add_source` raises."""
    data = form.cleaned_data
    added = sources.add_source(
        viewer, data["file"].name, cast("BinaryIO", data["file"]), text=data["text"].strip() or None,
        scenario=data["scenario"].strip() or None, tags=split_tags(data["tags"]) or None,
        visibility=form.visibility(),
    )  # fmt: skip
    said = [ngettext("%(n)d memory came of it.", "%(n)d memories came of it.", added.new) % {"n": added.new}]
    if old := added.superseded + added.closed:
        said.append(
            ngettext(
                "%(n)d of its earlier version is no longer true.",
                "%(n)d of its earlier version are no longer true.",
                old,
            )
            % {"n": old}
        )
    messages.success(request, " ".join(said))
    return redirect("source", added.source.source_id)


@require_GET
@members_only
def source(request: HttpRequest, source_id: str) -> HttpResponse:
    """One file, and the memories that came from it."""
    viewer = member(request)
    card = sources.get_source(viewer, source_id)
    page = Paginator(range(card.memories), PAGE).get_page(request.GET.get("page"))
    start = (page.number - 1) * PAGE
    context = {
        "card": card,
        "page": page,
        "memories": sources.memories_of(viewer, source_id, start=start, limit=PAGE),
        "mine": card.uploaded_by in viewer.ids,
        "undated": bool(card.proposed_event_time) and sources.is_undated(viewer, source_id),
    }
    return render(request, "source.html", context)


@require_GET
@members_only
def download(request: HttpRequest, source_id: str) -> FileResponse:
    """The file as it is kept; no browser runs it."""
    card, place = sources.open_file(member(request), source_id)
    return served(place, card.name, card.mime)


@require_GET
@members_only
def preview(request: HttpRequest, source_id: str) -> FileResponse:
    """A picture's small version."""
    card, place = sources.open_file(member(request), source_id, preview=True)
    return served(place, f"{card.name}.webp", "image/webp")


@require_POST
@members_only
def taken(request: HttpRequest, source_id: str) -> HttpResponse:
    """Yes, the picture is from when the camera says."""
    sources.accept_time(member(request), source_id)
    messages.success(request, gettext("Noted: it is from then."))
    return redirect("source", source_id)


@require_POST
@members_only
def delete(request: HttpRequest, source_id: str) -> HttpResponseBase:
    """The file with every memory that came from it, for good."""
    gone = sources.delete_source(member(request), source_id)
    said = ngettext("The file is gone, with %(n)d memory.", "The file is gone, with %(n)d memories.", gone)
    messages.success(request, said % {"n": gone})
    return redirect("sources")
