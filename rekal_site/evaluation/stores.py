"""Throw-away stores: one a pool, in a temporary folder, made by our own migrations.

No household's file is opened.
"""

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.core.management import call_command
from django.db import connections, transaction

from holders.auth import viewer_for
from holders.registry import set_holder
from memories.drafts import make_draft
from memories.embedding import cache
from memories.models import Atom
from memories.remember import Prepared, store
from memories.store import set_setting, zone
from memories.visibility import Viewer, dump_visibility, parse_visibility
from rekal_site.evaluation.sets import Doc, holder_name

ASKER = "qzx-asker"  # no question of any set has a word of this name
ZONE = "UTC"  # the sets' times are local; any one zone will do
BATCH = 256
HOUSEHOLD, PRIVATE = (dump_visibility(parse_visibility(scope)) for scope in ("household", "private"))


@contextmanager
def pointed_at(path: Path) -> Iterator[None]:
    """Make `path` the default database for every thread, for the length of the block."""
    databases = connections.settings
    former, connection = databases["default"], connections["default"]
    hasty = {**former["OPTIONS"], "init_command": "PRAGMA synchronous = OFF"}  # no power cut matters here
    databases["default"] = {**former, "NAME": str(path), "OPTIONS": hasty}
    connections["default"] = connections.create_connection("default")
    try:
        yield
    finally:
        connections["default"].close()
        databases["default"] = former
        connections["default"] = connection


@dataclass(frozen=True, slots=True)
class Household:
    """A pool's memories in a store of their own."""

    pool: str
    path: Path
    docs: tuple[Doc, ...]


class Stores:
    """A temporary folder of households, all copies of one migrated, empty store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._template = folder / "template.db"
        with pointed_at(self._template):
            call_command("migrate", verbosity=0)
            set_setting("time_zone", ZONE)
            set_holder(None, ASKER, name=ASKER, kind="person")

    def household(self, pool: str, docs: Sequence[Doc]) -> Household:
        """A new store that holds these memories."""
        number = sum(1 for _ in self.folder.iterdir())
        path = self.folder / f"household-{number}.db"
        shutil.copy(self._template, path)
        with pointed_at(path):
            _fill(docs)
        return Household(pool, path, tuple(docs))


@contextmanager
def throw_away_stores() -> Iterator[Stores]:
    """A folder of stores that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="rekal-evaluate-") as folder:
        yield Stores(Path(folder))


def asker() -> Viewer:
    """The further holder who asks: registered, so that she reads what the household shares."""
    return viewer_for(ASKER)


def _fill(docs: Sequence[Doc]) -> None:
    """Store each memory as its own holder's word, event time and locator (the id) included."""
    by_holder: defaultdict[str, list[Doc]] = defaultdict(list)
    for doc in docs:
        by_holder[doc.holder].append(doc)
    for holder, own in by_holder.items():
        set_holder(None, holder, name=holder_name(holder), kind="person")
        for start in range(0, len(own), BATCH):
            _store(viewer_for(holder), own[start : start + BATCH])


def _store(viewer: Viewer, docs: Sequence[Doc]) -> None:
    here = zone()
    prepared = [
        Prepared(
            make_draft(viewer, here, doc.text, origin="self", event_time=doc.time, source=doc.id),
            parse_visibility("household"),
        )
        for doc in docs
    ]
    embedded = cache.embed_passages([doc.text for doc in docs])
    with transaction.atomic():
        store(prepared, viewer, embedded)


def keep_private(holders: Collection[str]) -> None:
    """Make the memories of these holders private and all others the household's, in the open store."""
    with transaction.atomic():
        shared, hidden = (
            Atom.objects.exclude(holder_id__in=holders),
            Atom.objects.filter(holder_id__in=holders),
        )
        shared.exclude(visibility_json=HOUSEHOLD).update(visibility_json=HOUSEHOLD)
        hidden.exclude(visibility_json=PRIVATE).update(visibility_json=PRIVATE)


@contextmanager
def without(doc_ids: Collection[str]) -> Iterator[None]:
    """The open store without these memories, for the length of the block."""
    with transaction.atomic():
        Atom.objects.filter(source__in=doc_ids).delete()
        yield
        transaction.set_rollback(True)
