"""The curators' forms about memories: each field explained, each refusal a sentence at its field."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from memories.forms import MemoryForm

HELP = {
    "text": _(
        "The statement itself, kept letter for letter. A new wording keeps the old one in the history."
    ),
    "scenario": _(
        "The situation it may be used in. Empty: in any. Recall in a scenario finds this one and the empty one."
    ),
    "tags": _("Separated by commas; at most fifty short words."),
    "on": _("The day it happened. With “how exactly” it may stand for its month or its year."),
    "at": _("In your own time zone. Empty: the whole day."),
    "exact": _("How much of the date is known."),
    "until": _("Only for what lasts longer than a day. It cannot end before it begins."),
    "until_time": _("Only together with a time of day above."),
    "true_from": _("Before this day it does not count as true. Empty: always."),
    "true_until": _("After this day it no longer counts as true; it stays in the history."),
    "keep_until": _("After this day nobody finds it any more, and pruning removes it."),
    "source": _("A letter, a manual and its page (manual.pdf#page=3), a website."),
    "holder_id": _(
        "Whose knowledge it is: a holder’s id. Empty: yours. For somebody else it counts once she says it is so."
    ),
    "readers": _("You may narrow who reads somebody else’s memory, never widen it."),
    "hidden": _("Nobody is told that the holder may know something about this."),
}
NARROWER = [("", _("As it is")), ("private", _("The holder alone"))]
FIELDSETS: list[tuple[Any, dict[str, Any]]] = [
    (None, {"fields": ("text", "holder_id", "scenario", "tags", "source")}),
    (_("When it happened"), {"fields": ("on", "exact", "at", "until", "until_time")}),
    (
        _("How long it is true, and how long it is kept"),
        {"fields": ("true_from", "true_until", "keep_until")},
    ),
    (_("Who may read it"), {"fields": ("readers", "named", "denied", "hidden")}),
]


class AtomForm(MemoryForm):
    """One memory, for the admin: the family's own form with an explanation at every field."""

    named = forms.CharField(  # type: ignore[assignment]  # lines to type instead of boxes to tick
        label=_("These may read it"),
        required=False,
        help_text=_("Only for “I choose”: one a line, holder:ID or group:NAME."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    denied = forms.CharField(  # type: ignore[assignment]
        label=_("These may never read it"),
        required=False,
        help_text=_("Whatever else is chosen: holder ids, one a line."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, *args: Any, change: bool = False, mine: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, words in HELP.items():
            self.fields[name].help_text = words
        for name in ("suggested_scenario", "suggested_tags", "replaces"):
            del self.fields[name]
        if change:
            del self.fields["holder_id"]
        if not mine:  # who else reads it, or is kept out, is the holder's to know
            del self.fields["named"], self.fields["denied"], self.fields["hidden"]
            self.initial = {**self.initial, "readers": ""}
            self.fields["readers"] = forms.ChoiceField(
                label=self.fields["readers"].label, choices=NARROWER, required=False, widget=forms.RadioSelect,
                help_text=HELP["readers"],
            )  # fmt: skip

    def clean_named(self) -> list[str]:
        """`holder:…` and `group:…`, one a line."""
        lines = split_lines(self.cleaned_data["named"])
        for line in lines:
            if line.partition(":")[0] not in {"holder", "group"} or not line.partition(":")[2]:
                raise forms.ValidationError(_("Write holder:ID or group:NAME, one a line."))
        return lines

    def clean_denied(self) -> list[str]:
        """Holder ids, one a line."""
        return split_lines(self.cleaned_data["denied"])

    def visibility(self) -> dict[str, Any] | None:
        """What was chosen, as the verbs take it; None where nothing about it was touched."""
        if self.initial and not {"readers", "named", "denied", "hidden"} & set(self.changed_data):
            return None
        return super().visibility()

    def given(self) -> dict[str, Any]:
        """The optional fields of `remember`."""
        self.cleaned_data.setdefault("holder_id", "")
        return super().given()

    @classmethod
    def initial_of(cls, memory: Any) -> dict[str, Any]:
        """The form as a memory stands."""
        initial = super().initial_of(memory)
        return initial | {name: "\n".join(initial[name]) for name in ("named", "denied")}


def split_lines(text: str) -> list[str]:
    """The lines that hold something, trimmed."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def fieldsets_of(form: forms.Form) -> list[tuple[Any, Any]]:
    """`FIELDSETS` with the fields that this form has."""
    return [
        (title, {**options, "fields": [name for name in options["fields"] if name in form.fields]})
        for title, options in FIELDSETS
    ]
