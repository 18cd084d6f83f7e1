"""`cartridge-import`: bring a `.rekal` file in as a cartridge of one's own."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from memories.visibility import Viewer
from rekal_site.management.base import RekalCommand
from rekal_site.management.cartridges import bring_in, imported_lines


class Command(RekalCommand):
    """The file is checked whole before anything is stored."""

    help = (
        "Bring a .rekal file in as a cartridge. It is checked whole first; people it names become theirs:name "
        "unless you map them, and it is private to you unless you say otherwise."
    )
    examples = (
        "cartridge-import house.rekal --as jonas --dry-run",
        "cartridge-import house.rekal --as jonas --map mira=mira --mount",
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="the file; it is not changed")
        parser.add_argument("--name", metavar="N", help="what to call it here")
        parser.add_argument(
            "--mount", action="store_true", help="mount it, so that your questions look in it alone"
        )
        parser.add_argument(
            "--visibility", metavar="V", help="private, household, JSON, or file: the scopes the file states"
        )
        parser.add_argument(
            "--map",
            action="append",
            metavar="NAME=HOLDER",
            help="who a name in the file is; may be given again",
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would happen, and write nothing")
        parser.add_argument(
            "--passphrase-file", metavar="FILE", help="the passphrase of a sealed file (-: ask for it)"
        )

    def run(self, viewer: Viewer, **options: Any) -> int | None:
        found = bring_in(self, viewer, options, name=options["name"], mount=options["mount"])
        self.show(found, options, imported_lines(found))
        return None
