"""`prune`: remove many of one's own memories by scenario, age or lapsed retention."""

from typing import Any

from django.core.management.base import CommandParser

from memories.forget import prune
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import NOTHING, RekalCommand


class Command(RekalCommand):
    """A dry run until `--yes`."""

    help = "Remove your own memories by scenario, age or lapsed retention. A dry run until --yes."
    examples = (
        "prune --as mira --lapsed",
        "prune --as mira --scenario travel --before 2024-01-01 --yes",
    )
    needs_model = False
    wipes = True

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--scenario", metavar="S", help="only memories of this scenario")
        parser.add_argument("--before", metavar="T", help="only what was written down before this time")
        parser.add_argument("--lapsed", action="store_true", help="only what should not be kept any longer")
        parser.add_argument("--yes", action="store_true", help="do it")

    def run(self, viewer: Viewer, **options: Any) -> int | None:
        result = prune(
            viewer,
            scenario=options["scenario"],
            before=options["before"],
            lapsed=options["lapsed"],
            dry_run=not options["yes"],
        )
        self.show(result, options, render.pruned_lines(result) if result.count else ())
        if result.count:
            return None
        self.complain("None of your memories fits this.")
        return NOTHING
