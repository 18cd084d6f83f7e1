"""The page about oneself: how one is reached, how the pages look, keys for programs, a copy of all, and leaving."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from holders import limits
from holders.forms import PersonForm
from holders.leaving import belongings, leave
from holders.me_forms import LeaveForm, PreferenceForm, TokenForm
from holders.models import Preference
from holders.reader import keep_looks, preference_of
from holders.registry import get_holder, names_of, set_holder
from holders.tokens import issue, revoke, tokens_of
from memories.errors import NotFound, RekalError
from memories.fields import dump_json
from memories.pages import blame, member, members_only
from memories.selection import Selection, selected_page
from memories.transfer.export import exported
from memories.visibility import Viewer

ENDING_SHOWN = 10


@require_GET
@members_only
def me(request: HttpRequest) -> HttpResponse:
    """Everything about oneself on one page."""
    return _page(request)


def _page(request: HttpRequest, **replaced: Any) -> HttpResponse:
    viewer = member(request)
    try:
        about: Form | None = PersonForm(initial=PersonForm.initial_of(get_holder(viewer, viewer.holder_id)))
    except NotFound:  # taken out of the directory meanwhile
        about = None
    context = {
        "my_name": names_of([viewer.holder_id]).get(viewer.holder_id, viewer.holder_id),
        "about": about,
        "looks": PreferenceForm(initial=PreferenceForm.initial_of(preference_of(viewer))),
        "new_token": TokenForm(viewer),
        "tokens": tokens_of(viewer),
        "ending": selected_page(
            viewer, Selection(holder=viewer.holder_id, state="ending"), limit=ENDING_SHOWN
        ).items,
    } | replaced
    forms = (context["about"], context["looks"], context["new_token"])
    status = 422 if any(isinstance(form, Form) and form.errors for form in forms) else 200
    return render(request, "me.html", context, status=status)


@require_POST
@members_only
def about(request: HttpRequest) -> HttpResponse:
    """Change my own record."""
    viewer = member(request)
    form = PersonForm(request.POST)
    if form.is_valid():
        try:
            set_holder(viewer, viewer.holder_id, **form.changes())
            messages.success(request, _("Changed."))
            return redirect("me")
        except RekalError as error:
            blame(form, error)
    return _page(request, about=form)


@require_POST
@members_only
def looks(request: HttpRequest) -> HttpResponse:
    """Language, time zone, light or dark; kept for me wherever I sign in."""
    form = PreferenceForm(request.POST)
    if not form.is_valid():
        return _page(request, looks=form)
    chosen = form.cleaned_data
    Preference.objects.update_or_create(pk=member(request).holder_id, defaults=chosen)
    response = redirect("me")
    keep_looks(response, theme=chosen["theme"], language=chosen["language"])
    return response


@require_POST
@members_only
def make_token(request: HttpRequest) -> HttpResponse:
    """Make a key for a program, and show it this once."""
    viewer = member(request)
    form = TokenForm(viewer, request.POST)
    if form.is_valid():
        try:
            card, plain = issue(viewer, **form.given(viewer))
            return _page(request, made=card, plain=plain)
        except RekalError as error:
            blame(form, error)
    return _page(request, new_token=form)


@require_POST
@members_only
def end_token(request: HttpRequest, token_id: int) -> HttpResponse:
    """End a key at once."""
    revoke(member(request), token_id)
    messages.success(request, _("That key opens nothing any more."))
    return redirect("me")


@require_GET
@members_only
def take_a_copy(request: HttpRequest) -> HttpResponseBase:
    """All that I hold, as JSON Lines, which `import` takes back."""
    response = StreamingHttpResponse(_lines(member(request)), content_type="application/jsonl; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="memories.jsonl"'
    return response


def _lines(viewer: Viewer) -> Iterator[str]:
    return (dump_json(one) + "\n" for one in exported(viewer) if one["holder_id"] == viewer.holder_id)


@members_only
def leaving(request: HttpRequest) -> HttpResponse:
    """Delete my account; it asks what becomes of my memories."""
    viewer = member(request)
    if not isinstance(request.user, User):
        raise PermissionDenied
    user = request.user
    form = LeaveForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        limits.spend(viewer, "password")
        if not user.has_usable_password() or user.check_password(form.cleaned_data["password"]):
            leave(viewer, user, form.cleaned_data["memories"])
            logout(request)
            request.viewer = None  # type: ignore[attr-defined]
            response = render(request, "left.html")
            response.headers["Clear-Site-Data"] = '"cache", "storage"'
            return response
        form.add_error("password", _("That is not your password."))
    context = {"form": form, "left": belongings(viewer), "asks_password": user.has_usable_password()}
    return render(request, "leave.html", context, status=422 if form.errors else 200)
