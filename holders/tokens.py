"""Bearer tokens for agents and programs: who may make one for whom, who sees it, and who may end it.

A person makes tokens for herself, and tokens with which an agent acts for her and nobody else; curators make those
of agents and services; a token that stands for another person is the host's business on the command line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from holders.models import SCOPES, Holder, Token, TokenQuerySet
from memories import timestamps
from memories.drafts import checked_name
from memories.errors import Invalid, NotAllowed, NotFound
from memories.visibility import Viewer

MAX_DAYS = 3_650
MAX_LABEL = 100
NO_SUCH_TOKEN = "There is no such token."  # noqa: S105  (a sentence)


@dataclass(frozen=True, slots=True)
class TokenCard:
    """A token as its people see it; the token itself was shown once, when it was made."""

    token_id: int
    holder_id: str
    label: str
    scopes: tuple[str, ...]
    acting_for: str
    created_at: str
    expires_at: str | None
    last_used_at: str | None


def issue(
    viewer: Viewer,
    holder_id: str,
    scopes: Sequence[str],
    *,
    days: int | None = None,
    label: str = "",
    acting_for_me: bool = False,
) -> tuple[TokenCard, str]:
    """Make a token for a holder: its card, and its text, shown this once. Raises `Invalid`, `NotAllowed`.

    `acting_for_me` makes one with which an agent reads what it and the viewer both may, and writes as the viewer.
    """
    _require_right(viewer, holder_id, scopes, acting_for_me=acting_for_me)
    if not scopes or set(scopes) - set(SCOPES):
        raise Invalid(f"A token’s scopes are one or more of {', '.join(SCOPES)}.", "scopes")
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise Invalid(f"A token lasts from 1 to {MAX_DAYS} days.", "days")
    token, plain = Token.objects.issue(
        holder_id,
        list(scopes),
        days,
        label=checked_name(label, "label", MAX_LABEL),
        acting_for=viewer.holder_id if acting_for_me else "",
    )
    return _card(token), plain


def _require_right(viewer: Viewer, holder_id: str, scopes: Sequence[str], *, acting_for_me: bool) -> None:
    """Raises `NotAllowed` with the sentence that fits."""
    if viewer.acting_for is not None or viewer.kind != "person":
        raise NotAllowed("Only a person may make tokens.")
    kind = Holder.objects.filter(pk=holder_id).values_list("kind", flat=True).first()
    if acting_for_me and kind != "agent":
        raise NotAllowed("Only a registered agent may act for you.")
    if (
        not acting_for_me
        and holder_id != viewer.holder_id
        and not (kind in ("agent", "service") and viewer.is_curator)
    ):
        raise NotAllowed("You may make tokens for yourself; a curator makes those of agents and services.")
    if "curate" in scopes and (acting_for_me or not viewer.is_curator):
        raise NotAllowed("Only a curator’s own token may have the scope “curate”.")


def tokens_of(viewer: Viewer) -> list[TokenCard]:
    """The live tokens the viewer may end, newest first."""
    return [_card(token) for token in _endable(viewer).live().order_by("-created_at", "-pk")]


def revoke(viewer: Viewer, token_id: int) -> None:
    """End a token at once. Raises `NotFound`, alike for a missing one and somebody else’s."""
    if not _endable(viewer).live().filter(pk=token_id).update(revoked_at=timestamps.now()):
        raise NotFound(NO_SUCH_TOKEN)


def _endable(viewer: Viewer) -> TokenQuerySet:
    """The viewer's own tokens and those that act for her; for a curator also the agents' and services'."""
    if viewer.acting_for is not None:
        return Token.objects.none()
    mine = Q(holder_id=viewer.holder_id, acting_for="") | Q(acting_for=viewer.holder_id)
    if viewer.is_curator:
        machines = Holder.objects.filter(kind__in=("agent", "service")).values("holder_id")
        mine |= Q(holder_id__in=machines, acting_for="")
    return Token.objects.filter(mine)


def _card(token: Token) -> TokenCard:
    return TokenCard(
        token_id=token.pk,
        holder_id=token.holder_id,
        label=token.label,
        scopes=tuple(sorted(token.scopes)),
        acting_for=token.acting_for,
        created_at=token.created_at,
        expires_at=token.expires_at,
        last_used_at=token.last_used_at,
    )
