"""Who may read which atom: the one rule, and the only place it is written.

`Atom.objects.visible_to(viewer)` is a queryset; raw SQL embeds its SQL (`readable_sql`), nothing restates it.
The JSON is read into the generated columns `audience`, `recorded_by` and `discoverable` (see `models`), so that
a row with unknown scope or bad JSON is `closed`: it is then readable by its holder alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThan

from memories import timestamps
from memories.errors import Invalid
from memories.fields import JSONListContains, dump_json, read_json

BUILT_IN_GROUPS = {"person": "people", "agent": "agents", "service": "services"}
GUESTS = "guests"
CURATORS = "curators"
SCOPES = ("household", "private", "holders")
KEYS = {"scope", "holders", "groups", "deny", "discoverable"}


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who is asking, always from authentication.

    `groups` holds the built-in group of a registered holder's kind and the household's own groups; an
    unregistered holder has none. `acting_for` is the person an agent's token acts for: such a viewer reads
    what both may read, writes as the person and is recorded as the agent.
    """

    holder_id: str
    kind: str = ""
    groups: frozenset[str] = field(default_factory=frozenset)
    acting_for: "Viewer | None" = None

    @property
    def in_household(self) -> bool:
        """Registered people and agents of this household; not guests, not services."""
        return bool(self.groups & {"people", "agents"}) and GUESTS not in self.groups

    @property
    def is_curator(self) -> bool:
        """Whether the household lets this viewer keep other people's records in order."""
        return CURATORS in self.groups and self.acting_for is None

    @property
    def author(self) -> str:
        """The holder of what this viewer writes without naming another."""
        return self.acting_for.holder_id if self.acting_for else self.holder_id

    @property
    def ids(self) -> frozenset[str]:
        """Every holder id this viewer stands for."""
        return frozenset({self.holder_id, self.author})


class AtomQuerySet(models.QuerySet[Any]):
    """Atoms by the household's own words."""

    def visible_to(self, viewer: Viewer | None) -> "AtomQuerySet":
        """The atoms `viewer` may read; nobody reads nothing."""
        if viewer is None or not viewer.holder_id:
            return self.none()
        return self.filter(_rule(viewer))

    def unread_by(self, viewer: Viewer) -> "AtomQuerySet":
        """The others: what `viewer` may not read. It leaves `memories` as an ordinal per holder, or not at all."""
        return self.exclude(_rule(viewer))

    def changeable_by(self, viewer: Viewer | None) -> "AtomQuerySet":
        """The readable atoms `viewer` may change or delete: his own and those he wrote down for somebody."""
        readable = self.visible_to(viewer)
        if viewer is None:
            return readable
        return readable.filter(Q(holder_id__in=viewer.ids) | Q(recorded_by__in=viewer.ids))

    def current(self, moment: str | None = None) -> "AtomQuerySet":
        """Usable now: begun, not closed, retention not lapsed. Unknown bounds read as open."""
        now = moment or timestamps.now()
        return self.filter(
            _ends_after(now),
            Q(valid_from__isnull=True) | Q(valid_from__lte=now),
            Q(retention_until__isnull=True) | Q(retention_until__gte=now),
        )

    def ever_true(self) -> "AtomQuerySet":
        """Statements: without what ends as it begins, such as a question, which has parties and no truth."""
        return self.exclude(valid_from__isnull=False, valid_to=F("valid_from"))

    def known_at(self, moment: str) -> "AtomQuerySet":
        """What the store held true at `moment` and had learned by then; lapsed retention never shows."""
        return self.filter(
            _ends_after(moment),
            Q(valid_from__isnull=True) | Q(valid_from__lte=moment),
            Q(retention_until__isnull=True) | Q(retention_until__gte=timestamps.now()),
            ingested_at__lte=moment,
        )

    def kept(self) -> "AtomQuerySet":
        """Without what has lapsed: nobody reads that any more, though its row is there until the daily task."""
        return self.filter(Q(retention_until__isnull=True) | Q(retention_until__gte=timestamps.now()))

    def lapsed(self, moment: str | None = None) -> "AtomQuerySet":
        """Kept longer than `retention_until` says."""
        return self.filter(retention_until__lt=moment or timestamps.now())

    def hinting_to(self, viewer: Viewer) -> "AtomQuerySet":
        """The atoms that may tell `viewer` *who knows*, though perhaps not what.

        Discoverable, not denying her, and the holder's own word or confirmed by her.
        """
        denied = Q(audience="closed") | Q(JSONListContains("visibility_json", "$.deny", sorted(viewer.ids)))
        return self.filter(discoverable=True, counts_for_holder=True).exclude(denied)


def _ends_after(moment: str) -> GreaterThan:
    """Not closed at `moment`. Written so that SQLite leaves the index of `valid_to` alone: nearly every row is open,
    and going through it took the readable set of 100,000 twice as long as reading the table."""
    return GreaterThan(Coalesce(F("valid_to"), Value("9999")), Value(moment))


def _rule(viewer: Viewer) -> Q:
    """What a viewer may read; who acts for somebody reads what both may."""
    mine = _readable(viewer)
    return mine & _readable(viewer.acting_for) if viewer.acting_for else mine


def _readable(viewer: Viewer) -> Q:
    """The rule for one holder: her own; else what its audience says, less what denies her."""
    me = [viewer.holder_id]
    own = Q(holder_id=viewer.holder_id)
    denied = Q(JSONListContains("visibility_json", "$.deny", me))
    named = Q(JSONListContains("visibility_json", "$.holders", me))
    if viewer.groups:
        named |= Q(JSONListContains("visibility_json", "$.groups", sorted(viewer.groups)))
    shared = Q(audience="listed") & named
    if viewer.in_household:
        shared |= Q(audience="household_except")
    shared |= Q(
        audience__in=("private", "listed", "household", "household_except"), recorded_by=viewer.holder_id
    )
    readable = own | (shared & ~denied)
    return readable | Q(audience="household") if viewer.in_household else readable


def readable_sql(queryset: models.QuerySet[Any]) -> tuple[str, tuple[Any, ...]]:
    """`(sql, params)` of a queryset of primary keys, to embed as a subquery.

    The SQL uses `%s` placeholders. Raises `EmptyResultSet` for `.none()`: verbs answer empty before they get here.
    """
    sql, params = queryset.values("pk").order_by().query.sql_with_params()
    return sql, tuple(params)


def parse_visibility(value: Any) -> dict[str, Any]:
    """Check what somebody wants written and return it complete: every key explicit.

    Takes a scope's name or a mapping. Raises `Invalid` with a sentence. An empty mapping means household.
    """
    if isinstance(value, str):
        value = {"scope": value}
    if not isinstance(value, Mapping):
        raise Invalid("Visibility must be household, private, or an object with a scope.", "visibility")
    if unknown := sorted(set(value) - KEYS):
        raise Invalid(
            f"Visibility has no “{unknown[0][:40]}”; it knows {', '.join(sorted(KEYS))}.", "visibility"
        )
    scope = value.get("scope", "household" if not value else None)
    if scope not in SCOPES:
        raise Invalid("Visibility needs a scope: household, private or holders.", "visibility")
    discoverable = value.get("discoverable", True)
    if not isinstance(discoverable, bool):
        raise Invalid("Visibility’s “discoverable” is true or false.", "visibility")
    return {
        "scope": scope,
        "holders": _names(value, "holders"),
        "groups": _names(value, "groups"),
        "deny": _names(value, "deny"),
        "discoverable": discoverable,
    }


def _names(value: Mapping[str, Any], key: str) -> list[str]:
    names = value.get(key, [])
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name for name in names):
        raise Invalid(f"Visibility’s “{key}” is a list of names.", "visibility")
    return sorted(set(names))


def narrowest(visibilities: Iterable[str]) -> dict[str, Any]:
    """Of several stored visibilities, the one that lets the fewest read: lists intersected, denials united."""
    parsed = [_stored(text) for text in visibilities]
    rank = {"private": 0, "holders": 1, "household": 2}
    result = dict(min(parsed, key=lambda one: rank[one["scope"]]))
    result["deny"] = sorted({name for one in parsed for name in one["deny"]})
    result["discoverable"] = all(one["discoverable"] for one in parsed)
    if result["scope"] == "holders":
        listed = [one for one in parsed if one["scope"] == "holders"]
        for key in ("holders", "groups"):
            result[key] = sorted(set.intersection(*(set(one[key]) for one in listed)))
    return result


def is_narrower(new: Mapping[str, Any], stored: str) -> bool:
    """Whether nobody could read by `new` (complete) who could not read by the stored visibility."""
    old = _stored(stored)
    if (old["discoverable"] is False and new["discoverable"]) or not set(old["deny"]) <= set(new["deny"]):
        return False
    if new["scope"] != old["scope"]:
        return bool(new["scope"] == "private")
    return all(set(new[key]) <= set(old[key]) for key in ("holders", "groups"))


def _stored(text: str) -> dict[str, Any]:
    """A stored visibility, complete; what cannot be read is private and not discoverable."""
    value = read_json(text, dict, None)
    try:
        return parse_visibility(value)
    except Invalid:
        return parse_visibility({"scope": "private", "discoverable": False})


def dump_visibility(visibility: Mapping[str, Any]) -> str:
    """A complete visibility as it is stored."""
    return dump_json(dict(visibility))
