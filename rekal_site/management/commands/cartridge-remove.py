"""`cartridge-remove`: take an imported cartridge out of the store, with all that came with it."""

from typing import Any

from django.core.management.base import CommandParser

from memories.cartridge_files.load import remove_imported
from memories.errors import Invalid
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import RekalCommand


class Command(RekalCommand):
    """For good, so it asks for `--yes`."""

    help = "Remove an imported cartridge whole: every memory and file that came with it, for good."
    examples = ("cartridge-remove 9f2c4e01ab37d5c8 --as jonas --yes",)
    needs_model = False
    wipes = True

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cartridge_id", help="the cartridge’s id")
        parser.add_argument("--yes", action="store_true", help="do it")

    def run(self, viewer: Viewer, **options: Any) -> int | None:
        if not options["yes"]:
            raise Invalid("This removes memories for good; say --yes to do it.", "yes")
        found = remove_imported(viewer, options["cartridge_id"])
        kept = f"; {found.kept} stay, since they lie in another cartridge too" if found.kept else ""
        self.show(
            found, options, [render.line(f"“{found.name}” is gone, with {found.removed} memories{kept}.")]
        )
        return None
