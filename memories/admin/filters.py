"""What a curator narrows the list of memories by. Every choice offered comes from what she may read."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from memories import names, timestamps
from memories.cartridges import visible_cartridges
from memories.curators import TypedFilter, curator
from memories.distinct import distinct_values, event_dates
from memories.fields import JSONListContains
from memories.models import MODALITIES, ORIGINS, Atom, CartridgeAtom, Source
from memories.selection import ENDING_DAYS
from memories.text import match_query
from memories.visibility import AtomQuerySet

NEWEST = 2_000  # memories whose tags are offered; any other tag is filtered by in the address
STATES = {
    "current": _("True now"),
    "closed": _("No longer true"),
    "expiring": _("Ending within thirty days"),
    "lapsed": _("Kept longer than it should be"),
}
AUDIENCES = {
    "household": _("Everyone at home"),
    "listed": _("Those named"),
    "private": _("The holder alone"),
    "closed": _("Unreadable rule: the holder alone"),
}
Choices = Iterable[tuple[str, Any]]


def in_state(atoms: Any, state: str | None) -> AtomQuerySet:
    """Atoms in one of `STATES`; all of them for any other word."""
    now = timestamps.now()
    found: AtomQuerySet = atoms
    if state == "current":
        return found.current(now)
    if state == "closed":
        return found.filter(valid_to__lte=now)
    if state == "lapsed":
        return found.lapsed(now)
    if state == "expiring":
        soon = timestamps.to_text(timestamps.from_text(now) + timedelta(days=ENDING_DAYS))
        return found.current(now).filter(Q(valid_to__lte=soon) | Q(retention_until__lte=soon))
    return found


def tagged(tag: str) -> Q:
    """Atoms with this tag: looked up in the word index, then compared exactly."""
    exact = Q(JSONListContains("tags", "$", [tag]))
    words = match_query(tag)
    if not words:  # a tag of signs alone is in no index
        return exact
    return exact & Q(pk__in=indexed("tags", words))


def indexed(column: str, expression: str) -> Any:
    """Row numbers whose indexed `column` matches an FTS5 expression."""
    return RawSQL("SELECT rowid FROM atom_fts WHERE atom_fts MATCH %s", [f"{column} : ({expression})"])


class StateFilter(admin.SimpleListFilter):
    """Current, closed, expiring, lapsed."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return STATES.items()

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return in_state(queryset, self.value())


class ChoiceFilter(admin.SimpleListFilter):
    """One column, one of a few known words."""

    column: ClassVar[str] = ""
    words: ClassVar[Choices] = ()

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return self.words

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.column: self.value()}) if self.value() else queryset


class OriginFilter(ChoiceFilter):
    """From whom it is."""

    title = _("origin")
    parameter_name = column = "origin"
    words = tuple((one, one.replace("_", " ")) for one in ORIGINS)


class ModalityFilter(ChoiceFilter):
    """What it was read from."""

    title = _("modality")
    parameter_name = column = "modality"
    words = tuple((one, one.replace("_", " ")) for one in MODALITIES)


class ReadersFilter(ChoiceFilter):
    """Who may read it."""

    title = _("who may read it")
    parameter_name = "readers"
    words = tuple(AUDIENCES.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Whom a memory leaves out is its holder's to know, so both kinds of “everyone at home” are one."""
        if self.value() == "household":
            return queryset.exclude(
                audience__in=("private", "listed", "closed")
            )  # read newest first, not sorted
        return queryset.filter(audience=self.value()) if self.value() else queryset


class ScenarioFilter(TypedFilter):
    """The situation it may be used in."""

    title = _("scenario")
    parameter_name = "scenario"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [(one, one) for one in distinct_values(curator(request), "scenario", limit=self.limit)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(scenario=self.value()) if self.value() is not None else queryset


class HolderFilter(TypedFilter):
    """Whose it is; who holds nothing that this curator may read is not offered."""

    title = _("holder")
    parameter_name = "holder"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        viewer = curator(request)
        called = names.registered(viewer)
        found = distinct_values(viewer, "holder_id", limit=self.limit)
        return [(one, (called.get(one) or (one,))[0]) for one in found]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(holder_id=self.value()) if self.value() else queryset


class TagFilter(TypedFilter):
    """Tags of the newest memories; any other one in the address works too."""

    title = _("tag")
    parameter_name = "tag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        newest = Atom.objects.visible_to(curator(request)).order_by("-ingested_at", "-pk")[:NEWEST]
        rows = newest.values_list("tags", flat=True)
        found = {tag for row in set(rows) for tag in Atom(tags=row).tag_list}
        return [(tag, tag) for tag in sorted(found)[: self.limit]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(tagged(tag)) if (tag := self.value()) else queryset


class SourceFilter(TypedFilter):
    """The file it was drawn from."""

    title = _("source file")
    parameter_name = "source_file"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        found = distinct_values(curator(request), "source_id", limit=self.limit)
        return list(Source.objects.filter(pk__in=found).order_by("path").values_list("pk", "path"))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(source_ref=self.value()) if self.value() else queryset


class CartridgeFilter(TypedFilter):
    """The cartridge it is in, among those whose names this curator may see."""

    title = _("cartridge")
    parameter_name = "cartridge"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        shown = visible_cartridges(curator(request)).order_by("name", "pk")[: self.limit]
        return list(shown.values_list("pk", "name"))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.value():
            return queryset
        shown = visible_cartridges(curator(request)).filter(pk=self.value())
        members = CartridgeAtom.objects.filter(cartridge__in=shown.values("pk"))
        return queryset.filter(atom_id__in=members.values("atom_id"))


class HappenedFilter(admin.SimpleListFilter):
    """When it happened: years, then the months of one, then its days. Dates are text here, so the key is a prefix."""

    title = _("when it happened")
    parameter_name = "happened"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return drill_down(Atom.objects.visible_to(curator(request)), request.GET.get(self.parameter_name, ""))

    def has_output(self) -> bool:
        return bool(self.lookup_choices) or bool(self.value())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(within(self.value() or "")) if self.value() else queryset


def within(prefix: str) -> Q:
    """Events whose stored time begins with a year, a month or a day; nothing for anything else."""
    if not prefix.replace("-", "").isdigit() or len(prefix) not in {4, 7, 10}:
        return Q(pk__in=[])
    return Q(event_time__gte=prefix, event_time__lt=prefix + "~")


def drill_down(atoms: AtomQuerySet, prefix: str) -> list[tuple[str, str]]:
    """The next finer dates below `prefix` at which something readable happened, latest first: a jump each."""
    width = {0: 4, 4: 7, 7: 10}.get(len(prefix))
    found: list[tuple[str, str]] = [
        (prefix[:cut], f"‹ {prefix[:cut]}") for cut in (4, 7) if cut < len(prefix)
    ]
    if prefix:
        found.append((prefix, prefix))
    if width is None:
        return found
    events = atoms.filter(within(prefix)) if prefix else atoms
    return found + [(date, date) for date in event_dates(events, width)]
