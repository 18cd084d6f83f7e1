"""`holder-rm`: take a holder out of the directory."""

from typing import Any

from django.core.management.base import CommandParser

from holders.registry import remove_holder
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import RekalCommand


class Command(RekalCommand):
    """The memories stay."""

    help = "Unregister a holder: its sign-in and tokens end, its memories stay."
    examples = ("holder-rm old-agent",)
    needs_viewer = False
    needs_model = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", help="the holder’s id")

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        remove_holder(viewer, options["id"])
        self.show(
            {"removed": options["id"]}, options, [render.line(f"{options['id']} is out of the directory.")]
        )
        return None
