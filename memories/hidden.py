"""The narrow door to memories a viewer may not read: who holds something about a question, and never what.

It gives an ordinal per holder, and sentences about what the viewer *may* read. What is hidden is met only by whole
words of letters and, for questions of two words or more, by meaning; names and digits are taken out of the question
first. No count, date, scenario, word or raw number of a hidden memory leaves this module.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from memories import vectors
from memories.answerability import asks_about_past, confidence, hidden_strength, weigh_hidden
from memories.background import background_of
from memories.embedding import cache
from memories.models import Atom
from memories.names import known_names
from memories.recall import Filters, rank, searched
from memories.scoring import read_question
from memories.search import find
from memories.text import (
    Term,
    check_text,
    hidden_document_terms,
    hidden_terms,
    is_lone_fragment,
    strip_digits,
)
from memories.visibility import AtomQuerySet, Viewer

CANDIDATES = 50
LOOKED_AT = 24  # of the readable memories, best first, for whose they are


@dataclass(frozen=True, slots=True)
class Standing:
    """How strongly a holder stands for a question.

    `strength` is strong, likely or possible; `hidden` says that something unreadable contributed; `basis` holds
    sentences about readable memories alone.
    """

    holder_id: str
    strength: str
    hidden: bool = False
    basis: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Readable:
    """What the viewer may read of a holder's: the best chance that one of them answers, and why."""

    chance: float = 0.0
    basis: tuple[str, ...] = ()


def standings(viewer: Viewer, question: str, *, unread: bool = False) -> list[Standing]:
    """Holders with standing, best first, the viewer among them; deterministic. Raises `Invalid`.

    `unread` counts only what the viewer may not read: what she may read has been looked at, and did not answer.
    """
    check_text(question, "question")
    readable = {} if unread else _readable(viewer, question)
    hidden = _hidden(viewer, question)
    chances = {
        one: max(readable.get(one, _Readable()).chance, hidden.get(one, 0.0))
        for one in {*readable, *hidden} - {""}
    }
    return [
        Standing(
            one, strength, confidence(hidden.get(one, 0.0)) is not None, readable.get(one, _Readable()).basis
        )
        for one in sorted(chances, key=lambda one: (-chances[one], one))
        if (strength := confidence(chances[one]))
    ]


def _readable(viewer: Viewer, question: str) -> dict[str, _Readable]:
    """Per holder the best of the readable memories that count as hers."""
    atoms = searched(viewer, question, Filters(everywhere=True)).filter(counts_for_holder=True)
    best: dict[str, _Readable] = {}
    for one in islice(rank(viewer, question, atoms, 1), LOOKED_AT):
        if one.relevance > best.get(one.atom.holder_id, _Readable()).chance:
            best[one.atom.holder_id] = _Readable(one.relevance, one.basis)
    return best


def hidden_from(viewer: Viewer, *, past: bool = False) -> AtomQuerySet:
    """The memories that may hint to the viewer who knows, and that she may not read."""
    atoms = Atom.objects.hinting_to(viewer).unread_by(viewer).exclude(holder_id="")
    return atoms if past else atoms.current()


def _hidden(viewer: Viewer, question: str) -> dict[str, float]:
    """Per holder the best chance that one of the memories the viewer may not read answers."""
    names = [one for called in known_names(viewer, question).values() for one in called]
    content = strip_digits(read_question(question, names).content)
    best: dict[str, float] = {}
    for holder_id, chance in _chances(viewer, hidden_from(viewer, past=asks_about_past(question)), content):
        best[holder_id] = max(best.get(holder_id, 0.0), chance)
    return best


def _chances(viewer: Viewer, atoms: AtomQuerySet, content: str) -> Iterator[tuple[str, float]]:
    """`(holder id, chance)` of each hidden candidate; `content` is the question without names and digits."""
    terms = hidden_terms(content)
    lone = is_lone_fragment(content)
    if lone and not terms:
        return
    engine = cache.engine()
    background = background_of(engine)
    vector = None if lone else cache.embed_query(viewer, content)
    in_text = [Term(term.key, f"{{text}} : ({term.match})", term.forms) for term in terms]
    found = find(atoms, in_text, None if vector is None else background.aim(vector), CANDIDATES)
    stored = vectors.read_vectors(found.pks) if vector is not None else {}
    for atom in Atom.objects.filter(pk__in=found.pks).only("pk", "text", "holder_id"):
        held = hidden_document_terms(atom.text)
        words = sum(term.key in held for term in terms) / len(terms) if terms else 0.0
        evidence = weigh_hidden(content, vector, atom.text, stored.get(atom.pk), words, background)
        yield atom.holder_id, hidden_strength(evidence)
