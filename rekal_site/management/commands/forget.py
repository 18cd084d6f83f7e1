"""`forget`: remove one memory for good."""

from typing import Any

from django.core.management.base import CommandParser

from memories.forget import forget
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import RekalCommand


class Command(RekalCommand):
    """Asks nothing: the id is the question."""

    help = (
        "Remove a memory for good, with its index entries, earlier wordings and bytes. It does not ask again."
    )
    examples = ("forget 9f2c4e01ab37d5c8 --as mira",)
    needs_model = False
    wipes = True

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", help="the memory’s id, as recall prints it")

    def run(self, viewer: Viewer, **options: Any) -> int | None:
        forget(viewer, options["id"])
        self.show({"forgotten": options["id"]}, options, [render.line("Forgotten.")])
        return None
