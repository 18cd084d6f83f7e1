"""Question sets: one JSON object a file, plain or gzipped.

`{"name", "licence", "docs": [{"id", "text", "holder", "time", "lang", "pool"}],
"queries": [{"id", "text", "relevant": [doc ids], "holder", "lang", "pool", "category", "time",
"gold_holders"}]}`.
A question is asked in the household of its pool.
"""

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memories.errors import Invalid

UNNAMED = "unnamed"  # who holds what nobody is named for
GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Doc:
    """A memory of a pool; `holder` is a holder's id."""

    id: str
    text: str
    holder: str
    time: str | None
    lang: str


@dataclass(frozen=True, slots=True)
class Query:
    """A question, the ids of the memories that answer it, and of the holders who know where the set says."""

    id: str
    text: str
    relevant: tuple[str, ...]
    lang: str
    pool: str
    gold_holders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """Pools of memories and the questions asked of them; `sha256` is the file's."""

    name: str
    pools: Mapping[str, tuple[Doc, ...]]
    queries: tuple[Query, ...]
    sha256: str

    def holders(self, pool: str) -> frozenset[str]:
        """Who holds something in a pool."""
        return frozenset(doc.holder for doc in self.pools[pool])

    def languages(self) -> str:
        """`en`, or `zh→en` where the questions are in another language than the memories."""
        asked = "/".join(sorted({query.lang for query in self.queries}))
        held = "/".join(sorted({doc.lang for docs in self.pools.values() for doc in docs}))
        return held if asked == held else f"{asked}→{held}"


def read_set(path: Path) -> EvaluationSet:
    """Read one set. Raises `Invalid` with a sentence when the file is none."""
    try:
        raw = path.read_bytes()
        content = json.loads(gzip.decompress(raw) if raw.startswith(GZIP) else raw)
        evaluation_set = _set(content, path, hashlib.sha256(raw).hexdigest())
    except OSError as error:
        raise Invalid(
            f"{path} cannot be read ({(error.strerror or 'it is damaged').lower()}).", "file"
        ) from None
    except (EOFError, zlib.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Invalid(f"{path} is no question set ({type(error).__name__}: {error}).", "file") from None
    if not evaluation_set.queries:
        raise Invalid(f"{path} has no question that its memories answer.", "file")
    return evaluation_set


def holder_id(name: str | None) -> str:
    """A holder's id from the name a set gives: ids have no spaces."""
    return re.sub(r"\s+", "-", name.strip()) if name and name.strip() else UNNAMED


def holder_name(holder: str) -> str:
    """What a holder is called: ids may have a group in front, as in `conv-26:Melanie`."""
    return holder.rpartition(":")[2] or holder


def _set(content: Mapping[str, Any], path: Path, sha256: str) -> EvaluationSet:
    pools: dict[str, dict[str, Doc]] = {}
    for one in content["docs"]:
        doc = Doc(
            one["id"], one["text"], holder_id(one.get("holder")), one.get("time"), one.get("lang") or ""
        )
        pools.setdefault(one.get("pool") or "", {})[doc.id] = doc
    queries = tuple(
        query
        for one in content["queries"]
        if pools.get((query := _query(one)).pool, {}).keys() & set(query.relevant)
    )
    name = content.get("name") or path.name.partition(".")[0]
    return EvaluationSet(name, {pool: tuple(docs.values()) for pool, docs in pools.items()}, queries, sha256)


def _query(one: Mapping[str, Any]) -> Query:
    return Query(
        id=one["id"],
        text=one["text"],
        relevant=tuple(dict.fromkeys(one["relevant"])),
        lang=one.get("lang") or "",
        pool=one.get("pool") or "",
        gold_holders=tuple(holder_id(name) for name in one.get("gold_holders") or ()),
    )
