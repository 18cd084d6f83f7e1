"""Text for the keyword index: what is stored in `atom_fts`, and what a question looks for in it.

`atom_fts` (tokenizer `unicode61 remove_diacritics 2 categories 'L* N* Co M*'`) holds `index_text` output:

- whole words, folded (`fold`): letters only, two or more, unmarked. They are all that a question may meet in
  a memory its asker cannot read (`hidden_terms`).
- marked tokens (`MARK` + key), for those who may read the memory: the stems of each word in the guessed
  language and in English, words with digits, and the pieces of identifiers (`wifi-password`, `garage::code`,
  `v20.04`, `fooBar`). A piece is never an unmarked token: no whole word meets a part of a password.
- where there are no spaces (han, kana, hangul, Thai, Lao, Khmer, Burmese) one character with its marks a
  token; `BREAK` stands between runs, so that no phrase crosses a full stop or a Korean word boundary.

A word is what stands between spaces, without the punctuation around it. Anything but letters inside makes it
an identifier, with two exceptions: hyphens between letters join ("Wi-Fi" is the whole word "wifi", its halves
are pieces) and apostrophes join after a possessive or elided article is taken off ("Oma's" → "oma",
"l'école" → "ecole", "O'Hara" → "ohara"). The user's private-use characters become spaces: marks cannot be
forged.

Digits are all characters with a numeric value, of any script. Decimal digits are mapped to ASCII and roman
numeral characters to numbers, so both sides agree; han numerals (一二三, also 两) count as digits in
`strip_digits`, except in the question word 什么.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from memories.errors import Invalid
from memories.stemming import (
    INVISIBLE,
    MARKS,
    NO_SPACE,
    NO_SPACE_SCRIPTS,
    PIECE,
    SOUTH_EAST,
    UNDECIDED,
    clean,
    dominant_script,
    fold,
    has_spaces,
    language_of,
    script_of,
    stems,
    stop_words,
)
from memories.stopwords import HANGUL_PARTICLES, KANA_PARTICLES, NO_SPACE_PHRASES, NO_SPACE_SOFT

__all__ = [
    "BREAK", "MARK", "MAX_QUERY_CHARACTERS", "MAX_QUERY_TERMS", "MAX_TEXT_BYTES", "Term", "UnreadableText",
    "check_text", "content_words", "document_length", "document_terms", "dominant_script",
    "has_spaces", "hidden_document_terms", "hidden_terms", "index_text", "is_lone_fragment", "match_query",
    "query_terms", "strip_digits", "token_equivalent",
]  # fmt: skip
MAX_TEXT_BYTES = 65_536
MAX_QUERY_CHARACTERS = 4_096
MAX_QUERY_TERMS = 64
MAX_WORD_LENGTH = 64
HIDDEN_CHARACTERS = 4
MARK = "\ue000"
BREAK = "\ue00f"

_SPAN = re.compile(rf"(?P<run>[{NO_SPACE}][{NO_SPACE}{MARKS}]*)|[^\s{NO_SPACE}]+")
_CLUSTER = re.compile(rf".[{MARKS}]*", re.DOTALL)
_HAS_MARKS = re.compile(f"[{MARKS}]")
_IS_SOUTH_EAST = re.compile(f"[{SOUTH_EAST}]")
_BOUNDARY = re.compile(  # fooBar, HTTPServer, DE123
    r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)"
)
_ELIDED = re.compile(r"^(?:[ldjmtsnc]|qu|dell|nell|all|dall|sull|un|quest)'(?=..)|(?<=..)'s$", re.IGNORECASE)
_PHRASE_LIST = sorted(map(clean, NO_SPACE_PHRASES.split()), key=len, reverse=True)
_PHRASE_STARTS = "".join(sorted({phrase[0] for phrase in _PHRASE_LIST}))
_PHRASES = re.compile(f"(?=[{_PHRASE_STARTS}])(?:{'|'.join(_PHRASE_LIST)})(?![{MARKS}])")
_WHAT = re.compile("(什[么麼])")  # 什 alone is a numeral, in "what" it is not
_LONE_KANA = re.compile(rf"(?<![\u3041-\u309f])[{KANA_PARTICLES}](?![\u3041-\u309f{MARKS}])")
_KOREAN_END = re.compile(rf"(?<=[\uac00-\ud7a3]{{2}})[{HANGUL_PARTICLES}]$")
_SOFT = frozenset(NO_SPACE_SOFT.split())
_EXTRA_NUMERALS = "两兩俩倆仨"


class UnreadableText(Invalid, ValueError):
    """Text that cannot be stored or searched; the message is one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Term:
    """One thing a query looks for.

    `key` is the unit of term statistics: a stem, a word with digits, or adjacent characters. `match` is an
    FTS5 expression (safe by construction, parenthesised where needed) for the documents that hold it in any
    of `forms`, the keys that count as this term in `document_terms`. `word` is what the query says, for people.
    """

    key: str
    match: str
    forms: tuple[str, ...]
    word: str = field(default="", compare=False)

    def frequency(self, counts: Mapping[str, int]) -> int:
        """How often the term stands in a text whose `document_terms` are `counts`."""
        return max(counts.get(form, 0) for form in self.forms)


@dataclass(frozen=True, slots=True)
class _Word:
    """What stands between spaces: the whole word ("" for an identifier), all its keys, its pieces' keys."""

    whole: str
    joined: str
    keys: tuple[str, ...]
    pieces: tuple[tuple[str, tuple[str, ...]], ...]


def check_text(text: str, what: str = "text") -> str:
    """`text` itself; raises `UnreadableText` for text that is blank, too long or not storable."""
    if "\0" in text:
        raise UnreadableText(f"The {what} holds a NUL character; remove it and send it again.")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        message = f"The {what} holds half a character (a lone surrogate); send it as proper UTF-8."
        raise UnreadableText(message) from None
    if size > MAX_TEXT_BYTES:
        limit = MAX_TEXT_BYTES // 1024
        raise UnreadableText(f"The {what} is longer than {limit} KiB; split it into several memories.")
    if not INVISIBLE.sub("", text).strip():
        raise UnreadableText(f"The {what} is empty; write something in it.")
    return text


@lru_cache(maxsize=1 << 14)  # about 10 MB when it is full of rare words
def _analysed(chunk: str, language: str) -> _Word:
    if chunk.isalpha() and chunk[1:].islower() and len(chunk) <= MAX_WORD_LENGTH:  # most words
        word, stemmed = fold(chunk), stems(chunk, language)
        return _Word(word if len(word) > 1 else "", word, stemmed, ((word, stemmed),))
    found = list(PIECE.finditer(chunk.replace("_", ":")))
    pieces = [match[0] for match in found]
    if not pieces:
        return _Word("", "", (), ())
    core = chunk[found[0].start() : found[-1].end()]
    joined = "".join(pieces)[:MAX_WORD_LENGTH]
    together = stems(joined, language) if len(pieces) > 1 else ()
    by_piece = [(fold(piece[:MAX_WORD_LENGTH]), stems(piece[:MAX_WORD_LENGTH], language)) for piece in pieces]
    parts = [part for piece in pieces for part in _BOUNDARY.split(piece) if part != piece]
    keys = [key for _, found_stems in by_piece for key in found_stems] + [*together]
    keys += [key for part in parts for key in stems(part[:MAX_WORD_LENGTH], language)]
    return _Word(
        whole=_whole_word(core, pieces),
        joined=fold(joined),
        keys=tuple(dict.fromkeys(keys)),
        pieces=tuple((piece, tuple(dict.fromkeys(stemmed + together))) for piece, stemmed in by_piece),
    )


def _whole_word(core: str, pieces: list[str]) -> str:
    """The folded word of letters that `core` is, "" for identifiers, single letters and overlong words."""
    if any(map(str.isnumeric, core)):
        return ""
    if core == "'".join(pieces):
        core = _ELIDED.sub("", core).replace("'", "")
    elif core == "-".join(pieces):
        core = core.replace("-", "")
    else:
        return ""
    word = fold(core)
    return word if 1 < len(word) <= MAX_WORD_LENGTH else ""


def _word(chunk: str, language: str) -> _Word:
    """`_analysed`, remembered for chunks of ordinary length only."""
    analyse = _analysed if len(chunk) <= MAX_WORD_LENGTH else _analysed.__wrapped__
    return analyse(chunk, language)


def _spans(cleaned: str) -> Iterator[tuple[str, bool]]:
    """The words between spaces, and the runs without spaces (marked True), in order."""
    for match in _SPAN.finditer(cleaned):
        yield match[0], match.lastgroup is not None


def _clusters(run: str) -> list[str]:
    """The characters of a run, each with its marks; marks left over at the start go with nothing."""
    return _CLUSTER.findall(run) if _HAS_MARKS.search(run) else list(run)


def index_text(text: str | None) -> str:
    """What `atom_fts` stores for `text`. Deterministic, never raises; "" when there is nothing to find."""
    cleaned = clean(str(text or ""))
    language = language_of(cleaned, "")
    tokens: list[str] = []
    keys: dict[str, None] = {}
    after_run = False
    for span, is_run in _spans(cleaned):
        if is_run:
            tokens += [BREAK, *_clusters(span)] if after_run else _clusters(span)
            after_run = True
            continue
        word = _word(span, language)
        keys.update(dict.fromkeys(word.keys))
        if word.whole:
            tokens.append(word.whole)
            after_run = False
    return " ".join([*tokens, *(MARK + key for key in keys)])


def document_terms(text: str) -> dict[str, int]:
    """How often each key that `query_terms` may ask for stands in `text`; a word counts under each stem."""
    cleaned = clean(text)
    language = language_of(cleaned, "")
    counts: dict[str, int] = {}
    for span, is_run in _spans(cleaned):
        for key in _run_keys(span) if is_run else _word(span, language).keys:
            counts[key] = counts.get(key, 0) + 1
    return counts


def document_length(text: str) -> int:
    """The length of `text` for BM25: words, and characters of the scripts without spaces."""
    return sum(len(_clusters(span)) if is_run else 1 for span, is_run in _spans(clean(text)))


def _gram_size(run: str) -> int:
    """Bigrams for han, kana and hangul; trigrams for Thai, Lao, Khmer and Burmese, with fewer letters."""
    return 3 if _IS_SOUTH_EAST.match(run) else 2


def _run_keys(run: str) -> Iterator[str]:
    clusters = _clusters(run)
    for size in range(1, _gram_size(run) + 1):
        yield from ("".join(gram) for gram in _windows(clusters, size))


def _windows(clusters: list[str], size: int) -> list[list[str]]:
    return [clusters[start : start + size] for start in range(len(clusters) - size + 1)]


def _segments(run: str) -> list[list[str]]:
    """The parts of a run between its question words and particles, less the parts that say nothing."""
    rest = _LONE_KANA.sub(" ", _KOREAN_END.sub(" ", _PHRASES.sub(" ", run)))
    segments = (_clusters(part) for part in rest.split())
    return [segment for segment in segments if not _SOFT.issuperset(segment)]


def _phrase(clusters: list[str]) -> Term:
    key = "".join(clusters)
    return Term(key, f'"{" ".join(clusters)}"', (key,))


def _run_terms(run: str, everything: bool) -> Iterator[Term]:
    size = _gram_size(run)
    for segment in [_clusters(run)] if everything else _segments(run):
        for gram in _windows(segment, size) or [segment]:
            if everything or not _SOFT.issuperset(gram):
                yield _phrase(gram)


def _word_terms(word: _Word, ignored: frozenset[str]) -> Iterator[Term]:
    for piece, keys in word.pieces:
        if piece not in ignored:
            match = " OR ".join(f'"{MARK}{key}"' for key in keys)
            yield Term(keys[0], f"({match})" if len(keys) > 1 else match, keys, piece)


def _terms(cleaned: str, language: str, ignored: frozenset[str], everything: bool) -> dict[str, Term]:
    terms: dict[str, Term] = {}
    for span, is_run in _spans(cleaned):
        for term in _run_terms(span, everything) if is_run else _word_terms(_word(span, language), ignored):
            terms.setdefault(term.key, term)
            if len(terms) == MAX_QUERY_TERMS:
                return terms
    return terms


def query_terms(text: str) -> tuple[Term, ...]:
    """What a question looks for where its asker may read: distinct, in order, at most `MAX_QUERY_TERMS`.

    Stop words are left out unless there is nothing else ("why?"). Only `MAX_QUERY_CHARACTERS` are read.
    """
    cleaned = clean(text[:MAX_QUERY_CHARACTERS])
    language = language_of(cleaned, UNDECIDED)
    terms = _terms(cleaned, language, stop_words(language), everything=False)
    return tuple((terms or _terms(cleaned, language, frozenset(), everything=True)).values())


def match_query(text: str) -> str:
    """An FTS5 expression for any of the question's terms, "" when there is nothing to look for."""
    return " OR ".join(term.match for term in query_terms(text))


def strip_digits(text: str) -> str:
    """`text` without numbers: every word with a numeric character goes whole ("DE12-x", "①", "Ⅳ", "４").

    Where there are no spaces only the numeric characters go, han numerals included: a run is a sentence.
    Like every function that takes a question it reads `MAX_QUERY_CHARACTERS` of it.
    """
    return " ".join(_SPAN.sub(_without_numbers, text[:MAX_QUERY_CHARACTERS]).split())


def _without_numbers(span: re.Match[str]) -> str:
    if span.lastgroup is not None:
        parts = _WHAT.split(span[0])
        return "".join(
            part if _WHAT.match(part) else "".join(" " if _is_number(letter) else letter for letter in part)
            for part in parts
        )
    return " " if any(map(_is_number, span[0] + unicodedata.normalize("NFKC", span[0]))) else span[0]


def _is_number(character: str) -> bool:
    return character.isnumeric() or character in _EXTRA_NUMERALS


def hidden_terms(text: str) -> tuple[Term, ...]:
    """What a question may meet in memories its asker cannot read: whole words, four adjacent characters.

    No digits, stems, pieces, stop words or single letters; where there are no spaces nothing shorter than
    `HIDDEN_CHARACTERS` characters, nor only question words.
    """
    cleaned = clean(strip_digits(text[:MAX_QUERY_CHARACTERS]))
    language = language_of(cleaned, "")
    ignored = stop_words(language) | stop_words("en")
    terms: dict[str, Term] = {}
    for span, is_run in _spans(cleaned):
        for term in _hidden_run_terms(span) if is_run else _hidden_word_terms(_word(span, language), ignored):
            if len(terms) < MAX_QUERY_TERMS:
                terms.setdefault(term.key, term)
    return tuple(terms.values())


def _hidden_word_terms(word: _Word, ignored: frozenset[str]) -> Iterator[Term]:
    if word.whole and not _is_ignored(word, ignored):
        yield Term(word.whole, f'"{word.whole}"', (word.whole,))


def _hidden_run_terms(run: str) -> Iterator[Term]:
    telling = {cluster for segment in _segments(run) for cluster in segment} - _SOFT
    for gram in _windows(_clusters(run), HIDDEN_CHARACTERS):
        if telling.intersection(gram) and not any(map(_is_number, "".join(gram))):
            yield _phrase(gram)


def hidden_document_terms(text: str) -> frozenset[str]:
    """The keys that `hidden_terms` could meet in `text`: the answer the index gives, without the index."""
    cleaned = clean(text)
    language = language_of(cleaned, "")
    keys: set[str] = set()
    for span, is_run in _spans(cleaned):
        if is_run:
            keys.update("".join(gram) for gram in _windows(_clusters(span), HIDDEN_CHARACTERS))
        else:
            keys.add(_word(span, language).whole)
    return frozenset(keys - {""})


def _is_ignored(word: _Word, ignored: frozenset[str]) -> bool:
    return (
        word.joined in ignored or word.whole in ignored or all(piece in ignored for piece, _ in word.pieces)
    )


def content_words(text: str) -> tuple[str, ...]:
    """The folded words of a question in order, without stop words; an identifier counts as one word.

    Where there are no spaces: the parts of the sentence between question words and particles.
    """
    cleaned = clean(text[:MAX_QUERY_CHARACTERS])
    ignored = stop_words(language_of(cleaned, ""))
    words: list[str] = []
    for span, is_run in _spans(cleaned):
        if is_run:
            words += ["".join(segment) for segment in _segments(span)]
            continue
        word = _word(span, "")
        if word.pieces and not _is_ignored(word, ignored):
            words.append(word.whole or word.joined)
    return tuple(words)


def is_lone_fragment(text: str) -> bool:
    """Whether a question is too little to reach hidden memories by its meaning.

    That is less than two words of letters with something to say, and less than four unspaced characters.
    """
    words = content_words(strip_digits(text))
    unspaced = sum(len(_clusters(word)) for word in words if script_of(word[0]) in NO_SPACE_SCRIPTS)
    return len(words) < 2 and unspaced < HIDDEN_CHARACTERS


def token_equivalent(text: str) -> int:
    """A rough count of language-model tokens: four ASCII characters or two others each, at least 1."""
    plain = len(text.encode("ascii", "ignore"))
    return max(1, plain // 4 + (len(text) - plain) // 2)
