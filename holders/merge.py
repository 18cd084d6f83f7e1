"""Two holder ids that turn out to be one: everything of the one becomes the other's. The host's business alone.

It touches what no curator may read, so no page offers it. Nothing is re-embedded or re-indexed: a holder is no word.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from holders.models import Holder, SignIn
from holders.registry import checked_id
from memories import timestamps
from memories.errors import Conflict, Invalid, NotFound
from memories.fields import dump_json, read_json
from memories.models import Atom

# Where a holder id stands alone in a column. A row that would stand twice under the new id goes.
COLUMNS = (
    ("atoms", "holder_id"), ("cartridges", "owner_id"), ("mounts", "holder_id"), ("idempotent_replies", "holder_id"),
    ("tokens", "holder_id"), ("tokens", "acting_for"), ("referrals", "holder_id"), ("referrals", "asker_id"),
    ("invites", "holder_id"), ("preferences", "holder_id"), ("events", "holder_id"), ("webhooks", "holder_id"),
    ("questions", "asker_id"), ("questions", "to_holder"), ("question_answers", "holder_id"), ("sign_ins", "holder_id"),
    ("audit_entries", "holder_id"), ("audit_entries", "by"),
)  # fmt: skip
READER = ("cartridge_shares", "reader")
# The lists of a visibility that name holders.
LISTS = ("holders", "deny")


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge changed, or would change while `dry_run`: rows by table and column, those without any left out."""

    holder_id: str
    into: str
    rows: dict[str, int]
    dry_run: bool = True


def merge_holders(holder_id: str, into: str, *, dry_run: bool = True) -> Merged:
    """Make everything of `holder_id` that of `into`; a dry run until told otherwise.

    Names, contact and kind of `into` win, topics are united, its groups stay as they are; where `into` is not
    registered, it takes the record over. Who kept something from one of the two keeps it from the other. Raises
    `Invalid`, `NotFound` for an id that nothing names, and `Conflict` when both sign in.
    """
    old, new = checked_id(holder_id), checked_id(into)
    if old == new:
        raise Invalid("A holder cannot be merged into itself.", "into")
    if SignIn.objects.filter(holder_id__in=(old, new)).count() > 1:
        raise Conflict(
            "Both have an account to sign in with; take one out of the directory first (holder-rm)."
        )
    with transaction.atomic():
        rows = {name: count for name, count in _counts(old) if count}
        if not rows:
            raise NotFound("Nothing in the store names this holder.")
        if not dry_run:
            _merge(old, new)
    return Merged(old, new, rows, dry_run)


def _counts(old: str) -> Iterator[tuple[str, int]]:
    for table, column in COLUMNS:
        yield f"{table}.{column}", _count(table, f"{_quoted(column)} = %s", old)
    yield ".".join(READER), _count(READER[0], "reader = %s", f"holder:{old}")
    for table, column, _change in _json_columns(old, ""):
        yield f"{table}.{column}", _count(table, f"instr({column}, %s) > 0", dump_json(old))
    yield "holders.holder_id", _count("holders", "holder_id = %s", old)


def _quoted(column: str) -> str:
    return connection.ops.quote_name(column)


def _count(table: str, condition: str, value: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table} WHERE {condition}", [value])
        return int(cursor.fetchone()[0])


def _merge(old: str, new: str) -> None:
    """All of it, inside the caller's transaction."""
    for table, column, change in _json_columns(old, new):
        _rewrite(table, column, dump_json(old), change)
    for table, column in COLUMNS:
        _move(table, _quoted(column), old, new)
    _move(*READER, f"holder:{old}", f"holder:{new}")
    _settle_own(new)
    _merge_records(old, new)


def _move(table: str, column: str, old: str, new: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE OR IGNORE {table} SET {column} = %s WHERE {column} = %s", [new, old])
        cursor.execute(f"DELETE FROM {table} WHERE {column} = %s", [old])


Change = Callable[[Any], Any]


def _json_columns(old: str, new: str) -> list[tuple[str, str, Change]]:
    """Table, column and how its value is rewritten."""
    return [
        ("atoms", "visibility_json", lambda value: _named(value, old, new)),
        ("atoms", "metadata_json", lambda value: _renamed(value, "recorded_by", old, new)),
        ("scenarios", "default_visibility_json", lambda value: _named(value, old, new)),
        ("sources", "metadata_json", lambda value: _renamed(value, "uploaded_by", old, new)),
        ("questions", "passed_json", lambda value: _passed(value, old, new)),
    ]


def _named(value: Any, old: str, new: str) -> Any:
    """A visibility: the lists of holders and of who is kept out."""
    if not isinstance(value, dict):
        return value
    return value | {
        key: sorted({new if one == old else one for one in value[key]})
        for key in LISTS
        if isinstance(value.get(key), list) and all(isinstance(one, str) for one in value[key])
    }


def _renamed(value: Any, key: str, old: str, new: str) -> Any:
    """Metadata: who wrote it down, or uploaded it."""
    return value | {key: new} if isinstance(value, dict) and value.get(key) == old else value


def _passed(value: Any, old: str, new: str) -> Any:
    """A question's way: who did not know, and whom she named."""
    if not isinstance(value, list):
        return value
    return [
        {k: new if v == old else v for k, v in one.items()} if isinstance(one, dict) else one for one in value
    ]


def _rewrite(table: str, column: str, quoted: str, change: Change) -> None:
    """Rewrite one JSON column where it holds the id; what is no JSON stays as it is."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT rowid, {column} FROM {table} WHERE instr({column}, %s) > 0", [quoted])
        changed = []
        for row, text in cursor.fetchall():
            value = _loaded(text)
            if value is not None and (after := change(value)) != value:
                changed.append((dump_json(after), row))
        cursor.executemany(f"UPDATE {table} SET {column} = %s WHERE rowid = %s", changed)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _settle_own(new: str) -> None:
    """What one of the two wrote down for the other is now her own word."""
    for atom in Atom.objects.filter(holder_id=new, recorded_by=new):
        atom.set_metadata(recorded_by=None)
        atom.origin = "self" if atom.origin == "third_party" else atom.origin
        atom.save(update_fields=["metadata_json", "origin"])


def _merge_records(old: str, new: str) -> None:
    """One record in the directory, under the new id."""
    gone = Holder.objects.filter(pk=old).first()
    if gone is None:
        return
    kept = Holder.objects.filter(pk=new).first()
    topics = [*(kept.topics if kept else []), *gone.topics]
    record = kept or Holder(holder_id=new, name=gone.name, kind=gone.kind, groups_json=gone.groups_json)
    record.name = record.name or gone.name
    record.knows_about_json = dump_json(list(dict.fromkeys(topics)))
    record.contact_json = dump_json(gone.contact | dict(read_json(record.contact_json, dict, {})))
    record.updated_at = timestamps.now()
    record.save(force_insert=kept is None)
    gone.delete()
