"""What memories are kept in, for curators: scenarios, source files and cartridges."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.defaultfilters import filesizeformat
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from memories import scenarios
from memories.cartridges import change as rename
from memories.cartridges import visible_cartridges
from memories.curators import GONE, CuratorAdmin, curator, moment_column
from memories.distinct import ENOUGH, counts_of, distinct_values
from memories.drafts import checked_name
from memories.errors import Invalid, NotFound
from memories.fields import read_json
from memories.models import Atom, Cartridge, CartridgeAtom, Mount, Scenario, Source
from memories.sources import openable
from memories.visibility import Viewer, narrowest

USUAL = [
    ("", _("As the household usually does")),
    ("household", _("Everyone at home")),
    ("private", _("The holder alone")),
    ("groups", _("The groups named below")),
]
SHOWN = 50
USED_SHOWN = 200
PARAMETERS = {
    "scenario": "scenario",
    "holder_id": "holder",
    "source_id": "source_file",
}  # of the list of memories
ADDED = moment_column("created_at", _("added"))


def at_least(count: int) -> str:
    """A count that stopped at a bound."""
    return f"{count:,}+" if count >= ENOUGH else f"{count:,}"


def atoms_link(words: Any, **filters: str) -> str:
    """A link to the list of memories, filtered."""
    address = f"{reverse('admin:memories_atom_changelist')}?{urlencode(filters)}"
    return format_html('<a href="{}">{}</a>', address, words)


class ScenarioForm(forms.ModelForm):  # type: ignore[type-arg]
    """A scenario, with its default visibility as a choice instead of JSON."""

    usual = forms.ChoiceField(
        label=_("Who may read a new memory in it"), choices=USUAL, required=False, widget=forms.RadioSelect,
        help_text=_("Only where the person who writes it down chooses nothing. Memories that are there do not change."),
    )  # fmt: skip
    groups = forms.CharField(
        label=_("Groups"), required=False, help_text=_("Separated by commas, such as: adults, kids."),
    )  # fmt: skip

    class Meta:
        model = Scenario
        fields = ("name", "description")
        help_texts: ClassVar = {
            "name": _(
                "What memories call it. It is changed under “Rename or merge”, since memories change with it."
            ),
            "description": _("When to use it, in a sentence."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = read_json(self.instance.default_visibility_json, dict, {})
        scope = stored.get("scope", "")
        self.initial["usual"] = "groups" if scope == "holders" else scope
        self.initial["groups"] = ", ".join(one for one in stored.get("groups") or [] if isinstance(one, str))
        if self.instance.pk and "name" in self.fields:
            self.fields["name"].disabled = True

    def clean_name(self) -> str:
        """One line that atoms can hold."""
        try:
            return checked_name(self.cleaned_data["name"], "scenario")
        except Invalid as error:
            raise forms.ValidationError(str(error)) from None

    def clean_description(self) -> str:
        """Not longer than the verb takes."""
        said: str = self.cleaned_data["description"].strip()
        if len(said) > scenarios.MAX_DESCRIPTION or "\x00" in said:
            limit = scenarios.MAX_DESCRIPTION
            raise forms.ValidationError(_("A description may have at most %(n)d characters.") % {"n": limit})
        return said

    def clean(self) -> dict[str, Any]:
        """Groups are named where they are chosen."""
        data = super().clean() or {}
        if data.get("usual") == "groups" and not self._groups():
            self.add_error("groups", _("Name at least one group."))
        return data

    def _groups(self) -> list[str]:
        return [one.strip() for one in self.cleaned_data.get("groups", "").split(",") if one.strip()]

    def default(self) -> dict[str, Any] | None:
        """The default visibility that was chosen; holders it names and whom it leaves out stay as they were."""
        usual = self.cleaned_data["usual"]
        if not usual:
            return None
        stored = narrowest([self.instance.default_visibility_json or '{"scope": "household"}'])
        if usual == "groups":
            return stored | {"scope": "holders", "groups": self._groups()}
        return stored | {"scope": usual, "holders": [], "groups": []}


@admin.register(Scenario)
class ScenarioAdmin(CuratorAdmin):
    """Situations that memories may be used in."""

    adds = changes = True
    form = ScenarioForm
    change_form_template = "admin/memories/scenario/change_form.html"
    change_list_template = "admin/memories/scenario/change_list.html"
    list_display = ("name", "description")
    search_fields = ("name",)
    ordering = ("name",)
    fields = ("name", "description", "usual", "groups")

    def readable(self, viewer: Viewer) -> QuerySet[Any]:
        return Scenario.objects.all()

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        return ("name", "description", readable_count(request, "scenario", Scenario, "name"))

    def get_urls(self) -> list[URLPattern]:
        move = self.admin_site.admin_view(self.move_view)
        begin = self.admin_site.admin_view(require_POST(self.describe_view))
        return [
            path("describe/", begin, name="memories_scenario_describe"),
            path("<path:object_id>/move/", move, name="memories_scenario_move"),
            *super().get_urls(),
        ]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The described ones, with those that memories this curator may read use and nobody described yet."""
        described = set(Scenario.objects.values_list("name", flat=True))
        listed = used_beyond(curator(request), "scenario", described | {""})
        return super().changelist_view(request, {**(extra_context or {}), "undescribed": listed})

    def describe_view(self, request: HttpRequest) -> HttpResponse:
        """Begin a description of a scenario that memories use; its form follows. Raises `NotFound`, `Invalid`."""
        viewer, name = curator(request), request.POST.get("name", "")
        if not name or not Atom.objects.visible_to(viewer).filter(scenario=name).exists():
            raise NotFound(GONE)
        scenarios.describe(viewer, name)
        return redirect("admin:memories_scenario_change", Scenario.objects.get(name=name).pk)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Through the verb: what it says of the scenario, and who reads what is written down in it."""
        card = scenarios.describe(
            curator(request), obj.name,
            description=form.cleaned_data["description"], default_visibility=form.default(),
        )  # fmt: skip
        obj.pk = Scenario.objects.get(name=card.name).pk

    def move_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Rename a scenario, or merge it into another: first what would move. Raises `NotFound`, `Invalid`."""
        viewer = curator(request)
        scenario = self.get_object(request, object_id)
        if scenario is None:
            raise NotFound(GONE)
        into, move, refusal = request.POST.get("into", "").strip(), None, ""
        if request.method == "POST":
            try:
                move = scenarios.merge(viewer, [scenario.name], into, dry_run="agreed" not in request.POST)
                if "agreed" in request.POST:
                    messages.success(request, gettext("%(n)d memories moved.") % {"n": move.moving})
                    return redirect("admin:memories_scenario_changelist")
            except Invalid as error:
                refusal = str(error)
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Rename or merge “%(name)s”") % {"name": scenario.name},
            "opts": self.opts, "scenario": scenario, "into": into, "move": move, "refusal": refusal,
            "others": [one for one in scenarios.list_scenarios(viewer) if one.name != scenario.name],
        }  # fmt: skip
        page = "admin/memories/scenario/move.html"
        return TemplateResponse(request, page, context, status=422 if refusal else 200)


def used_beyond(viewer: Viewer, column: str, known: set[str]) -> list[tuple[str, str]]:
    """What memories this curator may read have in a column beyond what is `known`: each with a link to them."""
    found = distinct_values(viewer, column, limit=USED_SHOWN + len(known))
    others = [one for one in found if one not in known][:USED_SHOWN]
    counts = counts_of(viewer, column, others) if others else {}
    return [(one, atoms_link(at_least(counts.get(one, 0)), **{PARAMETERS[column]: one})) for one in others]


def readable_count(request: HttpRequest, column: str, model: Any, field: str) -> Any:
    """A column that links to the memories of each row which this curator may read; one query for the list."""
    viewer = curator(request)
    values = [str(one) for one in model.objects.values_list(field, flat=True)[:ENOUGH]]
    counts = counts_of(viewer, column, values)

    @admin.display(description=_("memories you may read"))
    def memories(row: Any) -> str:
        value = str(getattr(row, field))
        return atoms_link(at_least(counts.get(value, 0)), **{PARAMETERS[column]: value})

    return memories


@admin.register(Source)
class SourceAdmin(CuratorAdmin):
    """Files that memories were drawn from: those the curator may open herself."""

    list_display = ("path", "kind", "size", ADDED)
    search_fields = ("path",)
    ordering = ("-created_at",)
    fields = ("path", "kind", "mime", "size", ADDED, "preview", "drawn")
    readonly_fields = ("size", ADDED, "preview", "drawn")

    def readable(self, viewer: Viewer) -> QuerySet[Any]:
        return openable(viewer)

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        return (*self.list_display, readable_count(request, "source_id", Source, "source_id"))

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        if obj is not None:
            obj.viewer = curator(request)
        return super().get_form(request, obj, change, **kwargs)

    @admin.display(description=_("size"), ordering="size_bytes")
    def size(self, source: Any) -> str:
        """In the units people use."""
        return filesizeformat(source.size_bytes)

    @admin.display(description=_("preview"))
    def preview(self, source: Any) -> str:
        """A link to the file itself, which its own door opens or not."""
        return format_html('<a href="/api/sources/{}/file">{}</a>', source.pk, _("Open the file"))

    @admin.display(description=_("memories drawn from it"))
    def drawn(self, source: Any) -> str:
        """The first of them that this curator may read, and a link to all."""
        atoms = (
            Atom.objects.visible_to(source.viewer).filter(source_ref=source).order_by("source", "pk")[:SHOWN]
        )
        rows = [
            (reverse("admin:memories_atom_change", args=[one.atom_id]), one.source, one.text[:200])
            for one in atoms
        ]
        listed = format_html_join("", '<li><a href="{}">{}</a> <bdi dir="auto">{}</bdi></li>', rows)
        return format_html(
            "<ul>{}</ul><p>{}</p>", listed, atoms_link(_("All of them"), source_file=source.pk)
        )


@admin.register(Cartridge)
class CartridgeAdmin(CuratorAdmin):
    """Bundles of memories: the curator's own, and those shared with her."""

    changes = deletes = True
    list_display = ("name", "owner_id", ADDED)
    search_fields = ("name",)
    ordering = ("name",)
    fields = ("name", "owner_id", ADDED, "dna", "members", "mounted")
    readonly_fields = ("owner_id", ADDED, "dna", "members", "mounted")

    def readable(self, viewer: Viewer) -> QuerySet[Any]:
        return visible_cartridges(viewer)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and self._owns(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and self._owns(request, obj)

    def _owns(self, request: HttpRequest, obj: Any) -> bool:
        return obj is None or obj.owner_id == curator(request).holder_id

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        rename(curator(request), obj.pk, name=obj.name)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        found = super().get_object(request, object_id, from_field)
        if found is not None:
            found.viewer = curator(request)
        return found

    @admin.display(description=_("members you may read"))
    def members(self, cartridge: Any) -> str:
        """The first of them, and a link to all."""
        inside = CartridgeAtom.objects.filter(cartridge=cartridge).values("atom_id")
        atoms = (
            Atom.objects.visible_to(cartridge.viewer)
            .filter(atom_id__in=inside)
            .order_by("-ingested_at")[:SHOWN]
        )
        rows = [(reverse("admin:memories_atom_change", args=[one.atom_id]), one.text[:120]) for one in atoms]
        listed = format_html_join("", '<li><a href="{}"><bdi dir="auto">{}</bdi></a></li>', rows)
        return format_html(
            "<ul>{}</ul><p>{}</p>", listed, atoms_link(_("All of them"), cartridge=cartridge.pk)
        )

    @admin.display(description=_("mounted by"))
    def mounted(self, cartridge: Any) -> str:
        """Who narrows her questions to it; to its owner, else only whether the curator does herself."""
        mounts = Mount.objects.filter(cartridge=cartridge)
        if cartridge.owner_id != cartridge.viewer.holder_id:
            mounts = mounts.filter(holder_id=cartridge.viewer.holder_id)
        return ", ".join(mounts.order_by("holder_id").values_list("holder_id", flat=True)) or "–"
