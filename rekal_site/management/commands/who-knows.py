"""`who-knows`: who may know something, without saying what."""

from typing import Any

from django.core.management.base import CommandParser

from holders.who_knows import who_knows
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import NOTHING, RekalCommand


class Command(RekalCommand):
    """Names holders, best first."""

    help = "Say who may know something. Everybody named can see that you asked, and what."
    examples = ('who-knows "how do I bleed the radiators" --as lea', "who-knows 谁会修水管 --as mira --json")

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("question", help="a question or some words, in any language")
        parser.add_argument("--limit", type=int, default=5, metavar="N", help="at most so many, 1–200 (5)")

    def run(self, viewer: Viewer, **options: Any) -> int | None:
        result = who_knows(viewer, options["question"], limit=options["limit"])
        self.show(result, options, render.who_knows_lines(result))
        if result.holders:
            return None
        self.complain("Nobody here seems to know about this.")
        return NOTHING
