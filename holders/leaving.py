"""Leaving the household's memory: what becomes of one's account, and of what one held."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from allauth.usersessions.models import UserSession
from django.db import transaction
from django.db.models import Q

from holders import book
from holders.models import (
    Answer,
    Event,
    Holder,
    Invite,
    Preference,
    Question,
    Referral,
    SignIn,
    Token,
    Webhook,
)
from holders.registry import remove_holder
from memories.drafts import checked_choice
from memories.errors import NotAllowed
from memories.forget import BATCH, erase
from memories.models import Atom, Cartridge, IdempotentReply, Mount
from memories.store import checkpoint
from memories.visibility import AtomQuerySet, Viewer, dump_visibility, parse_visibility

if TYPE_CHECKING:
    from django.contrib.auth.models import User

FORGET, UNREAD, SHARED = "forget", "unread", "shared"
CHOICES = (FORGET, UNREAD, SHARED)
CLOSED = dump_visibility(parse_visibility({"scope": "private", "discoverable": False}))


@dataclass(frozen=True, slots=True)
class Belongings:
    """How much a holder would leave behind: her memories, and those that others may read as well."""

    memories: int
    shared: int


def belongings(viewer: Viewer) -> Belongings:
    """What the viewer holds."""
    mine = _mine(viewer).ever_true()
    return Belongings(mine.count(), mine.exclude(audience__in=("private", "closed")).count())


def _mine(viewer: Viewer) -> AtomQuerySet:
    return Atom.objects.visible_to(viewer).filter(holder_id=viewer.holder_id)


def leave(viewer: Viewer, user: "User", memories: str) -> None:
    """Delete the viewer's account. Her holder id is retired: only the host could ever link a sign-in to it again.

    `memories` says what becomes of hers: `forget` erases them and her questions for good; `unread` keeps them so
    that nobody reads them or is told of them; `shared` keeps them as they are, so that what she shared stays shared.
    Raises `Invalid`, `NotAllowed`.
    """
    choice = checked_choice(memories, CHOICES, "memories")
    if (
        viewer.acting_for is not None
        or not SignIn.objects.filter(user=user, holder_id=viewer.holder_id).exists()
    ):
        raise NotAllowed("Everybody deletes her own account, and nobody else’s.")
    book.flush()
    with transaction.atomic():
        if choice == FORGET:
            _forget_everything(viewer)
        elif choice == UNREAD:
            _mine(viewer).update(visibility_json=CLOSED)
        _close_account(viewer, user)
    checkpoint()


def _forget_everything(viewer: Viewer) -> None:
    pks = list(_mine(viewer).values_list("pk", flat=True))
    for start in range(0, len(pks), BATCH):
        erase(list(Atom.objects.filter(pk__in=pks[start : start + BATCH])))
    Question.objects.filter(asker_id=viewer.holder_id).delete()
    Answer.objects.filter(holder_id=viewer.holder_id).delete()
    Referral.objects.filter(asker_id=viewer.holder_id).delete()


def _close_account(viewer: Viewer, user: "User") -> None:
    me = viewer.holder_id
    Cartridge.objects.filter(owner_id=me).delete()
    for rows in (Mount, Referral, Event, Webhook, IdempotentReply):
        rows.objects.filter(holder_id=me).delete()
    Preference.objects.filter(pk=me).delete()
    Invite.objects.filter(holder_id=me).delete()
    if Holder.objects.filter(pk=me).exists():
        remove_holder(None, me)
    Token.objects.filter(Q(holder_id=me) | Q(acting_for=me)).delete()
    for session in UserSession.objects.filter(user=user):
        session.end()
    user.delete()
