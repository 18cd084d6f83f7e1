"""`recall`: the memories that fit a question best."""

from typing import Any

from django.core.management.base import CommandParser

from holders.registry import names_of
from memories.recall import recall
from memories.store import zone
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import NOTHING, RekalCommand


class Command(RekalCommand):
    """Searches what the viewer may read."""

    help = "Find the memories that fit a question or some words best, among those you may read."
    examples = (
        'recall "where is the spare key" --as mira',
        "recall 备用钥匙 --as mira --limit 3",
        'recall "router password" --as mira --scenario house --json',
        'recall "Ben\'s diet" --as mira --as-of 2024-05-01',
        "recall --as mira -- --child-lock     (a query that begins with a dash)",
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("query", help="a question or some words, in any language")
        parser.add_argument("--limit", type=int, default=10, metavar="N", help="at most so many, 1–200 (10)")
        parser.add_argument(
            "--scenario", metavar="S", help="the situation: memories of it, and of any (default: all)"
        )
        parser.add_argument("--holder", metavar="ID", help="only this holder’s memories")
        parser.add_argument("--tag", metavar="T", help="only memories with this tag")
        parser.add_argument("--cartridge", metavar="ID", help="only memories in this cartridge")
        parser.add_argument(
            "--as-of", metavar="T", help="as the store knew the world then: 2024-05-01 (that day’s end)"
        )
        parser.add_argument("--min-relevance", type=float, metavar="R", help="leave out hits below this, 0–1")

    def run(self, viewer: Viewer, **options: Any) -> int | None:
        filters = ("limit", "scenario", "holder", "tag", "cartridge", "as_of", "min_relevance")
        result = recall(viewer, options["query"], **{name: options[name] for name in filters})
        names = names_of({hit.memory.holder_id for hit in result.hits})
        self.show(result, options, render.hit_lines(result.hits, names, zone()))
        if result.hits:
            return None
        self.complain("Nothing you may read fits this.")
        return NOTHING
