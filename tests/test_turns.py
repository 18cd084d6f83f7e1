"""Whoever asks goes before the rest of a long document, and the document is never starved."""

import time
from threading import Event, Thread

from hypothesis import given
from hypothesis import strategies as st

from memories.embedding import turns
from memories.embedding.turns import Turns, portions


def test_a_question_goes_before_the_rest_of_a_document():
    engine, order, begun = Turns(), [], Event()

    def document():
        for number in range(3):
            with engine.portion():
                order.append(f"portion {number}")
                begun.set()
                if number == 0:
                    until(lambda: engine._asking)  # the question stands in line

    def question():
        begun.wait(5)
        with engine.question():
            order.append("question")

    threads = [Thread(target=document), Thread(target=question)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(10)
    assert order == ["portion 0", "question", "portion 1", "portion 2"]


def until(happened, seconds=5):
    end = time.monotonic() + seconds
    while not happened() and time.monotonic() < end:
        time.sleep(0.002)


def test_a_document_is_not_starved_by_many_who_ask(monkeypatch):
    monkeypatch.setattr(turns, "PATIENCE", 0.01)
    engine, done = Turns(), Event()
    with engine._fewer:
        engine._asking = 1  # somebody always asks

    def document():
        with engine.portion():
            done.set()

    Thread(target=document).start()
    assert done.wait(5)


@given(st.lists(st.text(max_size=40), max_size=30), st.integers(min_value=1, max_value=60))
def test_portions_hold_every_text_once_and_in_order(texts, most):
    found = list(portions(texts, most))
    assert [text for portion in found for text in portion] == texts
    assert all(len(portion) == 1 or sum(map(len, portion)) <= most for portion in found)
