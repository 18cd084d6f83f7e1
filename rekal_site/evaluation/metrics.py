"""From rows to figures: the body that `evaluate --json` prints for a set."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rekal_site.evaluation.sets import EvaluationSet
from rekal_site.evaluation.tasks import ANSWERED, HOLDERS_LOOKED_AT, NOBODY, REFERRED, Row

DIGITS = 4
STATES = (ANSWERED, REFERRED, NOBODY)


def body(evaluation_set: EvaluationSet, rows: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """One object a set; null where a task was not run or has nobody to be referred to."""
    return {
        "set": evaluation_set.name,
        "n": len(evaluation_set.queries),
        "recall": recall(evaluation_set, rows.get("recall", ())),
        "who_knows": who_knows(evaluation_set, rows.get("who_knows", ())),
        "referral": referral(rows.get("referral", ())),
        "three_state": three_state(rows.get("three_state", ())),
        "latency_ms": latency(rows.get("recall", ())),
    }


def by_key(evaluation_set: EvaluationSet) -> dict[tuple[str, str], tuple[str, ...]]:
    """The relevant documents by `(pool, question id)`, as rows name a question."""
    return {(query.pool, query.id): query.relevant for query in evaluation_set.queries}


def recall(evaluation_set: EvaluationSet, rows: Sequence[Row]) -> dict[str, float] | None:
    """R@k: share of the relevant in the first k; MRR@10 of the first relevant; hit@5: any in the first five."""
    relevant = by_key(evaluation_set)
    each = [recall_of(row["found"], relevant[row["pool"], row["id"]]) for row in rows]
    return {name: _mean(one[name] for one in each) for name in each[0]} if each else None


def recall_of(found: Sequence[str], relevant: Sequence[str]) -> dict[str, float]:
    """The figures of one question."""
    right = [one in relevant for one in found[:10]]
    return {
        **{f"R@{k}": sum(right[:k]) / len(relevant) for k in (1, 5, 10)},
        "MRR@10": 1 / (right.index(True) + 1) if any(right) else 0.0,
        "hit@5": float(any(right[:5])),
    }


def who_knows(evaluation_set: EvaluationSet, rows: Sequence[Row]) -> dict[str, float] | None:
    """How often the first, or one of the first three, is a holder who knows."""
    gold = {(query.pool, query.id): set(query.gold_holders) for query in evaluation_set.queries}
    if not rows:
        return None
    pairs = [(gold[row["pool"], row["id"]], row["holders"]) for row in rows]
    return {
        "at1": _mean(bool(right & set(holders[:1])) for right, holders in pairs),
        "at3": _mean(bool(right & set(holders[:HOLDERS_LOOKED_AT])) for right, holders in pairs),
        "n": len(rows),
    }


def referral(rows: Sequence[Row]) -> dict[str, float] | None:
    """How often the first referral knows; `leaks` counts replies with private text."""
    if not rows:
        return None
    return {
        "at1": _mean(row["right"] for row in rows),
        "leaks": sum(row["leaked"] for row in rows),
        "n": len(rows),
    }


def three_state(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Macro-F1 over the three states, and `{expected: {got: n}}`.

    An answer without a relevant memory and a referral to the wrong holder are `wrong_answer` and `wrong_holder`:
    they miss their own state and count for no other. `n` counts questions, each asked three times.
    """
    if not rows:
        return None
    confusion: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        confusion[row["expected"]][row["got"]] += 1
    absent = confusion[NOBODY]
    return {
        "macro_f1": _mean(_f1(confusion, state) for state in STATES),
        "false_answered": round(absent[ANSWERED] / max(1, absent.total()), DIGITS),
        "confusion": {state: dict(sorted(confusion[state].items())) for state in STATES},
        "n": confusion[ANSWERED].total(),
    }


def _f1(confusion: Mapping[str, Counter[str]], state: str) -> float:
    right = confusion[state][state]
    missed = confusion[state].total() - right
    wrong = sum(confusion[other][state] for other in STATES if other != state)
    return 2 * right / max(1, 2 * right + missed + wrong)


def latency(rows: Sequence[Row]) -> dict[str, float] | None:
    """Milliseconds of one recall, embedding included, at the median and at the 95th percentile."""
    if not rows:
        return None
    p50, p95 = np.percentile([row["ms"] for row in rows], [50, 95])
    return {"p50": round(float(p50), 2), "p95": round(float(p95), 2)}


def _mean(values: Iterable[float]) -> float:
    listed = [float(value) for value in values]
    return round(sum(listed) / len(listed), DIGITS) if listed else 0.0
