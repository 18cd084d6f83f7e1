"""Memories over JSON: remember, list, read, change, forget and recall."""

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Status

from memories import schemas
from memories.browse import get_memory, list_memories
from memories.errors import Conflict
from memories.forget import forget
from memories.http import Stale, caller, etag, matched, refusals
from memories.idempotency import fingerprint, key_of, remember_once
from memories.recall import recall
from memories.remember import edit, remember
from memories.results import Memory, Page, Recall

router = Router(tags=["memories"])

IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "maxLength": 200},
    "description": "Repeating the call with the same key creates nothing new; with other content it fails.",
}
IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "The ETag the caller read; refused with 412 when somebody changed the memory since.",
}


@router.post(
    "/memories",
    response={201: schemas.MemoryOut, **refusals(404, 409)},
    operation_id="remember",
    summary="Remember a statement",
    openapi_extra={"parameters": [IDEMPOTENCY_KEY]},
)
def post_memory(request: HttpRequest, payload: schemas.MemoryIn, response: HttpResponse) -> Status[Memory]:
    """Store a statement. The same one by the same holder is not stored twice: what is there comes back.

    `replaces` closes those memories when the new one begins; scenario, tags and visibility are inherited
    unless given.
    """
    viewer = caller(request, "write")
    given = payload.model_dump(exclude_unset=True)
    key = key_of(request)
    if key is None:
        memory = remember(viewer, **given)
    else:
        said = fingerprint(request, payload)
        memory = remember_once(viewer, key, said, payload.text, lambda: remember(viewer, **given))
    response["ETag"] = etag(memory)
    response["Location"] = f"{request.path}/{memory.atom_id}"
    return Status(201, memory)


@router.get(
    "/memories",
    response={200: schemas.PageOut, **refusals()},
    operation_id="list_memories",
    summary="List memories, newest first",
)
def get_memories(request: HttpRequest, filters: Query[schemas.ListParameters]) -> Page:
    """The memories the caller may read, page by page; unranked."""
    return list_memories(caller(request, "read"), **filters.model_dump())


@router.get(
    "/memories/{atom_id}",
    response={200: schemas.MemoryOut, **refusals(404)},
    operation_id="read_memory",
    summary="Read one memory",
)
def get_one_memory(request: HttpRequest, atom_id: str, response: HttpResponse) -> Memory:
    """One memory; the `ETag` header names its version. Missing and unreadable ids are answered alike."""
    memory = get_memory(caller(request, "read"), atom_id)
    response["ETag"] = etag(memory)
    return memory


@router.patch(
    "/memories/{atom_id}",
    response={200: schemas.MemoryOut, **refusals(404, 409, 412)},
    operation_id="edit_memory",
    summary="Change a memory",
    openapi_extra={"parameters": [IF_MATCH]},
)
def patch_memory(
    request: HttpRequest, atom_id: str, payload: schemas.MemoryChanges, response: HttpResponse
) -> Memory:
    """Change the fields that are given. A new wording keeps the old one as a closed version."""
    viewer = caller(request, "write")
    version = matched(request, get_memory(viewer, atom_id))
    try:
        memory = edit(viewer, atom_id, if_updated_at=version, **payload.model_dump(exclude_unset=True))
    except Conflict as error:
        raise (Stale(str(error)) if version else error) from None
    response["ETag"] = etag(memory)
    return memory


@router.delete(
    "/memories/{atom_id}",
    response={204: None, **refusals(404, 412)},
    operation_id="forget",
    summary="Forget a memory for good",
    openapi_extra={"parameters": [IF_MATCH]},
)
def delete_memory(request: HttpRequest, atom_id: str) -> Status[None]:
    """Remove a memory with its index entries, its earlier wordings and their bytes."""
    viewer = caller(request, "write")
    matched(request, get_memory(viewer, atom_id))
    forget(viewer, atom_id)
    return Status(204, None)


@router.get(
    "/recall",
    response={200: schemas.RecallOut, **refusals(404)},
    operation_id="recall",
    summary="Recall memories by meaning and by words",
)
def get_recall(request: HttpRequest, query: Query[schemas.RecallParameters]) -> Recall:
    """The memories that fit a question best, each with its score, relevance, raw signals and reasons."""
    given = query.model_dump()
    return recall(caller(request, "read"), given.pop("q"), **given)
