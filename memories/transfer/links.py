"""What ties imported memories together, set once all of them are there: edges, what supersedes what, cartridges.

Setting it again changes nothing, so that a run which was cut short before this is made whole by the next.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from django.db import transaction

from memories.fields import dump_json
from memories.models import Atom, Cartridge, CartridgeAtom, EvidenceEdge, Scenario
from memories.remember import next_stamp
from memories.transfer.records import Header, Link
from memories.visibility import Viewer, parse_visibility

BATCH = 500
Ends = tuple[str, Link, str]  # from, how, to


def set_links(viewer: Viewer, links: Sequence[tuple[str, Link]], here: Mapping[str, str]) -> int:
    """Write the links whose ends are both in the store, the first one the viewer's to change; how many are new.

    `here` maps what the file calls a memory to its id in this store. What is superseded and still open is closed.
    """
    written = 0
    for batch in _in_batches(links):
        ends = [(here.get(begin, begin), link, here.get(link.to, link.to)) for begin, link in batch]
        with transaction.atomic():
            allowed = _allowed(viewer, ends)
            written += _write_edges([one for one in allowed if one[1].edge])
            _write_supersedes([one for one in allowed if one[1].relation == "supersedes" and one[1].listed])
    return written


def _in_batches(links: Sequence[tuple[str, Link]]) -> Iterator[list[tuple[str, Link]]]:
    """In runs that keep the links of one memory together, since its `supersedes` is written whole."""
    rest = iter(links)
    while batch := list(islice(rest, BATCH)):
        for one in rest:
            batch.append(one)
            if one[0] != batch[-2][0]:
                break
        yield batch


def _allowed(viewer: Viewer, ends: Sequence[Ends]) -> list[Ends]:
    """Those that join two different atoms: the first changeable, the second readable (superseded: changeable)."""
    named = {one for begin, _, end in ends for one in (begin, end)}
    changeable = set(
        Atom.objects.changeable_by(viewer).filter(atom_id__in=named).values_list("atom_id", flat=True)
    )
    readable = set(
        Atom.objects.visible_to(viewer).filter(atom_id__in=named).values_list("atom_id", flat=True)
    )
    return [
        (begin, link, end)
        for begin, link, end in ends
        if begin != end
        and begin in changeable
        and end in (changeable if link.relation == "supersedes" else readable)
    ]


def _write_edges(ends: Sequence[Ends]) -> int:
    begins = {begin for begin, _, _ in ends}
    there = set(
        EvidenceEdge.objects.filter(from_atom_id__in=begins).values_list(
            "from_atom_id", "relation", "to_atom_id"
        )
    )
    fresh: dict[tuple[str, str, str], EvidenceEdge] = {}
    for begin, link, end in ends:
        key = (begin, link.relation, end)
        if key not in there and key not in fresh:
            fresh[key] = EvidenceEdge(
                from_atom_id=begin, to_atom_id=end, relation=link.relation, confidence=link.confidence,
                metadata_json=dump_json(link.metadata),
            )  # fmt: skip
    EvidenceEdge.objects.bulk_create(fresh.values())
    return len(fresh)


def _write_supersedes(ends: Sequence[Ends]) -> None:
    """Name what each atom supersedes, in the file's order after what it named already, and close what is open."""
    atoms = {
        one.atom_id: one for one in Atom.objects.filter(atom_id__in={x for b, _, e in ends for x in (b, e)})
    }
    for begin, _, end in ends:
        newer, older = atoms[begin], atoms[end]
        if end not in newer.supersedes:
            newer.supersedes_json = dump_json([*newer.supersedes, end])
            newer.save(update_fields=["supersedes_json"])
        if older.valid_to is None:
            older.valid_to = max(newer.valid_from or newer.ingested_at, older.valid_from or "")
            older.updated_at = next_stamp(older.updated_at)
            older.save(update_fields=["valid_to", "updated_at"])


def set_tables(viewer: Viewer, header: Header) -> list[str]:
    """Make the scenarios and cartridges an export of the viewer's own tells of, where they are missing.

    Returns a sentence for each that was left out: a scenario's description and default are a curator's.
    """
    left_out = []
    with transaction.atomic():
        for stated in header.scenarios:
            name = str(stated.get("name") or "")[:200]
            if not name or Scenario.objects.filter(name=name).exists():
                continue
            if viewer.is_curator:
                Scenario.objects.create(
                    name=name, description=str(stated.get("description") or ""),
                    default_visibility_json=_default(stated.get("default_visibility")),
                )  # fmt: skip
            else:
                left_out.append(
                    f"What is said about the scenario “{name}” was left out: a curator brings that in."
                )
        for stated in header.cartridges:
            _make_cartridge(viewer, stated)
    return left_out


def _default(stated: Any) -> str | None:
    return dump_json(parse_visibility(stated)) if stated else None


def _make_cartridge(viewer: Viewer, stated: Mapping[str, Any]) -> None:
    cartridge_id, name = str(stated.get("cartridge_id") or "")[:64], str(stated.get("name") or "")[:200]
    if cartridge_id and name and not Cartridge.objects.filter(pk=cartridge_id).exists():
        manifest = stated.get("manifest")
        Cartridge.objects.create(
            cartridge_id=cartridge_id, name=name, owner_id=viewer.author,
            manifest_json=dump_json(manifest if isinstance(manifest, dict) else {}),
        )  # fmt: skip


def set_members(viewer: Viewer, members: Sequence[tuple[str, str]], here: Mapping[str, str]) -> None:
    """Put memories (by what the file calls them) into those of the named cartridges that are the viewer's own."""
    own = set(Cartridge.objects.filter(owner_id__in=viewer.ids).values_list("pk", flat=True))
    rest = iter(members)
    while batch := list(islice(rest, BATCH)):
        pairs = [(cartridge_id, here.get(one, one)) for one, cartridge_id in batch if cartridge_id in own]
        with transaction.atomic():
            readable = set(
                Atom.objects.visible_to(viewer)
                .filter(atom_id__in={atom_id for _, atom_id in pairs})
                .values_list("atom_id", flat=True)
            )
            CartridgeAtom.objects.bulk_create(
                (
                    CartridgeAtom(cartridge_id=one, atom_id=atom_id)
                    for one, atom_id in pairs
                    if atom_id in readable
                ),
                ignore_conflicts=True,
            )
