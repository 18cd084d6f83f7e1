"""`evaluate`: how right the answers are, measured on question sets."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from memories.errors import Invalid
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.evaluation import report
from rekal_site.evaluation.runs import REFERENCES, Run, limited, rows_of, version_of
from rekal_site.evaluation.sets import EvaluationSet, read_set
from rekal_site.evaluation.tasks import TASKS
from rekal_site.evaluation.vector_cache import CachingEngine, cached_engine
from rekal_site.management.base import RekalCommand


class Command(RekalCommand):
    """Works in throw-away stores; the household's is never opened."""

    help = (
        "Measure recall, who_knows, referral and the three outcomes of ask on question sets, in throw-away "
        "stores. Vectors and finished tasks are kept in REKAL_CACHE: a second run is fast, and one that was cut "
        "short goes on."
    )
    examples = (
        "evaluate locomo_a.json.gz --references",
        "evaluate *.json.gz --json",
        "evaluate memorybank_zh.json.gz --tasks recall --worst 10",
    )
    needs_viewer = False
    takes_viewer = False
    needs_store = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "files", nargs="+", type=Path, metavar="FILE", help="a question set: JSON, also gzipped"
        )
        parser.add_argument(
            "--references", action="store_true", help="also BM25, vectors, the seed’s formula and RRF"
        )
        parser.add_argument(
            "--limit", type=int, metavar="N", help="a sample of at most so many questions a set"
        )
        parser.add_argument("--tasks", metavar="T,…", help=f"only these, of {', '.join(TASKS)}")
        parser.add_argument(
            "--worst", type=int, default=0, metavar="N", help="also the N questions recalled worst"
        )
        parser.add_argument("--fresh", action="store_true", help="ask everything anew, whatever is kept")

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        if options["limit"] is not None and options["limit"] < 1:
            raise Invalid("--limit is at least 1.", "limit")
        tasks = (*_tasks(options["tasks"]), *([REFERENCES] if options["references"] else ()))
        run = Run(
            tasks, settings.REKAL_CACHE / "evaluate", version_of(settings.REKAL_ENGINE), options["fresh"]
        )
        sets = [limited(read_set(path), options["limit"]) for path in options["files"]]
        with cached_engine(run.folder) as engine:
            results = [report.Result(one, self._rows(run, one, engine), options["worst"]) for one in sets]
        bodies = [result.body() for result in results]
        self.show(bodies if len(bodies) > 1 else bodies[0], options, report.lines(results))
        return None

    def _rows(
        self, run: Run, evaluation_set: EvaluationSet, engine: CachingEngine
    ) -> dict[str, list[dict[str, Any]]]:
        """The rows of one set, each of its tasks with a bar of its own while it runs."""
        with render.progress(self.stderr, evaluation_set.name) as advance:
            return rows_of(run, evaluation_set, engine, advance)


def _tasks(named: str | None) -> Sequence[str]:
    """The tasks by name, in their order. Raises `Invalid`."""
    if named is None:
        return tuple(TASKS)
    wanted = [one.strip().replace("-", "_") for one in named.split(",") if one.strip()]
    if not wanted or not set(wanted) <= TASKS.keys():
        raise Invalid(f"--tasks takes some of {', '.join(TASKS)}.", "tasks")
    return tuple(one for one in TASKS if one in wanted)
