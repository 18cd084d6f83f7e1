"""The fixed cast every test uses: one household, in which each person stands for one way of being allowed or not."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("REKAL_DB", str(Path(tempfile.mkdtemp(prefix="rekal-tests-")) / "memory.db"))

import pytest

CAST = {
    "mira": ("Mira", "person", ["adults"]),  # owns what the tests are about
    "jonas": ("Jonas", "person", ["adults"]),  # allowed by name, where a test says so
    "lea": ("Lea", "person", ["kids"]),  # allowed through her group, where a test says so
    "ben": ("Ben", "person", ["adults"]),  # denied, where a test says so
    "gus": ("Gus", "person", ["guests"]),  # registered, but a guest
    "cura": ("Cura", "person", ["adults", "curators"]),  # keeps the store in order
    "bot": ("House agent", "agent", []),
    "boiler": ("Boiler service", "service", []),
}


@dataclass(frozen=True)
class Cast:
    """Viewers by name; `stranger` is nobody we registered."""

    viewer: Callable[[str], object]

    def __getattr__(self, name: str) -> object:
        return self.viewer(name)


@pytest.fixture
def cast(db: None) -> Cast:
    """Register the cast and hand out their viewers: `cast.mira`, `cast.stranger`."""
    from holders.auth import viewer_for
    from holders.models import Holder
    from memories.fields import dump_json
    from memories.store import set_setting

    set_setting("time_zone", "Europe/Berlin")
    for holder_id, (name, kind, groups) in CAST.items():
        Holder.objects.create(
            holder_id=holder_id,
            name=name,
            kind=kind,
            groups_json=dump_json(groups),
            contact_json=dump_json({"phone": "+49 30 5550100", "email": f"{holder_id}@example.org"}),
        )
    return Cast(viewer_for)


@pytest.fixture(autouse=True)
def no_timer_outlives_its_test(settings):
    """The referral book is written when it is read: a timer of one test would fire in the middle of another."""
    settings.REKAL_BOOK_SECONDS = 0


@pytest.fixture(autouse=True)
def clean_slate():
    """Rate limits and the referral book's unwritten lines live in this process and in the cache, not in the store."""
    from django.core.cache import cache

    from holders import book, limits

    cache.clear()
    limits.forget_all()
    book.discard()


@pytest.fixture
def browser_of(cast):
    """A browser in which somebody of the cast is signed in."""
    from tests.pages import signed_in

    return signed_in
