"""Cartridges over JSON: made, changed, mounted. Their files are `holders.cartridge_files_api`."""

from django.http import HttpRequest
from ninja import Field, Router, Schema, Status

from memories import cartridges
from memories.cartridges import CartridgeCard
from memories.http import caller, refusals
from memories.schemas import Body

router = Router(tags=["cartridges"])

Ids = list[str]


class CartridgeOut(Schema):
    """A bundle of memories; `memories` counts what of it the caller may read."""

    cartridge_id: str
    name: str = Field(examples=["Babysitter"])
    owner_id: str
    memories: int
    mounted: bool = Field(
        description="Whether the caller’s questions look only in it (and her other mounts)."
    )
    shared_with: list[str] = Field(description="`holder:…` and `group:…`; told to the owner alone.")
    created_at: str


class CartridgesOut(Schema):
    """The caller’s own and those shared with her, by name."""

    cartridges: list[CartridgeOut]


class CartridgeIn(Body):
    """A new bundle."""

    name: str = Field(max_length=200)
    atom_ids: Ids = Field(default_factory=list, description="Memories the caller may read.", max_length=1_000)


class CartridgeChanges(Body):
    """What to change; a field left out stays."""

    name: str | None = Field(None, max_length=200)
    add: Ids = Field(default_factory=list, max_length=1_000)
    remove: Ids = Field(default_factory=list, max_length=1_000)
    shared_with: Ids | None = Field(None, description="It lets nobody read more than before.")


@router.get(
    "/cartridges",
    response={200: CartridgesOut, **refusals()},
    operation_id="list_cartridges",
    summary="Cartridges",
)
def get_cartridges(request: HttpRequest) -> dict[str, list[CartridgeCard]]:
    """The caller’s own cartridges and those shared with her."""
    return {"cartridges": cartridges.list_cartridges(caller(request, "read"))}


@router.post(
    "/cartridges",
    response={201: CartridgeOut, **refusals()},
    operation_id="make_cartridge",
    summary="Make a cartridge",
)
def post_cartridge(request: HttpRequest, payload: CartridgeIn) -> Status[CartridgeCard]:
    """A bundle of memories the caller may read; ids she may not read are left out."""
    return Status(201, cartridges.make(caller(request, "write"), payload.name, payload.atom_ids))


@router.get(
    "/cartridges/{cartridge_id}",
    response={200: CartridgeOut, **refusals(404)},
    operation_id="read_cartridge",
    summary="One cartridge",
)
def get_one_cartridge(request: HttpRequest, cartridge_id: str) -> CartridgeCard:
    """Its memories: `GET /api/recall?cartridge=…`."""
    return cartridges.get_cartridge(caller(request, "read"), cartridge_id)


@router.patch(
    "/cartridges/{cartridge_id}",
    response={200: CartridgeOut, **refusals(404)},
    operation_id="change_cartridge",
    summary="Change a cartridge",
)
def patch_cartridge(request: HttpRequest, cartridge_id: str, payload: CartridgeChanges) -> CartridgeCard:
    """Its name, what is inside, with whom it is shared: by its owner."""
    return cartridges.change(caller(request, "write"), cartridge_id, **payload.model_dump(exclude_unset=True))


@router.delete(
    "/cartridges/{cartridge_id}",
    response={204: None, **refusals(404)},
    operation_id="remove_cartridge",
    summary="Take a cartridge apart",
)
def delete_cartridge(request: HttpRequest, cartridge_id: str) -> Status[None]:
    """The memories stay."""
    cartridges.remove(caller(request, "write"), cartridge_id)
    return Status(204, None)


@router.post(
    "/cartridges/{cartridge_id}/mount",
    response={200: CartridgeOut, **refusals(404)},
    operation_id="mount_cartridge",
    summary="Look only in this cartridge",
)
def post_mount(request: HttpRequest, cartridge_id: str) -> CartridgeCard:
    """The caller’s questions look only inside what she has mounted; nobody else’s change."""
    return cartridges.mount(caller(request, "write"), cartridge_id)


@router.delete(
    "/cartridges/{cartridge_id}/mount",
    response={204: None, **refusals()},
    operation_id="unmount_cartridge",
    summary="Look everywhere again",
)
def delete_mount(request: HttpRequest, cartridge_id: str) -> Status[None]:
    """Also for a cartridge the caller lost sight of."""
    cartridges.unmount(caller(request, "write"), cartridge_id)
    return Status(204, None)
