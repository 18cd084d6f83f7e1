"""The curators' admin site: who comes in, and a front page that tells how the store is.

A staff account alone opens nothing: it must be linked to a holder in the group `curators`. Every list starts from what
that holder may read. Accounts, passwords and sign-ins are not kept here: whoever could change them could read as
somebody else.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from memories.curators import curator, is_curator
from memories.doctor import Finding, diagnose
from memories.models import Atom
from memories.statistics import CacheRate, Figures, cache_rates, figures
from memories.visibility import Viewer

OURS = ("memories", "holders", "rekal_site")
NOT_HERE = (
    "view_on_site",
    "password_change",
    "password_change_done",
)  # tell of hidden rows, or bypass the one door
WIDTH, HEIGHT, GAP = 320, 80, 2
FEWEST = 6  # bars are no wider than a sixth of their chart
RATE_DAYS = 14


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart, in the units of its viewBox."""

    label: str
    value: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Chart:
    """A small bar chart for a template to draw as SVG."""

    bars: tuple[Bar, ...]
    width: int = WIDTH
    height: int = HEIGHT


def columns(pairs: Iterable[tuple[str, int]]) -> Chart:
    """Upright bars side by side, the tallest as high as the chart."""
    values = list(pairs)
    most = max((value for _label, value in values), default=0) or 1
    width = WIDTH / max(len(values), FEWEST)
    return Chart(
        tuple(
            Bar(
                label,
                value,
                round(place * width, 2),
                round(HEIGHT - HEIGHT * value / most, 2),
                round(max(width - GAP, 1), 2),
                round(HEIGHT * value / most, 2),
            )
            for place, (label, value) in enumerate(values)
        )
    )


class ReadableLookUp(AutocompleteJsonView):
    """Look-ups in forms, labelled by the list they come from."""

    def serialize_result(self, obj: Any, to_field_name: str) -> dict[str, str]:
        """The id and a label for one result."""
        label = getattr(self.model_admin, "label_for", str)
        return {**super().serialize_result(obj, to_field_name), "text": label(obj)}


class CuratorSite(admin.AdminSite):
    """Django's admin, for curators alone."""

    site_title = _("Curators")
    site_header = _("The household’s store")
    index_title = _("How the store is")
    index_template = "admin/index.html"
    enable_nav_sidebar = False
    empty_value_display = "–"

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Only our own tables: other apps bring theirs along (accounts, sessions, second factors)."""
        models = model_or_iterable if isinstance(model_or_iterable, (list, tuple)) else [model_or_iterable]
        ours = [one for one in models if one._meta.app_label in OURS]
        if ours:
            super().register(ours, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        """A signed-in staff account of a curator."""
        user = request.user
        return bool(user.is_active and user.is_staff and is_curator(request))

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The household's one door, with its throttle and second factor; who is inside already gets a sentence."""
        if self.has_permission(request):
            return redirect("admin:index")
        if request.user.is_authenticated:
            sentence = gettext("This part is for the household’s curators.")
            return render(request, "refused.html", {"sentence": sentence}, status=403)
        back = request.GET.get("next") or reverse("admin:index")
        return redirect(f"{reverse('sign-in')}?{urlencode({'next': back})}")

    def get_urls(self) -> list[URLPattern | URLResolver]:
        examine = self.admin_view(require_POST(self.examine))
        urls = [one for one in super().get_urls() if getattr(one, "name", None) not in NOT_HERE]
        return [path("examine/", examine, name="examine"), *urls]

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        reply = ReadableLookUp.as_view(admin_site=self)(request)
        assert isinstance(reply, HttpResponse)  # noqa: S101  (no look-up streams)
        return reply

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Growth, states, coverage and the cache, as this curator may know them."""
        return super().index(request, {**dashboard(curator(request)), **(extra_context or {})})

    def examine(self, request: HttpRequest) -> HttpResponse:
        """The front page with what the doctor finds: on demand, since he reads the whole store."""
        return self.index(request, {"findings": findings_for(curator(request), diagnose()), "examined": True})


def dashboard(viewer: Viewer) -> dict[str, Any]:
    """What the front page shows."""
    found: Figures = figures(viewer)
    rates: list[CacheRate] = cache_rates(days=RATE_DAYS)
    hits, misses = sum(one.hits for one in rates), sum(one.misses for one in rates)
    return {
        "figures": found,
        "growth": columns(found.growth),
        "states": columns(found.states),
        "coverage": columns(found.coverage),
        "rates": columns((f"{one.day} {one.layer}", one.percent) for one in reversed(rates)),
        "hit_rate": round(100 * hits / (hits + misses)) if hits + misses else None,
    }


def findings_for(viewer: Viewer, findings: Iterable[Finding]) -> list[tuple[str, list[str]]]:
    """`(sentence, readable ids)` of each finding: what concerns hidden memories is told without number or name."""
    found = []
    for finding in findings:
        sentence = re.sub(r"^[\d,]+ ", gettext("Some") + " ", finding.sentence)
        readable = Atom.objects.visible_to(viewer).filter(atom_id__in=finding.examples)
        found.append((sentence, sorted(readable.values_list("atom_id", flat=True))))
    return found
