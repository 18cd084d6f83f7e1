"""`holder-merge`: two holder ids that are one."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from holders.merge import Merged, merge_holders
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import RekalCommand


class Command(RekalCommand):
    """A dry run until `--yes`."""

    help = "Make everything of one holder id another’s: memories, readers, tokens, questions. A dry run until --yes."
    examples = ("holder-merge mum mira", "holder-merge mum mira --yes")
    needs_viewer = False
    takes_viewer = False
    needs_model = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", help="the id that goes")
        parser.add_argument("into", help="the id that stays")
        parser.add_argument("--yes", action="store_true", help="do it")

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        result = merge_holders(options["id"], options["into"], dry_run=not options["yes"])
        self.show(asdict(result), options, _lines(result))
        return None


def _lines(result: Merged) -> render.Lines:
    did = "would become" if result.dry_run else "became"
    lines = [render.line(f"What is {result.holder_id}’s {did} {result.into}’s:")]
    lines += [render.line(f"  {count:,} × {name}") for name, count in result.rows.items()]
    if result.dry_run:
        lines.append(render.line("Nothing was changed. Make a backup, then run it again with --yes."))
    return lines
