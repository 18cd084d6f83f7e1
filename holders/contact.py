"""Ways to reach a holder, as links a page can offer. Only schemes known to be harmless become links."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from django.utils.translation import gettext as _

HIDDEN = {"rekal_url"}  # an address for machines
PHONE_KEYS = {"phone", "tel", "telephone", "mobile", "work_phone", "home_phone"}


@dataclass(frozen=True, slots=True)
class ContactLink:
    """One way: `label` says what happens, `value` is what was written; `href` is empty when it is no link."""

    key: str
    label: str
    value: str
    href: str


def contact_links(contact: Mapping[str, str], question: str = "") -> list[ContactLink]:
    """The ways to reach somebody, each with the question already in the message where that is possible."""
    message = _("Do you know this? “%(question)s”") % {"question": question} if question else ""
    links = []
    for key, value in contact.items():
        if key in HIDDEN or not str(value).strip():
            continue
        links += _links(key.lower(), str(value).strip(), message)
    return links


def _links(key: str, value: str, message: str) -> list[ContactLink]:
    number = re.sub(r"[^\d+]", "", value)
    if key in PHONE_KEYS and number:
        sms = f"sms:{number}" + (f"?body={quote(message)}" if message else "")
        return [
            ContactLink("phone", _("Call"), value, f"tel:{number}"),
            ContactLink("sms", _("Text message"), value, sms),
        ]
    if key in {"email", "mail"} and re.fullmatch(r"[^\s@?&]+@[^\s@?&]+", value):
        title = _("A question")  # the collector of strings does not look into an f-string
        subject = f"?subject={quote(title)}&body={quote(message)}" if message else ""
        return [ContactLink("email", _("Email"), value, f"mailto:{quote(value, safe='@+')}{subject}")]
    name, address = _messenger(key, value, number, message)
    return [ContactLink(key, name, value, address or _web_address(value))]


def _messenger(key: str, value: str, number: str, message: str) -> tuple[str, str]:
    """A messenger's own name and its address for this value; an empty address where it does not fit."""
    if key == "whatsapp" and number:
        return "WhatsApp", f"https://wa.me/{number.lstrip('+')}" + (
            f"?text={quote(message)}" if message else ""
        )
    if key == "telegram" and re.fullmatch(r"@?\w{3,64}", value):
        return "Telegram", f"https://t.me/{value.lstrip('@')}"
    if key == "signal" and number:
        return "Signal", f"https://signal.me/#p/{quote(number, safe='+')}"
    if key in {"matrix", "chat"} and re.fullmatch(r"@[^\s/:]+:[^\s/]+", value):  # a Matrix address
        return _("Chat"), f"https://matrix.to/#/{quote(value, safe='@:')}"
    return key.replace("_", " ").capitalize(), ""


def _web_address(value: str) -> str:
    """The value when it is a web address, else nothing: `javascript:` and the like never become links."""
    try:
        parts = urlsplit(value)
    except ValueError:
        return ""
    return value if parts.scheme in {"http", "https"} and parts.netloc else ""
