"""Ask: look in what the viewer may read; where that does not answer, say whom to ask.

Three ends: `answered`, `referred`, `no_holder_knows`. Nobody knowing is a result, not an error.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

from holders import book, live
from holders.outgoing import Unreachable
from holders.remote import Remote
from holders.who_knows import Knower, rank
from memories.answerability import WORTH_SHOWING
from memories.browse import checked_limit
from memories.cartridges import mounted_by
from memories.errors import Invalid
from memories.recall import recall
from memories.results import Hit
from memories.text import check_text
from memories.visibility import Viewer

MAX_HOPS = 20

Status = Literal["answered", "referred", "no_holder_knows"]


@dataclass(frozen=True, slots=True)
class Referred(Knower):
    """Somebody to ask instead, and the hop at which she was met (1 is the first)."""

    hop: int = 1


@dataclass(frozen=True, slots=True)
class Asked:
    """How a question ended.

    `hops_used` counts the holders visited (0: what the viewer may read answered by itself), `visited` names
    them in order, those that live holders visited under the live holder's id. `answers` is filled when
    answered, `referrals` when referred. `trail` says what came of every holder that was asked live.
    """

    status: Status
    question: str
    hops_used: int
    visited: tuple[str, ...] = ()
    answers: tuple[Hit, ...] = ()
    referrals: tuple[Referred, ...] = ()
    trail: tuple[live.LiveStep, ...] = ()


def ask(
    viewer: Viewer,
    question: str,
    *,
    scenario: str | None = None,
    max_hops: int = 3,
    limit: int = 5,
    visited: Sequence[str] = (),
    note: bool = True,
) -> Asked:
    """Answer a question, or say who may, or that nobody does.

    Hop 0 looks in what the viewer may read, under her mounts and the scenario; then holders are visited best
    first, each at most once, the viewer never, and looked up outside mounts and scenario through the same
    visibility; live ones are asked on their own server. Who is referred to finds it in her book, unless `note` is
    False (a repeated call). `visited` is what another server that passes the question on has visited: when that
    includes this store, it is a loop, and nobody here knows. Raises `Invalid`.
    """
    checked_limit(limit)
    if not 0 <= max_hops <= MAX_HOPS:
        raise Invalid(f"The number of hops is from 0 to {MAX_HOPS}.", "max_hops")
    if live.is_loop(visited):
        check_text(question, "question")
        return Asked("no_holder_knows", question, 0)
    here = recall(viewer, question, limit=limit, scenario=scenario)
    if here.answered:
        return Asked("answered", question, 0, answers=_worth_showing(here.hits))
    walk = Walk(
        viewer, question, limit, max_hops, _is_scoped(viewer, scenario), live.Round(question, limit, visited)
    )
    asked = walk.go()
    if note and walk.known:
        book.note_referrals(
            viewer, "ask", question, ((one.holder_id, one.confidence) for one in walk.known[:limit])
        )
    return asked


def _worth_showing(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits of an answer without those that only happened to come along."""
    return tuple(hit for hit in hits if hit.relevance >= WORTH_SHOWING)


def _is_scoped(viewer: Viewer, scenario: str | None) -> bool:
    """Whether hop 0 saw less than all the viewer may read: a holder's own memories may still answer."""
    return scenario is not None or mounted_by(viewer).exists()


@dataclass(slots=True)
class Walk:
    """The way of one question through the directory, best first; it stops at the first holder who answers."""

    viewer: Viewer
    question: str
    limit: int
    max_hops: int
    scoped: bool
    round: live.Round
    hops: int = 0
    visited: list[str] = field(default_factory=list)
    known: list[Referred] = field(default_factory=list)
    told: list[Referred] = field(default_factory=list)
    trail: list[live.LiveStep] = field(default_factory=list)

    def go(self) -> Asked:
        """Visit holders until one answers or the hops are used up."""
        for holder_id, knower, there in self._route() if self.max_hops else ():
            if self.hops >= self.max_hops:
                break
            self.hops += 1
            self.visited.append(holder_id)
            if (answered := self._visit(holder_id)) is not None:
                return answered
            if knower is not None:
                self.known.append(_referred(knower, self.hops))
            if there is not None and (answered := self._ask_live(there)) is not None:
                return answered
        referrals = (*self.known, *self.told)[: self.limit]
        return self._end("referred" if referrals else "no_holder_knows", referrals=referrals)

    def _route(self) -> Iterator[tuple[str, Knower | None, live.LiveHolder | None]]:
        """Who may know, best first, then the live holders of whom nothing is known here."""
        knowers = {knower.holder_id: knower for knower in rank(self.viewer, self.question, unread=True)}
        holders = live.live_holders(self.viewer)
        for holder_id in self._order(list(knowers)):
            yield holder_id, knowers.get(holder_id), holders.pop(holder_id, None)
        for holder_id, holder in holders.items():
            yield holder_id, None, holder

    def _order(self, unread: list[str]) -> list[str]:
        """Whom to visit: who holds what the viewer may not read; under a scope, whose readable memories fit as well.

        What she may read and what did not answer is no reason to send her to anybody.
        """
        if not self.scoped:
            return unread
        ranked = [knower.holder_id for knower in rank(self.viewer, self.question)]
        return list(dict.fromkeys([*ranked, *unread]))

    def _visit(self, holder_id: str) -> Asked | None:
        """What one holder's memories say that the viewer may read, outside her mounts and the scenario."""
        if not self.scoped:
            return None
        found = recall(self.viewer, self.question, limit=self.limit, holder=holder_id, everywhere=True)
        return self._end("answered", answers=_worth_showing(found.hits)) if found.answered else None

    def _ask_live(self, holder: live.LiveHolder) -> Asked | None:
        """Ask one holder on its own server, and go on when that comes to nothing."""
        hop = self.hops
        try:
            remote = self.round.ask(holder, self.max_hops - hop, self.visited)
        except Unreachable as error:
            self.trail.append(live.LiveStep(holder.holder_id, hop, str(error)))
            return None
        self.trail.append(live.LiveStep(holder.holder_id, hop, OUTCOMES[remote.status]))
        self._take_over(remote)
        return self._end("answered", answers=remote.answers[: self.limit]) if remote.answers else None

    def _take_over(self, remote: Remote) -> None:
        """Count the hops the live holder used, and keep whom it visited and would ask."""
        hop = self.hops
        self.hops = min(self.max_hops, hop + remote.hops_used)
        self.visited += remote.visited
        self.told += [_referred(knower, hop + theirs) for knower, theirs in remote.referrals]

    def _end(
        self, status: Status, *, answers: tuple[Hit, ...] = (), referrals: tuple[Referred, ...] = ()
    ) -> Asked:
        visited = tuple(dict.fromkeys(self.visited))
        return Asked(status, self.question, self.hops, visited, answers, referrals, tuple(self.trail))


OUTCOMES = {
    "answered": "It answered.",
    "referred": "It knows somebody who may know.",
    "no_holder_knows": "It does not know.",
}


def _referred(knower: Knower, hop: int) -> Referred:
    return Referred(**{one.name: getattr(knower, one.name) for one in fields(knower)}, hop=hop)
