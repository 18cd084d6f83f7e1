"""The door of the parts beside Django's pages (MCP, the event stream): which host, which origin, whose token.

Django's middleware does not stand in front of them, so each asks here before it looks at anything else.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

STRANGE_HOST = "This server does not go by that name; REKAL_HOSTS lists the names it is reached by."
STRANGE_ORIGIN = "Pages of another origin may not talk to this server."


def headers_of(scope: Mapping[str, Any]) -> dict[str, str]:
    """The request's headers by lower-case name; of a repeated one, the last."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def bearer_of(headers: Mapping[str, str]) -> str:
    """The bearer token, or ''."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def is_our_host(host: str) -> bool:
    """Whether the Host header names us (`settings.ALLOWED_HOSTS`)."""
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def is_own_origin(headers: Mapping[str, str]) -> bool:
    """Whether the request comes from no page, from a page of ours, or from a trusted origin."""
    origin = headers.get("origin")
    if origin is None or origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and parts.netloc == headers.get("host", "")


def refusal_of_strangers(headers: Mapping[str, str]) -> tuple[int, str] | None:
    """`(status, sentence)` for a request by another name or from another origin, before anybody looks at its token."""
    if not is_our_host(headers.get("host", "")):
        return 421, STRANGE_HOST
    if not is_own_origin(headers):
        return 403, STRANGE_ORIGIN
    return None


async def refuse(send: Any, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
    """A refusal as the API gives it: `{"detail": sentence}`."""
    body = json.dumps({"detail": sentence}, ensure_ascii=False).encode()
    given = {
        "content-type": "application/json",
        "cache-control": "no-store",
        "content-length": str(len(body)),
    }
    pairs = [(name.encode(), value.encode()) for name, value in (given | dict(headers or {})).items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
