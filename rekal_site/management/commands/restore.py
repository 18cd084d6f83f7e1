"""`restore`: put a backup in the store's place."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.db import connections

from memories.visibility import Viewer
from rekal_site import render
from rekal_site.backup import restore
from rekal_site.management.base import RekalCommand


class Command(RekalCommand):
    """Needs no sound store: that is when one restores."""

    help = (
        "Put a backup in the place of the store that REKAL_DB names. The backup is checked first and not changed; "
        "a store that is there is kept beside it, and only gives way to --yes. Stop the server before."
    )
    examples = ("restore ~/backups/rekal-20261130T030000Z.db", "restore before-upgrade.db --yes")
    needs_viewer = False
    takes_viewer = False
    needs_store = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="the backup")
        parser.add_argument("--yes", action="store_true", help="put the store that is there aside")

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        connections.close_all()
        found = restore(options["path"].expanduser().absolute(), settings.REKAL_DB, overwrite=options["yes"])
        lines = [
            render.line(
                f"{render.memories(found.memories)} and {found.sources} source files are back in {found.path}."
            )
        ]
        if found.kept:
            lines.append(
                render.line(f"The former store is kept as {found.kept}; delete it when you need it no more.")
            )
        if found.older:
            lines.append(render.line("The backup is of an older rekal; bring it up to date: rekal migrate."))
        self.show(found, options, lines)
        return None
