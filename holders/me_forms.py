"""Forms of the page about oneself; they check shape only."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from holders.forms import time_zones
from holders.leaving import FORGET, SHARED, UNREAD
from holders.models import Holder, Preference
from memories.visibility import Viewer

MYSELF, FOR_ME, ITSELF = "me", "for:", "as:"


class PreferenceForm(forms.Form):
    """How the pages look and speak."""

    language = forms.ChoiceField(label=_("Language"), required=False)
    time_zone = forms.ChoiceField(label=_("Time zone"), required=False)
    theme = forms.ChoiceField(
        label=_("Light or dark"),
        required=False,
        choices=[("", _("As my device")), ("light", _("Light")), ("dark", _("Dark"))],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zones = time_zones(str(self.initial.get("time_zone") or "UTC"))
        self._choose("language", [("", _("As my browser")), *settings.LANGUAGES])
        self._choose("time_zone", [("", _("As the household")), *zones])

    def _choose(self, name: str, choices: list[tuple[str, Any]]) -> None:
        self.fields[name].choices = choices  # type: ignore[attr-defined]

    @staticmethod
    def initial_of(preference: Preference) -> dict[str, str]:
        """The form as things stand."""
        return {"language": preference.language, "time_zone": preference.time_zone, "theme": preference.theme}


class TokenForm(forms.Form):
    """A key for a program: whose hand it is, what it may do, and how long."""

    who = forms.ChoiceField(label=_("Who will use it?"))
    label = forms.CharField(
        label=_("What for?"),
        max_length=100,
        required=False,
        help_text=_("For your own list: the tablet in the kitchen"),
    )
    scopes = forms.MultipleChoiceField(
        label=_("What may it do?"), widget=forms.CheckboxSelectMultiple, initial=["read", "ask"],
    )  # fmt: skip
    days = forms.TypedChoiceField(
        label=_("How long?"), coerce=int, initial=90,
        choices=[(30, _("A month")), (90, _("Three months")), (365, _("A year")), (0, _("Until I end it"))],
    )  # fmt: skip

    def __init__(self, viewer: Viewer, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scopes = [
            ("read", _("Read")),
            ("write", _("Write down and forget")),
            ("ask", _("Ask, and who knows")),
        ]
        if viewer.is_curator:
            scopes.append(("curate", _("Keep the household’s records")))
        self.fields["who"].choices = list(_hands(viewer))  # type: ignore[attr-defined]
        self.fields["scopes"].choices = scopes  # type: ignore[attr-defined]

    def given(self, viewer: Viewer) -> dict[str, Any]:
        """What `tokens.issue` takes beside the viewer."""
        data = self.cleaned_data
        kind, _separator, holder_id = data["who"].partition(":")
        return {
            "holder_id": holder_id or viewer.holder_id,
            "acting_for_me": kind == FOR_ME.rstrip(":"),
            "scopes": data["scopes"],
            "days": data["days"] or None,
            "label": data["label"],
        }


def _hands(viewer: Viewer) -> list[tuple[str, Any]]:
    agents = Holder.objects.filter(kind="agent").order_by("pk")
    hands: list[tuple[str, Any]] = [(MYSELF, _("A program of mine: it reads and writes as I do"))]
    words = _("%(name)s, for me: it reads what both of us may")
    hands += [(f"{FOR_ME}{one.pk}", words % {"name": one.name or one.pk}) for one in agents]
    if viewer.is_curator:
        machines = Holder.objects.filter(kind__in=("agent", "service")).order_by("pk")
        words = _("%(name)s, for itself")
        hands += [(f"{ITSELF}{one.pk}", words % {"name": one.name or one.pk}) for one in machines]
    return hands


class LeaveForm(forms.Form):
    """Deleting one's account."""

    memories = forms.ChoiceField(
        label=_("What shall become of what you hold?"),
        widget=forms.RadioSelect,
        choices=[
            (FORGET, _("Forget all of it, for good")),
            (UNREAD, _("Keep it, but nobody may read it")),
            (SHARED, _("Keep it: what I shared stays shared, the rest nobody may read")),
        ],
    )
    password = forms.CharField(
        label=_("Your password"),
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    sure = forms.BooleanField(label=_("Yes, delete my account"))
