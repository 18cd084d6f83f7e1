"""Holders over JSON: who am I, the directory, who knows, and ask."""

from django.http import HttpRequest
from ninja import Query, Router, Status

from holders import limits, schemas
from holders.ask import Asked, ask
from holders.models import Holder
from holders.registry import HolderCard, get_holder, list_holders, remove_holder, set_holder
from holders.who_knows import WhoKnows, who_knows
from memories.api import IDEMPOTENCY_KEY
from memories.http import caller, refusals
from memories.idempotency import fingerprint, first_time, key_of
from memories.visibility import Viewer

router = Router(tags=["holders"])


@router.get("/me", response={200: schemas.MeOut, **refusals()}, operation_id="me", summary="Who am I here?")
def get_me(request: HttpRequest) -> schemas.MeOut:
    """The holder the session or token stands for, and its scopes."""
    viewer: Viewer = request.viewer  # type: ignore[attr-defined]
    holder = Holder.objects.filter(pk=viewer.holder_id).first()
    return schemas.MeOut(
        holder_id=viewer.holder_id,
        name=holder.name if holder else "",
        kind=viewer.kind,
        groups=sorted(holder.groups) if holder else [],
        scopes=sorted(request.scopes),  # type: ignore[attr-defined]
        acting_for=viewer.acting_for.holder_id if viewer.acting_for else None,
    )


@router.get(
    "/holders",
    response={200: schemas.HoldersOut, **refusals()},
    operation_id="list_holders",
    summary="The directory",
)
def get_holders(request: HttpRequest) -> dict[str, list[HolderCard]]:
    """Everybody registered, and the other holders of memories the caller may read."""
    return {"holders": list_holders(caller(request, "read"))}


@router.get(
    "/holders/{holder_id}",
    response={200: schemas.HolderOut, **refusals(404)},
    operation_id="read_holder",
    summary="One holder",
)
def get_one_holder(request: HttpRequest, holder_id: str) -> HolderCard:
    """One holder’s record. Nobody and who is known only by unreadable memories are answered alike."""
    return get_holder(caller(request, "read"), holder_id)


@router.put(
    "/holders/{holder_id}",
    response={200: schemas.HolderOut, **refusals()},
    operation_id="set_holder",
    summary="Register a holder or change its record",
)
def put_holder(request: HttpRequest, holder_id: str, payload: schemas.HolderIn) -> HolderCard:
    """Everybody changes her own name, topics and contact (`write`); the rest needs a curator (`curate`)."""
    viewer = caller(request, _scope_for(request, holder_id))
    return set_holder(viewer, holder_id, **payload.model_dump(exclude_unset=True))


@router.delete(
    "/holders/{holder_id}",
    response={204: None, **refusals(404)},
    operation_id="remove_holder",
    summary="Unregister a holder",
)
def delete_holder(request: HttpRequest, holder_id: str) -> Status[None]:
    """Take a holder out of the directory; its memories stay. Curators only."""
    remove_holder(caller(request, "curate"), holder_id)
    return Status(204, None)


def _scope_for(request: HttpRequest, holder_id: str) -> str:
    viewer: Viewer = request.viewer  # type: ignore[attr-defined]
    return "write" if holder_id == viewer.holder_id else "curate"


@router.get(
    "/who_knows",
    response={200: schemas.WhoKnowsOut, **refusals()},
    operation_id="who_knows",
    summary="Who knows about this?",
    tags=["ask"],
)
def get_who_knows(request: HttpRequest, query: Query[schemas.WhoKnowsParameters]) -> WhoKnows:
    """The holders who may know, best first, also by what the caller may not read: that she knows, never what.

    The question is written into the book of everybody who is named.
    """
    viewer = caller(request, "ask")
    limits.spend(viewer, "ask")
    return who_knows(viewer, query.q, limit=query.limit)


@router.post(
    "/ask",
    response={200: schemas.AskOut, **refusals(404)},
    operation_id="ask",
    summary="Ask the household",
    tags=["ask"],
    openapi_extra={"parameters": [IDEMPOTENCY_KEY]},
)
def post_ask(request: HttpRequest, payload: schemas.AskIn) -> Asked:
    """Look in what the caller may read; if nothing there answers, visit holders and say whom to ask.

    The question is written into the book of everybody the caller is referred to.
    """
    viewer = caller(request, "ask")
    limits.spend(viewer, "ask")
    key = key_of(request)
    noted = key is None or first_time(viewer, key, fingerprint(request, payload))
    given = payload.model_dump(exclude={"question"})
    return ask(viewer, payload.question, note=noted, **given)
