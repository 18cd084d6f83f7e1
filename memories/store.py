"""What a store knows of itself: its settings, and the state of the file it lives in.

Keys: `embedding_model`, `embedding_dimensions` (who wrote the vectors), `household_name`, `time_zone`,
`default_visibility`.
"""

import json
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import connection, transaction

from memories.fields import dump_json
from memories.models import StoreSetting

SCHEMA_VERSION = 5  # the transactive seed's; PRAGMA user_version
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


def checkpoint(attempts: int = 5) -> bool:
    """Fold the write-ahead log into the file and empty it, so that forgotten bytes leave both; False while busy."""
    if transaction.get_connection().in_atomic_block:
        return False
    with connection.cursor() as cursor:
        for _ in range(attempts):
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if cursor.fetchone()[0] == 0:
                return True
    return False
