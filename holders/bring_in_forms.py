"""What somebody says about a file before it is brought in: its form, who its names are, who may read it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from holders.models import Holder
from memories.errors import Invalid
from memories.forms import ReadersForm
from memories.transfer import table
from memories.transfer.formats import Format
from memories.transfer.stages import Told

MOST_NAMES = 40
FORMAT_WORDS = {
    "transactive": _("an older memory store"), "rekal": _("a store of an earlier Rekal"),
    "mcp-memory": _("the memory of a helper program (MCP)"), "telegram": _("a Telegram chat"),
    "mem0": _("memories from mem0"), "day-one": _("a Day One diary"), "keep": _("notes from Google Keep"),
    "vcard": _("an address book"), "icalendar": _("a calendar"), "jsonl": _("memories taken out of Rekal"),
    "whatsapp": _("a WhatsApp chat"), "csv": _("a table (CSV)"), "bullets": _("a list, one memory a line"),
    "markdown": _("notes (Markdown)"),
}  # fmt: skip
FOREIGN = [("private", _("Only me")), ("household", _("Everyone")), ("holders", _("I choose"))]
OURS = [("", _("As it was when I took it out")), *FOREIGN]
ORDERS = [
    ("", _("Find it out from the file")),
    ("dmy", _("Day, month, year")),
    ("mdy", _("Month, day, year")),
    ("ymd", _("Year, month, day")),
]
COLUMNS = {
    "text": _("What is to be remembered"),
    "holder_id": _("Whose it is"),
    "event_time": _("When it was"),
    "scenario": _("Situation"),
    "tags": _("Tags"),
}


class BringInForm(ReadersForm):
    """The choices that fit a file of this format; nothing here is required."""

    format = forms.ChoiceField(label=_("What is it?"), required=False)
    order = forms.ChoiceField(label=_("How are its dates written?"), choices=ORDERS, required=False)
    directory = forms.BooleanField(label=_("Put these people among ours, as guests"), required=False)

    def __init__(self, posted: QueryDict | None, path: Path, chosen: Format) -> None:
        beginning = {"readers": "" if chosen.ours else "private", "format": chosen.name, "directory": True}
        super().__init__(posted, initial=beginning)
        self.chosen, self.posted = chosen, posted
        self.fields["readers"].choices = OURS if chosen.ours else FOREIGN  # type: ignore[attr-defined]
        self.fields["format"].choices = list(FORMAT_WORDS.items())  # type: ignore[attr-defined]
        if chosen.name not in ("whatsapp", "csv"):
            del self.fields["order"]
        if chosen.name == "csv":
            self._add_columns(table.header(path))

    def _add_columns(self, header: Sequence[str]) -> None:
        known = _known_columns(header)
        choices = [("", _("Nothing")), *((name, name) for name in dict.fromkeys(header) if name)]
        for field, words in COLUMNS.items():
            self.fields[f"column_{field}"] = forms.ChoiceField(
                label=words, choices=choices, required=False, initial=known.get(field, "")
            )

    @property
    def columns(self) -> list[forms.BoundField]:
        """The fields that say which column is what."""
        return [self[name] for name in self.fields if name.startswith("column_")]

    def told(self) -> Told:
        """The choices as an import takes them. Raises `Invalid` for what the page does not offer."""
        if not self.is_bound:
            columns = {one.name[7:]: str(one.initial) for one in self.columns if one.initial}
            return Told("private" if not self.chosen.ours else None, columns=columns)
        if not self.is_valid():
            raise Invalid(str(next(iter(self.errors.values()))[0]))
        data = self.cleaned_data
        columns = {one.name[7:]: data[one.name] for one in self.columns if data[one.name]}
        return Told(self.visibility(), self._holders(), columns, data.get("order") or "")

    def _holders(self) -> dict[str, str]:
        """Who the names of the file are, where somebody said so: people of the directory alone."""
        posted = self.posted or QueryDict()
        stated = zip(posted.getlist("name"), posted.getlist("who"), strict=False)
        chosen = {name: who for name, who in stated if who and name.strip()}
        known = set(Holder.objects.filter(pk__in=set(chosen.values())).values_list("pk", flat=True))
        return {name: who for name, who in chosen.items() if who in known}

    @property
    def wants_directory(self) -> bool:
        """Whether the people it tells of are to be registered."""
        return bool(self.is_bound and self.is_valid() and self.cleaned_data["directory"])


def _known_columns(header: Sequence[str]) -> dict[str, Any]:
    """Which column is which field, as far as their names say."""
    try:
        return {field: header[place] for place, field in table.mapping(list(header), {}).items()}
    except Invalid:
        return {}
