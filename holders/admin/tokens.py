"""Tokens in the admin: a curator makes her own and those of agents and services, sees each once, and ends them."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import ADDITION, DELETION
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from holders.models import SCOPES, Holder, Token
from holders.tokens import issue, revoke, tokens_of
from memories.admin.atoms import note
from memories.curators import CuratorAdmin, curator, sections
from memories.errors import RekalError
from memories.pages import blame
from memories.templatetags import times
from memories.visibility import Viewer

SCOPE_WORDS = {
    "read": _("read and recall memories"),
    "write": _("write, change and forget memories"),
    "ask": _("ask who knows, and ask around"),
    "curate": _("keep other holders’ records, as a curator"),
}


class TokenForm(forms.Form):
    """A new token."""

    holder_id = forms.ChoiceField(
        label=_("For"), help_text=_("Yourself, or an agent or service of the household.")
    )
    label = forms.CharField(
        label=_("What it is for"),
        max_length=100,
        required=False,
        help_text=_("So that you know which one to end."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("It may"), choices=[(one, SCOPE_WORDS[one]) for one in SCOPES], initial=["read", "ask"],
        widget=forms.CheckboxSelectMultiple,
    )  # fmt: skip
    days = forms.IntegerField(
        label=_("Days it lasts"),
        required=False,
        min_value=1,
        initial=365,
        help_text=_("Empty: until it is revoked."),
    )
    acting_for_me = forms.BooleanField(
        label=_("The agent acts for me"), required=False,
        help_text=_("It then reads what both of you may read, and what it writes is yours."),
    )  # fmt: skip

    def __init__(self, viewer: Viewer, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        machines = Holder.objects.filter(kind__in=("agent", "service")).order_by("holder_id")
        self.fields["holder_id"].choices = [  # type: ignore[attr-defined]
            (viewer.holder_id, gettext("Me")), *((one.holder_id, str(one)) for one in machines)
        ]  # fmt: skip


@admin.register(Token)
class TokenAdmin(CuratorAdmin):
    """The live tokens this curator may end."""

    adds = deletes = True
    list_display = ("holder_id", "label", "may", "acting_for", "made", "expires", "used")
    ordering = ("-created_at",)
    fields = ("holder_id", "label", "may", "acting_for", "made", "expires", "used")

    def readable(self, viewer: Viewer) -> QuerySet[Any]:
        return Token.objects.filter(pk__in=[card.token_id for card in tokens_of(viewer)])

    @admin.display(description=_("it may"))
    def may(self, token: Token) -> str:
        """Its scopes."""
        return ", ".join(sorted(token.scopes))

    @admin.display(description=_("made"), ordering="created_at")
    def made(self, token: Token) -> str:
        """When it was made."""
        return times.day(token.created_at)

    @admin.display(description=_("lasts until"), empty_value="–")
    def expires(self, token: Token) -> str | None:
        """When it ends by itself."""
        return times.day(token.expires_at) or None

    @admin.display(description=_("last used"), empty_value="–")
    def used(self, token: Token) -> str | None:
        """When it last opened the door."""
        return times.moment(token.last_used_at) or None

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Make one; the page that answers shows its text, this once."""
        viewer = curator(request)
        form = TokenForm(viewer, request.POST or None)
        plain, card = "", None
        if request.method == "POST" and form.is_valid():
            data = form.cleaned_data
            try:
                card, plain = issue(
                    viewer, data["holder_id"], data["scopes"],
                    days=data["days"], label=data["label"], acting_for_me=data["acting_for_me"],
                )  # fmt: skip
                note(request, Token, str(card.token_id), ADDITION, [{"added": {}}])
            except RekalError as refusal:
                blame(form, refusal)
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("A new token"),
            "opts": self.opts,
            "adminform": sections(form, [(None, {"fields": list(form.fields)})]),
            "errors": form.errors,
            "media": self.media + form.media,
            "plain": plain,
            "card": card,
        }
        status = 422 if form.is_bound and form.errors else 200
        return TemplateResponse(request, "admin/holders/token/change_form.html", context, status=status)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Revoke one, after a page that names it. Raises `NotFound`."""
        token = self.get_object(request, object_id)
        if token is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
        if request.method == "POST":
            revoke(curator(request), token.pk)
            note(request, Token, str(token.pk), DELETION, "")
            messages.success(request, gettext("The token is revoked."))
            return redirect("admin:holders_token_changelist")
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Revoke this token?"),
            "opts": self.opts,
            "token": token,
        }
        return TemplateResponse(request, "admin/holders/token/delete_confirmation.html", context)
