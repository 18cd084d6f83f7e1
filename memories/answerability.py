"""Whether a memory answers a question, and who might know: calibrated so that a number means one thing.

`relevance` (0..1) is the chance that the memory at the head of the hits, or one of the four behind it, holds the
answer. It looks at that memory and its neighbours alone, never at how many others there are, so it means the
same in a store of 3, 300 and 30,000. `hidden_strength` is the chance that a memory the asker may not read holds
it, from the little that may be looked at there: whole words, and meaning.

Both are logistic regressions (weights in log-odds) fitted over nineteen public sets at once: questions whose answer
is readable (A), held by somebody in private (R), or in no memory (N: another household's store; the answer
and its neighbours taken away). The sets with several holders weigh the same, the others a quarter of it, and so
do questions of a household that lost the answer. No constant belongs to one set. Macro-F1 over the three
outcomes, up to 200 questions a set, and the share of N answered all the same:

| set | macro-F1 | answered N | | set | macro-F1 | answered N |
|---|---|---|---|---|---|---|
| turns of dialogues | .81 | .00 | | who, 15 people, English | .80 | .22 |
| the same, wrong name | .80 | .00 | | who, Chinese | .88 | .02 |
| one-sentence facts | .78 | .00 | | who, Chinese to English | .66 | .12 |
| who, 10 people | .71 | .16 | | mean | .78 | .07 |

`docs/answers.md` has them in full; `evaluate` measures them.
With weights and threshold from the other sets: .79 (one set left out), .78 (its whole family left out). What is
readable is judged first; comparing it with the best hidden memory instead would give .80, and would tell.
Leaving a part out costs in mean macro-F1: the best sentence .056 (.020 with the whole text in its place), whether
a known holder is named .024 (such a question is short once the name is out), length .012, the dated
event .010, the neighbours' words .002 (.007 on sets of one holder); `centred_across` .000, but .032 on sets of one
holder, where it makes Chinese to English and English to Chinese alike. Tried and dropped: z-scores by the
background of each script, the gap to the hits behind (it moves with the store), numbers and capitals that the
memory lacks, words that no memory has, how many words a question has, a second vector of the question with
its names (.002), whether the memory asks something itself, the sum over a holder's memories.

`POSSIBLE` gives who_knows .85, .95, .93, .72 right first (10 people; 15 in English, Chinese, Chinese to English;
.84, .95, .97, .67 by the nearest vector) and refers nine in ten of the R that nothing readable answers.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from memories.background import CROWD, Background
from memories.embedding import Vector
from memories.scoring import Question, Scored, Statistics
from memories.stemming import clean, language_of
from memories.text import document_length, document_terms, dominant_script, has_spaces

Confidence = Literal["strong", "likely", "possible"]

# Log-odds. `meaning` is 0 for unrelated texts and about 1 for answers; shares and chances are 0..1.
RELEVANCE = {
    "bias": -6.18, "named": 1.01, "length": 0.50, "dated": 2.04,
    "meaning": 2.18, "sentence": 3.94, "nearby": 5.70, "same_language": -0.93,
    "meaning_across": 1.68, "centred_across": 3.48,
}  # fmt: skip
HIDDEN = {"bias": -4.79, "meaning": 3.26, "words": 2.81, "same_language": -1.07, "meaning_across": 5.31}
ANSWERS = 0.5
LEAST_LENGTH = 16  # a statement of a few words says no less than a sentence
WORTH_SHOWING = 0.06  # beside a memory that answers, one less likely than this is noise
STRONG, LIKELY, POSSIBLE = 0.5, 0.18, 0.035
FIRST = 5
UNSPACED_WORDS = 0.3
READ_CHARACTERS = 4_000

_SENTENCES = re.compile(r"(?<=[.!?])\s+|[\n。！？؟]+")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a readable memory as the answer.

    `meaning`: as in `Scored.signals`; `centred`: the memory's own nearness less all that sentences share, on the
    same scale, 0 unless the languages differ. `sentence`, `nearby`: the share of the question's information in the
    memory's best sentence, and what only its neighbours hold. `dated`: nearness to a date the question
    names. `named`: the question names a holder the asker knows of. `length`: in words, or characters where
    there are no spaces.
    """

    meaning: float
    same_language: bool
    sentence: float = 0.0
    nearby: float = 0.0
    dated: float = 0.0
    named: bool = False
    length: int = 1
    centred: float = 0.0


def relevance(evidence: Evidence) -> float:
    """The calibrated chance, 0..1: `ANSWERS` and above answers."""
    odds = RELEVANCE["bias"] + RELEVANCE["named"] * evidence.named + RELEVANCE["dated"] * evidence.dated
    odds += RELEVANCE["length"] * math.log(max(1, evidence.length))
    if evidence.same_language:
        odds += RELEVANCE["same_language"] + RELEVANCE["meaning"] * evidence.meaning
        odds += RELEVANCE["sentence"] * evidence.sentence + RELEVANCE["nearby"] * evidence.nearby
    else:
        odds += (
            RELEVANCE["meaning_across"] * evidence.meaning + RELEVANCE["centred_across"] * evidence.centred
        )
    return _chance(odds)


def weigh(
    question: Question, vector: Vector | None, scored: Scored, statistics: Statistics, background: Background
) -> Evidence:
    """The evidence in one scored memory. `vector`: of `question.content`, unit length, None without an engine."""
    passage, signals = scored.candidate.passage, scored.signals
    own, words = signals.get("own_words", 0.0), signals.get("words", 0.0)
    same = own > 0 or same_language(question.content, passage.text)
    return Evidence(
        meaning=signals.get("meaning", 0.0),
        same_language=same,
        sentence=_best_sentence(question, passage.text, statistics) if own else 0.0,
        nearby=words - own,
        dated=signals.get("dated", 0.0),
        named=bool(question.named),
        length=max(LEAST_LENGTH, document_length(passage.text[:READ_CHARACTERS])),
        centred=0.0 if same else _centred(vector, passage.vector, background),
    )


def answers(relevances: Sequence[float]) -> bool:
    """Whether hits with these relevances, best rank first, answer: one of the first five is enough."""
    return max(relevances[:FIRST], default=0.0) >= ANSWERS


def same_language(one: str, other: str) -> bool:
    """Whether two texts may share words: the same script, and no two different languages recognised."""
    if dominant_script(one) != dominant_script(other):
        return False
    languages = {language_of(clean(text[:READ_CHARACTERS]), "") for text in (one, other)} - {""}
    return len(languages) < 2


@dataclass(frozen=True, slots=True)
class HiddenEvidence:
    """What may be known of a memory its asker cannot read.

    `meaning`: 0 for a question too small to reach it by meaning (`text.is_lone_fragment`). `words`: the share of
    the question's `text.hidden_terms` that stand in it.
    """

    meaning: float
    same_language: bool
    words: float


def weigh_hidden(
    content: str,
    vector: Vector | None,
    text: str,
    memory: Vector | None,
    words: float,
    background: Background,
) -> HiddenEvidence:
    """The evidence in one hidden memory.

    `content`: the question without names and digits, `vector` its own, None for a lone fragment. Where words
    are not set apart by spaces few can be met, so they count as `UNSPACED_WORDS` at least: about what an
    answer in another script has.
    """
    same = same_language(content, text)
    if vector is None or memory is None:
        return HiddenEvidence(0.0, same or words > 0, words)
    if same and not has_spaces(content):
        words = max(words, UNSPACED_WORDS)
    own, around = (
        float(memory @ aimed) for aimed in (background.aim(vector), background.language_free(vector))
    )
    return HiddenEvidence(background.meaning(own, around), same or words > 0, words)


def hidden_strength(evidence: HiddenEvidence) -> float:
    """The calibrated chance, 0..1; it must leave only as a `confidence`.

    A holder's strength is the greatest of her memories' (a bonus for support found nobody more): counting them
    would favour who writes most, and tell. Where words could be met and none was, meaning alone must be `LIKELY`,
    else it is 0: two words that lie near a secret must not find its holder. That costs two referrals in a hundred.
    """
    odds = HIDDEN["bias"]
    if evidence.same_language:
        odds += (
            HIDDEN["same_language"] + HIDDEN["meaning"] * evidence.meaning + HIDDEN["words"] * evidence.words
        )
    else:
        odds += HIDDEN["meaning_across"] * evidence.meaning
    chance = _chance(odds)
    return 0.0 if evidence.same_language and not evidence.words and chance < LIKELY else chance


def confidence(strength: float) -> Confidence | None:
    """The ordinal that may be told, None below `POSSIBLE`: then nobody is referred to."""
    if strength >= STRONG:
        return "strong"
    if strength >= LIKELY:
        return "likely"
    return "possible" if strength >= POSSIBLE else None


def _chance(odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds))))


def _centred(question: Vector | None, memory: Vector | None, background: Background) -> float:
    if question is None or memory is None:
        return 0.0
    near = background.language_free(question) @ (memory - background.mean)
    return float(np.float64(near)) / (CROWD * background.spread)


def _best_sentence(question: Question, text: str, statistics: Statistics) -> float:
    """The share of the question's information in the sentence that holds most of it.

    An answer is said in one place, while a long text holds many words by the way.
    """
    weights = {term: statistics.information(term) for term in question.terms}
    total, best = sum(weights.values()), 0.0
    for sentence in filter(str.strip, _SENTENCES.split(text[:READ_CHARACTERS])):
        counts = document_terms(sentence)
        best = max(best, sum(weight for term, weight in weights.items() if term.frequency(counts)))
    return best / total if total else 0.0


# --- What time a question asks about ---

_PAST = (
    r"\bdid\b.{1,60}?\buse to\b",
    r"(?<!be )(?<!get )(?<!got )(?<!'s )(?<!'m )(?<!'re )\bused to (?!it\b|this\b|that\b|the\b)\w+",
    r"\b(?:formerly|previously|back then|in the past|in those days|originally|until recently)\b",
    r"\b(?:former|previous|earlier|ex)[ -]\w+|\b(?:our|my|your|his|her|their) old \w+",
    r"\bbefore(?: (?:now|that|this|then))?\W*$",
    r"\b(?:früher\w{0,2}|ehemal\w+|damals|vormals|einst|vorherig\w+|bisherig\w+|in der vergangenheit)\b",
    r"\b(?:unser|mein|dein|sein|ihr|euer)\w{0,2} alte[nrms]?\b|\b(?:vorher|zuvor)\W*$",
    (
        r"\bantes\b(?! (?:de|del|que|da|do)\b)|\b(?:anteriormente|antaño|en el pasado|antigu[oa]s?|"
        r"anterior(?:es)?|sol(?:ía|íamos|ían|ías))\b"
    ),
    (
        r"\b(?:autrefois|jadis|auparavant|à l'époque|dans le passé|anciens?|anciennes?|précédent\w*)\b|"
        r"\bavant\W*$"
    ),
    r"\b(?:un tempo|una volta|in passato|precedent\w+|all'epoca|vecchi[ao])\b|\bprima\W*$",
    r"\b(?:antigamente|costumava\w*|vroeger|voorheen|destijds)\b",
    r"\b(?:раньше|прежде|ранее|когда-то|бывш\w+|прежн\w+|в прошлом)\b",
    (
        r"从前|曾经|曾經|过去[的是用住我]|過去[的是用住我]|原来|原來|原先|当初|當初|旧的|舊的|[我你您他她它们們家](?:以前|之前)|^(?:以|之)前|"
        r"(?<![点號号日月年时時钟鐘])以前[的是用住在叫做有]"
    ),
    r"以前[はのに、]|昔|かつて|元々|もともと|(?<!する)(?<!る)前[はの](?!日|夜|年|月)|旧\w",
    r"예전|옛날|옛 |이전에?[는의 ]|과거에|전에는|원래|한때",
    r"เมื่อก่อน|แต่ก่อน|ก่อนหน้านี้|สมัยก่อน|ในอดีต|เคย|แต่เดิม|อันเก่า",
    r"पहले (?!से\b)(?:\S+ ){0,3}(?:था|थे|थी|करते|रहते)|पुरान[ाीे]",
    (
        r"\b(?:سابقا|قديما|في السابق|في الماضي|من قبل|السابقة?|القديمة?|فيما مضى)\b|\bكن(?:ا|ت|"
        r"تم) [نيتأ]\w{3,}|\bكان(?:ت|وا)? ي\w{3,}"
    ),
)
_NOT_PAST = r"\b(?:is|are|am|was|were|be|been|get|gets|got|getting)\b (?:\w+ ){0,3}?used to\b"
_LATELY = (
    (
        r"\b(?:lately|latest|recent(?:ly)?|newest|most recent|these days|nowadays|last time|just now|"
        r"currently|at the moment)\b|\b(?:did|have|has|had)\b.{1,60}?\blast\W*$|"
        r"\bwhen\b.{1,60}?\blast (?!year|month|week|summer|winter|spring|autumn|night|name)\w+"
    ),
    (
        r"\b(?:neulich|kürzlich|zuletzt|neueste[nrms]?|letzthin|in letzter zeit|aktuell\w*|derzeit|"
        r"vor kurzem|das letzte mal|zum letzten mal)\b"
    ),
    (
        r"\b(?:últimamente|recientemente|hace poco|actualmente|la última vez|más recientes?|"
        r"por última vez|reciente)\b"
    ),
    (
        r"\b(?:récemment|dernièrement|ces derniers temps|actuellement|la dernière fois|plus récente?s?|"
        r"en ce moment)\b"
    ),
    (
        r"\b(?:ultimamente|recentemente|di recente|attualmente|l'ultima volta|più recent[ei]|"
        r"in questo periodo)\b"
    ),
    (
        r"\b(?:recentemente|atualmente|onlangs|laatst|tegenwoordig|недавно|в последнее время|"
        r"последний раз|сейчас)\b"
    ),
    r"最近|近来|近來|近期|最新|目前|眼下|刚才|剛才|刚刚|上一次|上次|近日|近ごろ|このごろ|この頃|このところ|直近|前回|最後に",
    r"최근|요즘|요새|최신|지난번|마지막으로|근래|얼마 전|방금",
    r"ล่าสุด|เร็วๆ ?นี้|เมื่อเร็ว|พักนี้|ช่วงนี้|เมื่อไม่นาน|หมู่นี้|ครั้งสุดท้าย|ตอนนี้",
    r"हाल (?:ही )?में|आजकल|इन दिनों|पिछली बार|आख़?िरी बार",
    r"\b(?:مؤخرا|حديثا|في الاونة الاخيرة|الاحدث|اخر مرة|هذه الايام|حاليا|قبل قليل)\b",
)
_PAST_CUE = re.compile("|".join(_PAST))
_ACCUSTOMED = re.compile(_NOT_PAST)
_LATELY_CUE = re.compile("|".join(_LATELY))
_ARABIC_MARKS = re.compile("[\u0640\u064b-\u065f\u0670]")
_ARABIC_ALIF = re.compile("[أإآ]")
CUE_CHARACTERS = 2_000


def asks_about_past(question: str) -> bool:
    """Whether a question asks what used to be ("früher", "以前"): then superseded memories may answer it.

    Cues of English, German, Spanish, French, Italian, Portuguese, Dutch, Russian, Chinese, Japanese, Korean,
    Thai, Hindi and Arabic. "Is Ben used to it", "before going to bed" and "睡觉以前" are not about the past.
    """
    return bool(_PAST_CUE.search(_ACCUSTOMED.sub(" ", _cue_text(question))))


def asks_about_lately(question: str) -> bool:
    """Whether a question asks for the latest ("neulich", "最近"): then recency may order the hits."""
    return bool(_LATELY_CUE.search(_cue_text(question)))


def _cue_text(question: str) -> str:
    text = unicodedata.normalize("NFKC", question[:CUE_CHARACTERS]).casefold().replace("’", "'")
    return " ".join(_ARABIC_ALIF.sub("ا", _ARABIC_MARKS.sub("", text)).split())
