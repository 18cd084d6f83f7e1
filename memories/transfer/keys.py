"""By what an import recognises what it brought in before, whoever the holders are mapped to and whoever may read it."""

import hashlib
import re

from django.db import connection

from memories.drafts import Draft
from memories.fields import dump_json
from memories.visibility import Viewer

IMPORT_KEY = "import_key"
_KEY = re.compile("[0-9a-f]{64}")


def content_key(draft: Draft, whose: str, identity: str = "") -> str:
    """sha256 over what makes a memory this one and no other.

    With an identity in its file: that and the words. Else whose (by the name the file uses), what, where from and
    about when.
    """
    parts: list[str | None] = [identity, draft.text]
    if not identity:
        parts = [
            whose, draft.text, draft.scenario, draft.source, draft.event_time, draft.event_time_end, draft.valid_from,
            draft.valid_to,
        ]  # fmt: skip
    return hashlib.sha256(dump_json(parts).encode()).hexdigest()


def short(key: str) -> bytes:
    """The first 128 bits of a key: enough to tell memories apart, and a quarter of the memory over 100,000 of them."""
    return bytes.fromhex(key[:32])


def known_keys(viewer: Viewer) -> dict[bytes, str]:
    """The content keys this viewer's earlier imports left (`short`), with their atoms' ids."""
    ids = dump_json(sorted(viewer.ids))
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT CASE WHEN json_valid(metadata_json) THEN json_extract(metadata_json, '$.import_key') END AS key,
                   atom_id
            FROM atoms
            WHERE (holder_id IN (SELECT value FROM json_each(%s)) OR recorded_by IN (SELECT value FROM json_each(%s)))
              AND key IS NOT NULL
            """,
            [ids, ids],
        )
        return {
            short(key): atom_id for key, atom_id in cursor if isinstance(key, str) and _KEY.fullmatch(key)
        }
