"""Forms about people: they check shape only; the verbs decide what is allowed."""

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.utils.translation import gettext_lazy as _

from holders.registry import HolderCard
from memories.forms import split_list

CONTINENTS = {
    "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific",
}  # fmt: skip
USUAL_WAYS = ("phone", "email", "whatsapp", "telegram", "signal")


def time_zones(chosen: str) -> list[tuple[str, str]]:
    """The places one can choose from, and the one that is chosen."""
    names = {name for name in available_timezones() if name.partition("/")[0] in CONTINENTS}
    return [(name, name.replace("_", " ")) for name in sorted(names | {"UTC", chosen})]


class PersonForm(forms.Form):
    """What a person says about herself: name, topics, ways to reach her."""

    name = forms.CharField(label=_("Name"), max_length=200, required=False)
    knows_about = forms.CharField(
        label=_("Knows about"), required=False, widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Topics, separated by commas: the boiler, school, Grandma’s recipes"),
    )  # fmt: skip
    phone = forms.CharField(
        label=_("Phone"),
        required=False,
        widget=forms.TextInput(attrs={"inputmode": "tel", "autocomplete": "off"}),
    )
    email = forms.EmailField(
        label=_("Email"), required=False, widget=forms.EmailInput(attrs={"autocomplete": "off"})
    )
    whatsapp = forms.CharField(label="WhatsApp", required=False)
    telegram = forms.CharField(label="Telegram", required=False)
    signal = forms.CharField(label="Signal", required=False)
    other = forms.CharField(
        label=_("Other ways"), required=False, widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("One on each line, like “room: second floor” or “chat: https://chat.example.org/mum”"),
    )  # fmt: skip

    @staticmethod
    def initial_of(card: HolderCard) -> dict[str, str]:
        """The form as the record stands."""
        other = "\n".join(f"{key}: {value}" for key, value in card.contact.items() if key not in USUAL_WAYS)
        usual = {key: card.contact.get(key, "") for key in USUAL_WAYS}
        return {"name": card.name, "knows_about": ", ".join(card.knows_about), "other": other, **usual}

    def clean_other(self) -> dict[str, str]:
        """Lines of `key: value`."""
        pairs = [line.partition(":") for line in self.cleaned_data["other"].splitlines() if line.strip()]
        if any(not (key.strip() and value.strip()) for key, _separator, value in pairs):
            raise forms.ValidationError(_("Write each line as “name: value”."))
        return {key.strip(): value.strip() for key, _separator, value in pairs}

    def changes(self) -> dict[str, Any]:
        """The record as `set_holder` takes it."""
        data = self.cleaned_data
        contact = data["other"] | {key: data[key].strip() for key in USUAL_WAYS if data[key].strip()}
        return {"name": data["name"], "knows_about": split_list(data["knows_about"]), "contact": contact}


class CodeForm(forms.Form):
    """The one-time code of the first run."""

    code = forms.CharField(
        label=_("The code on the screen of the computer that runs this"), max_length=40,
        widget=forms.TextInput(
            attrs={
                "autocomplete": "off", "autocapitalize": "characters", "class": "code-input", "autofocus": True,
            }
        ),
    )  # fmt: skip


class HouseholdForm(forms.Form):
    """What the household is called, where it is, and who reads a memory when nobody says."""

    name = forms.CharField(label=_("What do you call your household?"), max_length=80)
    time_zone = forms.ChoiceField(label=_("Your time zone"))
    default_visibility = forms.ChoiceField(
        label=_("When somebody writes something down and says nothing else, who may read it?"),
        choices=[("private", _("Only whoever it belongs to")), ("household", _("Everyone in the household"))],
        widget=forms.RadioSelect, initial="private",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = time_zones(str(self.initial.get("time_zone") or "UTC"))
        self.fields["time_zone"].choices = choices  # type: ignore[attr-defined]
        self.fields["time_zone"].widget.attrs["data-guess-zone"] = ""


class AccountForm(forms.Form):
    """How somebody will sign in."""

    name = forms.CharField(label=_("What does the family call you?"), max_length=200, required=False)
    username = forms.CharField(
        label=_("A short name to sign in with"), max_length=60,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
        help_text=_("Letters and digits, no spaces"),
    )  # fmt: skip
    password = forms.CharField(
        label=_("A password"), widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("At least 10 characters; four ordinary words make a good one"),
    )  # fmt: skip
    again = forms.CharField(
        label=_("The password once more"), widget=forms.PasswordInput(attrs={"autocomplete": "new-password"})
    )

    def clean(self) -> dict[str, Any]:
        """Both passwords are the same."""
        data = super().clean() or {}
        if data.get("password") and data.get("again") and data["password"] != data["again"]:
            self.add_error("again", _("The two passwords are not the same."))
        return data


class NewPersonForm(forms.Form):
    """Somebody else of the household."""

    name = forms.CharField(label=_("Name"), max_length=200)
    holder_id = forms.CharField(
        label=_("Short name"), max_length=200, help_text=_("Letters and digits, no spaces: mum, opa, lea"),
        widget=forms.TextInput(attrs={"autocapitalize": "none"}),
    )  # fmt: skip
    kind = forms.ChoiceField(
        label=_("Who is it?"),
        choices=[
            ("person", _("A person")),
            ("agent", _("A helper program")),
            ("service", _("A service, like a repair firm")),
        ],
    )
