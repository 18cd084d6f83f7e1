"""Writing memories down: `remember`, `edit` and `confirm`, each in one transaction.

Embedding happens before the transaction begins, so that nobody waits for the write lock while a model runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db import transaction

from memories import timestamps, vectors
from memories.drafts import (
    Draft,
    check_validity,
    checked_event,
    checked_moment,
    checked_name,
    checked_tags,
    checked_text,
    make_draft,
)
from memories.embedding import cache
from memories.errors import Conflict, Invalid, NotAllowed, NotFound
from memories.fields import Beginning, dump_json
from memories.models import TEXT_KEY, Atom, EvidenceEdge, Scenario, new_atom_id
from memories.results import Memory, memories_for
from memories.store import default_visibility, zone
from memories.text import token_equivalent
from memories.visibility import Viewer, dump_visibility, is_narrower, narrowest, parse_visibility

NO_SUCH_MEMORY = "There is no memory with this id that you may read."
NOT_YOURS = "Only the holder of a memory, or who wrote it down for her, may change it."


def remember(
    viewer: Viewer, text: str, *, replaces: Sequence[str] = (), if_new: bool = True, **given: Any
) -> Memory:
    """Store a statement and return it; `given` takes the optional fields of POST `/api/memories`.

    `replaces` closes those memories at the new one's `valid_from` and hands down scenario, tags and the narrowest
    visibility unless they are given. The same statement by the same holder is not stored twice: the one that is
    there comes back (unless `if_new` is False). Raises `Invalid`, `NotFound`, `NotAllowed`.
    """
    olds = _replaceable(viewer, replaces)
    draft = make_draft(
        viewer, zone(), text, **(_inherited(viewer, olds) | {k: v for k, v in given.items() if v is not None})
    )
    if olds and draft.valid_from is None:
        draft = replace(draft, valid_from=timestamps.now())
    visibility = visibility_of(draft, olds)
    if if_new and not olds and (same := find_same(viewer, draft, visibility)):
        return memories_for(viewer, [same])[0]
    embedded = cache.embed_passages([draft.text], viewer)
    with transaction.atomic():
        if if_new and not olds and (same := find_same(viewer, draft, visibility)):
            return memories_for(viewer, [same])[0]
        olds = _replaceable(viewer, replaces)
        atom = store([Prepared(draft, visibility)], viewer, embedded)[0]
        _supersede(atom, olds)
    return memories_for(viewer, [Atom.objects.get(pk=atom.pk)])[0]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft with its complete visibility and, for imports, the id it keeps."""

    draft: Draft
    visibility: Mapping[str, Any]
    atom_id: str = ""


def store(prepared: Sequence[Prepared], viewer: Viewer, embedded: cache.Embedded) -> list[Atom]:
    """Insert atoms with their vectors and cache rows; inside the caller's transaction, in the given order.

    `recorded_by` is always the viewer when the holder is somebody else.
    """
    model = cache.engine()
    vectors.record_model(model)
    atoms = Atom.objects.bulk_create(_row(one, viewer) for one in prepared)
    vectors.write_vectors((atom.pk, vector) for atom, vector in zip(atoms, embedded.vectors, strict=True))
    cache.keep(embedded.fresh)
    return atoms


def _row(prepared: Prepared, viewer: Viewer) -> Atom:
    draft = prepared.draft
    model = cache.engine()
    created = draft.created_at or timestamps.now()
    atom = Atom(
        atom_id=prepared.atom_id or new_atom_id(),
        ingested_at=created,
        updated_at=created,
        visibility_json=dump_visibility(prepared.visibility),
        embedding_refs_json=vectors.embedding_refs(model, cache.passage_key(model.name, draft.text)),
        **draft.columns(),
    )
    recorder = viewer.holder_id if draft.holder_id != viewer.holder_id else None
    atom.set_metadata(**draft.metadata, recorded_by=recorder)
    return atom


def visibility_of(draft: Draft, olds: Sequence[Atom] = ()) -> dict[str, Any]:
    """What was said, else the narrowest of what it replaces, else the scenario's default, else the household's."""
    if draft.visibility is not None:
        return parse_visibility(draft.visibility)
    if olds:
        return narrowest(old.visibility_json for old in olds)
    if draft.scenario:
        stored = (
            Scenario.objects.filter(name=draft.scenario)
            .values_list("default_visibility_json", flat=True)
            .first()
        )
        if stored not in (None, "null", "{}"):
            return narrowest([stored])  # what cannot be read is private
    return parse_visibility(default_visibility())


def find_same(viewer: Viewer, draft: Draft, visibility: Mapping[str, Any]) -> Atom | None:
    """The current atom that states exactly this, by the same holder, about the same time, to the same readers.

    Looked for only among what the viewer may change: identical text of somebody else stays unseen. Facts true in
    two separate periods stay two.
    """
    same: Atom | None = (
        Atom.objects.changeable_by(viewer)
        .current()
        .alias(text_key=Beginning("text", TEXT_KEY))
        .filter(
            holder_id=draft.holder_id,
            text_key=draft.text[:TEXT_KEY],
            text=draft.text,
            scenario=draft.scenario,
            source=draft.source,
            tags=dump_json(list(draft.tags)),
            visibility_json=dump_visibility(visibility),
            event_time=draft.event_time,
            event_time_end=draft.event_time_end,
            valid_from=draft.valid_from,
            valid_to=draft.valid_to,
        )
        .order_by("pk")
        .first()
    )
    return same


def _replaceable(viewer: Viewer, atom_ids: Sequence[str]) -> list[Atom]:
    """The named atoms, each of which the viewer may change. Raises `NotFound` before `NotAllowed`."""
    wanted = list(dict.fromkeys(atom_ids))
    return [changeable(viewer, atom_id) for atom_id in wanted]


def changeable(viewer: Viewer, atom_id: str, *, curators: bool = False) -> Atom:
    """One atom that the viewer may change (`curators`: or keep in order). Raises `NotFound`, `NotAllowed`."""
    atom: Atom | None = Atom.objects.visible_to(viewer).filter(atom_id=atom_id).first()
    if atom is None:
        raise NotFound(NO_SUCH_MEMORY)
    if not (viewer.ids & {atom.holder_id, atom.recorded_by} or (curators and viewer.is_curator)):
        raise NotAllowed(NOT_YOURS)
    return atom


def _inherited(viewer: Viewer, olds: Sequence[Atom]) -> dict[str, Any]:
    """What a successor takes over unless it is given: scenario and holder where the olds agree, the tags of all."""
    if not olds:
        return {}
    scenarios = {old.scenario for old in olds}
    holders = {old.holder_id for old in olds}
    return {
        "scenario": scenarios.pop() if len(scenarios) == 1 else "",
        "tags": list(dict.fromkeys(tag for old in olds for tag in old.tag_list)),
        "holder_id": holders.pop() if len(holders) == 1 else viewer.author,
    }


def _supersede(atom: Atom, olds: Sequence[Atom]) -> None:
    """Close `olds` when `atom` begins, and say so on both; inside the caller's transaction."""
    begin = atom.valid_from or atom.ingested_at
    for old in olds:
        if old.valid_from and old.valid_from > begin:
            raise Invalid(
                "The new memory begins before the one it replaces; give a later valid_from.", "valid_from"
            )
        old.valid_to = min(old.valid_to, begin) if old.valid_to else begin
        old.updated_at = next_stamp(old.updated_at)
        old.save(update_fields=["valid_to", "updated_at"])
    if olds:
        atom.supersedes_json = dump_json([old.atom_id for old in olds])
        atom.save(update_fields=["supersedes_json"])
    EvidenceEdge.objects.bulk_create(
        EvidenceEdge(from_atom_id=atom.atom_id, to_atom_id=old.atom_id, relation="supersedes") for old in olds
    )


def next_stamp(previous: str) -> str:
    """Now, or a millisecond after `previous` when the clock has not moved on: no two versions share a stamp."""
    now = timestamps.now()
    if now > previous:
        return now
    return timestamps.to_text(timestamps.from_text(previous) + timedelta(milliseconds=1))


def edit(viewer: Viewer, atom_id: str, *, if_updated_at: str | None = None, **changes: Any) -> Memory:
    """Change a memory in place and return it; its id stays.

    `changes` takes any of `remember`'s fields but the holder; None clears a time. New text is embedded anew, and
    the old wording is kept as a closed version that this one supersedes. `if_updated_at` refuses with `Conflict`
    when somebody was faster. A curator may change what she can read, never widen who reads it.
    """
    atom = changeable(viewer, atom_id, curators=True)
    columns = _changed_columns(viewer, atom, changes)
    rewritten = columns.get("text", atom.text) != atom.text
    embedded = cache.embed_passages([columns["text"]], viewer) if rewritten else None
    with transaction.atomic():
        atom = changeable(viewer, atom_id, curators=True)
        if if_updated_at is not None and atom.updated_at != if_updated_at:
            raise Conflict("Somebody changed this memory meanwhile; read it again before you change it.")
        columns["updated_at"] = next_stamp(atom.updated_at)
        if embedded is not None:
            columns |= _keep_old_wording(viewer, atom, columns)
            vectors.record_model(cache.engine())
            vectors.write_vectors([(atom.pk, embedded.vectors[0])])
            cache.keep(embedded.fresh)
        _write(atom, columns)
    return memories_for(viewer, [atom])[0]


def _write(atom: Atom, columns: Mapping[str, Any]) -> None:
    for name, value in columns.items():
        setattr(atom, name, value)
    check_validity(atom.valid_from, atom.valid_to)
    atom.save(update_fields=list(columns))


def _keep_old_wording(viewer: Viewer, atom: Atom, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the atom as it was, closed now, with its vector; return what the edited one changes for it."""
    moment = max(columns["updated_at"], atom.valid_from or "")
    old = Atom.objects.get(pk=atom.pk)
    old_vector = vectors.read_vectors([atom.pk])
    old.pk, old.atom_id = None, new_atom_id()
    old.valid_to = min(atom.valid_to, moment) if atom.valid_to else moment
    old.set_metadata(version_of=atom.atom_id)
    old.save(force_insert=True)
    vectors.write_vectors((old.pk, vector) for vector in old_vector.values())
    EvidenceEdge.objects.create(from_atom_id=atom.atom_id, to_atom_id=old.atom_id, relation="supersedes")
    return {
        "valid_from": columns.get("valid_from") or moment,
        "supersedes_json": dump_json([old.atom_id]),
        "token_equivalent": token_equivalent(columns["text"]),
        "embedding_refs_json": vectors.embedding_refs(
            cache.engine(), cache.passage_key(cache.engine().name, columns["text"])
        ),
    }


def _changed_columns(viewer: Viewer, atom: Atom, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Check each change and turn it into columns. Raises `Invalid`, `NotAllowed`."""
    here = zone()
    columns: dict[str, Any] = {}
    if "text" in changes:
        columns["text"] = checked_text(changes["text"])
    if "scenario" in changes:
        columns["scenario"] = checked_name(changes["scenario"] or "", "scenario")
    if "source" in changes:
        columns["source"] = checked_name(changes["source"] or "", "source", 1_000)
    if "tags" in changes:
        columns["tags"] = dump_json(list(checked_tags(changes["tags"] or ())))
    for bound in ("valid_from", "valid_to", "retention_until"):
        if bound in changes:
            columns[bound] = checked_moment(
                changes[bound], bound, here, end_of_day=bound == "retention_until"
            )
    if changes.keys() & {"event_time", "event_time_end", "event_time_precision"}:
        columns |= _changed_event(atom, changes)
    if "visibility" in changes:
        columns["visibility_json"] = _changed_visibility(viewer, atom, changes["visibility"])
    if unknown := changes.keys() - EDITABLE:
        raise Invalid(f"“{min(unknown)[:40]}” cannot be changed.", min(unknown))
    return columns


EDITABLE = {
    "text", "scenario", "source", "tags", "valid_from", "valid_to", "retention_until",
    "event_time", "event_time_end", "event_time_precision", "visibility",
}  # fmt: skip


def _changed_event(atom: Atom, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Event columns after a change; a new time without a precision brings its own."""
    begin = changes.get("event_time", atom.event_time)
    finish = changes.get("event_time_end", atom.event_time_end if begin else None)
    kept = None if "event_time" in changes else atom.event_time_precision
    event = checked_event(begin, finish, changes.get("event_time_precision", kept), zone())
    return dict(zip(("event_time", "event_time_end", "event_time_precision"), event, strict=True)) | {
        "event_time_source": "stated" if event[0] else ""
    }


def _changed_visibility(viewer: Viewer, atom: Atom, wanted: Any) -> str:
    visibility = parse_visibility(wanted)
    if not viewer.ids & {atom.holder_id, atom.recorded_by} and not is_narrower(
        visibility, atom.visibility_json
    ):
        raise NotAllowed("A curator may narrow who reads somebody else's memory, never widen it.")
    return dump_visibility(visibility)


def confirm(viewer: Viewer, atom_id: str) -> Memory:
    """The holder says that what somebody wrote down for her is so; from then on it counts as her knowledge."""
    with transaction.atomic():
        atom = changeable(viewer, atom_id)
        if viewer.author != atom.holder_id:
            raise NotAllowed("Only the holder can confirm what was written down for her.")
        atom.set_metadata(confirmed=True)
        atom.updated_at = next_stamp(atom.updated_at)
        atom.save(update_fields=["metadata_json", "updated_at"])
    return memories_for(viewer, [atom])[0]
