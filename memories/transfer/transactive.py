"""A transactive store at `PRAGMA user_version` 1 to 5: atoms with their sources, edges, cartridges and holders.

Its times come in mixed formats and are normalised; an `origin` it could not have is reported and read as `artifact`;
its people are set apart unless they are mapped, and its visibility counts only when that is asked for.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

from memories.errors import Invalid
from memories.models import MODALITIES, ORIGINS, PRECISIONS, RELATIONS
from memories.transfer import sqlite_file, times
from memories.transfer.records import HolderDraft, Link, Options, Record

NEWEST = 5
BOUNDS = ("event_time", "event_time_end", "valid_from", "valid_to", "retention_until")


def recognises(path: Path, head: bytes) -> bool:
    """A table `atoms` with `atom_id` and `text`."""
    return sqlite_file.has_columns(path, head, "atoms", "atom_id", "text")


def read(path: Path, _: Options) -> Iterator[Record]:
    """Its holders first, then a record an atom in the order they were taken in. Raises `Invalid` for a newer store."""
    with sqlite_file.opened(path) as file:
        if file.user_version > NEWEST:
            raise Invalid(
                f"{path.name} is of version {file.user_version}; this build reads 1 to {NEWEST}.", "path"
            )
        number = 0
        for number, row in enumerate(file.table("holders"), start=1):
            yield Record(number, holder=_holder(row))
        columns = file.columns("atoms")
        stamp = "ingested_at" if "ingested_at" in columns else "time" if "time" in columns else ""
        edges, sources, members = _edges(file), _sources(file), _members(file)
        for place, row in enumerate(file.table("atoms"), start=number + 1):
            atom_id = str(row["atom_id"])
            source = sources.get(row.get("source_id"), {})
            yield _record(
                place, row, row.get(stamp), edges.get(atom_id, []), source, members.get(atom_id, [])
            )


def _holder(row: dict[str, Any]) -> HolderDraft:
    contact = _json(row.get("contact_json"), dict) or {}
    topics = _json(row.get("knows_about_json"), list) or []
    kind = row.get("kind") or "person"
    return HolderDraft(
        name=str(row.get("name") or row["holder_id"]),
        holder_id=str(row["holder_id"]),
        kind=kind if kind in ("person", "agent", "service") else "person",
        knows_about=tuple(str(one) for one in topics),
        contact={str(key): str(value) for key, value in contact.items()},
    )


def _edges(file: sqlite_file.SQLiteFile) -> dict[str, list[Link]]:
    found: dict[str, list[Link]] = defaultdict(list)
    for row in file.table("evidence_edges"):
        relation, metadata = str(row["relation"]), _json(row.get("metadata_json"), dict) or {}
        if relation not in RELATIONS:
            relation, metadata = "cites", metadata | {"relation": relation}
        confidence = _share(row.get("confidence"))
        if confidence is None:  # SQLite keeps any word in a column of numbers
            confidence, metadata = 0.0, metadata | {"confidence": str(row["confidence"])[:100]}
        found[str(row["from_atom_id"])].append(Link(relation, str(row["to_atom_id"]), confidence, metadata))
    return found


def _share(value: Any) -> float | None:
    """A number between 0 and 1, also for nothing; None for what is none."""
    try:
        number = float(value or 0.0)
    except (TypeError, ValueError):
        return None
    return min(1.0, max(0.0, number)) if number == number else None  # noqa: PLR0124  (not a number)


def _sources(file: sqlite_file.SQLiteFile) -> dict[Any, dict[str, Any]]:
    """What is known of each source: its bytes are not in the store."""
    kept = ("path", "kind", "mime", "sha256", "size_bytes")
    return {
        row["source_id"]: {key: row[key] for key in kept if row.get(key)} for row in file.table("sources")
    }


def _members(file: sqlite_file.SQLiteFile) -> dict[str, list[str]]:
    """The names of the cartridges each atom is in."""
    titles = {row["cartridge_id"]: str(row["name"]) for row in file.table("cartridges")}
    found: dict[str, list[str]] = defaultdict(list)
    for row in file.table("cartridge_atoms"):
        found[str(row["atom_id"])].append(titles.get(row["cartridge_id"], str(row["cartridge_id"])))
    return found


def _record(
    place: int,
    row: dict[str, Any],
    stamp: Any,
    edges: list[Link],
    source: dict[str, Any],
    cartridges: list[str],
) -> Record:
    try:
        fields = _fields(row, stamp)
    except ValueError as error:
        return Record(place, why=str(error))
    origin = row.get("origin") or "artifact"
    kept: dict[str, Any] = {"format": "transactive", "id": str(row["atom_id"]), "origin": origin}
    kept |= {"source": source} if source else {}
    kept |= {"cartridges": cartridges} if cartridges else {}
    kept |= {"metadata": metadata} if (metadata := _json(row.get("metadata_json"), dict)) else {}
    fields["metadata"] = {"imported": kept}
    note = (
        ""
        if origin in ORIGINS
        else f"Its origin “{str(origin)[:40]}” is none of ours; it came in as artifact."
    )
    supersedes = _json(row.get("supersedes_json"), list) or []
    links = [Link("supersedes", str(one)) for one in supersedes if isinstance(one, str)]
    links += [
        one for one in edges if (one.relation, one.to) not in {("supersedes", link.to) for link in links}
    ]
    return Record(place, fields, identity=str(row["atom_id"]), links=tuple(links), note=note)


def _fields(row: dict[str, Any], stamp: Any) -> dict[str, Any]:
    """The atom's columns as fields. Raises `ValueError` for a time that cannot be read."""
    origin, modality, precision = row.get("origin"), row.get("modality"), row.get("event_time_precision")
    fields: dict[str, Any] = {
        "text": row["text"],
        "source": row.get("source") or "",
        "holder_id": row.get("holder_id") or "",
        "origin": origin if origin in ORIGINS else "artifact",
        "scenario": row.get("scenario") or "",
        "modality": modality if modality in MODALITIES else "text",
        "tags": _json(row.get("tags"), list) or [],
        "created_at": times.stated(stamp, UTC),
        "event_time_precision": precision if precision in PRECISIONS and precision != "unknown" else None,
        "visibility": _json(row.get("visibility_json"), dict),
        "layout": _json(row.get("layout_json"), (dict, list)),
        "trust": _json(row.get("trust_json"), dict) or {},
        "relations": _json(row.get("relations_json"), list) or [],
        "image_ref": row.get("image_ref"),
    }
    return fields | {bound: times.stated(row.get(bound), UTC) for bound in BOUNDS}


def _json(text: Any, kind: type | tuple[type, ...]) -> Any:
    try:
        value = json.loads(text or "")
    except (TypeError, ValueError):
        return None
    return value if isinstance(value, kind) else None
