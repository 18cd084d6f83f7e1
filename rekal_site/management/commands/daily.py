"""`daily`: what a store needs once a day, for cron or systemd; `serve` does it too while it runs."""

from dataclasses import dataclass
from typing import Any

from django.core.management.base import CommandParser

from memories import audit
from memories.retention import expire
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import RekalCommand


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log: no text, no ids."""

    at: str
    action: str
    holder_id: str
    by: str
    count: int


class Command(RekalCommand):
    """The host's: it removes lapsed memories of everybody."""

    help = (
        "Remove for good what should not be kept any longer (retention_until), whoever holds it. A line a holder, "
        "with a count and no text, goes to the store’s log: --log shows it."
    )
    examples = ("daily", "daily --dry-run", "daily --log")
    needs_viewer = False
    takes_viewer = False
    needs_model = False
    wipes = True

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="say how many, and remove nothing")
        parser.add_argument("--log", action="store_true", help="show what was removed so far, newest first")

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        if options["log"]:
            found = [Line(one.at, one.action, one.holder_id, one.by, one.count) for one in audit.entries()]
            self.show(found, options, [_logged(one) for one in found])
            return None
        result = expire(dry_run=options["dry_run"])
        what = "would be removed" if result.dry_run else "removed"
        self.show(
            result, options, [render.line(f"{render.memories(result.count)} {what} whose time was over.")]
        )
        return None


def _logged(one: Line) -> Any:
    by = f" by {one.by}" if one.by else ""
    return render.line(f"{one.at}  {one.action}{by}: {one.count} of {one.holder_id or 'nobody'}")
