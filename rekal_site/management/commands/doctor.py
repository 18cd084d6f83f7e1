"""`doctor`: whether the store is sound, and rebuilding what can be rebuilt."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from memories.doctor import diagnose, repair
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import NOTHING, RekalCommand


class Command(RekalCommand):
    """Says what is wrong in sentences; `--fix` rebuilds indexes from the memories themselves."""

    help = "Check the store: every memory with one index row and one vector, sound columns, no orphans."
    examples = ("doctor", "doctor --fix", "doctor --json")
    needs_viewer = False
    needs_model = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--fix", action="store_true", help="rebuild indexes and vectors from the memories"
        )

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        findings = diagnose()
        fixed: list[str] = []
        if options["fix"] and any(one.repair for one in findings):
            before = {one.id for one in findings}
            repair(findings)
            findings = diagnose()
            fixed = sorted(before - {one.id for one in findings})
        result = {"sound": not findings, "findings": [asdict(one) for one in findings], "fixed": fixed}
        self.show(result, options, () if findings else [render.line(_all_well(fixed))])
        for one in findings:
            examples = f" For example: {', '.join(one.examples)}." if one.examples else ""
            advice = " (--fix rebuilds it.)" if one.repair and not options["fix"] else ""
            self.complain(f"{one.sentence}{examples}{advice}")
        return NOTHING if findings else None


def _all_well(fixed: list[str]) -> str:
    return f"The store is sound again; rebuilt: {', '.join(fixed)}." if fixed else "The store is sound."
