"""One run over a set: what is not kept from before is asked, the rest is read back.

Finished tasks are kept in `settings.REKAL_CACHE` under the file's hash and the version of the code that answers,
so that a run that was cut short goes on with the next task, and a change of one formula asks everything anew.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import holders
import memories
import rekal_site.evaluation
from rekal_site.evaluation.references import named_text, reference_rows
from rekal_site.evaluation.sets import EvaluationSet
from rekal_site.evaluation.stores import Household, throw_away_stores
from rekal_site.evaluation.tasks import SEED, TASKS, Row, Trial, askings
from rekal_site.evaluation.vector_cache import CachingEngine

REFERENCES = "references"
VERSIONS_KEPT = 5

Advance = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Run:
    """What to do: `tasks` are names of `TASKS` and `REFERENCES`; `fresh` reads nothing back.

    `version` is that of the code as it was loaded: see `version_of`.
    """

    tasks: tuple[str, ...]
    folder: Path
    version: str
    fresh: bool = False


def rows_of(
    run: Run, evaluation_set: EvaluationSet, engine: CachingEngine, advance: Advance
) -> dict[str, list[Row]]:
    """The rows of every task over a set; `advance(done, total)` is told how far each is."""
    folder = run.folder / "results" / run.version
    kept = {} if run.fresh else {task: _read(_path(folder, evaluation_set, task)) for task in run.tasks}
    rows = {task: known for task, known in kept.items() if known is not None}
    missing = [task for task in run.tasks if task not in rows]
    if missing:
        with ExitStack() as stack:
            trial = _trial(stack, evaluation_set, engine, missing, advance)
            for task in missing:
                rows[task] = list(_asked(task, trial, advance))
                _write(_path(folder, evaluation_set, task), rows[task])
        _drop_old_versions(folder)
    return rows


def _trial(
    stack: ExitStack,
    evaluation_set: EvaluationSet,
    engine: CachingEngine,
    tasks: Sequence[str],
    advance: Advance,
) -> Trial:
    """Make the set's households; the references alone need none."""
    docs_of_all = [doc for docs in evaluation_set.pools.values() for doc in docs]
    texts = [doc.text for doc in docs_of_all] if tasks != [REFERENCES] else []
    texts += [named_text(doc) for doc in docs_of_all] if REFERENCES in tasks else []
    engine.prepare(texts, advance)
    if tasks == [REFERENCES]:
        households = {pool: Household(pool, Path(), docs) for pool, docs in evaluation_set.pools.items()}
    else:
        stores = stack.enter_context(throw_away_stores())
        households = {pool: stores.household(pool, docs) for pool, docs in evaluation_set.pools.items()}
    return Trial(evaluation_set, households, engine)


def _asked(task: str, trial: Trial, advance: Advance) -> Iterator[Row]:
    references = task == REFERENCES
    total = len(trial.evaluation_set.queries) if references else askings(task, trial)
    rows: Iterable[Row] = reference_rows(trial) if references else TASKS[task](trial)
    for done, row in enumerate(rows, start=1):
        advance(done, total)
        yield row


def limited(evaluation_set: EvaluationSet, limit: int | None) -> EvaluationSet:
    """The set with a sample of at most so many questions, the same each time."""
    queries = evaluation_set.queries
    if limit is None or limit >= len(queries):
        return evaluation_set
    chosen = sorted(Random(SEED).sample(range(len(queries)), limit))  # noqa: S311  (a sample)
    return replace(
        evaluation_set,
        queries=tuple(queries[number] for number in chosen),
        sha256=f"{evaluation_set.sha256}-{limit}",
    )


def version_of(model: str) -> str:
    """A hash over the model's name and every file that has a part in an answer or its measurement."""
    digest = hashlib.sha256(model.encode())
    for package in (memories, holders, rekal_site.evaluation):
        folder = Path(package.__path__[0])
        for path in sorted(one for one in folder.rglob("*") if one.suffix in {".py", ".txt", ".npy", ".npz"}):
            digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _path(folder: Path, evaluation_set: EvaluationSet, task: str) -> Path:
    return folder / f"{evaluation_set.sha256}-{task}.json"


def _read(path: Path) -> list[Row] | None:
    try:
        rows: list[Row] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return rows


def _write(path: Path, rows: list[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    half = path.with_suffix(f".{os.getpid()}")
    half.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
    half.replace(path)


def _drop_old_versions(current: Path) -> None:
    others = sorted(
        (one for one in current.parent.iterdir() if one != current), key=lambda one: one.stat().st_mtime
    )
    for folder in others[: max(0, len(others) - VERSIONS_KEPT + 1)]:
        shutil.rmtree(folder, ignore_errors=True)
