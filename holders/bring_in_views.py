"""The page that brings memories in: a file is put aside, looked at, and taken only when somebody says so."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from holders.bring_in_forms import FORMAT_WORDS, MOST_NAMES, BringInForm
from holders.newcomers import register
from memories.cartridge_files import archive
from memories.errors import Conflict, Invalid, NotFound, RekalError
from memories.pages import member, members_only, unfinished
from memories.transfer import files, waiting
from memories.transfer.formats import Format, format_of
from memories.transfer.load import Skipped
from memories.transfer.stages import Stretch, go_through
from memories.visibility import Viewer

LOOK_SECONDS = 8.0
TAKE_SECONDS = 8.0
SHOWN = 40
NOT_CARRIED = {"csrfmiddlewaretoken", "before", "action", "form_owner", "form_page"}

_busy: set[str] = set()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Name:
    """A name in the file, who that is here when somebody said so, and who it is otherwise."""

    name: str
    who: str
    otherwise: str


@members_only
def bring_in(request: HttpRequest) -> HttpResponse:
    """Choose a file; it is put aside, and the page that follows shows what is in it."""
    viewer = member(request)
    if request.method != "POST":
        return _begin(request)
    if (file := request.FILES.get("file")) is None:
        return _begin(request, _("Choose a file first."))
    if (file.size or 0) > waiting.MAX_BYTES:
        return _begin(request, _too_large())
    try:
        ticket = waiting.keep(viewer, file.name or "", cast("BinaryIO", file))
    except Invalid as error:
        return _begin(request, str(error))
    return redirect("look-at-file", ticket)


def _too_large() -> str:
    return _("A file may have at most %(n)s MB.") % {"n": waiting.MAX_BYTES // 1024**2}


def _begin(request: HttpRequest, sentence: str = "") -> HttpResponse:
    context = {
        "sentence": sentence,
        "waiting": waiting.list_waiting(member(request)),
        "formats": FORMAT_WORDS.values(),
        "most": waiting.MAX_BYTES // 1024**2,
    }
    return render(request, "bring_in.html", context, status=422 if sentence else 200)


@members_only
def look(request: HttpRequest, ticket: str) -> HttpResponse:
    """What a waiting file would bring, under the choices made so far; `action` takes it in or throws it away."""
    viewer = member(request)
    action = request.POST.get("action", "")
    try:
        path = waiting.find(viewer, ticket)
    except NotFound:
        messages.warning(request, _("This file does not wait here any more. Choose it again."))
        return redirect("bring-in")
    if action == "drop":
        waiting.remove(viewer, ticket)
        messages.success(request, _("The file is thrown away. Nothing of it was taken."))
        return redirect("bring-in")
    posted = request.POST if request.method == "POST" else unfinished(request)
    return _Page(request, ticket, path, posted).answer(take=action == "take")


class _Page:
    """One waiting file in front of somebody."""

    def __init__(self, request: HttpRequest, ticket: str, path: Path, posted: QueryDict | None) -> None:
        self.request, self.viewer = request, member(request)
        self.ticket, self.path, self.posted = ticket, path, posted
        self.context: dict[str, Any] = {"ticket": ticket, "file": path.name}

    def answer(self, *, take: bool) -> HttpResponse:
        """The look, the next stretch of the import, or what came of it."""
        if archive.recognises(self.path, files.head(self.path)):
            return self._render("bundle", 422)
        try:
            chosen = self._format()
            form = BringInForm(self.posted, self.path, chosen)
        except Invalid:
            self.context["formats"] = FORMAT_WORDS.items()
            return self._render("unknown", 422)
        self.context |= {"form": form, "format_words": FORMAT_WORDS[chosen.name], "chosen": chosen}
        try:
            return self._take(form, chosen) if take else self._look(form, chosen)
        except Conflict as error:
            return self._render("look", 409, str(error))
        except Invalid as error:
            return self._render("look", 422, _refusal(error))

    def _format(self) -> Format:
        stated = self.posted.get("format") if self.posted else None
        return format_of(self.path, stated or None)

    def _look(self, form: BringInForm, chosen: Format) -> HttpResponse:
        told = form.told()
        found = go_through(self.viewer, self.path, chosen, told, dry_run=True, seconds=LOOK_SECONDS)
        self._show(found)
        names = [
            Name(one, told.holders.get(one, ""), found.report.names.get(one, one)) for one in found.names
        ]
        self.context |= {
            "in_file": names[:MOST_NAMES],
            "more_names": max(0, len(names) - MOST_NAMES),
        }
        return self._render("look")

    def _take(self, form: BringInForm, chosen: Format) -> HttpResponse:
        told = form.told()
        with _one_at_a_time(self.viewer):
            found = go_through(self.viewer, self.path, chosen, told, dry_run=False, seconds=TAKE_SECONDS)
            new = register(self.viewer, found.report) if found.whole and self._registers(form) else []
        before = self._before()
        found.report.taken += before
        found.report.already_here = max(0, found.report.already_here - before)
        self._show(found)
        if not found.whole:
            self.context["carried"] = self._carried()
            return self._render("going")
        waiting.remove(self.viewer, self.ticket)
        self.context["registered"] = len(new)
        return self._render("done")

    def _registers(self, form: BringInForm) -> bool:
        return self.viewer.is_curator and form.wants_directory

    def _before(self) -> int:
        """How many memories earlier stretches brought in; only for the sentence."""
        stated = self.posted.get("before", "") if self.posted else ""
        return int(stated) if stated.isascii() and stated.isdigit() and len(stated) < 10 else 0

    def _carried(self) -> list[tuple[str, str]]:
        posted = self.posted or QueryDict()
        return [(key, one) for key, values in posted.lists() if key not in NOT_CARRIED for one in values]

    def _show(self, found: Stretch) -> None:
        report = found.report
        self.context |= {
            "found": found,
            "report": report,
            "taken": _counted(report.taken),
            "skipped": report.skipped[:SHOWN],
            "more_skipped": max(0, len(report.skipped) - SHOWN),
            "notes": _once(report.notes)[:SHOWN],
            "people": len(report.holders),
        }

    def _render(self, stage: str, status: int = 200, sentence: str = "") -> HttpResponse:
        self.context |= {"stage": stage, "sentence": sentence}
        return render(self.request, "bring_in_file.html", self.context, status=status)


def _once(notes: list[Skipped]) -> list[Skipped]:
    return list(dict.fromkeys(notes))


def _counted(number: int) -> str:
    return ngettext("%(n)d memory", "%(n)d memories", number) % {"n": number}


def _refusal(error: RekalError) -> str:
    """The sentences that speak of the command line's options, in the page's own words."""
    field = getattr(error, "field", "")
    if field == "column":
        return _("Say below which column holds what is to be remembered.")
    if field == "order":
        return _("Its dates are written in several ways; say below which it is.")
    return str(error)


@contextmanager
def _one_at_a_time(viewer: Viewer) -> Iterator[None]:
    """A second press of the button while the first is at work would take everything twice. Raises `Conflict`."""
    with _lock:
        if viewer.holder_id in _busy:
            raise Conflict(_("A file of yours is just being brought in. Wait a moment, then look again."))
        _busy.add(viewer.holder_id)
    try:
        yield
    finally:
        with _lock:
            _busy.discard(viewer.holder_id)
