"""What a store knows of itself: its settings, and the state of the file it lives in.

Keys: `embedding_model`, `embedding_dimensions` (who wrote the vectors), `household_name`, `time_zone`,
`default_visibility`, `log_held` (forgotten bytes could not be wiped from the log yet), and what other modules name
themselves: when retention last ran, the store's id, the first run's code, the addresses that may be sent to.
"""

import json
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import connection, transaction

from memories.fields import dump_json
from memories.models import StoreSetting

SCHEMA_VERSION = 5  # the transactive seed's; PRAGMA user_version
LOG_HELD = "log_held"
LOG_HELD_SENTENCE = (
    "Forgotten words still lie in the store’s write-ahead log, because another program (a replication, a backup, an "
    "editor) reads from it; stop that program, then run: rekal daily"
)
CHECKPOINT_MS = 1_000
APPLICATION_ID = 0x52454B41  # "REKA": tells our files from a foreign store at the same user_version


def get_setting(key: str, default: Any = None) -> Any:
    """A setting's value, or `default`; malformed JSON reads as the default."""
    row = StoreSetting.objects.filter(pk=key).values_list("value_json", flat=True).first()
    if row is None:
        return default
    try:
        return json.loads(row)
    except ValueError:
        return default


def set_setting(key: str, value: Any) -> None:
    """Write one setting."""
    StoreSetting.objects.update_or_create(pk=key, defaults={"value_json": dump_json(value)})


def zone() -> ZoneInfo:
    """The household's time zone: the store's own, else the configured one."""
    try:
        return ZoneInfo(get_setting("time_zone") or settings.REKAL_TIME_ZONE)
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


def default_visibility() -> Any:
    """What a memory gets when nobody said who may read it and its scenario has no default: a fresh store is private."""
    return get_setting("default_visibility", "private")


def checkpoint() -> bool:
    """Fold the write-ahead log into the file and empty it, so that forgotten bytes leave both.

    False while another program reads from the log, as a replication does all day: it is waited for a second, and
    `log_is_held` says so until a later call succeeds.
    """
    if transaction.get_connection().in_atomic_block:
        return False
    with connection.cursor() as cursor:
        waited = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout = {CHECKPOINT_MS}")
        try:
            emptied = bool(cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {waited}")
    if log_is_held() is emptied:
        set_setting(LOG_HELD, not emptied)
    return emptied


def log_is_held() -> bool:
    """Whether the last attempt to empty the log failed: what was forgotten since may still lie in it."""
    return get_setting(LOG_HELD) is True
