"""Curators in front of the admin, and what they do there: open a page, fill in its form, send it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from holders.models import SignIn
from memories.models import Atom, Cartridge, CartridgeAtom, EvidenceEdge, Source
from memories.remember import remember
from tests.pages import keep

ATOMS = "/admin/memories/atom/"

HOLDERS = "/admin/holders/holder/"

SECRET = "The sapphire ring lies in the sewing box."


@pytest.fixture
def enter(cast: Any) -> Callable[..., Client]:
    """A browser with a staff account that signs in as a holder of the cast."""

    def sign_in(holder_id: str | None, *, staff: bool = True, superuser: bool = False) -> Client:
        user = get_user_model().objects.create_user(
            f"user-of-{holder_id}", is_staff=staff, is_superuser=superuser
        )
        if holder_id:
            SignIn.objects.create(user=user, holder_id=holder_id)
        browser = Client()
        browser.force_login(user)
        return browser

    return sign_in


@pytest.fixture
def curators(enter: Any) -> Client:
    return enter("cura")


def form_of(browser: Client, address: str) -> dict[str, str]:
    """What the form on a page would send untouched."""
    form = browser.get(address).context["adminform"].form
    data = {}
    for name in form.fields:
        value = form[name].value()
        if value not in (None, False):
            data[name] = value.isoformat() if hasattr(value, "isoformat") else value
    return data


def submit(browser: Client, address: str, **changes: Any) -> Any:
    return browser.post(address, form_of(browser, address) | changes)


@pytest.fixture
def hidden(cast: Any) -> Any:
    """A private memory of Mira's in a scenario, with a tag, an edge and a cartridge of its own; nobody else reads it."""
    memory = remember(
        cast.mira, SECRET, scenario="hidden-scenario", tags=["hidden-tag"], visibility="private",
        holder_id="hidden-holder", event_time="1987-03-02", source="hidden.pdf",
    )  # fmt: skip
    other = keep(cast.mira, "The ladder hangs in the shed.")
    EvidenceEdge.objects.create(from_atom_id=memory.atom_id, to_atom_id=other.atom_id, relation="supports")
    EvidenceEdge.objects.create(from_atom_id=other.atom_id, to_atom_id=memory.atom_id, relation="supersedes")
    source = Source.objects.create(
        path="hidden-file.pdf", kind="pdf", mime="application/pdf", sha256="0" * 64, size_bytes=1
    )
    Atom.objects.filter(atom_id=memory.atom_id).update(source_ref=source)
    cartridge = Cartridge.objects.create(name="hidden-cartridge", owner_id="mira")
    CartridgeAtom.objects.create(cartridge=cartridge, atom_id=memory.atom_id)
    return memory, other, source, cartridge
