"""Recall: what the viewer may read about a question, best first, each hit with the reasons for its rank.

Lifecycle: take the question apart, embed it, let both arms fetch candidates inside the readable, current, scenario,
mount, holder and tag filters, look at their neighbours in the same source, score, floor on relevance, sort, cut.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from django.db.models import Q
from django.db.models.functions import Substr

from memories import timestamps, vectors
from memories.answerability import answers, asks_about_lately, asks_about_past, relevance, weigh
from memories.background import Background, background_of
from memories.browse import checked_limit
from memories.cartridges import mounted_by, visible_cartridges
from memories.drafts import checked_moment
from memories.embedding import Vector, cache
from memories.fields import JSONListContains
from memories.models import Atom
from memories.names import known_names
from memories.results import Hit, Recall, memories_for
from memories.scoring import (
    Candidate,
    Passage,
    Question,
    Scored,
    Statistics,
    neighbour_sources,
    read_question,
    score,
)
from memories.search import Found, find, held_terms
from memories.store import zone
from memories.text import check_text
from memories.time_expressions import NEAR_DAYS, PartialDate
from memories.visibility import AtomQuerySet, Viewer

FETCHED = 3  # times the limit, from each arm
FETCHED_AT_LEAST = 50
NEIGHBOURS_OF = 20  # the best of each arm, whose neighbours in the same source become candidates too
UNRELATED = 0.3  # of `meaning`: 0 is as near as any sentence, answers have about 1
MEANS_NEARLY, MEANS_SOMETHING = 0.75, 0.4  # of `meaning`, for the sentences alone
SHOWN_WORDS = 6


@dataclass(frozen=True, slots=True)
class Filters:
    """What narrows a question besides visibility; `everywhere` leaves the viewer's mounts aside."""

    scenario: str | None = None
    holder: str | None = None
    tag: str | None = None
    cartridge: str | None = None
    as_of: str | None = None
    everywhere: bool = False


def recall(
    viewer: Viewer,
    query: str,
    *,
    limit: int = 10,
    scenario: str | None = None,
    holder: str | None = None,
    tag: str | None = None,
    cartridge: str | None = None,
    as_of: str | None = None,
    min_relevance: float | None = None,
    everywhere: bool = False,
) -> Recall:
    """The readable memories about `query`, best first. `answered` says whether the best of them answers it.

    `scenario` matches itself and memories of no scenario; `as_of` asks what the store knew then. Questions about
    what used to be also find closed memories. Deterministic: ties break on newest, then atom_id. Raises `Invalid`.
    """
    checked_limit(limit)
    check_text(query, "question")
    filters = Filters(scenario, holder, tag, cartridge, as_of, everywhere)
    ranked = rank(viewer, query, searched(viewer, query, filters), limit)
    floor = (lambda one: one.relevance >= min_relevance) if min_relevance is not None else _has_to_do_with_it
    shown = list(islice(filter(floor, ranked), limit))
    atoms = [one.atom for one in shown]
    hits = tuple(
        Hit(memory, one.scored.score, one.relevance, one.scored.signals, one.basis)
        for one, memory in zip(shown, memories_for(viewer, atoms), strict=True)
    )
    return Recall(query, hits, answered=answers([hit.relevance for hit in hits]))


def _has_to_do_with_it(one: "Ranked") -> bool:
    """Not one word, date or name in common, and no nearer in meaning than any sentence: that is no hit."""
    signals = one.scored.signals
    return any(signals[name] > 0 for name in ("words", "named", "dated")) or signals["meaning"] >= UNRELATED


def searched(viewer: Viewer, query: str, filters: Filters) -> AtomQuerySet:
    """The readable atoms that a question under these filters may find."""
    atoms = Atom.objects.visible_to(viewer)
    if filters.as_of is not None:
        moment = checked_moment(filters.as_of, "as_of", zone(), end_of_day=True)
        atoms = atoms.known_at(moment or timestamps.now())
    elif asks_about_past(query):
        atoms = atoms.ever_true()
    else:
        atoms = atoms.current()
    if filters.scenario is not None:
        atoms = atoms.filter(scenario__in=[filters.scenario, ""])
    if filters.holder is not None:
        atoms = atoms.filter(holder_id=filters.holder)
    if filters.tag is not None:
        atoms = atoms.filter(JSONListContains("tags", "$", [filters.tag]))
    return _in_cartridges(viewer, atoms, filters)


def _in_cartridges(viewer: Viewer, atoms: AtomQuerySet, filters: Filters) -> AtomQuerySet:
    """Inside the named cartridge, else inside the viewer's mounts if she has any: a union, never wider than visible."""
    if filters.cartridge is not None:
        return atoms.filter(cartridges__in=visible_cartridges(viewer).filter(pk=filters.cartridge))
    if filters.everywhere or not (ids := list(mounted_by(viewer).values_list("pk", flat=True))):
        return atoms
    return atoms.filter(atom_id__in=Atom.objects.filter(cartridges__in=ids).values("atom_id"))


@dataclass(frozen=True, slots=True)
class Ranked:
    """A scored atom with its calibrated relevance and the sentences behind both."""

    atom: Atom
    scored: Scored
    relevance: float
    basis: tuple[str, ...]


def rank(viewer: Viewer, query: str, atoms: AtomQuerySet, limit: int) -> Iterator[Ranked]:
    """Score the best candidates of `atoms` (readable ones) for a question; best first.

    Relevance reads a memory's sentences, so it is worked out as the iterator goes: for what is shown alone.
    """
    names = known_names(viewer, query)
    question = read_question(
        query, [one for called in names.values() for one in called], asks_about_lately(query)
    )
    engine = cache.engine()
    vectors.require_model(engine)
    background = background_of(engine)
    vector = cache.embed_query(viewer, question.content)
    aimed, fetched = background.aim(vector), max(FETCHED_AT_LEAST, FETCHED * limit)
    found = find(atoms, question.terms, aimed, fetched)
    if not found.pks:
        return
    statistics = Statistics(found.memories, found.frequencies)
    dated = find(happened(atoms, question.dates), (), aimed, fetched).pks if question.dates else ()
    rows, near = _with_neighbours(atoms, found, dated)
    passages = _passages([*rows.values(), *near.values()], question)
    scored = score(
        question,
        vector,
        [_candidate(atom, passages[atom.pk], names) for atom in rows.values()],
        {source: passages[atom.pk] for source, atom in near.items()},
        statistics,
        datetime.now(UTC).replace(
            hour=0, minute=0, second=0, microsecond=0
        ),  # the same all day: replies are repeatable
        background,
    )
    for one in scored:
        yield _ranked(one, rows[one.candidate.pk], question, vector, statistics, background)


def happened(atoms: AtomQuerySet, dates: Sequence[PartialDate]) -> AtomQuerySet:
    """The atoms whose event may lie near one of the dates: a wide net, for `PartialDate.nearness` to judge."""
    near = Q(pk__in=[])
    for one in dates:
        if one.month is None:
            near |= Q(event_time__startswith=f"{one.year:04d}")
        elif one.year is None:
            near |= Q(month__in=[f"{month:02d}" for month in (one.month, one.month % 12 + 1)])
        else:
            begin = date(one.year, one.month, 1)
            near |= Q(
                event_time__gte=(begin - timedelta(days=NEAR_DAYS)).isoformat(),
                event_time__lt=(begin + timedelta(days=62 + NEAR_DAYS)).isoformat(),
            )
    found: AtomQuerySet = atoms.alias(month=Substr("event_time", 6, 2)).filter(near)
    return found


def _with_neighbours(
    atoms: AtomQuerySet, found: Found, dated: Sequence[int]
) -> tuple[dict[int, Atom], dict[str, Atom]]:
    """Candidate atoms by primary key, the neighbours of the best among them, and all their neighbours by source."""
    rows = {atom.pk: atom for atom in Atom.objects.filter(pk__in={*found.pks, *dated})}
    best = [rows[pk] for pk in found.best(NEIGHBOURS_OF) if pk in rows]
    rows |= {atom.pk: atom for atom in _neighbours(atoms, best).values()}
    return rows, _neighbours(atoms, list(rows.values()))


def _neighbours(atoms: AtomQuerySet, candidates: Sequence[Atom]) -> dict[str, Atom]:
    """The readable atoms just before and after the candidates in the same source, by locator; the newest of each."""
    wanted = {source for atom in candidates for source in neighbour_sources(atom.source)}
    if not wanted:
        return {}
    return {atom.source: atom for atom in atoms.filter(source__in=wanted).order_by("pk")}


def _passages(atoms: Sequence[Atom], question: Question) -> dict[int, Passage]:
    """Text, vector and held terms of each atom, by primary key: one query for the vectors, one for the terms."""
    pks = list({atom.pk for atom in atoms})
    stored, held = vectors.read_vectors(pks), held_terms(pks, question.terms)
    nothing: frozenset[str] = frozenset()
    return {atom.pk: Passage(atom.text, stored.get(atom.pk), held.get(atom.pk, nothing)) for atom in atoms}


def _candidate(atom: Atom, passage: Passage, names: Mapping[str, tuple[str, ...]]) -> Candidate:
    return Candidate(
        pk=atom.pk,
        passage=passage,
        names=names.get(atom.holder_id, (atom.holder_id,)),
        source=atom.source,
        event_time=atom.event_time,
        created_at=atom.ingested_at,
    )


def _ranked(
    scored: Scored,
    atom: Atom,
    question: Question,
    vector: Vector,
    statistics: Statistics,
    background: Background,
) -> Ranked:
    chance = round(relevance(weigh(question, vector, scored, statistics, background)), 4)
    signals = {name: round(value, 6) for name, value in scored.signals.items()}
    return Ranked(
        atom,
        replace(scored, score=round(scored.score, 6), signals=signals),
        chance,
        tuple(_basis(scored, atom, question)),
    )


def _basis(scored: Scored, atom: Atom, question: Question) -> Iterator[str]:
    """The reasons for a rank, in plain sentences, strongest kind first."""
    words = {term.key: term.word or term.key for term in question.terms}
    if scored.matched:
        yield f"Holds {_quoted(scored.matched, words)} from the question."
    if scored.nearby:
        yield f"What was said just before or after it holds {_quoted(scored.nearby, words)}."
    meaning = scored.signals["meaning"]
    if meaning >= MEANS_NEARLY:
        yield f"Means nearly what the question asks (nearness {meaning:.2f}; 0 is unrelated, 1 an answer)."
    elif meaning >= MEANS_SOMETHING:
        yield f"Is about something near the question (nearness {meaning:.2f}; 0 is unrelated, 1 an answer)."
    if scored.signals["named"]:
        yield "Is held by somebody the question names."
    if scored.signals["dated"]:
        yield "Happened about when the question says."
    if atom.valid_to is not None and atom.valid_to <= timestamps.now():
        yield f"Was true until {atom.valid_to[:10]}."


def _quoted(keys: Sequence[str], words: Mapping[str, str]) -> str:
    shown = [f"“{words.get(key, key)}”" for key in keys[:SHOWN_WORDS]]
    return ", ".join(shown) + (" …" if len(keys) > SHOWN_WORDS else "")
