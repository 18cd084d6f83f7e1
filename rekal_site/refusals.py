"""Sentences that the API and MCP share: for an argument that does not fit, and for a fault of ours."""

import logging
import traceback
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

FAILED = "Something went wrong here; nothing was changed."


def note_fault(error: Exception) -> str:
    """Log an unexpected error's kind and place, and return what to say.

    Its own message, which may quote a memory, gets into neither.
    """
    last = traceback.extract_tb(error.__traceback__)[-1]
    logger.error(
        "%s in %s, line %s (%s)", type(error).__name__, Path(last.filename).name, last.lineno, last.name
    )
    return FAILED


def sentence_about(name: str, problem: dict[str, Any]) -> str:
    """The sentence for a problem with the field or parameter `name`; '' is the call as a whole."""
    kind, given = problem["type"], problem.get("ctx", {})
    if kind in ("unknown_parameter", "extra_forbidden"):
        unknown = given.get("name") or str(problem["loc"][-1])
        return f"There is no field or parameter “{unknown[:40]}” here."
    if kind == "missing":
        return f"“{name}” is missing." if name else "The call needs a JSON body."
    if kind in ("greater_than_equal", "less_than_equal", "int_parsing", "int_type", "int_from_float"):
        return f"“{name}” is a number{_bounds(name)}."
    if kind == "string_too_long":
        return f"“{name}” may have at most {given['max_length']} characters."
    if kind == "string_unicode":
        return f"“{name}” holds half a character; send well-formed Unicode."
    return f"“{name}” cannot be read: {problem['msg'][:1].lower()}{problem['msg'][1:120]}."


def _bounds(name: str) -> str:
    return {"limit": " from 1 to 200", "max_hops": " from 0 to 20", "min_relevance": " from 0 to 1"}.get(
        name, ""
    )
