"""The curators' form of a holder: contact and topics as lines to fill in, never as JSON."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import ADDITION, CHANGE, DELETION
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from holders.models import KINDS, Holder, SignIn
from holders.registry import get_holder, remove_holder, set_holder
from memories.admin.atoms import note
from memories.admin.forms import split_lines
from memories.admin.shelves import readable_count, used_beyond
from memories.curators import CuratorAdmin, curator, sections
from memories.errors import RekalError
from memories.pages import blame
from memories.visibility import Viewer

WAYS = ("phone", "email", "chat", "address", "rekal_url")
KIND_WORDS = {"person": _("person"), "agent": _("agent"), "service": _("service")}


class HolderForm(forms.Form):
    """One holder's record."""

    holder_id = forms.CharField(
        label=_("Id"), max_length=200,
        help_text=_("Letters, digits and . : _ - @, no spaces. Memories name their holder by it, so it never changes."),
    )  # fmt: skip
    name = forms.CharField(label=_("Name"), max_length=200, required=False, help_text=_("As people say it."))
    kind = forms.ChoiceField(
        label=_("Kind"), choices=[(one, KIND_WORDS[one]) for one in KINDS],
        help_text=_("People and agents read what everyone at home may read; services do not."),
    )  # fmt: skip
    topics = forms.CharField(
        label=_("Knows about"), required=False, widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("One topic a line. Whoever asks about one of them is sent here."),
    )  # fmt: skip
    groups = forms.CharField(
        label=_("Groups"), required=False,
        help_text=_("Separated by commas: adults, kids, guests. Curators are named on the host’s command line."),
    )  # fmt: skip
    phone = forms.CharField(label=_("Phone"), required=False, help_text=_("A number that a tap can call."))
    email = forms.CharField(label=_("E-mail"), required=False)
    chat = forms.CharField(
        label=_("Chat"), required=False, help_text=_("A name or a link that starts with https://.")
    )
    address = forms.CharField(label=_("Address"), required=False)
    rekal_url = forms.CharField(
        label=_("Rekal server"), required=False,
        help_text=_("Another household’s or an agent’s own server (https://…), asked live when somebody is sent here."),
    )  # fmt: skip
    other = forms.CharField(
        label=_("Other ways"), required=False, widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("One a line, such as: office = room 12."),
    )  # fmt: skip

    FIELDSETS: ClassVar = [
        (None, {"fields": ("holder_id", "name", "kind", "topics", "groups")}),
        (_("How to reach them"), {"fields": (*WAYS, "other")}),
    ]

    def __init__(self, *args: Any, change: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if change:
            self.fields["holder_id"].disabled = True

    def clean_other(self) -> dict[str, str]:
        """`way = value`, one a line."""
        ways = {}
        for line in split_lines(self.cleaned_data["other"]):
            key, sign, value = line.partition("=")
            if not sign or not key.strip() or not value.strip():
                raise forms.ValidationError(_("Write one way a line, such as: office = room 12."))
            ways[key.strip()] = value.strip()
        return ways

    def record(self) -> dict[str, Any]:
        """What `set_holder` takes."""
        data = self.cleaned_data
        record: dict[str, Any] = {
            "name": data["name"],
            "kind": data["kind"],
            "knows_about": split_lines(data["topics"]),
            "contact": {**data["other"], **{way: data[way].strip() for way in WAYS if data[way].strip()}},
        }
        groups = [one.strip() for one in data["groups"].split(",") if one.strip()]
        if "groups" in self.changed_data:
            record["groups"] = groups
        return record

    @staticmethod
    def initial_of(holder: Holder) -> dict[str, Any]:
        """The form as a record stands."""
        contact = holder.contact
        other = "\n".join(f"{key} = {value}" for key, value in contact.items() if key not in WAYS)
        return {
            "holder_id": holder.holder_id,
            "name": holder.name,
            "kind": holder.kind,
            "topics": "\n".join(holder.topics),
            "groups": ", ".join(holder.groups),
            "other": other,
            **{way: contact.get(way, "") for way in WAYS},
        }


@admin.register(Holder)
class HolderAdmin(CuratorAdmin):
    """The directory, and the holders of memories whom nobody registered yet."""

    adds = changes = deletes = True
    list_display = ("holder_id", "name", "kind", "topics_line", "groups_line")
    list_filter = ("kind",)
    search_fields = ("holder_id", "name", "knows_about_json")
    ordering = ("holder_id",)
    change_list_template = "admin/holders/holder/change_list.html"

    def readable(self, viewer: Viewer) -> QuerySet[Any]:
        return Holder.objects.all()

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        """The columns; sign-ins and counts are looked up once for the whole list."""
        linked = dict(SignIn.objects.values_list("holder_id", "user__username"))

        @admin.display(description=_("signs in as"), empty_value="–")
        def signs_in(holder: Any) -> str | None:
            return linked.get(holder.holder_id)

        return (*self.list_display, signs_in, readable_count(request, "holder_id", Holder, "holder_id"))

    @admin.display(description=_("knows about"))
    def topics_line(self, holder: Holder) -> str:
        """The declared topics."""
        return ", ".join(holder.topics[:6])

    @admin.display(description=_("groups"))
    def groups_line(self, holder: Holder) -> str:
        """The household's own groups."""
        return ", ".join(holder.groups)

    def get_urls(self) -> list[URLPattern]:
        register = self.admin_site.admin_view(require_POST(self.register_view))
        return [path("register/", register, name="holders_holder_register"), *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The directory, with those who hold something this curator may read and are not in it."""
        known = set(Holder.objects.values_list("pk", flat=True))
        listed = used_beyond(curator(request), "holder_id", known)
        return super().changelist_view(
            request, {**(extra_context or {}), "unregistered": listed, "kinds": KIND_WORDS.items()}
        )

    def register_view(self, request: HttpRequest) -> HttpResponse:
        """Put somebody who holds memories into the directory, in one click. Raises `NotFound`."""
        viewer = curator(request)
        holder_id = request.POST.get("holder_id", "")
        get_holder(viewer, holder_id)
        set_holder(viewer, holder_id, kind=request.POST.get("kind", "person"))
        note(request, Holder, holder_id, ADDITION, [{"added": {}}])
        messages.success(request, gettext("%(id)s is in the directory now.") % {"id": holder_id})
        return redirect("admin:holders_holder_changelist")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Register somebody; that alone lets nobody sign in."""
        return self._edit(request, HolderForm(request.POST or None), None)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """One holder's record."""
        holder = self.get_object(request, object_id)
        if holder is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
        posted = request.POST if request.method == "POST" else None
        return self._edit(
            request, HolderForm(posted, initial=HolderForm.initial_of(holder), change=True), holder
        )

    def _edit(self, request: HttpRequest, form: HolderForm, holder: Any) -> HttpResponse:
        if request.method == "POST" and form.is_valid():
            try:
                holder_id = form.cleaned_data["holder_id"].strip()
                card = set_holder(curator(request), holder_id, **form.record())
            except RekalError as refusal:
                blame(form, refusal)
            else:
                what = [{"changed": {"fields": sorted(form.changed_data)}}]
                note(request, Holder, card.holder_id, CHANGE if holder else ADDITION, what)
                messages.success(request, gettext("The record was saved."))
                return redirect("admin:holders_holder_changelist")
        status = 422 if form.is_bound and form.errors else 200
        context = self._context(request, form, holder)
        return TemplateResponse(request, "admin/holders/holder/change_form.html", context, status=status)

    def _context(self, request: HttpRequest, form: HolderForm, holder: Any) -> dict[str, Any]:
        account = (
            SignIn.objects.filter(holder_id=holder.pk).select_related("user").first() if holder else None
        )
        return {
            **self.admin_site.each_context(request),
            "title": str(holder) if holder else gettext("Register a holder"),
            "opts": self.opts,
            "adminform": sections(form, HolderForm.FIELDSETS),
            "errors": form.errors,
            "media": self.media + form.media,
            "holder": holder,
            "account": account,
        }

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Out of the directory: sign-in and tokens end, the memories stay. Raises `NotAllowed`."""
        remove_holder(curator(request), obj.pk)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """One line a holder."""
        for holder in queryset:
            note(request, Holder, holder.pk, DELETION, "")
