"""`backup`: copy the store while it is in use, and check the copy."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from memories import checks
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.backup import back_up
from rekal_site.management.base import NOTHING, RekalCommand


class Command(RekalCommand):
    """The host's: a backup holds everybody's memories."""

    help = (
        "Copy the store to a file, or into a folder under a name with the time, while it is in use. The copy is "
        "opened and checked before it gets its name. Files of sources go to PATH.sources beside it."
    )
    examples = ("backup before-upgrade.db", "backup ~/backups --keep 14")
    needs_viewer = False
    takes_viewer = False
    needs_model = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="the file to write, or a folder of backups")
        parser.add_argument(
            "--keep",
            type=_at_least_one,
            default=0,
            metavar="N",
            help="in a folder: remove all but the newest N backups",
        )

    def gate(self, *, model: bool = True, secret: bool = False) -> None:
        """A store of an older build is backed up too: that is what one does before an upgrade."""
        for problem in checks.refusals(model=False):
            if problem.id != "rekal.E008":
                self._refuse(f"{problem.msg} {problem.hint or ''}".strip(), NOTHING)

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        with render.progress(self.stderr, "backup") as advance:
            made = back_up(
                settings.REKAL_DB,
                options["path"].expanduser().absolute(),
                keep=options["keep"],
                progress=advance,
            )
        lines = [
            render.line(
                f"{render.memories(made.memories)} and {made.sources} source files in {made.path} "
                f"({made.size_bytes:,} bytes), opened and checked in {made.seconds} s."
            )
        ]
        lines += [render.line(f"  removed {name}") for name in made.removed]
        self.show(made, options, lines)
        return None


def _at_least_one(text: str) -> int:
    """A number from 1 on."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number
