"""Forms about memories: they read what people type, in the reader's time zone; the verbs decide the rest."""

import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memories import timestamps
from memories.results import Memory
from memories.selection import STATES, Selection

EXACTNESS = [
    ("day", _("Exactly that day")),
    ("month", _("Some time that month")),
    ("year", _("Some time that year")),
]
READERS = [
    ("", _("As usual")),
    ("household", _("Everyone")),
    ("private", _("Only me")),
    ("holders", _("I choose")),
]
EVENT = ("event_time", "event_time_end", "event_time_precision")
CHANGED_BY = {  # which of the verbs' fields a form field stands for; what nobody touched stays exact
    "on": EVENT, "at": EVENT, "exact": EVENT, "until": EVENT, "until_time": EVENT,
    "true_from": ("valid_from",), "true_until": ("valid_to",), "keep_until": ("retention_until",),
    "readers": ("visibility",), "named": ("visibility",), "denied": ("visibility",),
    "hidden": ("visibility",),
    "suggested_tags": ("tags",), "suggested_scenario": ("scenario",),
}  # fmt: skip
WIDTH = {"day": 10, "month": 7, "year": 4}


def split_list(text: str) -> list[str]:
    """A list as people type it: separated by commas of any script, semicolons or new lines."""
    return [part.strip() for part in re.split(r"[,;，；、\n]+", text) if part.strip()]


def split_tags(text: str) -> list[str]:
    """The same for tags, which a `#` separates too."""
    return split_list(text.replace("#", ","))


FORM_FIELDS = {  # what the verbs' fields are called on our forms
    "event_time": "on", "event_time_end": "until", "valid_from": "true_from", "valid_to": "true_until",
    "retention_until": "keep_until", "visibility": "readers",
}  # fmt: skip


class Anything(forms.MultipleChoiceField):
    """Several values whose choices the page draws itself."""

    widget = forms.MultipleHiddenInput

    def valid_value(self, value: Any) -> bool:
        """The verbs check names; here every short text will do."""
        return len(str(value)) <= 300


class DateInput(forms.DateInput):
    """The browser's own calendar; a date picked there is that date, whatever the zone."""

    input_type = "date"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(format="%Y-%m-%d", **kwargs)


def date_field(label: Any, **kwargs: Any) -> forms.DateField:
    """A day on the calendar, not required."""
    return forms.DateField(
        label=label, required=False, widget=DateInput(), input_formats=["%Y-%m-%d"], **kwargs
    )


def time_field(label: Any) -> forms.TimeField:
    """A time of day, not required."""
    return forms.TimeField(
        label=label, required=False, widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M")
    )


class ReadersForm(forms.Form):
    """Who may read a memory."""

    readers = forms.ChoiceField(
        label=_("Who may read it?"), choices=READERS, required=False, widget=forms.RadioSelect
    )
    named = Anything(required=False)
    denied = Anything(required=False)
    hidden = forms.BooleanField(label=_("Nobody should even know that I know"), required=False)

    def visibility(self) -> dict[str, Any] | None:
        """What was chosen, as the verbs take it; None leaves it to the household's custom."""
        data = self.cleaned_data
        scope = data.get("readers") or ""
        if not scope and not data.get("hidden"):
            return None
        named = data.get("named") or [] if scope == "holders" else []
        return {
            "scope": scope or "private",
            "holders": [name[7:] for name in named if name.startswith("holder:")],
            "groups": [name[6:] for name in named if name.startswith("group:")],
            "deny": list(data.get("denied") or []) if scope in {"holders", "household"} else [],
            "discoverable": not data.get("hidden"),
        }

    @staticmethod
    def initial_readers(visibility: Mapping[str, Any]) -> dict[str, Any]:
        """The form as the memory stands."""
        named = [f"holder:{one}" for one in visibility.get("holders", [])]
        named += [f"group:{one}" for one in visibility.get("groups", [])]
        return {
            "readers": visibility.get("scope", ""),
            "named": named,
            "denied": list(visibility.get("deny", [])),
            "hidden": not visibility.get("discoverable", True),
        }


class MemoryForm(ReadersForm):
    """One memory, from one box and folded details."""

    text = forms.CharField(
        label=_("What should not be forgotten?"),
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        strip=False,
    )
    scenario = forms.CharField(label=_("In which situation is it of use?"), required=False)
    tags = forms.CharField(label=_("Tags"), required=False, help_text=_("Separated by commas"))
    on = date_field(_("When was it?"))
    at = time_field(_("At what time?"))
    exact = forms.ChoiceField(label=_("How exactly?"), choices=EXACTNESS, required=False)
    until = date_field(_("Until which day?"))
    until_time = time_field(_("Until what time?"))
    true_from = date_field(_("True from"))
    true_until = date_field(_("True until, that day included"))
    keep_until = date_field(_("Forget it by itself after"))
    source = forms.CharField(
        label=_("Where does it come from?"),
        required=False,
        help_text=_("A letter, a manual and its page, a website"),
    )
    holder_id = forms.CharField(label=_("Whose knowledge is it?"), required=False)
    suggested_scenario = forms.CharField(required=False)
    suggested_tags = Anything(required=False)
    replaces = Anything(required=False)
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean_text(self) -> str:
        """One's words as they are; only the line ends of the browser's form are made plain."""
        text: str = self.cleaned_data["text"].replace("\r\n", "\n")
        if not text.strip():
            raise forms.ValidationError(_("Write something first."))
        return text

    def clean(self) -> dict[str, Any]:
        """A time needs its date."""
        data = super().clean() or {}
        if (data.get("at") or data.get("until")) and not data.get("on"):
            self.add_error("on", _("Say which day as well."))
        return data

    def given(self) -> dict[str, Any]:
        """The optional fields of `remember`; times in the reader's zone, dates as dates."""
        data = self.cleaned_data
        begin, finish, precision = self._event()
        tags = [*split_tags(data["tags"]), *data.get("suggested_tags", [])]
        return {
            "scenario": data["scenario"].strip() or data.get("suggested_scenario") or None,
            "tags": list(dict.fromkeys(tags)) or None,
            "event_time": begin,
            "event_time_end": finish,
            "event_time_precision": precision,
            "valid_from": _midnight(data["true_from"]),
            "valid_to": _midnight(data["true_until"], days=1),
            "retention_until": _midnight(data["keep_until"], days=1, milliseconds=-1),
            "source": data["source"].strip() or None,
            "holder_id": data["holder_id"].strip() or None,
            "visibility": self.visibility(),
        }

    def changes(self) -> dict[str, Any]:
        """The same for `edit`, where an empty field takes something away and the holder stays."""
        given = self.given()
        given.pop("holder_id")
        if given["visibility"] is None:
            given.pop("visibility")
        given |= {
            "text": self.cleaned_data["text"],
            "scenario": given["scenario"] or "",
            "tags": given["tags"] or [],
            "source": given["source"] or "",
        }
        changed = {name for field in self.changed_data for name in CHANGED_BY.get(field, (field,))}
        return {name: value for name, value in given.items() if name in changed}

    def _event(self) -> tuple[str | None, str | None, str | None]:
        data = self.cleaned_data
        if not data["on"]:
            return None, None, None
        if data["at"]:
            end_time = data["until_time"] or (data["at"] if data["until"] else None)
            finish = _instant(data["until"] or data["on"], end_time) if end_time else None
            return _instant(data["on"], data["at"]), finish, "minute"
        exact = data["exact"] or "day"
        finish = data["until"].isoformat()[: WIDTH[exact]] if data["until"] else None
        return data["on"].isoformat()[: WIDTH[exact]], finish, exact

    @classmethod
    def initial_of(cls, memory: Memory) -> dict[str, Any]:
        """The form as a memory stands, in the reader's zone."""
        return {
            "text": memory.text,
            "scenario": memory.scenario,
            "tags": ", ".join(memory.tags),
            "source": memory.source,
            "holder_id": memory.holder_id,
            "true_from": _local_date(memory.valid_from),
            "true_until": _local_date(memory.valid_to, milliseconds=-1),
            "keep_until": _local_date(memory.retention_until),
            "seen": memory.updated_at,
            **_initial_event(memory),
            **cls.initial_readers(memory.visibility),
        }


def _initial_event(memory: Memory) -> dict[str, Any]:
    if not memory.event_time:
        return {}
    begin = timestamps.from_text(memory.event_time)
    end = timestamps.from_text(memory.event_time_end) if memory.event_time_end else None
    if memory.event_time_precision in WIDTH:
        return {
            "on": begin.date(),
            "until": end.date() if end else None,
            "exact": memory.event_time_precision,
        }
    begin, end = timezone.localtime(begin), timezone.localtime(end) if end else None
    return {
        "on": begin.date(),
        "at": begin.time(),
        "until": end.date() if end else None,
        "until_time": end.time() if end else None,
    }


def _instant(day: date, at: time) -> str:
    return datetime.combine(day, at, timezone.get_current_timezone()).isoformat()


def _midnight(day: date | None, *, days: int = 0, milliseconds: int = 0) -> str | None:
    """The beginning of a day on the reader's wall clock, moved by days and then by milliseconds."""
    if day is None:
        return None
    start = datetime.combine(day + timedelta(days=days), time(), timezone.get_current_timezone())
    return timestamps.to_text(start + timedelta(milliseconds=milliseconds))


def _local_date(text: str | None, *, milliseconds: int = 0) -> date | None:
    if not text:
        return None
    return timezone.localtime(timestamps.from_text(text) + timedelta(milliseconds=milliseconds)).date()


class BrowseForm(forms.Form):
    """Filters of the list; whatever cannot be read filters nothing."""

    q = forms.CharField(label=_("Words"), required=False, widget=forms.TextInput(attrs={"type": "search"}))
    scenario = forms.CharField(label=_("Situation"), required=False)
    holder = forms.CharField(label=_("Whose"), required=False)
    tag = forms.CharField(label=_("Tag"), required=False)
    state = forms.ChoiceField(
        label=_("Which"), required=False,
        choices=[*zip(STATES, [_("True now"), _("No longer true"), _("Ending soon"), _("All")], strict=True)],
    )  # fmt: skip
    since = date_field(_("From"))
    until = date_field(_("To"))

    def selection(self) -> Selection:
        """The filters as `selected` takes them."""
        self.is_valid()
        data = self.cleaned_data
        return Selection(
            q=data.get("q", ""),
            scenario=data.get("scenario") or None,
            holder=data.get("holder") or None,
            tag=data.get("tag") or None,
            state=data.get("state") or "current",
            since=_midnight(data.get("since")),
            until=_midnight(data.get("until"), days=1, milliseconds=-1),
        )
