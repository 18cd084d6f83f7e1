"""Who knows about this? Holders ranked by what they hold, readable or not, and what they declare.

"She knows" is the answer, and the answer is filtered: what the viewer cannot read counts as an ordinal alone,
and is given away by one constant sentence. Raw numbers and reasons cover what the viewer may read and what
the holder declared. The narrow door to hidden memories is `memories.hidden`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from holders import book
from holders.helpfulness import helped_before
from holders.models import Holder
from holders.registry import sees_contacts
from holders.topics import DeclaredTopic, declared
from memories.browse import checked_limit
from memories.hidden import Standing, standings
from memories.text import check_text
from memories.visibility import Viewer

ORDINALS = ("possible", "likely", "strong")
HOLDS_HIDDEN = "Holds something about this that you cannot read."


@dataclass(frozen=True, slots=True)
class Knower:
    """Somebody who may know. `confidence` is strong, likely or possible; `basis` the reasons in sentences."""

    holder_id: str
    name: str
    kind: str
    registered: bool
    confidence: str
    basis: tuple[str, ...] = ()
    contact: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WhoKnows:
    """Who may know, best first."""

    query: str
    holders: tuple[Knower, ...] = ()


def who_knows(viewer: Viewer, question: str, limit: int = 5, *, note: bool = True) -> WhoKnows:
    """The holders who may know, best first; who is named finds the question in her book. Raises `Invalid`."""
    checked_limit(limit)
    found = tuple(rank(viewer, question)[:limit])
    if note:
        book.note_referrals(viewer, "who_knows", question, ((one.holder_id, one.confidence) for one in found))
    return WhoKnows(question, found)


def rank(viewer: Viewer, question: str, *, unread: bool = False) -> list[Knower]:
    """Everybody who may know but the viewer herself, best first; notes nothing.

    By confidence, then as `standings` orders them, then by how well a declared topic fits. `unread` leaves aside
    what the viewer may read herself.
    """
    check_text(question, "question")
    holders = {holder.holder_id: holder for holder in Holder.objects.all()}
    standing = {one.holder_id: one for one in standings(viewer, question, unread=unread)}
    topics = declared(viewer, question, holders.values())
    helpful = helped_before(viewer, question)
    order = {holder_id: place for place, holder_id in enumerate(standing)}
    ids = (standing.keys() | topics.keys() | helpful.keys()) - viewer.ids - {""}
    ranked = sorted(
        (
            -_level(standing.get(one), topics.get(one), helped=one in helpful),
            order.get(one, len(order)),
            _fit(topics.get(one)),
            one,
        )
        for one in ids
    )
    return [
        _knower(
            viewer,
            holders.get(holder_id) or Holder(holder_id=holder_id),
            -level,
            _basis(standing.get(holder_id), topics.get(holder_id), helpful.get(holder_id, "")),
        )
        for level, _, _, holder_id in ranked
    ]


def _fit(topic: DeclaredTopic | None) -> tuple[float, float]:
    """Sorts the best fitting topic first."""
    return (-topic.coverage, -topic.nearness) if topic else (0.0, 0.0)


def _level(standing: Standing | None, topic: DeclaredTopic | None, *, helped: bool = False) -> int:
    """The place in `ORDINALS`: what the holder holds, one more for a topic she declared or an answer that helped.

    A topic alone is likely when it fits well, else possible; so is an answer that helped.
    """
    levels = [] if topic is None else [int(topic.fits_well)]
    if helped:
        levels.append(0)
    if standing is not None:
        levels.append(ORDINALS.index(standing.strength))
    return min(max(levels) + (len(levels) > 1), len(ORDINALS) - 1)


def _knower(viewer: Viewer, holder: Holder, level: int, basis: Iterable[str]) -> Knower:
    """What `viewer` learns of somebody who may know; an unsaved holder is an unregistered one."""
    registered = not holder._state.adding
    return Knower(
        holder_id=holder.holder_id,
        name=holder.name,
        kind=holder.kind if registered else "",
        registered=registered,
        confidence=ORDINALS[level],
        basis=tuple(basis),
        contact=holder.contact if sees_contacts(viewer, holder.holder_id) else {},
    )


def _basis(standing: Standing | None, topic: DeclaredTopic | None, helpful: str) -> Iterable[str]:
    """The reasons: readable memories, declared topics, answers that helped, and one constant line for the rest."""
    if standing is not None:
        yield from standing.basis
        if standing.hidden:
            yield HOLDS_HIDDEN
    if topic is not None:
        yield topic.sentence
    if helpful:
        yield helpful
