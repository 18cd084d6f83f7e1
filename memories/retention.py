"""What a store does by itself once a day: it removes what `retention_until` says should not be kept any longer.

A lapsed memory is unreadable from that moment on; here its bytes go too.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction

from memories import audit, source_files, timestamps
from memories.forget import BATCH, erase, versions_of
from memories.models import Atom
from memories.store import checkpoint, get_setting, log_is_held, set_setting

RAN = "retention_ran"
EVERY = timedelta(hours=23)  # a task that starts at the same time every day must find itself due


@dataclass(frozen=True, slots=True)
class Expired:
    """How many memories were removed (or would be, while `dry_run`), in all and by holder."""

    count: int
    by_holder: dict[str, int]
    dry_run: bool = False


def expire(*, dry_run: bool = False) -> Expired:
    """Remove every lapsed memory, whoever holds it, with its earlier wordings, and leave a line a holder.

    In batches, each a transaction, so that writers wait for one batch alone.
    """
    counts: Counter[str] = Counter()
    if dry_run:
        counts.update(Atom.objects.lapsed().order_by().values_list("holder_id", flat=True))
        return Expired(counts.total(), dict(sorted(counts.items())), dry_run=True)
    source_files.sweep()
    for removed in _batches():
        counts.update(removed)
    with transaction.atomic():
        set_setting(RAN, timestamps.now())
    if counts or log_is_held():
        checkpoint()
    return Expired(counts.total(), dict(sorted(counts.items())))


def _batches() -> Iterator[Sequence[str]]:
    """Erase lapsed memories batch by batch; the holders of each batch's memories."""
    moment = timestamps.now()
    while True:
        with transaction.atomic():
            atoms = list(Atom.objects.lapsed(moment).order_by("pk")[:BATCH])
            if not atoms:
                return
            erase([*atoms, *versions_of(atoms)])
            holders = [atom.holder_id for atom in atoms]
            for holder_id, count in sorted(Counter(holders).items()):
                audit.record("retention", holder_id, count)
        yield holders


def is_due() -> bool:
    """Whether a day has gone by since it last ran."""
    ran = get_setting(RAN)
    if not isinstance(ran, str) or len(ran) != timestamps.WIDTH:
        return True
    return timestamps.to_text(timestamps.from_text(ran) + EVERY) <= timestamps.now()
