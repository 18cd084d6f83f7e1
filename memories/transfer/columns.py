"""What an exported or foreign memory has beyond a draft: columns that only imports write, checked before they are."""

from collections.abc import Iterable, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection

from memories.drafts import checked_moment, checked_name
from memories.errors import Invalid
from memories.fields import dump_json

SOURCES_OF_TIME = ("", "stated", "document", "file", "inferred")
FIELDS = {"layout", "trust", "relations", "image_ref", "event_time_source", "updated_at"}
RESERVED = {"recorded_by", "import_key", "confirmed"}  # what nobody but this store may say of its own
MAX_JSON = 100_000
WRITTEN = ("layout_json", "trust_json", "relations_json", "image_ref", "event_time_source", "updated_at")


def columns_of(fields: Mapping[str, Any], zone: ZoneInfo) -> dict[str, Any]:
    """The stated ones as columns of `atoms`. Raises `Invalid`."""
    columns: dict[str, Any] = {}
    for field, kind, empty in (("layout", dict | list, None), ("trust", dict, {}), ("relations", list, [])):
        value = fields.get(field)
        if value is not None and value != empty:
            columns[f"{field}_json"] = _json(value, kind, field)
    if image := fields.get("image_ref"):
        columns["image_ref"] = checked_name(image, "image_ref", 1_000)
    if (source := fields.get("event_time_source")) and fields.get("event_time"):
        if source not in SOURCES_OF_TIME:
            raise Invalid(
                f"“event_time_source” is one of {', '.join(SOURCES_OF_TIME[1:])}.", "event_time_source"
            )
        columns["event_time_source"] = source
    if stamp := checked_moment(fields.get("updated_at"), "updated_at", zone):
        columns["updated_at"] = stamp
    return columns


def _json(value: Any, kind: Any, field: str) -> str:
    if not isinstance(value, kind):
        raise Invalid(f"“{field}” has another shape in a memory of ours.", field)
    text = dump_json(value)
    if len(text) > MAX_JSON:
        raise Invalid(f"“{field}” is longer than {MAX_JSON:,} characters.", field)
    return text


def metadata_of(stated: Any, *, keep: bool) -> dict[str, Any]:
    """Metadata that may come in: an object of bounded size, without what only this store may say. Raises `Invalid`."""
    if stated is None:
        return {}
    if not isinstance(stated, dict) or len(dump_json(stated)) > MAX_JSON:
        raise Invalid("“metadata” is an object of bounded size.", "metadata")
    dropped = RESERVED - {"confirmed"} if keep else RESERVED | {"version_of"}
    return {key: value for key, value in stated.items() if key not in dropped}


def write(rows: Iterable[tuple[int, Mapping[str, Any]]]) -> None:
    """Set these columns of atoms, by primary key; inside the caller's transaction."""
    by_shape: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for pk, columns in rows:
        names = tuple(name for name in WRITTEN if name in columns)
        if names:
            by_shape.setdefault(names, []).append((*(columns[name] for name in names), pk))
    with connection.cursor() as cursor:
        for names, values in by_shape.items():
            assignments = ", ".join(f"{name} = %s" for name in names)
            cursor.executemany(f"UPDATE atoms SET {assignments} WHERE id = %s", values)
