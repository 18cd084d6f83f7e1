"""The door: first run, invitations, and how the pages look."""

from typing import Any

from allauth.account.views import LoginView, LogoutView
from allauth.usersessions.models import UserSession
from django import forms
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from holders import first_run as setup
from holders.accounts import any_account
from holders.forms import AccountForm, CodeForm, HouseholdForm, NewPersonForm
from holders.invites import accept, invite, invited
from holders.models import Preference
from holders.reader import THEMES, keep_looks
from holders.registry import list_holders, set_holder
from memories import store
from memories.errors import RekalError
from memories.pages import UNFINISHED, blame, member, viewer_of

HOST = "first_run_host"  # this browser typed the code that only the host can read


class SignInView(LoginView):  # type: ignore[misc]
    """django-allauth's sign-in; says so when a half-filled form waits behind it."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Adds `waiting`."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {"waiting": UNFINISHED in self.request.session}


class SignOutView(LogoutView):  # type: ignore[misc]
    """django-allauth's sign-out; the browser is asked to keep nothing of what it showed."""

    def post(self, *args: Any, **kwargs: Any) -> HttpResponse:
        """Signs out."""
        response: HttpResponse = super().post(*args, **kwargs)
        response.headers["Clear-Site-Data"] = '"cache", "storage"'
        return response


def first_run(request: HttpRequest) -> HttpResponse:
    """Code, household, you, the others: whichever is next."""
    if not any_account():
        if not request.session.get(HOST):
            return _code(request)
        return (
            _you(request)
            if store.get_setting("household_name") and "household" not in request.GET
            else _household(request)
        )
    if request.session.get(HOST) and viewer_of(request):
        return _others(request)
    return redirect("ask")


def _code(request: HttpRequest) -> HttpResponse:
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            if setup.check_code(form.cleaned_data["code"]):
                request.session.cycle_key()
                request.session[HOST] = True
                return redirect("first-run")
            form.add_error("code", _("This is not the code. It is printed where the program was started."))
        except RekalError as error:
            form.add_error("code", str(error))
    return _step(request, 0, form)


def _household(request: HttpRequest) -> HttpResponse:
    initial = {"name": store.get_setting("household_name", ""), "time_zone": str(store.zone())}
    form = HouseholdForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        setup.set_household(**form.cleaned_data)
        return redirect("first-run")
    return _step(request, 1, form)


def _you(request: HttpRequest) -> HttpResponse:
    form = AccountForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        holder_id = data["username"].strip().lower()
        try:
            user = setup.open_first_account(
                holder_id, data["name"] or holder_id, data["username"], data["password"]
            )
            login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])  # type: ignore[arg-type]
            return redirect("first-run")
        except RekalError as error:
            blame(form, error)
    return _step(request, 2, form)


def _others(request: HttpRequest) -> HttpResponse:
    """Add people, each with a link that lets her make her own account."""
    form = NewPersonForm(request.POST or None)
    link = ""
    if request.method == "POST" and "done" in request.POST:
        del request.session[HOST]
        return redirect("ask")
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            set_holder(None, data["holder_id"], name=data["name"], kind=data["kind"])
            if data["kind"] == "person":
                link = request.build_absolute_uri(reverse("invitation", args=[invite(data["holder_id"])]))
            form = NewPersonForm()
        except RekalError as error:
            blame(form, error)
    cards = [card for card in list_holders(member(request)) if card.registered]
    return _step(request, 3, form, link=link, cards=cards, invitee=request.POST.get("name", ""))


def _step(request: HttpRequest, step: int, form: forms.Form, **extra: Any) -> HttpResponse:
    steps = [(1, _("Your household")), (2, _("You")), (3, _("The others"))]
    status = 422 if form.errors else 200
    return render(
        request, "first_run.html", {"step": step, "steps": steps, "form": form, **extra}, status=status
    )


def invitation(request: HttpRequest, plain: str) -> HttpResponse:
    """Make one's own account with a link that was given to one."""
    holder_id = invited(plain)
    form = AccountForm(request.POST or None, initial={"username": holder_id})
    del form.fields["name"]
    if request.method == "POST" and form.is_valid():
        try:
            user = accept(plain, form.cleaned_data["username"], form.cleaned_data["password"])
            login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])  # type: ignore[arg-type]
            return redirect("ask")
        except RekalError as error:
            blame(form, error)
    return render(
        request, "invitation.html", {"form": form, "holder_id": holder_id}, status=422 if form.errors else 200
    )


@require_POST
@login_required
def sign_out_everywhere(request: HttpRequest) -> HttpResponse:
    """End every session of mine, this one included."""
    for session in UserSession.objects.filter(user=request.user):
        session.end()
    response: HttpResponse = SignOutView.as_view()(request)
    return response


@require_POST
def look(request: HttpRequest) -> HttpResponse:
    """Light or dark, and the language: kept for the person who is signed in, and in this browser."""
    back = request.POST.get("back", "")
    safe = url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure())
    response = redirect(back if safe else reverse("ask"))
    chosen: dict[str, str] = {}
    if (theme := request.POST.get("theme")) is not None and theme in {"", *THEMES}:
        chosen["theme"] = theme
    if (language := request.POST.get("language")) in dict(settings.LANGUAGES):
        chosen["language"] = str(language)
    keep_looks(response, **chosen)
    if chosen and (viewer := viewer_of(request)):
        Preference.objects.update_or_create(pk=viewer.holder_id, defaults=chosen)
    return response
