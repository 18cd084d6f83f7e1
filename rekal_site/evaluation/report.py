"""Tables for people: figures a set, ours beside the references, confusion matrices, the worst questions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from rekal_site import render
from rekal_site.evaluation import metrics
from rekal_site.evaluation.references import FORMULAS, reference_figures
from rekal_site.evaluation.runs import REFERENCES
from rekal_site.evaluation.sets import EvaluationSet, Query
from rekal_site.evaluation.tasks import Row

COMPARED = ("R@5", "R@10", "MRR@10")
SHOWN_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Result:
    """What a run over a set came to; `rows` are those of its tasks by name."""

    evaluation_set: EvaluationSet
    rows: Mapping[str, Sequence[Row]]
    worst_shown: int = 0

    def body(self) -> dict[str, Any]:
        """The object `--json` prints: `references` and `worst` only when they were asked for."""
        body = metrics.body(self.evaluation_set, self.rows)
        if REFERENCES in self.rows:
            body["references"] = self.references()
        if self.worst_shown:
            body["worst"] = worst(self)
        return body

    def references(self) -> dict[str, Any]:
        """By formula: its recall figures and, where the set says who knows, whether the first hit's holder does."""
        rows = self.rows[REFERENCES]
        figures: dict[str, Any] = reference_figures(metrics.by_key(self.evaluation_set), rows)
        for name in FORMULAS:
            held = [{**row, "holders": [row["holder"][name]]} for row in rows]
            known = metrics.who_knows(
                self.evaluation_set, [row for row in held if self.query(row).gold_holders]
            )
            if known:
                figures[name]["who_knows_at1"] = known["at1"]
        return figures

    def query(self, row: Row) -> Query:
        """The question a row is about."""
        return next(
            one for one in self.evaluation_set.queries if (one.pool, one.id) == (row["pool"], row["id"])
        )


def worst(result: Result) -> list[dict[str, Any]]:
    """The questions whose relevant memories were found last or not at all, with what stood first instead."""
    relevant = metrics.by_key(result.evaluation_set)
    texts = {(pool, doc.id): doc.text for pool, docs in result.evaluation_set.pools.items() for doc in docs}

    def quality(row: Row) -> tuple[float, float]:
        figures = metrics.recall_of(row["found"], relevant[row["pool"], row["id"]])
        return figures["MRR@10"], figures["R@10"]

    rows = sorted(result.rows.get("recall", ()), key=quality)[: result.worst_shown]
    return [
        {
            "question": result.query(row).text,
            "relevant": [texts.get((row["pool"], one), "") for one in relevant[row["pool"], row["id"]]],
            "first": texts[row["pool"], row["found"][0]] if row["found"] else "",
            "MRR@10": round(quality(row)[0], 3),
        }
        for row in rows
    ]


def lines(results: Sequence[Result]) -> Iterator[RenderableType]:
    """Everything a run prints for people."""
    yield _figures(results)
    if any(REFERENCES in result.rows for result in results):
        yield render.line("\nBeside the references: ", " ".join(COMPARED))
        yield _comparison(results)
    for result in results:
        yield from _confusion(result)
        if result.worst_shown:
            yield from _worst_lines(result)


def _figures(results: Sequence[Result]) -> Table:
    table = _table("set", "language", "n", "R@1", "R@5", "R@10", "MRR@10", "hit@5", "who 1st", "who 3")
    for title in ("referred", "leaks", "macro-F1", "false answered", "p50 ms", "p95 ms"):
        table.add_column(title, justify="right")
    for result in results:
        body = metrics.body(result.evaluation_set, result.rows)
        table.add_row(
            result.evaluation_set.name,
            result.evaluation_set.languages(),
            str(body["n"]),
            *(_number(body["recall"], name) for name in ("R@1", "R@5", "R@10", "MRR@10", "hit@5")),
            *(_number(body["who_knows"], name) for name in ("at1", "at3")),
            *(_number(body["referral"], name) for name in ("at1", "leaks")),
            *(_number(body["three_state"], name) for name in ("macro_f1", "false_answered")),
            *(_number(body["latency_ms"], name, 1) for name in ("p50", "p95")),
        )
    return table


def _comparison(results: Sequence[Result]) -> Table:
    """Ours beside each reference; a star where none of them is better in any of the three."""
    table = _table("set", "ours", *FORMULAS, "best")
    for result in results:
        own = metrics.recall(result.evaluation_set, result.rows.get("recall", ()))
        if REFERENCES not in result.rows or own is None:
            continue
        others = result.references()
        best = all(own[name] >= max(one[name] for one in others.values()) for name in COMPARED)
        cells = [" ".join(f"{figures[name]:.3f}" for name in COMPARED) for figures in (own, *others.values())]
        table.add_row(result.evaluation_set.name, *cells, "*" if best else "")
    return table


def _confusion(result: Result) -> Iterator[RenderableType]:
    state = metrics.three_state(result.rows.get("three_state", ()))
    if state is None:
        return
    yield render.line(f"\n{result.evaluation_set.name}: {state['n']} questions, expected → got")
    for expected, got in state["confusion"].items():
        yield render.line(f"  {expected} → ", ", ".join(f"{status} {count}" for status, count in got.items()))


def _worst_lines(result: Result) -> Iterator[RenderableType]:
    yield render.line(f"\n{result.evaluation_set.name}: the worst questions")
    for one in worst(result):
        yield render.line("  ", (_short(one["question"]), "bold"))
        for text in one["relevant"]:
            yield render.line("    wanted  ", _short(text))
        yield render.line("    first   ", _short(one["first"]))


def _short(text: str) -> str:
    together = " ".join(text.split())
    return together if len(together) <= SHOWN_CHARACTERS else together[:SHOWN_CHARACTERS] + "…"


def _table(first: str, *titles: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, no_wrap=True)
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    return table


def _number(figures: Mapping[str, Any] | None, name: str, digits: int = 3) -> str:
    if figures is None:
        return "–"
    value = figures[name]
    return str(value) if isinstance(value, int) else f"{value:.{digits}f}"
