"""`Idempotency-Key`: repeating a POST creates nothing new.

The key and what it made are stored in the transaction that makes it, so that of two at once the second waits
and then finds the first. What is kept is a hash of the request and the id of the memory, never its text;
forgetting the memory takes the row with it.
"""

import hashlib
from collections.abc import Callable

from django.db import transaction
from django.http import HttpRequest

from memories.browse import get_memory
from memories.drafts import checked_text
from memories.embedding import cache
from memories.errors import Invalid
from memories.models import IdempotentReply
from memories.results import Memory
from memories.schemas import Body
from memories.visibility import Viewer

MAX_KEY = 200


def key_of(request: HttpRequest) -> str | None:
    """The request's `Idempotency-Key`, if it has one. Raises `Invalid`."""
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    if not 0 < len(key) <= MAX_KEY or not key.isprintable():
        raise Invalid(f"An Idempotency-Key has 1 to {MAX_KEY} printable characters.", "Idempotency-Key")
    return key


def fingerprint(request: HttpRequest, body: Body) -> str:
    """sha256 over the call and what it was given, whatever the order of its fields."""
    said = f"{request.method} {request.path}\n{body.model_dump_json(exclude_unset=True)}"
    return hashlib.sha256(said.encode()).hexdigest()


def remember_once(
    viewer: Viewer, key: str, request_sha256: str, text: str, make: Callable[[], Memory]
) -> Memory:
    """What `make` returns, or what it returned the first time.

    The text is embedded before the transaction, so that nobody waits for the write lock while a model runs.
    Raises `Invalid` when the key was used for another request.
    """
    if kept := _kept(viewer, key, request_sha256):
        return get_memory(viewer, kept.atom_id)
    embedded = cache.embed_passages([checked_text(text)], viewer)
    with transaction.atomic():
        if kept := _kept(viewer, key, request_sha256):
            return get_memory(viewer, kept.atom_id)
        cache.keep(embedded.fresh)
        memory = make()
        _keep(viewer, key, request_sha256, 201, memory.atom_id)
    return memory


def first_time(viewer: Viewer, key: str, request_sha256: str) -> bool:
    """Whether this key is new for a POST that makes no memory; from now on it is not. Raises `Invalid`."""
    if _kept(viewer, key, request_sha256):
        return False
    with transaction.atomic():
        if _kept(viewer, key, request_sha256):
            return False
        _keep(viewer, key, request_sha256, 200, "")
    return True


def _kept(viewer: Viewer, key: str, request_sha256: str) -> IdempotentReply | None:
    kept = IdempotentReply.objects.filter(holder_id=viewer.holder_id, key=key).first()
    if kept is not None and kept.request_sha256 != request_sha256:
        raise Invalid(
            "This Idempotency-Key was used for another request; choose a new one.", "Idempotency-Key"
        )
    return kept


def _keep(viewer: Viewer, key: str, request_sha256: str, status: int, atom_id: str) -> None:
    IdempotentReply.objects.create(
        holder_id=viewer.holder_id, key=key, request_sha256=request_sha256, status=status, atom_id=atom_id
    )
