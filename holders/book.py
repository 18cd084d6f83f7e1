"""The book of who was referred to whom, and when each token was last used: noted now, written in batches.

A question must not wait for the write lock, so notes are kept in memory and go to the store in one
transaction a batch: after `settings.REKAL_BOOK_LINES` lines or `settings.REKAL_BOOK_SECONDS` seconds (0: only
when the book is read), and when the process ends.
"""

import atexit
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock, Timer

from django.conf import settings
from django.db import DatabaseError, connection, transaction

from holders.models import Referral, Token
from memories import timestamps
from memories.browse import checked_limit
from memories.visibility import Viewer

logger = logging.getLogger(__name__)

USE_IS_NOTED_EVERY = timedelta(minutes=1)
LINES_KEPT = 10_000  # while the store cannot be written
QUESTION_CHARACTERS = 500  # of a question that the book keeps

_lock = Lock()
_lines: list[tuple[str, Referral]] = []
_uses: dict[tuple[str, int], str] = {}
_timer: Timer | None = None


@dataclass(frozen=True, slots=True)
class ReferralLine:
    """A line of the holder's own book: who was told that she may know, about which question, and when."""

    asker_id: str
    question: str
    verb: str
    confidence: str
    created_at: str


def note_referrals(viewer: Viewer, verb: str, question: str, referred: Iterable[tuple[str, str]]) -> None:
    """Note the `(holder_id, confidence)` pairs that `verb` (`who_knows`, `ask`) gave; writes nothing yet."""
    store, now = _store(), timestamps.now()
    lines = [
        Referral(
            holder_id=holder_id,
            asker_id=viewer.author,
            question=question[:QUESTION_CHARACTERS],
            verb=verb,
            confidence=confidence,
            created_at=now,
        )
        for holder_id, confidence in referred
    ]
    with _lock:
        _lines.extend((store, line) for line in lines)
        due = len(_lines) >= settings.REKAL_BOOK_LINES
    if lines:
        _schedule(at_once=due)


def note_use(token: Token) -> None:
    """Note that a token was used, at most once a minute."""
    moment = datetime.now(UTC)
    edge = timestamps.to_text(moment - USE_IS_NOTED_EVERY)
    if token.last_used_at and token.last_used_at > edge:
        return
    with _lock:
        if _uses.get((_store(), token.pk), "") > edge:
            return
        _uses[_store(), token.pk] = timestamps.to_text(moment)
    _schedule()


def referrals_for(viewer: Viewer, limit: int = 50) -> list[ReferralLine]:
    """The viewer's own book, newest first; nobody else's, and not that of a person an agent acts for."""
    flush()
    lines = Referral.objects.filter(holder_id=viewer.holder_id).order_by("-created_at", "-pk")[
        : checked_limit(limit)
    ]
    return [
        ReferralLine(one.asker_id, one.question, one.verb, one.confidence, one.created_at) for one in lines
    ]


def flush() -> None:
    """Write what was noted, in one transaction; what cannot be written now waits for the next time.

    Notes about another store than the open one are dropped.
    """
    global _timer  # noqa: PLW0603  (one timer a process)
    with _lock:
        lines, uses = list(_lines), dict(_uses)
        _lines.clear()
        _uses.clear()
        _timer = None
    here = _store()
    mine = [line for store, line in lines if store == here]
    used = {token: moment for (store, token), moment in uses.items() if store == here}
    if not mine and not used:
        return
    try:
        with transaction.atomic():
            Referral.objects.bulk_create(mine)
            for token, moment in used.items():
                Token.objects.filter(pk=token).update(last_used_at=moment)
    except DatabaseError:
        with _lock:
            _lines[:0] = [(here, line) for line in mine][:LINES_KEPT]
        raise


def discard() -> None:
    """Drop what was noted and is not written yet."""
    with _lock:
        _lines.clear()
        _uses.clear()


def _store() -> str:
    return str(connection.settings_dict["NAME"])


def _schedule(*, at_once: bool = False) -> None:
    """Have the book written in a while by a thread of its own.

    Not while `REKAL_BOOK_SECONDS` is 0, nor for a store in memory, which other threads must not write to.
    """
    global _timer  # noqa: PLW0603
    if not (seconds := settings.REKAL_BOOK_SECONDS) or "memory" in _store().partition("?")[2]:
        return
    with _lock:
        if _timer is not None and not at_once:
            return
        if _timer is not None:
            _timer.cancel()
        _timer = Timer(0 if at_once else seconds, _flush_in_background)
        _timer.daemon = True
        _timer.start()


def _flush_in_background() -> None:
    try:
        flush()
    except DatabaseError as error:
        logger.warning("Referrals could not be written down: %s", type(error).__name__)
    finally:
        connection.close()


@atexit.register
def _flush_at_exit() -> None:
    if not (_lines or _uses):
        return
    try:
        flush()
    except Exception as error:  # noqa: BLE001  (the process is ending; there is nobody left to tell)
        logger.warning("Referrals could not be written down: %s", type(error).__name__)
