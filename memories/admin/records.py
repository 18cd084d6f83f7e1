"""What the store notes about memories, for curators to read: evidence edges and the events of the embedding cache."""

from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from memories.curators import CuratorAdmin, moment_column
from memories.models import Atom, AuditEntry, CacheEvent, EvidenceEdge
from memories.statistics import cache_rates
from memories.visibility import Viewer


@admin.register(EvidenceEdge)
class EdgeAdmin(CuratorAdmin):
    """Statements about two memories, both of which the curator may read."""

    deletes = True
    list_display = ("relation", "from_memory", "to_memory", "confidence")
    list_filter = ("relation",)
    ordering = ("-pk",)
    fields = ("relation", "from_memory", "to_memory", "confidence")

    def readable(self, viewer: Viewer) -> QuerySet[Any]:
        atoms = Atom.objects.visible_to(viewer)
        return EvidenceEdge.objects.filter(
            Exists(atoms.filter(atom_id=OuterRef("from_atom_id"))),
            Exists(atoms.filter(atom_id=OuterRef("to_atom_id"))),
        )

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What a memory replaced is its history; everything else may be taken back."""
        return super().has_delete_permission(request, obj) and (obj is None or obj.relation != "supersedes")

    @admin.display(description=_("from"))
    def from_memory(self, edge: Any) -> str:
        """The memory that says something."""
        return _link(edge.from_atom_id)

    @admin.display(description=_("to"))
    def to_memory(self, edge: Any) -> str:
        """The memory it is said about."""
        return _link(edge.to_atom_id)


def _link(atom_id: str) -> str:
    return format_html('<a href="{}">{}</a>', reverse("admin:memories_atom_change", args=[atom_id]), atom_id)


@admin.register(CacheEvent)
class CacheEventAdmin(CuratorAdmin):
    """Hits, misses and writes of the embedding cache, and its hit rate by layer and day."""

    list_display = (moment_column("ts", _("when")), "layer", "event", "bytes_estimate")
    list_filter = ("layer", "event")
    ordering = ("-ts",)
    fields = list_display
    change_list_template = "admin/memories/cacheevent/change_list.html"

    def readable(self, viewer: Viewer) -> QuerySet[Any]:
        return CacheEvent.objects.all()

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "rates": cache_rates(days=30)})


@admin.register(AuditEntry)
class AuditAdmin(CuratorAdmin):
    """Removals of many memories: the curator's own, and those she made; how much others forgot is not hers to count."""

    list_display = (moment_column("at", _("when")), "action", "holder_id", "by", "count")
    list_filter = ("action",)
    ordering = ("-at",)
    fields = list_display

    def readable(self, viewer: Viewer) -> QuerySet[Any]:
        return AuditEntry.objects.filter(Q(holder_id=viewer.holder_id) | Q(by=viewer.holder_id))
