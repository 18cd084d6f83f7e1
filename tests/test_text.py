"""What the keyword index keeps and what a question finds in it, checked in a real FTS5 table."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pysqlite3 import dbapi2

from memories.stemming import SCRIPT_LANGUAGE, clean, fold, language_of, script_counts
from memories.text import (
    BREAK,
    MARK,
    MAX_QUERY_TERMS,
    MAX_TEXT_BYTES,
    Term,
    UnreadableText,
    check_text,
    content_words,
    document_length,
    document_terms,
    dominant_script,
    has_spaces,
    hidden_document_terms,
    hidden_terms,
    index_text,
    is_lone_fragment,
    match_query,
    query_terms,
    strip_digits,
    token_equivalent,
)

CREATE = """
    CREATE VIRTUAL TABLE atom_fts USING fts5(
        source, text, tags, scenario,
        tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
    )
"""
relaxed = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
any_text = st.text(max_size=60)
words = st.text("abcdefgäöüßéñçøłñīжйё漢字钥匙かなカナ열쇠กุญแจمفتاحचाबी0123456789７٣①Ⅳ一两'-_.:", max_size=12)
sentences = st.lists(words, max_size=8).map(" ".join)


class Index:
    """An `atom_fts` of one text a row."""

    def __init__(self) -> None:
        self.connection: Any = dbapi2.connect(":memory:")
        self.connection.execute(CREATE)

    def rows(self, texts: Iterable[str], expression: str) -> list[int]:
        """The positions of the `texts` that an FTS5 expression matches."""
        self.connection.execute("DELETE FROM atom_fts")
        rows = [(number, index_text(text)) for number, text in enumerate(texts)]
        self.connection.executemany("INSERT INTO atom_fts(rowid, text) VALUES (?, ?)", rows)
        if not expression:
            return []
        found = self.connection.execute(
            "SELECT rowid FROM atom_fts WHERE atom_fts MATCH ? ORDER BY rowid", [expression]
        )
        return [row for (row,) in found]

    def finds(self, question: str, text: str) -> bool:
        return self.rows([text], match_query(question)) == [0]

    def meets_hidden(self, question: str, text: str) -> bool:
        return self.rows([text], " OR ".join(term.match for term in hidden_terms(question))) == [0]


def compared(text: str) -> str:
    """Text as the index compares it."""
    return " ".join(fold(clean(text)).split())


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    index = Index()
    yield index
    index.connection.close()


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("O'Hara", "Mrs O'Hara waters the plants"),
        ("O\u2019Hara", "Mrs O'Hara waters the plants"),
        ('"--child-lock"', "Hold the child-lock button of the hob for three seconds"),
        ("wifi-password", "The password of the guest wifi hangs in the hall"),
        ("wifi-password", "wifi-password: see the fridge"),
        ("8:30", "School starts at 8:30"),
        ("garage::code", "garage::code is in the blue book"),
        ("key OR", "the key is under the pot"),
        ("NOT key", "the key is under the pot"),
        ('"unclosed', "an unclosed envelope"),
        ("(boiler", "the boiler was serviced in May"),
        ("vet:milo", "The vet weighs Milo once a year"),
        ("@oma", "Oma likes peppermint tea"),
        ("#tag", "a tag on the suitcase"),
        ("C++", "Ben learns C++ at school"),
        ("50%", "50% off at the bakery after six"),
        ("why?", "nobody knows why the cellar light flickers"),
        ("v20.04", "the router runs firmware v20.04"),
        ("-4*", "the freezer stands at -4 degrees"),
        ("fooBar", "the script calls fooBar"),
        ("bar", "the script calls fooBar"),
        ("DE123", "insurance number DE123"),
        ("pot key", "the key is under the pot"),
        ("email", "Oma reads her E-Mail on Sundays"),
        ("Wi-Fi", "the wifi box is in the hall"),
        ("grandma", "Grandma's recipe book"),
        ("１２３４", "the alarm code is 1234"),
        ("١٢٣٤", "the alarm code is 1234"),
        ("manual", "manual.pdf#page=3"),
    ],
)
def test_awkward_query_text_finds_the_memory_that_has_the_word(
    index: Index, question: str, memory: str
) -> None:
    assert index.finds(question, memory)


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("鍵", "予備の鍵は青い箱の中"),
        ("予備の鍵はどこですか", "予備の鍵は青い箱の中"),
        ("钥匙", "备用钥匙在冰箱上面"),
        ("谁知道备用钥匙在哪里？", "备用钥匙在冰箱上面"),
        ("router", "重置router后要等两分钟"),
        ("重置", "重置router后要等两分钟"),
        ("重置router后", "重置router后要等两分钟"),
        ("열쇠", "예비열쇠는 서랍에 있다"),
        ("열쇠는 어디에 있나요?", "예비열쇠가 서랍에 있다"),
        ("กุญแจ", "กุญแจสำรองอยู่ในลิ้นชัก"),
        ("ก", "กุญแจสำรองอยู่ในลิ้นชัก"),
        ("creme", "Crème brûlée am Sonntag"),
        ("Crème", "creme brulee on Sunday"),
        ("strasse", "Lange Straße am Park"),
        ("STRASSE", "Lange Straße am Park"),
        ("Straße", "Lange Strasse am Park"),
        ("مفتاح", "المِفْتَاح تحت الأصيص"),
        ("المِفْتَاح", "مفتاح تحت الأصيص"),
        ("والمفتاح", "المِفْتَاح تحت الأصيص"),
        ("Schlüssel", "Die Frau mit den Schlüsseln"),
        ("Schlüsseln", "Der Schlüssel liegt im Keller"),
        ("Schluessel", "Der Schlüssel liegt im Keller"),
        ("Kinder", "Das Kind schläft"),
        ("Wo schläft das Kind?", "Die Kinder schlafen oben"),
        ("keys", "the key is under the pot"),
        ("key", "the keys are under the pot"),
        ("chiavi", "La chiave è sotto il vaso"),
        ("llaves", "La llave está debajo de la maceta"),
        ("ok", "the boiler is ok"),
        ("TV", "the TV licence is due"),
        ("где ключ", "ключи лежат у мамы"),
        ("еще", "ещё"),
        ("ISPARTA", "ısparta"),
        ("चाबी", "चाबी मेज़ पर है"),
    ],
)
def test_every_language_finds_its_words(index: Index, question: str, memory: str) -> None:
    assert index.finds(question, memory)


def test_no_phrase_crosses_a_full_stop(index: Index) -> None:
    assert not index.finds("箱钥", "放进冰箱。钥匙在上面")
    assert not index.finds("箱钥", "放进冰箱7钥匙在上面")
    assert BREAK in index_text("冰箱。钥匙")


def test_vowel_signs_of_hindi_distinguish_words(index: Index) -> None:
    assert not index.finds("चाबी", "चीनी")


@pytest.mark.parametrize(
    "nothing", ["", "   ", "\n\t", "🔑", "1️⃣"[1:], "?!", "(" * 300, MARK, "\u200b", "\ud800"]
)
def test_text_without_words_looks_for_nothing(nothing: str) -> None:
    assert match_query(nothing) == ""
    assert query_terms(nothing) == hidden_terms(nothing) == ()


def test_a_number_in_an_emoji_is_found(index: Index) -> None:
    assert index.finds("1", "locker 1️⃣")


def test_stop_words_are_left_out_unless_nothing_else_is_there(index: Index) -> None:
    assert [term.key for term in query_terms("Where are the keys?")] == ["key"]
    assert [term.key for term in query_terms("妈妈的生日是什么时候")] == ["妈妈", "生日"]
    assert [term.key for term in query_terms("予備の鍵はどこですか")] == ["予備", "鍵"]
    assert index.finds("谁", "谁有钥匙")
    assert index.finds("Who is it?", "who is it")
    assert index.finds("什么", "什么都没有")


def test_terms_are_distinct_and_bounded() -> None:
    assert len(query_terms("key keys Key KEY")) == 1
    many = " ".join(f"word{number}" for number in range(1000))
    assert len(query_terms(many)) == MAX_QUERY_TERMS
    assert (
        len(hidden_terms(" ".join(f"w{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(400))))
        <= MAX_QUERY_TERMS
    )


@pytest.mark.parametrize("unit", ["x", "a b ", "(", "钥匙", "é ", "a.b", "'a", "\U000f0000"])
def test_two_megabytes_of_question_take_no_time(unit: str) -> None:
    question = unit * (2_000_000 // len(unit))
    match_query("warm up"), hidden_terms("warm up")
    started = time.perf_counter()
    match_query(question), hidden_terms(question), strip_digits(question), content_words(question)
    assert time.perf_counter() - started < 1.0


@pytest.mark.parametrize("unit", ["x", "a.b", "钥", "a1", "aB", "'a", "ญุ", "word "])
def test_the_longest_text_is_indexed_quickly(unit: str) -> None:
    text = unit * (MAX_TEXT_BYTES // len(unit.encode()))
    started = time.perf_counter()
    index_text(text)
    assert time.perf_counter() - started < 2.0


def test_a_long_word_is_found_by_itself(index: Index) -> None:
    assert index.finds("x" * 60_000, "x" * 60_000)
    assert not index.meets_hidden("x" * 60_000, "x" * 60_000)


def test_document_terms_count_what_query_terms_ask_for() -> None:
    counts = document_terms("The keys: one key for the Garage, 钥匙 and 钥匙")
    key, garage, han = query_terms("keys garage 钥匙")
    assert (key.frequency(counts), garage.frequency(counts), han.frequency(counts)) == (2, 1, 2)
    assert counts[key.key] == 2
    assert query_terms("bicycle")[0].frequency(counts) == 0


def test_document_length_counts_words_and_unspaced_characters() -> None:
    assert document_length("the wifi-password is 钥匙") == 5
    assert document_length("") == 0


@pytest.mark.parametrize(
    ("question", "hidden"),
    [
        ("passwords", "the password is tulip"),
        ("pass", "the password is tulip"),
        ("password", "wifi-password tulip"),
        ("code", "garage::code tulip"),
        ("horse", "correct-horse-battery-staple"),
        ("horse", "correct.horse,battery"),
        ("foo", "fooBar"),
        ("DE", "tax number DE123999"),
        ("DE12", "tax number DE123999"),
        ("DE123999", "tax number DE123999"),
        ("7741", "the code is 7741"),
        ("７７４１", "the code is 7741"),
        ("٧٧٤١", "the code is 7741"),
        ("๗๗๔๑", "the code is 7741"),
        ("①", "1"),
        ("Ⅳ", "iv"),
        ("IV", "Ⅳ"),
        ("密码是七七四一", "号码是七七四一啊"),
        ("v", "router v20.04"),
        ("hara", "O'Hara"),
        ("key", "keys"),
        ("a", "a"),
        ("the", "the"),
        ("钥匙", "备用钥匙在冰箱上面"),
        ("用钥匙", "备用钥匙在冰箱上面"),
        ("열쇠는", "예비열쇠는 서랍에"),
        ("example", "mail mira@example.org"),
        (MARK + "password", "wifi-password"),
        ("passwords", "wifi " + MARK + "passwords-x"),
    ],
)
def test_a_fragment_from_outside_meets_nothing_hidden(index: Index, question: str, hidden: str) -> None:
    assert not index.meets_hidden(question, hidden)
    assert not {term.key for term in hidden_terms(question)} & hidden_document_terms(hidden)


@pytest.mark.parametrize(
    ("question", "hidden"),
    [
        ("Who knows about penicillin?", "Grandma is allergic to penicillin."),
        ("penicillin 7741", "(Penicillin)"),
        ("Crème brûlée?", "creme brulee"),
        ("备用钥匙在哪里", "备用钥匙在冰箱上面"),
        ("กุญแจสำรอง", "กุญแจสำรองอยู่ในลิ้นชัก"),
        ("the Wi-Fi", "wifi in the hall"),
        ("Mrs O'Hara's cat", "o'hara waters the plants"),
        ("vaccination", "Milo: vaccination"),
    ],
)
def test_whole_words_from_outside_meet_hidden_memories(index: Index, question: str, hidden: str) -> None:
    assert index.meets_hidden(question, hidden)
    assert {term.key for term in hidden_terms(question)} & hidden_document_terms(hidden)


def test_numbers_leave_the_question_with_their_whole_word() -> None:
    assert strip_digits("Is 7741 or DE12-x the PIN of ward４?") == "Is or the PIN of"
    assert strip_digits("密码7741是什么") == "密码 是什么"
    assert strip_digits("二〇二三年的两张票") == "年的 张票"
    assert strip_digits("Ⅳ ① ½ 7\u200b7 1️⃣ ㋀") == ""
    assert strip_digits("重置router后") == "重置router后"


def test_content_words_name_what_a_question_is_about() -> None:
    assert content_words("Where does Mira's wifi-password hang?") == ("mira", "wifipassword", "hang")
    assert content_words("Wo liegt der Schlüssel?") == ("liegt", "schlussel")
    assert content_words("备用钥匙在哪里") == ("备用钥匙",)
    assert content_words("who is it?") == ()


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("DE12", True),
        ("penicillin", True),
        ("7741 penicillin", True),
        ("who?", True),
        ("钥匙", True),
        ("penicillin allergy", False),
        ("备用钥匙在哪里", False),
        ("กุญแจสำรอง", False),
    ],
)
def test_a_lone_fragment_is_told_from_a_question(question: str, alone: bool) -> None:
    assert is_lone_fragment(question) is alone


@pytest.mark.parametrize(
    ("text", "script", "spaces", "language"),
    [
        ("Where are the keys?", "latin", True, "en"),
        ("Wo sind die Schlüssel?", "latin", True, "de"),
        ("¿Dónde están las llaves?", "latin", True, "es"),
        ("Où sont les clés de la cave ?", "latin", True, "fr"),
        ("Dove sono le chiavi della cantina?", "latin", True, "it"),
        ("Waar zijn de sleutels van het huis?", "latin", True, "nl"),
        ("Gdzie są klucze?", "latin", True, "pl"),
        ("Anahtar nerede ve kimde?", "latin", True, "tr"),
        ("garage", "latin", True, "en"),
        ("Где ключи?", "cyrillic", True, "ru"),
        ("أين المفتاح؟", "arabic", True, "ar"),
        ("चाबी कहाँ है?", "devanagari", True, "hi"),
        ("钥匙在哪里", "han", False, "zh"),
        ("予備の鍵は青い箱の中", "kana", False, "ja"),
        ("열쇠는 어디에", "hangul", False, "ko"),
        ("กุญแจอยู่ที่ไหน", "thai", False, "th"),
        ("7741", "", True, ""),
    ],
)
def test_script_and_language_are_guessed(text: str, script: str, spaces: bool, language: str) -> None:
    assert (
        dominant_script(text),
        has_spaces(text),
        language_of(clean(text), SCRIPT_LANGUAGE.get(dominant_script(text), "")),
    ) == (script, spaces, language)


def test_scripts_of_mixed_text_are_all_named() -> None:
    assert set(script_counts("重置router後の")) == {"han", "latin", "kana"}


@pytest.mark.parametrize(
    ("text", "words_in_message"),
    [
        ("a\0b", "NUL"),
        ("a\ud800b", "surrogate"),
        ("", "empty"),
        (" \n\u200b\ufeff", "empty"),
        ("x" * (MAX_TEXT_BYTES + 1), "64 KiB"),
        ("é" * (MAX_TEXT_BYTES // 2 + 1), "64 KiB"),
    ],
)
def test_unreadable_text_is_refused_with_a_sentence(text: str, words_in_message: str) -> None:
    with pytest.raises(UnreadableText, match=words_in_message) as refusal:
        check_text(text, "question")
    assert str(refusal.value).startswith("The question ")
    assert str(refusal.value).endswith(".")


def test_readable_text_comes_back_as_it_is() -> None:
    assert check_text("  Crème\r\n🔑 ") == "  Crème\r\n🔑 "
    assert check_text("x" * MAX_TEXT_BYTES)


def test_nul_and_half_characters_do_not_break_the_index(index: Index) -> None:
    assert index_text(None) == index_text("") == index_text("\0") == index_text("\ud800") == ""
    assert index.finds("key", "a\0key\ud800")


def test_token_equivalent_counts_four_ascii_or_two_other_characters() -> None:
    assert [token_equivalent(text) for text in ("", "abcd", "钥匙钥匙", "abcdefgh钥匙\ud800\ud800")] == [
        1,
        1,
        2,
        4,
    ]


def test_normalising_folds_case_accents_width_and_spaces() -> None:
    assert compared(" Crème  STRAẞE\nＡＢＣ Ⅳ ") == "creme strasse abc 4"


@relaxed
@given(any_text | sentences)
def test_any_question_is_a_valid_expression(index: Index, question: str) -> None:
    index.rows(["some key"], match_query(question))
    for term in (*query_terms(question), *hidden_terms(question)):
        index.rows([], term.match)
        index.connection.execute(
            "SELECT 1 FROM atom_fts WHERE atom_fts MATCH ?", [f"NOT_A_WORD AND {term.match}"]
        )


@relaxed
@given(any_text | sentences)
def test_a_text_is_found_by_each_of_its_own_terms(index: Index, text: str) -> None:
    for term in query_terms(text):
        assert index.rows([text], term.match) == [0]
        assert term.frequency(document_terms(text)) > 0


@relaxed
@given(sentences, sentences)
def test_python_and_the_index_agree_on_what_a_text_holds(index: Index, question: str, text: str) -> None:
    for term in query_terms(question):
        assert (index.rows([text], term.match) == [0]) == (term.frequency(document_terms(text)) > 0)
    for term in hidden_terms(question):
        assert (index.rows([text], term.match) == [0]) == (term.key in hidden_document_terms(text))


def _is_plain(term: Term) -> bool:
    return term.match.count('"') == 2 and MARK not in term.match


@relaxed
@given(any_text | sentences)
def test_what_meets_hidden_memories_has_no_digit_and_no_mark(question: str) -> None:
    for term in hidden_terms(question):
        assert _is_plain(term)
        assert not any(character.isnumeric() for character in term.key)
    left = strip_digits(question).replace("什么", "").replace("什麼", "")
    assert not any(character.isnumeric() for character in left + unicodedata.normalize("NFKC", left))


@relaxed
@given(st.text("ab7\ue000\ue001\ue00f\U000f0000 -", max_size=20))
def test_marks_cannot_be_forged(text: str) -> None:
    blank = "".join(" " if unicodedata.category(character) == "Co" else character for character in text)
    assert index_text(text) == index_text(blank)
    assert query_terms(text) == query_terms(blank)


@relaxed
@given(any_text | sentences)
def test_everything_is_deterministic_and_normalising_settles(text: str) -> None:
    assert index_text(text) == index_text(text)
    assert compared(compared(text)) == compared(text)


@relaxed
@given(sentences, st.integers(0, 10**8))
def test_a_number_changes_nothing_that_meets_hidden_memories(question: str, number: int) -> None:
    assume(question.strip() == question)
    assert hidden_terms(f"{question} {number}") == hidden_terms(question)
