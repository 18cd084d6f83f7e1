"""`ask`: an answer, somebody to ask, or nobody who knows."""

from typing import Any

from django.core.management.base import CommandParser

from holders.ask import ask
from holders.registry import names_of
from memories.store import zone
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import NOTHING, RekalCommand


class Command(RekalCommand):
    """Asks the viewer's own scope first, then the household, holder by holder."""

    help = "Ask the household: an answer, the person to ask, or that nobody knows (exit code 1)."
    examples = (
        'ask "where is the spare key" --as lea',
        'ask "when is the boiler serviced" --as lea --scenario house --max-hops 2',
        'ask "which notary keeps the will" --as jonas --json',
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("question", help="the question, in any language")
        parser.add_argument("--scenario", metavar="S", help="the situation at hand (default: any)")
        parser.add_argument(
            "--max-hops", type=int, default=3, metavar="N", help="visit at most so many holders (3)"
        )
        parser.add_argument(
            "--limit", type=int, default=5, metavar="N", help="at most so many answers, 1–200 (5)"
        )

    def run(self, viewer: Viewer, **options: Any) -> int | None:
        result = ask(
            viewer,
            options["question"],
            scenario=options["scenario"],
            max_hops=options["max_hops"],
            limit=options["limit"],
        )
        nobody = result.status == "no_holder_knows"
        names = names_of({*result.visited, *(hit.memory.holder_id for hit in result.answers)})
        lines = render.ask_lines(result, names, zone())
        self.show(result, options, () if nobody else lines)
        if not nobody:
            return None
        self.complain(lines[0].plain)
        return NOTHING
