"""Invitations: a link, used once and not for long, that makes the account of one holder id.

Only the host makes them (the command line, or the first run, which the host's own code opened): an account
for an id that already holds memories would read them.
"""

import secrets
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from holders.accounts import open_account
from holders.models import Holder, Invite, SignIn, hash_token
from memories import timestamps
from memories.errors import Conflict, NotFound
from memories.visibility import CURATORS

INVITE_DAYS = 7


def invite(holder_id: str, days: int = INVITE_DAYS) -> str:
    """Make an invitation for one holder id and return its secret word, shown this once; older ones lapse.

    Raises `NotFound` unless it is a registered person, `Conflict` when she can already sign in.
    """
    if not Holder.objects.filter(pk=holder_id, kind="person").exists():
        raise NotFound("There is no registered person with this id.")
    if SignIn.objects.filter(holder_id=holder_id).exists():
        raise Conflict(_("There is already an account for this person."))
    plain = secrets.token_urlsafe(24)
    expires = timestamps.to_text(datetime.now(UTC) + timedelta(days=days))
    with transaction.atomic():
        Invite.objects.open().filter(holder_id=holder_id).delete()
        Invite.objects.create(sha256=hash_token(plain), holder_id=holder_id, expires_at=expires)
    return plain


def invited(plain: str) -> str:
    """The holder id an open invitation is for. Raises `NotFound`, alike whatever is wrong with it."""
    found = Invite.objects.open().filter(pk=hash_token(plain)).values_list("holder_id", flat=True).first()
    if found is None:
        raise NotFound(_("This invitation has been used or is too old. Ask for a new one."))
    return found


def accept(plain: str, username: str, password: str) -> object:
    """Use an invitation up and return the new user. Raises `NotFound`, `Invalid`, `Conflict`."""
    with transaction.atomic():
        holder_id = invited(plain)
        Invite.objects.open().filter(pk=hash_token(plain)).update(used_at=timestamps.now())
        holder = Holder.objects.filter(pk=holder_id).first()
        curator = holder is not None and CURATORS in holder.groups  # the admin asks for a staff account too
        return open_account(holder_id, username, password, is_staff=curator)
