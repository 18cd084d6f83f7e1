"""Taking memories out: everything the viewer may read, and nothing else, as JSON Lines, Markdown notes or CSV.

JSON Lines hold everything and come back equal: a line a memory, with its edges and cartridges; the first line also
carries the tables beside the memories and the counts, so that a file cut short is noticed. The other two are for
people and spreadsheets.
"""

import csv
import io
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import yaml

from memories import timestamps
from memories.fields import dump_json, read_json
from memories.models import Atom, Cartridge, CartridgeAtom, EvidenceEdge, Scenario
from memories.results import memories_for
from memories.transfer.columns import RESERVED
from memories.transfer.table import guarded
from memories.visibility import AtomQuerySet, Viewer

VERSION = 1
BATCH = 500
FORMATS = ("jsonl", "md", "csv")
COLUMNS = (
    "text", "holder_id", "scenario", "tags", "event_time", "event_time_end", "event_time_precision", "valid_from",
    "valid_to", "retention_until", "source", "origin", "visibility", "created_at", "atom_id",
)  # fmt: skip
SLUG = 48
RESERVED_NAMES = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{one}{n}" for one in ("com", "lpt") for n in range(10)),
}  # of Windows

Exported = dict[str, Any]
Directory = Sequence[Mapping[str, Any]]


def exportable(viewer: Viewer) -> AtomQuerySet:
    """What an export holds: all that is readable, closed or not, whose retention has not lapsed."""
    atoms = Atom.objects.visible_to(viewer)
    return atoms.exclude(pk__in=atoms.lapsed().values("pk"))


def exported(viewer: Viewer) -> Iterator[Exported]:
    """Every memory as one JSON object, in the order of their making; read in batches, so any store fits."""
    pks = list(exportable(viewer).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(pks), BATCH):
        atoms = list(exportable(viewer).filter(pk__in=pks[start : start + BATCH]).order_by("pk"))
        yield from _objects(viewer, atoms)


def _objects(viewer: Viewer, atoms: Sequence[Atom]) -> Iterator[Exported]:
    ids = [atom.atom_id for atom in atoms]
    edges, cartridges = _edges(viewer, ids), _memberships(viewer, ids)
    for atom, memory in zip(atoms, memories_for(viewer, atoms), strict=True):
        more = {**_columns(viewer, atom), "cartridges": cartridges[atom.atom_id]}
        stated = {key: value for key, value in more.items() if value not in (None, [], {}, "")}
        yield asdict(memory) | {"edges": edges[atom.atom_id]} | stated


def _columns(viewer: Viewer, atom: Atom) -> Exported:
    """The columns beside a `Memory`; what others noted about their own memories stays with them."""
    open_ = {
        "modality": atom.modality if atom.modality != "text" else None,
        "event_time_source": atom.event_time_source,
        "layout": read_json(atom.layout_json, object, None),
        "trust": read_json(atom.trust_json, dict, {}),
        "image_ref": atom.image_ref,
    }
    if not viewer.ids & {atom.holder_id, atom.recorded_by}:
        return open_
    metadata = {key: value for key, value in atom.metadata.items() if key not in RESERVED - {"confirmed"}}
    return open_ | {"relations": read_json(atom.relations_json, list, []), "metadata": metadata}


def _edges(viewer: Viewer, ids: Sequence[str]) -> Mapping[str, list[Exported]]:
    """The edges that start from these memories and end at a readable one."""
    rows = list(EvidenceEdge.objects.filter(from_atom_id__in=ids).order_by("pk"))
    ends = {edge.to_atom_id for edge in rows}
    readable = set(exportable(viewer).filter(atom_id__in=ends).values_list("atom_id", flat=True))
    found: dict[str, list[Exported]] = defaultdict(list)
    for edge in rows:
        if edge.to_atom_id in readable:
            one = {"relation": edge.relation, "to": edge.to_atom_id, "confidence": edge.confidence}
            metadata = read_json(edge.metadata_json, dict, {})
            found[edge.from_atom_id].append(one | ({"metadata": metadata} if metadata else {}))
    return found


def _memberships(viewer: Viewer, ids: Sequence[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    rows = CartridgeAtom.objects.filter(atom_id__in=ids, cartridge__owner_id__in=viewer.ids).order_by("pk")
    for atom_id, cartridge_id in rows.values_list("atom_id", "cartridge_id"):
        found[str(atom_id)].append(cartridge_id)
    return found


def header(viewer: Viewer, directory: Directory) -> Exported:
    """What the first line says: by whom and when, the counts, and the tables beside the memories.

    Scenarios are those of readable memories, cartridges the viewer's own; `directory` is the public part of holders.
    """
    atoms = exportable(viewer)
    used = set(atoms.order_by().values_list("scenario", flat=True).distinct())
    scenarios = [
        {
            "name": one.name,
            "description": one.description,
            "default_visibility": read_json(one.default_visibility_json, object, None),
        }
        for one in Scenario.objects.filter(name__in=used).order_by("name")
    ]
    cartridges = [
        {
            "cartridge_id": one.cartridge_id,
            "name": one.name,
            "manifest": read_json(one.manifest_json, dict, {}),
        }
        for one in Cartridge.objects.filter(owner_id__in=viewer.ids).order_by("pk")
    ]
    counts = {
        "memories": atoms.count(), "edges": _edge_count(viewer), "holders": len(directory), "scenarios": len(scenarios),
        "cartridges": len(cartridges),
    }  # fmt: skip
    return {
        "version": VERSION, "by": viewer.author, "at": timestamps.now(), "counts": counts, "holders": list(directory),
        "scenarios": scenarios, "cartridges": cartridges,
    }  # fmt: skip


def _edge_count(viewer: Viewer) -> int:
    readable = exportable(viewer).values("atom_id")
    return EvidenceEdge.objects.filter(from_atom_id__in=readable, to_atom_id__in=readable).count()


def as_jsonl(viewer: Viewer, directory: Directory = ()) -> Iterator[str]:
    """The lines of a JSON Lines export; none when there is no memory."""
    first = True
    for one in exported(viewer):
        yield dump_json(one | {"export": header(viewer, directory)} if first else one) + "\n"
        first = False


def as_csv(viewer: Viewer) -> Iterator[str]:
    """The rows of a table, each cell safe against being run as a formula."""
    yield _row(COLUMNS)
    for one in exported(viewer):
        cells = one | {"tags": ", ".join(one["tags"]), "visibility": one["visibility"].get("scope", "")}
        yield _row([guarded(str(cells[name])) if cells[name] is not None else "" for name in COLUMNS])


def _row(cells: Sequence[str]) -> str:
    held = io.StringIO()
    csv.writer(held, lineterminator="\r\n").writerow(cells)
    return held.getvalue()


def as_notes(viewer: Viewer) -> Iterator[tuple[str, str]]:
    """A note a memory: its path inside the folder, and its text with front matter."""
    for one in exported(viewer):
        matter = {key: one[key] for key in ("atom_id", *COLUMNS[1:-1]) if one[key] not in (None, "", (), [])}
        matter["tags"] = list(one["tags"])
        stated = yaml.safe_dump(matter, allow_unicode=True, sort_keys=False)
        yield note_path(one), f"---\n{stated}---\n\n{one['text']}\n"


def note_path(one: Exported) -> str:
    """`house/2026-07-19 the-spare-key-is 9f2c4e01.md`: no name a file system would stumble over."""
    date = (one["event_time"] or one["created_at"])[:10]
    name = " ".join(
        part for part in (date, slug(one["text"]), re.sub(r"\W", "", one["atom_id"])[:16]) if part
    )
    folder = slug(one["scenario"]) or "any"
    return f"{folder + '-' if folder in RESERVED_NAMES else folder}/{name}.md"


def slug(text: str) -> str:
    """The first words of a text in letters, digits and hyphens, of any script."""
    kept = "".join(one if unicodedata.category(one)[0] in "LNM" else "-" for one in text[:200].casefold())
    short = ""
    for word in re.sub(r"-{2,}", "-", kept).strip("-").split("-"):
        if short and len(short) + len(word) >= SLUG:
            break
        short = f"{short}-{word}".strip("-")[:SLUG]
    return short
