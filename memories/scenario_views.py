"""Pages of situations: what each is for, and putting several into one."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from memories import scenarios
from memories.pages import member, members_only


@require_GET
@members_only
def scenario_list(request: HttpRequest) -> HttpResponse:
    """Every situation of what I may read."""
    return render(request, "scenarios.html", {"cards": scenarios.list_scenarios(member(request))})


@require_POST
@members_only
def describe(request: HttpRequest) -> HttpResponse:
    """A curator says what a situation is for, and who reads what is written there."""
    viewer, posted = member(request), request.POST
    given: dict[str, Any] = {"description": posted.get("description", "").replace("\r\n", "\n")}
    if posted.get("default") in {"", "household", "private"}:
        given["default_visibility"] = posted["default"] or None
    scenarios.describe(viewer, posted.get("name", ""), **given)
    messages.success(request, _("Changed."))
    return redirect("scenarios")


@require_POST
@members_only
def merge(request: HttpRequest) -> HttpResponse:
    """First what would move, then, when one is sure, the move itself."""
    viewer, posted = member(request), request.POST
    names, into = posted.getlist("name"), posted.get("into", "")
    if "sure" not in posted:
        move = scenarios.merge(viewer, names, into)
        return render(request, "scenario_merge.html", {"move": move, "from": names})
    move = scenarios.merge(viewer, names, into, dry_run=False)
    said = ngettext("%(n)d memory moved.", "%(n)d memories moved.", move.moving) % {"n": move.moving}
    messages.success(request, said)
    return redirect("scenarios")


@require_POST
@members_only
def remove(request: HttpRequest) -> HttpResponse:
    """Take away what is said about a situation."""
    scenarios.remove(member(request), request.POST.get("name", ""))
    messages.success(request, _("Changed."))
    return redirect("scenarios")
