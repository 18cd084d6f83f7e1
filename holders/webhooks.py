"""Webhooks: a holder's events, sent to an address of hers and signed.

Only to addresses the owner has allowed (`holders.outgoing`). The body is the event as JSON; the header
`Rekal-Signature: t=<seconds>,v1=<hex>` carries the HMAC-SHA256, under the webhook's secret, of `<seconds>.<body>`.
What cannot be delivered is tried again, later each time, in order.
"""

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q

from holders import events, outgoing
from holders.auth import viewer_for
from holders.models import Webhook
from memories import timestamps
from memories.errors import Conflict, Invalid, NotAllowed, NotFound
from memories.fields import dump_json
from memories.visibility import Viewer

SECONDS = 5.0
FIRST_WAIT = timedelta(seconds=10)
LONGEST_WAIT = timedelta(hours=1)
GIVEN_UP = 100  # failures in a row, about four days
MOST = 10  # webhooks of one holder
MAX_URL = 500
SIGNATURE = "Rekal-Signature"


@dataclass(frozen=True, slots=True)
class WebhookCard:
    """A webhook as its holder sees it; `secret` is filled this once, when it is made."""

    id: int
    url: str
    kinds: tuple[str, ...]
    failures: int
    created_at: str
    secret: str | None = None


def add_webhook(viewer: Viewer, url: str, kinds: Sequence[str] = ()) -> WebhookCard:
    """Have the viewer's own events sent to `url` from now on. Raises `Invalid`, `NotAllowed`, `Conflict`."""
    if viewer.acting_for is not None:
        raise NotAllowed("An agent that acts for somebody has no events of its own to be told.")
    if len(url) > MAX_URL or outgoing.origin_of(url) not in outgoing.allowed_addresses():
        raise Invalid("The owner of this server has not allowed that address.", "url")
    wanted = events.checked_kinds(kinds)
    plain = secrets.token_urlsafe(32)
    try:
        with transaction.atomic():
            if Webhook.objects.filter(holder_id=viewer.holder_id).count() >= MOST:
                raise Conflict(f"There are {MOST} webhooks already; remove one first.")
            row = Webhook.objects.create(
                holder_id=viewer.holder_id, url=url, secret=plain, kinds_json=dump_json(wanted),
                last_event_id=events.latest(),
            )  # fmt: skip
    except IntegrityError:
        raise Conflict("That address is told already.") from None
    return _card(row, plain)


def webhooks_of(viewer: Viewer) -> list[WebhookCard]:
    """The viewer's own webhooks, oldest first."""
    return [_card(row) for row in Webhook.objects.filter(holder_id=viewer.holder_id).order_by("pk")]


def remove_webhook(viewer: Viewer, webhook_id: int) -> None:
    """Stop telling an address. Raises `NotFound`."""
    if not Webhook.objects.filter(holder_id=viewer.holder_id, pk=webhook_id).delete()[0]:
        raise NotFound("There is no such webhook of yours.")


def _card(row: Webhook, secret: str | None = None) -> WebhookCard:
    return WebhookCard(row.pk, row.url, tuple(row.kinds), row.failures, row.created_at, secret)


def deliver() -> int:
    """Send what is due, each webhook's events in order; how many were delivered."""
    now = timestamps.now()
    due = Q(next_try_at__isnull=True) | Q(next_try_at__lte=now)
    hooks = Webhook.objects.filter(due, last_event_id__lt=events.latest(), failures__lt=GIVEN_UP)
    return sum(_deliver(hook) for hook in hooks.order_by("pk"))


def _deliver(hook: Webhook) -> int:
    """Send one webhook's events until one fails; how many were delivered."""
    lines, cursor = events.events_for(viewer_for(hook.holder_id), after=hook.last_event_id, kinds=hook.kinds)
    for count, line in enumerate(lines):
        if not _send(hook, line):
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(hook.failures, 20))
            later = timestamps.to_text(datetime.now(UTC) + wait)
            Webhook.objects.filter(pk=hook.pk).update(failures=hook.failures + 1, next_try_at=later)
            return count
        hook.failures = 0
        Webhook.objects.filter(pk=hook.pk).update(last_event_id=line.id, failures=0, next_try_at=None)
    Webhook.objects.filter(pk=hook.pk).update(last_event_id=cursor)
    return len(lines)


def _send(hook: Webhook, line: events.EventLine) -> bool:
    body = json.dumps(asdict(line)).encode()
    headers = {SIGNATURE: sign(hook.secret, body, int(time.time())), "User-Agent": "rekal"}
    try:
        return 200 <= outgoing.post(hook.url, body, headers, seconds=SECONDS, token=False).status < 300
    except outgoing.Unreachable:
        return False


def sign(secret: str, body: bytes, seconds: int) -> str:
    """The signature header of a body sent at `seconds` since 1970."""
    digest = hmac.new(secret.encode(), b"%d.%s" % (seconds, body), hashlib.sha256).hexdigest()
    return f"t={seconds},v1={digest}"
