"""The one loop every import goes through: check, recognise, embed in batches, store each batch in one transaction.

A run that is cut short leaves whole batches; running it again skips what is there, recognised by a key over the
memory's content that is kept with it. The file is only read.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import transaction

from memories.drafts import Draft, checked_name, make_draft
from memories.embedding import cache
from memories.errors import Conflict, Invalid, NotAllowed, NotFound
from memories.models import Atom
from memories.remember import Prepared, find_same, remember, store, visibility_of
from memories.store import zone
from memories.transfer import columns, links
from memories.transfer.identities import Choices, holder_of
from memories.transfer.identities import visibility_of as visibility_for
from memories.transfer.keys import IMPORT_KEY, content_key, known_keys, short
from memories.transfer.records import Header, HolderDraft, Link, Record
from memories.visibility import Viewer

BATCH = (
    128  # memories a transaction: other writers wait about as long as one commit takes, embedding is outside
)
GIVEN = {
    "holder_id", "origin", "scenario", "tags", "event_time", "event_time_end", "event_time_precision", "valid_from",
    "valid_to", "retention_until", "visibility", "source", "modality", "created_at", "metadata",
}  # fmt: skip
READ_OVER = {"recorded_by", "ingested_at", "source_file"}
FIELDS = GIVEN | READ_OVER | columns.FIELDS | {"text", "atom_id", "replaces"}


class Skipped(NamedTuple):
    """A piece of the file that was not taken, or not as it stood: where it stands, and a sentence why."""

    line: int
    why: str


@dataclass(slots=True)
class Loaded:
    """What became of a file: memories taken, memories the store had already, and what was refused.

    `notes` are about what was taken with a change; `names` says who each name of the file became; `holders` are for
    the directory. After a dry run `taken` is what would be.
    """

    taken: int = 0
    already_here: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[Skipped] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    holders: list[HolderDraft] = field(default_factory=list)
    links: int = 0


@dataclass(frozen=True, slots=True)
class _Item:
    prepared: Prepared
    key: str
    identity: str
    columns: Mapping[str, Any]


class Loader:
    """One import by one viewer. `ours`: the file is an export of this viewer's, whose ids and names may be kept."""

    def __init__(self, viewer: Viewer, *, ours: bool, choices: Choices) -> None:
        self.viewer, self.ours, self.choices = viewer, ours, choices
        self.zone = zone()
        self.known = known_keys(viewer)
        self.here: dict[str, str] = {}  # what the file calls a memory → the id it has in this store
        self.links: list[tuple[str, Link]] = []
        self.members: list[tuple[str, str]] = []
        self.mine: set[str] = set()
        self.defaults: dict[str, Mapping[str, Any]] = {}
        self.header: Header | None = None
        self.report = Loaded()

    def take(
        self, records: Iterable[Record], progress: Callable[[Record], None] = lambda record: None
    ) -> Loaded:
        """Bring all records in; `progress` hears of each batch's last record once it is dealt with."""
        for batch in _batches(records):
            self._look_up(batch)
            items = [item for record in batch if (item := self._checked(record))]
            self._store(items)
            progress(batch[-1])
        self._finish()
        return self.report

    def _checked(self, record: Record) -> _Item | None:
        """The record ready to be stored; None when it is refused, known, or no memory, which the report then says."""
        try:
            if record.why:
                raise Invalid(record.why)
            if record.header:
                self._begin(record.header)
            if record.holder:
                self._holder(record.holder)
                return None
            return self._item(record)
        except (Invalid, NotFound, NotAllowed, Conflict) as error:
            self.report.skipped.append(Skipped(record.line, str(error)))
            return None

    def _begin(self, header: Header) -> None:
        """An export somebody else made is a foreign file, whatever its form."""
        self.header = header
        self.ours = self.ours and header.by in self.viewer.ids
        for holder in header.holders:
            self._holder(holder)

    def _holder(self, draft: HolderDraft) -> None:
        name = draft.holder_id or draft.name
        self.report.holders.append(
            HolderDraft(draft.name, self._whose(name), draft.kind, draft.knows_about, draft.contact)
        )

    def _whose(self, name: str) -> str:
        """The holder a name of the file stands for, noted for the report."""
        holder_id = holder_of(name, self.choices, ours=self.ours)
        if not self.ours or name in self.choices.holders:
            self.report.names[name] = holder_id
        return holder_id

    def _item(self, record: Record) -> _Item | None:
        fields = _known_fields(record.fields)
        name = checked_name(fields.get("holder_id") or "", "holder_id")
        draft = self._draft(fields, name)
        more = columns.columns_of(fields, self.zone)
        key = content_key(draft, name or self.viewer.author, record.identity)
        draft.metadata[IMPORT_KEY] = key
        identity = checked_name(record.identity, "atom_id", 64) if self.ours else record.identity
        if identity:
            self.links += [(identity, link) for link in record.links]
            self.members += [(identity, one) for one in record.cartridges]
        if record.note:
            self.report.notes.append(Skipped(record.line, record.note))
        if short(key) in self.known or identity in self.mine:
            self._note(identity, self.known.get(short(key)) or identity)
            return None
        if fields.get("replaces"):
            self._replace(fields, draft, key, identity)
            return None
        visibility = self._readers(draft)
        if not identity and (same := find_same(self.viewer, draft, visibility)):
            self._note(identity, same.atom_id)
            return None
        self.known[short(key)] = ""
        return _Item(Prepared(draft, visibility), key, identity, more)

    def _draft(self, fields: Mapping[str, Any], name: str) -> Draft:
        """The checked draft, with the file's names and readers turned into this household's."""
        given = {key: fields.get(key) for key in GIVEN}
        given["holder_id"] = self._whose(name) if name else ""
        given["visibility"] = visibility_for(fields.get("visibility"), self.choices, ours=self.ours)
        mine = given["holder_id"] in ("", self.viewer.author)
        given["metadata"] = columns.metadata_of(fields.get("metadata"), keep=self.ours and mine)
        return make_draft(self.viewer, self.zone, fields.get("text"), **given)

    def _note(self, identity: str, atom_id: str) -> None:
        self.report.already_here += 1
        self._is(identity, atom_id)

    def _is(self, identity: str, atom_id: str) -> None:
        """Note what the file calls a memory; an id that was kept stands for itself."""
        if identity and atom_id and identity != atom_id:
            self.here[identity] = atom_id

    def _replace(self, fields: Mapping[str, Any], draft: Draft, key: str, identity: str) -> None:
        """A line that closes others goes through `remember`, alone: it needs the right to change each of them."""
        named = _ids(fields, "replaces")
        replaces = [self.here.get(one, one) for one in named if self.ours or one in self.here]
        if not self.choices.dry_run:
            given = {k: fields.get(k) for k in GIVEN} | {
                "metadata": draft.metadata,
                "visibility": draft.visibility,
            }
            given["holder_id"] = draft.holder_id
            memory = remember(self.viewer, draft.text, replaces=replaces, if_new=False, **given)
            self.known[short(key)] = memory.atom_id
            self._is(identity, memory.atom_id)
        self.report.taken += 1

    def _look_up(self, batch: list[Record]) -> None:
        """Which of the ids a batch states are the viewer's own memories already; one query for all of them."""
        stated = [record.identity for record in batch if record.identity] if self.ours else []
        own = Atom.objects.changeable_by(self.viewer).filter(atom_id__in=stated)
        self.mine = set(own.values_list("atom_id", flat=True)) if stated else set()

    def _readers(self, draft: Draft) -> Mapping[str, Any]:
        """Who may read it; what nobody said is looked up once a scenario."""
        if draft.visibility is not None:
            return visibility_of(draft)
        if draft.scenario not in self.defaults:
            self.defaults[draft.scenario] = visibility_of(draft)
        return self.defaults[draft.scenario]

    def _store(self, items: list[_Item]) -> None:
        """Embed a batch, then store it in one transaction."""
        self.report.taken += len(items)
        if not items or self.choices.dry_run:
            return
        embedded = cache.embed_passages([item.prepared.draft.text for item in items], self.viewer)
        with transaction.atomic():
            free = self._free_ids(items)
            prepared = [
                Prepared(
                    one.prepared.draft, one.prepared.visibility, one.identity if one.identity in free else ""
                )
                for one in items
            ]
            atoms = store(prepared, self.viewer, embedded)
            columns.write((atom.pk, item.columns) for item, atom in zip(items, atoms, strict=True))
        for item, atom in zip(items, atoms, strict=True):
            self.known[short(item.key)] = atom.atom_id
            self._is(item.identity, atom.atom_id)

    def _free_ids(self, items: list[_Item]) -> set[str]:
        """The stated ids that nobody's memory has yet."""
        if not self.ours:
            return set()
        stated = [item.identity for item in items if item.identity]
        used = set(Atom.objects.filter(atom_id__in=stated).values_list("atom_id", flat=True))
        return {one for one in stated if one not in used and stated.count(one) == 1}

    def _finish(self) -> None:
        """What ties the memories together, and whether an export came whole."""
        if self.header and (stated := self.header.counts.get("memories")) is not None:
            found = self.report.taken + self.report.already_here + len(self.report.skipped)
            if found != stated:
                self.report.notes.append(
                    Skipped(0, f"The export says it holds {stated} memories, and {found} were read.")
                )
        if self.choices.dry_run:
            return
        if self.header and self.ours:
            self.report.notes += [Skipped(0, why) for why in links.set_tables(self.viewer, self.header)]
        inside = (
            self.links
            if self.ours
            else [(begin, link) for begin, link in self.links if begin in self.here and link.to in self.here]
        )  # a file from outside ties together what it brought, and names nothing that was here before
        self.report.links = links.set_links(self.viewer, inside, self.here)
        if self.ours:
            links.set_members(self.viewer, self.members, self.here)


def load(
    viewer: Viewer,
    records: Iterable[Record],
    *,
    keep_ids: bool = False,
    choices: Choices | None = None,
    progress: Callable[[Record], None] = lambda record: None,
) -> Loaded:
    """Bring records in as `viewer`'s recordings and say what became of them.

    `keep_ids`: the file is in our own form. A line for another holder is that holder's memory, `third_party`,
    recorded by the viewer. Whoever runs this a second time adds nothing. Raises only what stops everything
    (`ModelMismatch`, `EngineUnavailable`, `Invalid` from a reader).
    """
    return Loader(viewer, ours=keep_ids, choices=choices or Choices()).take(records, progress)


def _known_fields(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    if unknown := sorted(fields.keys() - FIELDS):
        raise Invalid(f"“{unknown[0][:40]}” is no field of a memory.", unknown[0])
    return fields


def _ids(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = fields.get(name) or []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise Invalid(f"“{name}” is a list of ids.", name)
    return tuple(value)


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Runs of records; one that replaces others stands alone, so that what it names is stored before it."""
    batch: list[Record] = []
    for record in records:
        if record.fields.get("replaces") and batch:
            yield batch
            batch = []
        batch.append(record)
        if len(batch) >= BATCH or record.fields.get("replaces"):
            yield batch
            batch = []
    if batch:
        yield batch
