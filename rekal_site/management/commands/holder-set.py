"""`holder-set`: register a holder or change its record."""

from typing import Any

from django.core.management.base import CommandParser

from holders.models import KINDS, Holder
from holders.registry import set_holder
from memories.errors import Invalid
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import RekalCommand


class Command(RekalCommand):
    """The host may all; with `--as` the rights are that holder's."""

    help = (
        "Register a holder, or change its record; what is not given stays. Topics and groups replace the earlier ones "
        "(an empty one clears them); contacts are added to them (KEY= takes one away)."
    )
    examples = (
        "holder-set mira --name Mira --topic health --topic school --contact phone=+49301234567 --group adults",
        "holder-set house-agent --kind agent --name 'House agent'",
        "holder-set mira --contact email=",
    )
    needs_viewer = False
    needs_model = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", help="the holder’s id: letters, digits and . : _ - @")
        parser.add_argument("--name", metavar="N", help="what people call it")
        parser.add_argument("--kind", choices=KINDS, help="(person)")
        parser.add_argument(
            "--topic", action="append", metavar="T", help="what it knows about; may be given again"
        )
        parser.add_argument(
            "--contact",
            action="append",
            metavar="KEY=VALUE",
            help="how to reach it: phone=…, email=…; may be given again",
        )
        parser.add_argument(
            "--group", action="append", metavar="G", help="adults, kids, …; may be given again"
        )

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        card = set_holder(
            viewer,
            options["id"],
            name=options["name"],
            kind=options["kind"],
            knows_about=options["topic"],
            contact=merged_contact(options["id"], options["contact"]),
            groups=options["group"],
        )
        self.show(card, options, [render.holder_table([card])])
        return None


def merged_contact(holder_id: str, given: list[str] | None) -> dict[str, str] | None:
    """The stored contacts with the given `KEY=VALUE` laid over; None when none is given. Raises `Invalid`."""
    if given is None:
        return None
    stored = Holder.objects.filter(pk=holder_id).first()
    contact = dict(stored.contact) if stored else {}
    for pair in given:
        key, separator, value = pair.partition("=")
        if not separator or not key.strip():
            raise Invalid(
                f"A contact is written KEY=VALUE, such as phone=+49301234567, not “{pair[:40]}”.", "contact"
            )
        contact[key.strip()] = value.strip()
    return contact
