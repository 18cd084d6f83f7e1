"""While somebody writes: what the household calls this, and whether it is known. Hints, never hurdles."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from memories.recall import recall
from memories.results import Hit, Memory
from memories.visibility import Viewer

LOOKED_AT = 8
# Of the signal `meaning`, which is the same for every engine. Pairs that say the same or its opposite ("Ben is
# vegetarian", "Ben eats fish since May") measured 1.26 to 2.1, statements about different things at most 0.7.
SIMILAR = 1.2
RELATED = 0.9
SHOWN = 4
FIELD_SHARE = 0.6  # of the related memories: one person's field


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What the readable memories nearest to a draft suggest."""

    scenarios: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    holder_id: str = ""
    similar: tuple[Memory, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.scenarios or self.tags or self.holder_id or self.similar)


def suggestions(viewer: Viewer, text: str, *, tags: Iterable[str] = ()) -> Suggestions:
    """Hints for a draft, from what its writer may read. Raises `Invalid` for a text no memory could have."""
    if len(text.split()) < 2 and len(text) < 4:
        return Suggestions()
    hits = [
        hit
        for hit in recall(viewer, text, limit=LOOKED_AT).hits
        if hit.signals.get("meaning", 0.0) >= RELATED
    ]
    given = set(tags)
    scenarios = _commonest(hit.memory.scenario for hit in hits)
    found_tags = [
        tag for tag in _commonest(tag for hit in hits for tag in hit.memory.tags) if tag not in given
    ]
    similar = [
        hit.memory for hit in hits if hit.signals["meaning"] >= SIMILAR and viewer.ids & _changers(hit.memory)
    ]
    return Suggestions(
        tuple(scenarios[:SHOWN]), tuple(found_tags[:SHOWN]), _field_of(viewer, hits), tuple(similar[:SHOWN])
    )


def _changers(memory: Memory) -> set[str]:
    return {memory.holder_id, memory.recorded_by}


def _commonest(names: Iterable[str]) -> list[str]:
    return [name for name, _count in Counter(name for name in names if name).most_common()]


def _field_of(viewer: Viewer, hits: list[Hit]) -> str:
    """Somebody else who holds most of what is known about this; at least three memories make a field."""
    counts = Counter(hit.memory.holder_id for hit in hits)
    holder_id, count = counts.most_common(1)[0] if counts else ("", 0)
    return (
        holder_id if count >= 3 and count >= FIELD_SHARE * len(hits) and holder_id not in viewer.ids else ""
    )
