"""The curators' list and forms of memories: each change goes through the verbs, so index and vectors stay true."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.admin.utils import quote
from django.contrib.admin.views.main import ChangeList
from django.contrib.contenttypes.models import ContentType
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memories import names
from memories.admin import bulk, filters
from memories.admin.forms import AtomForm, fieldsets_of
from memories.browse import get_memory, history, matching
from memories.curators import CuratorAdmin, ReadableChangeList, curator, sections
from memories.errors import NotFound, RekalError
from memories.evidence import evidence
from memories.forget import forget
from memories.forms import FORM_FIELDS
from memories.models import Atom
from memories.pages import blame
from memories.remember import edit, remember
from memories.results import Memory
from memories.templatetags import times
from memories.visibility import Viewer

WORDS = 90  # characters of a memory in a list


class AtomChangeList(ReadableChangeList):
    """Rows are addressed by their public id: a row number would count what nobody here may read."""

    most_at_once = bulk.MOST

    def url_for_result(self, result: Any) -> str:
        """The form of one memory."""
        return reverse("admin:memories_atom_change", args=[quote(result.atom_id)])

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:
        """Of a search the last stored come first: that is the word index's own order."""
        if self.query and not self.params.get("o"):
            return ["-pk"]
        ordering = super().get_ordering(request, queryset)
        if str(ordering[0]).lstrip("-") in {"holder_id", "scenario"}:  # their indexes go on with the time
            ordering.insert(1, "-ingested_at" if str(ordering[0]).startswith("-") else "ingested_at")
        return ordering


class BulkForm(forms.Form):
    """What to do with the ticked memories; the page that follows shows what would change."""

    action = forms.ChoiceField(label=_("Do with the ticked ones:"), choices=bulk.CHOICES)


@admin.register(Atom)
class AtomAdmin(CuratorAdmin):
    """Memories."""

    adds = changes = deletes = True
    list_display = ("first_words", "scenario_name", "when", "state", "readers", "origin")
    list_display_links = ("first_words",)
    ordering = ("-ingested_at",)
    search_fields = ("text",)
    search_help_text = _("Words, as recall finds them: endings, accents and capitals do not matter.")
    list_filter = (
        filters.StateFilter, filters.HappenedFilter, filters.ScenarioFilter, filters.HolderFilter,
        filters.OriginFilter, filters.ReadersFilter, filters.TagFilter, filters.ModalityFilter,
        filters.SourceFilter, filters.CartridgeFilter,
    )  # fmt: skip
    actions = ["preview"]
    change_form_template = "admin/memories/atom/change_form.html"

    # The list.

    def readable(self, viewer: Viewer) -> QuerySet[Any]:
        return Atom.objects.visible_to(viewer)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return AtomChangeList

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return (queryset.filter(matching(search_term)) if search_term.strip() else queryset), False

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        """The columns, with the holders' names looked up once for the whole list."""
        called = names.registered(curator(request))

        @admin.display(description=_("holder"), ordering="holder_id")
        def holder(atom: Atom) -> str:
            return (called.get(atom.holder_id) or (atom.holder_id,))[0]

        first, *others = self.list_display
        return (first, holder, *others)

    @admin.display(description=_("memory"))
    def first_words(self, atom: Atom) -> str:
        """The beginning of the text, on one line."""
        return format_html(
            '<bdi dir="auto">{}</bdi>', Truncator(" ".join(atom.text[:400].split())).chars(WORDS)
        )

    @admin.display(description=_("scenario"), ordering="scenario", empty_value="–")
    def scenario_name(self, atom: Atom) -> str | None:
        """The situation; a dash for any."""
        return atom.scenario or None

    @admin.display(description=_("when"), ordering="ingested_at")
    def when(self, atom: Atom) -> str:
        """When it happened, else when it was written down."""
        return times.event(atom) or format_html("{} {}", gettext("written"), times.day(atom.ingested_at))

    @admin.display(description=_("state"))
    def state(self, atom: Atom) -> str:
        """Empty for what is simply true now."""
        return times.state_words(atom)

    @admin.display(description=_("who may read it"))
    def readers(self, atom: Atom) -> str:
        """The kind of audience, never the names in it."""
        audience = (
            "household" if atom.audience == "household_except" else atom.audience
        )  # who is left out: not ours
        return str(filters.AUDIENCES.get(audience, audience))

    @admin.display(description=_("origin"))
    def origin(self, atom: Atom) -> str:
        """From whom it is."""
        return atom.origin.replace("_", " ")

    @admin.display(description="")
    def action_checkbox(self, obj: Any) -> SafeString:
        """A tick by public id."""
        label = gettext("Tick this memory")
        return format_html(
            '<input type="checkbox" name="{}" value="{}" class="action-select" aria-label="{}">',
            ACTION_CHECKBOX_NAME, obj.atom_id, label,
        )  # fmt: skip

    @admin.action(description="")
    def preview(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Stands in for our own actions: the list has a row of ticks only if there is one."""

    def get_action_choices(self, request: HttpRequest, default_choices: Any = ()) -> list[tuple[str, str]]:
        return [("", "---------"), *((name, str(label)) for name, label in bulk.CHOICES)]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list; ticked rows, or all that fit it, go to the page that shows what would change."""
        if request.method == "POST" and "action" in request.POST:
            return bulk.page(self, request, self._fitting(request) if "whole" in request.POST else None)
        return super().changelist_view(request, extra_context)

    def _fitting(self, request: HttpRequest) -> list[str]:
        """The ids of the first memories that fit the search and the filters of the address."""
        found = self.get_changelist_instance(request).get_queryset(request)
        return list(found.values_list("atom_id", flat=True)[: bulk.MOST])

    # One memory.

    def get_urls(self) -> list[URLPattern]:
        wrapped: Callable[..., Any] = self.admin_site.admin_view(self.bulk_view)
        return [path("bulk/", wrapped, name="memories_atom_bulk"), *super().get_urls()]

    def bulk_view(self, request: HttpRequest) -> HttpResponse:
        """The preview of a bulk action, and the action itself."""
        return bulk.page(self, request)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Write a memory down."""
        viewer = curator(request)
        form = AtomForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                stored = remember(viewer, form.cleaned_data["text"], **form.given())
            except RekalError as refusal:
                blame(form, refusal, FORM_FIELDS)
            else:
                self.note(request, stored.atom_id, ADDITION, [{"added": {}}])
                messages.success(request, gettext("The memory was written down."))
                return redirect("admin:memories_atom_change", stored.atom_id)
        return self._form_page(request, form, None)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """One memory: what it says, when, for whom."""
        viewer = curator(request)
        memory = get_memory(viewer, object_id, lapsed=True)
        form = AtomForm(
            request.POST if request.method == "POST" else None,
            initial=AtomForm.initial_of(memory), change=True, mine=is_mine(viewer, memory),
        )  # fmt: skip
        if request.method == "POST" and form.is_valid():
            try:
                changes = changes_of(viewer, memory, form)
                edit(viewer, object_id, if_updated_at=form.cleaned_data["seen"] or None, **changes)
            except NotFound:
                raise
            except RekalError as refusal:
                blame(form, refusal, FORM_FIELDS)
            else:
                return self._after_change(request, object_id, changes)
        return self._form_page(request, form, memory)

    def _after_change(self, request: HttpRequest, atom_id: str, changes: Mapping[str, Any]) -> HttpResponse:
        self.note(request, atom_id, CHANGE, [{"changed": {"fields": sorted(changes)}}])
        messages.success(request, gettext("The memory was changed."))
        still_hers = Atom.objects.visible_to(curator(request)).filter(atom_id=atom_id).exists()
        if "_continue" in request.POST and still_hers:
            return redirect("admin:memories_atom_change", atom_id)
        return redirect("admin:memories_atom_changelist")

    def _form_page(self, request: HttpRequest, form: AtomForm, memory: Memory | None) -> HttpResponse:
        viewer = curator(request)
        mine = memory is not None and is_mine(viewer, memory)
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("A memory") if memory else gettext("Write a memory down"),
            "opts": self.opts,
            "adminform": sections(form, fieldsets_of(form)),
            "errors": form.errors,
            "media": self.media + form.media,
            "memory": memory,
            "evidence": evidence(viewer, memory.atom_id, lapsed=True) if memory else [],
            "mine": mine,
            "has_delete_permission": mine,
        }
        status = 422 if form.is_bound and form.errors else 200
        return TemplateResponse(request, "admin/memories/atom/change_form.html", context, status=status)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Forget one memory for good, after a page that says so."""
        viewer = curator(request)
        memory = get_memory(viewer, object_id, lapsed=True)
        if request.method == "POST" and is_mine(viewer, memory):
            forget(viewer, object_id)
            self.note(request, object_id, DELETION, "")
            messages.success(request, gettext("The memory is forgotten."))
            return redirect("admin:memories_atom_changelist")
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Forget this memory?"),
            "opts": self.opts,
            "memory": memory,
            "mine": is_mine(viewer, memory),
        }
        return TemplateResponse(request, "admin/memories/atom/delete_confirmation.html", context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """What it replaced and what replaced it, and who changed it in the admin."""
        viewer = curator(request)
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("History of a memory"),
            "opts": self.opts,
            "memory": get_memory(viewer, object_id, lapsed=True),
            "versions": history(viewer, object_id, lapsed=True),
            "entries": LogEntry.objects.filter(
                object_id=object_id, content_type=ContentType.objects.get_for_model(Atom)
            ).select_related("user").order_by("-action_time")[:200],
        }  # fmt: skip
        return TemplateResponse(request, "admin/memories/atom/object_history.html", context)

    def note(self, request: HttpRequest, atom_id: str, flag: int, message: Any) -> None:
        """A line in the admin's log: who, when, which fields; never a word of the memory."""
        note(request, Atom, atom_id, flag, message)

    def label_for(self, atom: Atom) -> str:
        """What a look-up in another form shows of it."""
        return Truncator(" ".join(atom.text[:400].split())).chars(WORDS)


def note(request: HttpRequest, model: Any, object_id: str, flag: int, message: Any) -> None:
    """A line in the admin's log about a thing with a public id."""
    kind = ContentType.objects.get_for_model(model)
    LogEntry.objects.create(
        user_id=request.user.pk or 0,
        content_type=kind,
        object_id=object_id,
        object_repr=f"{'memory' if model is Atom else kind.name} {object_id}"[:200],
        action_flag=flag,
        change_message=json.dumps(message) if message else "",
    )


def is_mine(viewer: Viewer, memory: Memory) -> bool:
    """Whether it is the curator's own to change as she likes: she holds it or wrote it down."""
    return bool(viewer.ids & {memory.holder_id, memory.recorded_by})


def changes_of(viewer: Viewer, memory: Memory, form: AtomForm) -> dict[str, Any]:
    """What the form changes, as `edit` takes it; somebody else's memory is narrowed with all it keeps out."""
    changes = form.changes()
    if "visibility" in changes and not is_mine(viewer, memory):
        changes["visibility"] = bulk.narrowed(viewer, memory.atom_id)
    return changes
