"""Webhooks over JSON. The event stream itself is `GET /api/events`, which the server answers beside Django."""

from typing import Literal

from django.http import HttpRequest
from ninja import Field, Router, Schema, Status

from holders.webhooks import WebhookCard, add_webhook, remove_webhook, webhooks_of
from memories.http import caller, refusals
from memories.schemas import Body

router = Router(tags=["events"])

EventKind = Literal["question", "answered", "expiring"]


class WebhookIn(Body):
    """Where to send the caller’s events; the owner of the server must have allowed the address."""

    url: str = Field(examples=["https://agent.example/rekal"], max_length=500)
    kinds: list[EventKind] = Field(default_factory=list, description="Left out: every kind.", max_length=3)


class WebhookOut(Schema):
    """A webhook of the caller’s."""

    id: int
    url: str
    kinds: list[str] = Field(description="question, answered, expiring.")
    failures: int = Field(description="How often in a row it could not be reached.")
    created_at: str
    secret: str | None = Field(
        description="Only in the reply that makes it: signs each delivery, "
        "`Rekal-Signature: t=<seconds>,v1=<HMAC-SHA256 of seconds, a dot and the body>`."
    )


class WebhooksOut(Schema):
    """The caller’s webhooks, oldest first."""

    webhooks: list[WebhookOut]


@router.get(
    "/webhooks",
    response={200: WebhooksOut, **refusals()},
    operation_id="list_webhooks",
    summary="My webhooks",
)
def get_webhooks(request: HttpRequest) -> dict[str, list[WebhookCard]]:
    """The addresses that the caller’s events are sent to, without their secrets."""
    return {"webhooks": webhooks_of(caller(request, "read"))}


@router.post(
    "/webhooks",
    response={201: WebhookOut, **refusals(409)},
    operation_id="add_webhook",
    summary="Have my events sent to an address",
)
def post_webhook(request: HttpRequest, payload: WebhookIn) -> Status[WebhookCard]:
    """From now on, the caller’s own events are sent there, signed: a question, an answer, a memory about to lapse."""
    return Status(201, add_webhook(caller(request, "write"), payload.url, payload.kinds))


@router.delete(
    "/webhooks/{webhook_id}",
    response={204: None, **refusals(404)},
    operation_id="remove_webhook",
    summary="Stop sending my events to an address",
)
def delete_webhook(request: HttpRequest, webhook_id: int) -> Status[None]:
    """Nothing more is sent there."""
    remove_webhook(caller(request, "write"), webhook_id)
    return Status(204, None)
