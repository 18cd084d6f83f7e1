"""Words across languages: normalisation, scripts, a cheap language guess, stems.

The stemmers are Snowball's: PyStemmer (compiled, about 1 µs a word) where it is installed, else
`snowballstemmer` (the same algorithms in Python, 50–300 µs a word, remembered for the next time).
A guess about a short text is often wrong, so a text gets the stems of the guessed language *and* of its
script's default language (English for Latin script); these meet whatever the guess on the other side was.
Everything here is a pure function of its arguments: the index depends on it.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Protocol

from memories.stopwords import STOP_WORDS

try:
    from Stemmer import Stemmer as stemmer  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: N813
except ImportError:
    from snowballstemmer import stemmer

STEMMERS = {
    "ar": "arabic", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fa": "persian", "fi": "finnish", "fr": "french", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
# The language taken for granted in a script; its stems are always among a word's stems.
SCRIPT_LANGUAGE = {
    "latin": "en", "cyrillic": "ru", "arabic": "ar", "devanagari": "hi", "greek": "el", "armenian": "hy",
    "tamil": "ta", "han": "zh", "kana": "ja", "hangul": "ko", "thai": "th", "lao": "lo", "khmer": "km",
    "myanmar": "my", "hebrew": "he",
}  # fmt: skip
_LANGUAGE_SCRIPT = {language: script for script, language in SCRIPT_LANGUAGE.items()}
# A question without any stop word ("Kinder?") is tried as each of these; a memory never is.
UNDECIDED = "*"
UNDECIDED_LANGUAGES = ("en", "de", "es", "fr", "it", "pt", "nl")
# Shorter words lose too much to a wrong language's suffixes ("code" → "cod").
UNDECIDED_LENGTH = 5
MAX_STEM_LENGTH = 40
# How much of a text is looked at for its language.
LANGUAGE_CHARACTERS = 4_096
NO_SPACE_SCRIPTS = frozenset({"han", "kana", "hangul", "thai", "lao", "khmer", "myanmar"})

_LETTER_HINTS = {
    "de": "ß", "es": "ñ¿¡", "pt": "ãõ", "pl": "łżśęą", "hu": "őű", "tr": "şğı", "ro": "ășț", "cs": "ěřů",
    "da": "ø", "no": "ø", "sv": "å", "fr": "êœèçù", "it": "òì", "fa": "پچژگ",
}  # fmt: skip
_WEAK_HINTS = {"de": "äöü"}
_SCRIPT_RANGES: tuple[tuple[int, int, str], ...] = (
    (0x0041, 0x024F, "latin"), (0x0250, 0x02AF, "latin"), (0x0370, 0x03FF, "greek"),
    (0x0400, 0x052F, "cyrillic"), (0x0531, 0x058F, "armenian"), (0x0590, 0x05FF, "hebrew"),
    (0x0600, 0x06FF, "arabic"), (0x0750, 0x077F, "arabic"), (0x08A0, 0x08FF, "arabic"),
    (0x0900, 0x097F, "devanagari"), (0x0B80, 0x0BFF, "tamil"), (0x0E00, 0x0E7F, "thai"),
    (0x0E80, 0x0EFF, "lao"), (0x1000, 0x109F, "myanmar"), (0x1100, 0x11FF, "hangul"),
    (0x1780, 0x17FF, "khmer"), (0x1C80, 0x1C8F, "cyrillic"), (0x1E00, 0x1EFF, "latin"),
    (0x1F00, 0x1FFF, "greek"), (0x2C60, 0x2C7F, "latin"), (0x2DE0, 0x2DFF, "cyrillic"),
    (0x2E80, 0x2FDF, "han"), (0x3005, 0x3007, "han"), (0x3040, 0x30FF, "kana"), (0x3100, 0x312F, "han"),
    (0x3130, 0x318F, "hangul"), (0x31A0, 0x31BF, "han"), (0x31F0, 0x31FF, "kana"),
    (0x3400, 0x4DBF, "han"), (0x4E00, 0x9FFF, "han"), (0xA640, 0xA69F, "cyrillic"),
    (0xA720, 0xA7FF, "latin"), (0xA960, 0xA97F, "hangul"), (0xA9E0, 0xA9FF, "myanmar"),
    (0xAA60, 0xAA7F, "myanmar"), (0xAB30, 0xAB6F, "latin"), (0xAC00, 0xD7FF, "hangul"),
    (0xF900, 0xFAFF, "han"), (0xFB00, 0xFB06, "latin"), (0xFB50, 0xFDFF, "arabic"),
    (0xFE70, 0xFEFF, "arabic"), (0xFF21, 0xFF5A, "latin"), (0xFF66, 0xFF9F, "kana"),
    (0x20000, 0x323AF, "han"),
)  # fmt: skip
_SCRIPT_STARTS = [first for first, _, _ in _SCRIPT_RANGES]
_MARKED_LETTER = re.compile(r"([a-z\u00c0-\u024f\u0370-\u03ff\u1e00-\u1fff])[\u0300-\u036f]+")
# Letters without a decomposition, and Lucene's Arabic normalisation (alef, yeh, teh marbuta, Persian kaf).
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ı": "i", "œ": "oe", "æ": "ae", "ð": "d", "þ": "th", "ё": "е",
     "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه"}
)  # fmt: skip
_SEPARATORS = re.compile(  # control, private-use and half characters, and the marks that only prose has
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u2014\u2026\u201c-\u201f\u00ab\u00bb\ud800-\udfff\ue000-\uf8ff"
    "\U000f0000-\U0010ffff]"
)
INVISIBLE = re.compile(  # category Cf, variation selectors, the enclosing keycap
    "[\u00ad\u0600-\u0605\u061c\u06dd\u070f\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20e3"
    "\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0001-\U000e01ef]"
)
_ARABIC_MARKS = re.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]")
_ROMAN = re.compile("[\u2160-\u2188]")
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
_JOINERS = str.maketrans("\u2018\u2019\u02bc\u2010\u2011", "'''--")


def character_class(first: int, last: int, kind: str) -> str:
    """The characters of a Unicode category (its first letter), as ranges for a regular expression."""
    points = [point for point in range(first, last) if unicodedata.category(chr(point))[0] == kind]
    known = set(points)
    starts = (chr(point) for point in points if point - 1 not in known)
    ends = (chr(point) for point in points if point + 1 not in known)
    return "".join(f"{start}-{end}" for start, end in zip(starts, ends, strict=True))


MARKS = character_class(0x300, 0x1E950, "M")
PIECE = re.compile(rf"[^\W_][\w{MARKS}]*")
# Letters of the scripts without spaces, as ranges for a regular expression.
_EAST = (  # han, kana, bopomofo, hangul
    "\u1100-\u11ff\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u318e"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003fffd"
)
_SOUTH_EAST_BLOCKS = ((0xE00, 0xF00), (0x1000, 0x10A0), (0x1780, 0x1800), (0xA9E0, 0xAA00), (0xAA60, 0xAA80))
SOUTH_EAST = "".join(  # Thai and Lao, Burmese, Khmer, Burmese extensions
    character_class(first, last, "L") for first, last in _SOUTH_EAST_BLOCKS
)
NO_SPACE = _EAST + SOUTH_EAST
_ORDER = {language: number for number, language in enumerate(STOP_WORDS)}
_local = threading.local()


def script_of(character: str) -> str:
    """The script of a letter, "" for anything that is not a letter."""
    if not character.isalpha():
        return ""
    index = bisect_right(_SCRIPT_STARTS, ord(character)) - 1
    if index >= 0 and ord(character) <= _SCRIPT_RANGES[index][1]:
        return _SCRIPT_RANGES[index][2]
    return unicodedata.name(character, "unknown").split()[0].lower()


def script_counts(text: str, letters: int = 2000) -> Counter[str]:
    """Letters per script among the first `letters` characters of `text`."""
    read = text[:letters]
    if read.isascii():  # most texts: counted without looking at each letter's block
        found = sum(map(str.isalpha, read))
        return Counter({"latin": found} if found else {})
    counts = Counter(map(script_of, read))
    del counts[""]
    return counts


def fold(text: str) -> str:
    """Case and the accents of Latin and Greek letters removed ("Crème" → "creme", "Straße" → "strasse").

    The marks of other scripts stay: й is not и, and the vowel signs of Hindi and Thai are as good as letters.
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text.casefold()).casefold()
    folded = _MARKED_LETTER.sub(r"\1", unicodedata.normalize("NFD", folded.translate(_LETTERS)))
    return unicodedata.normalize("NFC", folded).translate(_LETTERS)


def clean(text: str) -> str:
    """NFKC without what nobody sees (see `memories.text`); letter case is kept for `fooBar`."""
    text = _SEPARATORS.sub(" ", text)
    if text.isascii():
        return text
    text = _ROMAN.sub(lambda found: str(int(unicodedata.numeric(found[0]))), INVISIBLE.sub("", text))
    text = _ARABIC_MARKS.sub("", unicodedata.normalize("NFKC", text).translate(_JOINERS))
    text = _FOREIGN_DIGIT.sub(lambda found: str(unicodedata.decimal(found[0])), text)
    return unicodedata.normalize("NFC", text)


def dominant_script(text: str) -> str:
    """The script of most letters, "" without letters; Japanese counts as kana although han may lead."""
    counts = script_counts(text)
    if counts["kana"] * 4 >= counts["han"] > 0:
        counts["kana"] += counts.pop("han")
    return max(counts, key=lambda script: (counts[script], script)) if counts else ""


def has_spaces(text: str) -> bool:
    """Whether the words of `text` are set apart by spaces; Korean is treated like Chinese and Japanese."""
    return dominant_script(text) not in NO_SPACE_SCRIPTS


@cache
def stop_words(language: str) -> frozenset[str]:
    """The folded stop words of an ISO 639-1 language, none for a language without a list."""
    words = STOP_WORDS.get(language, "").split()
    return frozenset(fold(part) for word in words for part in (word, word.replace("'", "")))


@cache
def _votes() -> dict[str, tuple[tuple[str, float], ...]]:
    """Which languages a stop word speaks for; a word of many languages says little about each."""
    owners: dict[str, list[str]] = {}
    for language in STOP_WORDS:
        for word in sorted(stop_words(language)):
            owners.setdefault(word, []).append(language)
    return {word: tuple((language, 1 / len(names)) for language in names) for word, names in owners.items()}


@cache
def _hints() -> dict[str, tuple[tuple[str, float], ...]]:
    hints: dict[str, list[tuple[str, float]]] = {}
    for table, weight in ((_LETTER_HINTS, 0.4), (_WEAK_HINTS, 0.1)):
        for language, letters in table.items():
            for letter in letters:
                hints.setdefault(letter, []).append((language, weight))
    return {letter: tuple(pairs) for letter, pairs in hints.items()}


def language_by_words(folded_words: Iterable[str], spelling: str) -> str:
    """The language most of the stop words and telling letters speak for, "" where nothing does.

    `spelling` is the same text in lower case with its accents. Ties go to the first language of `STOP_WORDS`.
    """
    votes, hints = _votes(), _hints()
    scores: dict[str, float] = {}
    found = [votes[word] for word in folded_words if word in votes]
    if not spelling.isascii():
        found += [hints[letter] for letter in sorted(set(spelling) & hints.keys())]
    for pairs in found:
        for language, weight in pairs:
            scores[language] = scores.get(language, 0.0) + weight
    return max(scores, key=lambda code: (round(scores[code], 6), -_ORDER[code])) if scores else ""


def language_of(cleaned: str, otherwise: str) -> str:
    """The language that the words of a cleaned text speak for, `otherwise` where none does."""
    spelling = cleaned[:LANGUAGE_CHARACTERS].lower()
    return language_by_words(PIECE.findall(fold(spelling)), spelling) or otherwise


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802  (Snowball's name)


def _stemmer(name: str) -> _Stemmer:
    """One stemmer a thread: they keep the word in hand on themselves."""
    stemmers: dict[str, _Stemmer] = _local.__dict__
    if name not in stemmers:
        stemmers[name] = stemmer(name)
    return stemmers[name]


def languages_of(word: str, language: str) -> tuple[str, ...]:
    """The languages to stem `word` in, given the guess for its text (a code, "" or `UNDECIDED`)."""
    script = script_of(word[0])
    default = SCRIPT_LANGUAGE.get(script, "")
    if language == UNDECIDED and script == "latin":
        return UNDECIDED_LANGUAGES if len(word) >= UNDECIDED_LENGTH else (default,)
    if language in STEMMERS and language != default and _script_of_language(language) == script:
        return (language, default)
    return (default,)


def _script_of_language(language: str) -> str:
    return "arabic" if language == "fa" else _LANGUAGE_SCRIPT.get(language, "latin")


@lru_cache(maxsize=1 << 15)
def stems(word: str, language: str) -> tuple[str, ...]:
    """The distinct folded stems of a word, the guessed language's first; one with digits is its own stem."""
    if len(word) > MAX_STEM_LENGTH or any(map(str.isnumeric, word)):
        return (fold(word),)
    lower = word.casefold()
    found = (_stem(lower, code) for code in languages_of(word, language))
    return tuple(dict.fromkeys(fold(stem) for stem in found)) or (fold(word),)


def _stem(lower: str, language: str) -> str:
    if language not in STEMMERS:
        return lower
    if language == "ar" and lower.startswith(("وال", "فال", "وبال")):
        lower = lower[1:]  # "and the", which Snowball leaves on
    return _stemmer(STEMMERS[language]).stemWord(lower) or lower
