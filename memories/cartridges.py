"""Cartridges: named bundles of memories that are made by picking, mounted to narrow one's questions, and shared.

A cartridge shows to its owner and to whom she shares it with. It lets nobody read anything: what is inside it for a
viewer is what she may read anyway. Files are the business of `memories.cartridge_files`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum

from memories.drafts import checked_name
from memories.errors import Invalid, NotAllowed, NotFound
from memories.models import Atom, Cartridge, CartridgeAtom, CartridgeShare, Mount
from memories.results import Memory, memories_for
from memories.visibility import AtomQuerySet, Viewer

NO_SUCH_CARTRIDGE = "There is no cartridge with this id that you may see."
MAX_MEMBERS = 10_000
MAX_SHARES = 100
READERS = ("holder", "group")


@dataclass(frozen=True, slots=True)
class CartridgeCard:
    """A cartridge as one viewer sees it.

    `memories` counts what of it she may read. `shared_with` (`holder:<id>`, `group:<name>`) is told to its owner alone.
    """

    cartridge_id: str
    name: str
    owner_id: str
    memories: int
    mounted: bool
    shared_with: tuple[str, ...]
    created_at: str


def visible_cartridges(viewer: Viewer) -> QuerySet[Cartridge]:
    """The cartridges whose names the viewer may see; an agent acting for a person sees what both may."""
    found = Cartridge.objects.filter(_seen(viewer))
    if viewer.acting_for is None:
        return found
    return found.filter(pk__in=Cartridge.objects.filter(_seen(viewer.acting_for)).values("pk"))


def _seen(viewer: Viewer) -> Q:
    readers = [f"holder:{viewer.holder_id}", *(f"group:{name}" for name in sorted(viewer.groups))]
    shared = CartridgeShare.objects.filter(reader__in=readers).values("cartridge_id")
    return Q(owner_id=viewer.holder_id) | Q(pk__in=shared)


def mounted_by(viewer: Viewer) -> QuerySet[Cartridge]:
    """What narrows the viewer's questions now, by name; a cartridge she lost sight of narrows nothing."""
    return visible_cartridges(viewer).filter(mounts__holder_id=viewer.holder_id).order_by("name", "pk")


def list_cartridges(viewer: Viewer) -> list[CartridgeCard]:
    """The viewer's own cartridges and those shared with her, by name."""
    return _cards(viewer, list(visible_cartridges(viewer).order_by("name", "pk")))


def get_cartridge(viewer: Viewer, cartridge_id: str) -> CartridgeCard:
    """One cartridge. Raises `NotFound`, alike for a missing one and one that is not shared with the viewer."""
    return _cards(viewer, [_find(viewer, cartridge_id)])[0]


def _find(viewer: Viewer, cartridge_id: str) -> Cartridge:
    found = visible_cartridges(viewer).filter(pk=cartridge_id).first()
    if found is None:
        raise NotFound(NO_SUCH_CARTRIDGE)
    return found


def _own(viewer: Viewer, cartridge_id: str) -> Cartridge:
    cartridge = _find(viewer, cartridge_id)
    if cartridge.owner_id != viewer.holder_id:
        raise NotAllowed("Only who made a cartridge may change it.")
    return cartridge


def _cards(viewer: Viewer, cartridges: Sequence[Cartridge]) -> list[CartridgeCard]:
    ids = [one.pk for one in cartridges]
    counts = _counts(viewer, ids)
    mounted = set(mounted_by(viewer).values_list("pk", flat=True))
    shares: dict[str, list[str]] = {}
    rows = CartridgeShare.objects.filter(cartridge__in=ids, cartridge__owner_id=viewer.holder_id).order_by(
        "reader"
    )
    for cartridge_id, reader in rows.values_list("cartridge_id", "reader"):
        shares.setdefault(cartridge_id, []).append(reader)
    return [
        CartridgeCard(
            cartridge_id=one.pk,
            name=one.name,
            owner_id=one.owner_id,
            memories=counts.get(one.pk, 0),
            mounted=one.pk in mounted,
            shared_with=tuple(shares.get(one.pk, ())),
            created_at=one.created_at,
        )
        for one in cartridges
    ]


def _counts(viewer: Viewer, ids: Sequence[str]) -> dict[str, int]:
    readable = Atom.objects.visible_to(viewer).kept().filter(cartridges__in=ids).order_by()
    rows = readable.values_list("cartridges").annotate(count=Count("pk"))
    return {str(cartridge_id): int(count) for cartridge_id, count in rows}


def members(viewer: Viewer, cartridge_id: str, *, limit: int = 200) -> list[Memory]:
    """What of a cartridge the viewer may read, newest first. Raises `NotFound`."""
    atoms = inside(viewer, cartridge_id).order_by("-ingested_at", "-atom_id")
    return memories_for(viewer, list(atoms[:limit]))


def inside(viewer: Viewer, cartridge_id: str) -> AtomQuerySet:
    """The atoms of a cartridge that the viewer may read. Raises `NotFound`."""
    return Atom.objects.visible_to(viewer).kept().filter(cartridges=_find(viewer, cartridge_id).pk)


def make(viewer: Viewer, name: str, atom_ids: Sequence[str] = ()) -> CartridgeCard:
    """Make a cartridge of memories the viewer may read; ids she may not read are left out, alike whether they exist.

    Raises `Invalid`, `NotAllowed`.
    """
    if viewer.acting_for is not None:
        raise NotAllowed("An agent that acts for somebody makes no cartridges for her.")
    called = _checked_name(name)
    with transaction.atomic():
        cartridge = Cartridge.objects.create(name=called, owner_id=viewer.holder_id)
        _add(viewer, cartridge, atom_ids)
    return get_cartridge(viewer, cartridge.pk)


def change(
    viewer: Viewer,
    cartridge_id: str,
    *,
    name: str | None = None,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    shared_with: Sequence[str] | None = None,
) -> CartridgeCard:
    """Rename a cartridge of the viewer's, change what is inside, or with whom it is shared.

    For who no longer sees it, a mount counts for nothing. Raises `NotFound`, `NotAllowed`, `Invalid`.
    """
    readers = None if shared_with is None else _checked_readers(shared_with)
    called = None if name is None else _checked_name(name)
    with transaction.atomic():
        cartridge = _own(viewer, cartridge_id)
        if called is not None:
            cartridge.name = called
        CartridgeAtom.objects.filter(cartridge=cartridge, atom_id__in=list(remove)).delete()
        _add(viewer, cartridge, add)
        if readers is not None:
            _share(cartridge, readers)
    return get_cartridge(viewer, cartridge_id)


def _add(viewer: Viewer, cartridge: Cartridge, atom_ids: Sequence[str]) -> None:
    """Put readable atoms in and bring the sum of their sizes up to date."""
    if CartridgeAtom.objects.filter(cartridge=cartridge).count() + len(atom_ids) > MAX_MEMBERS:
        raise Invalid(f"A cartridge holds at most {MAX_MEMBERS} memories.", "add")
    readable = Atom.objects.visible_to(viewer).filter(atom_id__in=list(dict.fromkeys(atom_ids)))
    CartridgeAtom.objects.bulk_create(
        [
            CartridgeAtom(cartridge=cartridge, atom_id=one)
            for one in readable.values_list("atom_id", flat=True)
        ],
        ignore_conflicts=True,
    )
    size = Atom.objects.filter(cartridges=cartridge.pk).aggregate(size=Sum("token_equivalent"))["size"]
    cartridge.token_equivalent = size or 0
    cartridge.save(update_fields=["name", "token_equivalent"])


def _share(cartridge: Cartridge, readers: Iterable[str]) -> None:
    CartridgeShare.objects.filter(cartridge=cartridge).delete()
    CartridgeShare.objects.bulk_create(CartridgeShare(cartridge=cartridge, reader=one) for one in readers)


def _checked_name(name: str) -> str:
    called = checked_name(name, "name")
    if not called:
        raise Invalid("A cartridge needs a name.", "name")
    return called


def _checked_readers(readers: Sequence[str]) -> list[str]:
    checked = list(dict.fromkeys(checked_name(one, "shared_with", 220) for one in readers))
    for one in checked:
        kind, _separator, which = one.partition(":")
        if kind not in READERS or not which:
            raise Invalid("A cartridge is shared with “holder:…” or “group:…”.", "shared_with")
    if len(checked) > MAX_SHARES:
        raise Invalid(f"A cartridge is shared with at most {MAX_SHARES} names.", "shared_with")
    return checked


def remove(viewer: Viewer, cartridge_id: str) -> None:
    """Take the bundle apart; the memories stay. Raises `NotFound`, `NotAllowed`."""
    _own(viewer, cartridge_id).delete()


def mount(viewer: Viewer, cartridge_id: str) -> CartridgeCard:
    """From now on the viewer's questions look only inside what she has mounted. Raises `NotFound`."""
    cartridge = _find(viewer, cartridge_id)
    Mount.objects.get_or_create(holder_id=viewer.holder_id, cartridge=cartridge)
    return get_cartridge(viewer, cartridge_id)


def unmount(viewer: Viewer, cartridge_id: str) -> None:
    """Her questions look everywhere again, or in what is still mounted; also for a cartridge she lost sight of."""
    Mount.objects.filter(holder_id=viewer.holder_id, cartridge=cartridge_id).delete()
