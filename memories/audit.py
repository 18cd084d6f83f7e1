"""What was removed from a store, when and by whom: one line a removal, with a count and no word of what it was."""

from collections.abc import Sequence

from memories.models import AuditEntry

KEPT = 5_000  # lines; the oldest go first


def record(action: str, holder_id: str, count: int, *, by: str = "") -> None:
    """Write a line inside the caller's transaction: whose memories, how many; `by` is '' for the store's own rule."""
    AuditEntry.objects.create(action=action, holder_id=holder_id, by=by, count=count)
    newest = AuditEntry.objects.order_by("-pk").values("pk")[KEPT : KEPT + 1]
    AuditEntry.objects.filter(pk__lte=newest).delete()


def entries(limit: int = 50) -> Sequence[AuditEntry]:
    """The newest lines, newest first; for the host alone."""
    return list(AuditEntry.objects.order_by("-pk")[:limit])
