"""`remember`: write a statement down."""

import json
from typing import Any

from django.core.management.base import CommandParser

from holders.registry import names_of
from memories.errors import Invalid
from memories.remember import remember
from memories.store import zone
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import RekalCommand

FIELDS = (
    "scenario", "origin", "event_time", "event_time_end", "event_time_precision", "valid_from", "valid_to",
    "retention_until", "source",
)  # fmt: skip


class Command(RekalCommand):
    """Stores one memory and prints it."""

    help = "Remember a statement. The same statement twice is stored once."
    examples = (
        'remember "The spare key is in the blue box in the hall" --as mira --scenario house --tag keys',
        'remember "Lea is allergic to walnuts" --as mira --holder lea --visibility household',
        'remember "Ben eats fish since May" --as mira --valid-from 2026-05-01 --replaces 9f2c4e01ab37d5c8',
        (
            'remember "Mira\'s present is in the loft" --as jonas '
            """--visibility '{"scope": "holders", "holders": ["lea"], "deny": ["mira"], "discoverable": false}'"""
        ),
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("text", help="the statement; it is kept as it is")
        parser.add_argument("--holder", metavar="ID", help="whose memory it is, when not your own")
        parser.add_argument("--scenario", metavar="S", help="the situation it may be used in (default: any)")
        parser.add_argument(
            "--tag", action="append", dest="tags", metavar="T", help="a tag; may be given again"
        )
        parser.add_argument(
            "--visibility", metavar="V", help="private, household, or a JSON object with a scope"
        )
        parser.add_argument(
            "--replaces",
            action="append",
            default=[],
            metavar="ID",
            help="a memory this one closes; may be given again",
        )
        parser.add_argument(
            "--event-time", metavar="T", help="when it happens: 2026-07-19, 2026-07, 2026-07-19T18:30"
        )
        parser.add_argument("--event-time-end", metavar="T", help="when that ends")
        parser.add_argument(
            "--event-time-precision", metavar="P", help="instant, minute, hour, day, month, year"
        )
        parser.add_argument("--valid-from", metavar="T", help="true from then on")
        parser.add_argument("--valid-to", metavar="T", help="true until then")
        parser.add_argument("--retention-until", metavar="T", help="not to be kept longer than this day")
        parser.add_argument("--origin", metavar="O", help="self, observed, artifact, third_party")
        parser.add_argument("--source", metavar="S", help="where it comes from: manual.pdf#page=3")

    def run(self, viewer: Viewer, **options: Any) -> int | None:
        memory = remember(
            viewer,
            options["text"],
            holder_id=options["holder"],
            tags=options["tags"],
            visibility=read_visibility(options["visibility"]),
            replaces=options["replaces"],
            **{name: options[name] for name in FIELDS},
        )
        self.show(memory, options, render.memory_lines(memory, names_of({memory.holder_id}), zone()))
        return None


def read_visibility(value: str | None) -> Any:
    """A scope's name as it is, an object from JSON. Raises `Invalid`."""
    if value is None or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise Invalid('The visibility is not JSON; write {"scope": "private"}.', "visibility") from None
