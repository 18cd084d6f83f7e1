"""A client of a rekal server, in one module without dependencies.

Written from the OpenAPI document by `rekal client`; do not edit it, renew it.

    from rekal_site.client import Rekal

    rekal = Rekal("http://127.0.0.1:8000", token="rekal_…")
    rekal.remember("The spare key is in the blue box.", scenario="house")
    rekal.ask("Where is the spare key?")["status"]
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, NotRequired, TypedDict, cast
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen


class LeftOut(Enum):
    """What an argument is that was not given: the server then decides, where None would say something."""

    LEFT_OUT = "left out"


LEFT_OUT = LeftOut.LEFT_OUT


class Refused(Exception):
    """The server refused a call: `status` is HTTP's, `detail` one sentence, `retry_after` seconds, if it said so."""

    def __init__(self, status: int, detail: str, retry_after: int | None = None) -> None:
        super().__init__(f"{detail} ({status})")
        self.status = status
        self.detail = detail
        self.retry_after = retry_after


class AddedOut(TypedDict):
    """What an upload came to."""

    source: SourceOut
    new: int
    unchanged: int
    superseded: int
    closed: int


class AnswerOut(TypedDict):
    """An answer the caller may read."""

    memory: MemoryOut
    helped: bool | None


class AskOut(TypedDict):
    """One of three ends: an answer, somebody to ask, or nobody who knows (a result, not an error)."""

    status: Literal["answered", "referred", "no_holder_knows"]
    question: str
    hops_used: int
    visited: list[str]
    answers: list[HitOut]
    referrals: list[ReferralOut]
    trail: list[LiveStepOut]


class CartridgeOut(TypedDict):
    """A bundle of memories; `memories` counts what of it the caller may read."""

    cartridge_id: str
    name: str
    owner_id: str
    memories: int
    mounted: bool
    shared_with: list[str]
    created_at: str


class CartridgesOut(TypedDict):
    """The caller’s own and those shared with her, by name."""

    cartridges: list[CartridgeOut]


class EdgeOut(TypedDict):
    """One memory about another."""

    from_atom_id: str
    to_atom_id: str
    relation: str
    confidence: float


class EdgesOut(TypedDict):
    """Edges, newest first."""

    edges: list[EdgeOut]


class Health(TypedDict):
    """The server is up."""

    status: NotRequired[str]


class HitOut(TypedDict):
    """A recalled memory with everything its rank came from."""

    memory: MemoryOut
    score: float
    relevance: float
    signals: dict[str, float]
    basis: list[str]


class HolderOut(TypedDict):
    """A holder; contact and groups are shown to the household’s people and agents."""

    holder_id: str
    name: str
    kind: str
    registered: bool
    knows_about: list[str]
    contact: dict[str, str]
    groups: list[str]


class HoldersOut(TypedDict):
    """The directory, by id: everybody registered, and the other holders of memories the caller may read."""

    holders: list[HolderOut]


class ImportedOut(TypedDict):
    """What a cartridge came to; after a dry run `taken` is what would be."""

    cartridge_id: str
    name: str
    by: str
    household: str
    created_at: str
    taken: int
    already_here: int
    sources: int
    links: int
    token_equivalent: int
    mounted: bool
    names: dict[str, str]
    dry_run: bool


class InboxOut(TypedDict):
    """What waits for the caller."""

    for_me: list[QuestionOut]
    board: list[QuestionOut]
    mine: list[QuestionOut]
    referrals: list[ReferralOut]


class KnowerOut(TypedDict):
    """Somebody who may know; the reasons name only what the caller may read or she declared."""

    holder_id: str
    name: str
    kind: str
    registered: bool
    confidence: Literal["strong", "likely", "possible"]
    basis: list[str]
    contact: dict[str, str]


class LiveStepOut(TypedDict):
    """A holder that was asked on its own server, at which hop, and what came of it."""

    holder_id: str
    hop: int
    outcome: str


class MeOut(TypedDict):
    """Who the caller is, and what her session or token lets her do."""

    holder_id: str
    name: str
    kind: str
    groups: list[str]
    scopes: list[str]
    acting_for: str | None


class MemoryOut(TypedDict):
    """A memory as the caller may see it; `supersedes` names what the caller may read of what it replaced."""

    atom_id: str
    text: str
    holder_id: str
    recorded_by: str
    origin: str
    scenario: str
    tags: list[str]
    event_time: str | None
    event_time_end: str | None
    event_time_precision: str
    valid_from: str | None
    valid_to: str | None
    retention_until: str | None
    visibility: dict[str, Any]
    supersedes: list[str]
    source: str
    created_at: str
    updated_at: str


class MoveOut(TypedDict):
    """What moved, or would move."""

    into: str
    moving: int
    staying: int
    examples: list[MemoryOut]
    dry_run: bool


class PageOut(TypedDict):
    """Memories, newest first; `next` is the cursor of the following page, null on the last."""

    items: list[MemoryOut]
    next: str | None


class PassedOut(TypedDict):
    """Somebody who did not know."""

    by: str
    to: str


class PreviewOut(TypedDict):
    """What an export would hold; nothing is written."""

    name: str
    audience: str
    memories: list[MemoryOut]
    count: int
    left_out: int
    sources: list[str]
    token_equivalent: int


class QuestionOut(TypedDict):
    """A question, shown to its parties (the board: to the household)."""

    question_id: str
    text: str
    asker_id: str
    to: str
    state: str
    created_at: str
    answers: list[AnswerOut]
    passed: list[PassedOut]


class QuestionsOut(TypedDict):
    """Questions, newest first."""

    questions: list[QuestionOut]


class RecallOut(TypedDict):
    """The best hits, best first."""

    query: str
    hits: list[HitOut]


class ReferralOut(TypedDict):
    """Somebody was told that the caller may know."""

    asker_id: str
    question: str
    verb: str
    confidence: str
    created_at: str


class RemovedOut(TypedDict):
    """What taking a cartridge out came to."""

    name: str
    removed: int
    kept: int


class ScenarioOut(TypedDict):
    """A situation; the counts cover what the caller may read and change."""

    name: str
    description: str
    default_visibility: dict[str, Any] | None
    memories: int
    mine: int


class ScenariosOut(TypedDict):
    """The situations of readable memories, most used first."""

    scenarios: list[ScenarioOut]


class SourceOut(TypedDict):
    """A file that memories came from."""

    source_id: str
    name: str
    kind: str
    mime: str
    sha256: str
    size_bytes: int
    created_at: str
    uploaded_by: str
    memories: int
    has_preview: bool
    proposed_event_time: str | None
    notes: list[str]


class SourcesOut(TypedDict):
    """Sources, newest first."""

    items: list[SourceOut]


class WebhookOut(TypedDict):
    """A webhook of the caller’s."""

    id: int
    url: str
    kinds: list[str]
    failures: int
    created_at: str
    secret: str | None


class WebhooksOut(TypedDict):
    """The caller’s webhooks, oldest first."""

    webhooks: list[WebhookOut]


class WhoKnowsOut(TypedDict):
    """Who may know, best first. Who was named sees by whom and about which question."""

    query: str
    holders: list[KnowerOut]


class Rekal:
    """Calls a server as whoever the token belongs to. Every method raises `Refused`, and `OSError` when unreachable."""

    def __init__(self, url: str, token: str, *, timeout: float = 30.0) -> None:
        self.url = url.rstrip("/")
        self.token = token
        self.timeout = timeout

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
        body: Any = LEFT_OUT,
        content_type: str = "application/json",
    ) -> Any:
        """The reply of a call: JSON as Python values, anything else as bytes, nothing as None."""
        pairs = {name: _text(value) for name, value in (query or {}).items() if value not in (LEFT_OUT, None)}
        address = f"{self.url}{path}{'?' + urlencode(pairs) if pairs else ''}"
        data = None if body is LEFT_OUT else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = Request(address, data=data, method=method)  # noqa: S310
        request.add_header("Authorization", f"Bearer {self.token}")
        if data is not None:
            request.add_header("Content-Type", content_type)
        for name, value in (headers or {}).items():
            if value not in (LEFT_OUT, None):
                request.add_header(name, _text(value))
        try:
            with urlopen(request, timeout=self.timeout) as reply:  # noqa: S310
                return _read(reply.headers.get_content_type(), reply.read())
        except HTTPError as error:
            with error:
                raise _refused(error) from None

    def health(
        self,
    ) -> Health:
        """Is the server up?

        Needs no sign-in and says nothing about the household.
        """
        return cast("Health", self._call("GET", "/api/health"))

    def import_cartridge(
        self,
        body: bytes,
        content_type: str,
    ) -> ImportedOut:
        """Bring a cartridge file in.

        As `multipart/form-data`. The file is checked whole first; it comes in private to the caller unless chosen.
        """
        return cast("ImportedOut", self._call("POST", "/api/cartridges/import", body=body, content_type=content_type))

    def preview_cartridge_export(
        self,
        cartridge_id: str,
        audience: str,
    ) -> PreviewOut:
        """What a cartridge file would hold.

        The memories that both the caller and everybody in the audience may read.
        """
        return cast("PreviewOut", self._call("GET", f'/api/cartridges/{quote(cartridge_id, safe="")}/export', query={"audience": audience}))

    def export_cartridge(
        self,
        cartridge_id: str,
        audience: str,
        *,
        passphrase: str | LeftOut = LEFT_OUT,
    ) -> bytes:
        """Write a cartridge file.

        The file; `POST`, since a passphrase must not stand in an address.
        """
        return cast("bytes", self._call("POST", f'/api/cartridges/{quote(cartridge_id, safe="")}/export', body=_given({"audience": audience, "passphrase": passphrase})))

    def remove_imported_cartridge(
        self,
        cartridge_id: str,
    ) -> RemovedOut:
        """Take an imported cartridge out whole.

        The cartridge with every memory and file that came with it, for good; what also lies elsewhere stays.
        """
        return cast("RemovedOut", self._call("DELETE", f'/api/cartridges/{quote(cartridge_id, safe="")}/memories'))

    def remember(
        self,
        text: str,
        *,
        idempotency_key: str | LeftOut = LEFT_OUT,
        scenario: str | LeftOut | None = LEFT_OUT,
        tags: list[str] | LeftOut | None = LEFT_OUT,
        holder_id: str | LeftOut | None = LEFT_OUT,
        origin: str | LeftOut | None = LEFT_OUT,
        event_time: str | LeftOut | None = LEFT_OUT,
        event_time_end: str | LeftOut | None = LEFT_OUT,
        event_time_precision: str | LeftOut | None = LEFT_OUT,
        valid_from: str | LeftOut | None = LEFT_OUT,
        valid_to: str | LeftOut | None = LEFT_OUT,
        retention_until: str | LeftOut | None = LEFT_OUT,
        visibility: str | dict[str, Any] | LeftOut | None = LEFT_OUT,
        replaces: list[str] | LeftOut = LEFT_OUT,
        source: str | LeftOut | None = LEFT_OUT,
    ) -> MemoryOut:
        """Remember a statement.

        Store a statement. The same one by the same holder is not stored twice: what is there comes back.
        """
        return cast("MemoryOut", self._call("POST", "/api/memories", headers={"Idempotency-Key": idempotency_key}, body=_given({"text": text, "scenario": scenario, "tags": tags, "holder_id": holder_id, "origin": origin, "event_time": event_time, "event_time_end": event_time_end, "event_time_precision": event_time_precision, "valid_from": valid_from, "valid_to": valid_to, "retention_until": retention_until, "visibility": visibility, "replaces": replaces, "source": source})))

    def list_memories(
        self,
        *,
        q: str | LeftOut | None = LEFT_OUT,
        scenario: str | LeftOut | None = LEFT_OUT,
        holder: str | LeftOut | None = LEFT_OUT,
        tag: str | LeftOut | None = LEFT_OUT,
        current: bool | LeftOut = LEFT_OUT,
        limit: int | LeftOut = LEFT_OUT,
        cursor: str | LeftOut | None = LEFT_OUT,
    ) -> PageOut:
        """List memories, newest first.

        The memories the caller may read, page by page; unranked.
        """
        return cast("PageOut", self._call("GET", "/api/memories", query={"q": q, "scenario": scenario, "holder": holder, "tag": tag, "current": current, "limit": limit, "cursor": cursor}))

    def read_memory(
        self,
        atom_id: str,
    ) -> MemoryOut:
        """Read one memory.

        One memory; the `ETag` header names its version. Missing and unreadable ids are answered alike.
        """
        return cast("MemoryOut", self._call("GET", f'/api/memories/{quote(atom_id, safe="")}'))

    def edit_memory(
        self,
        atom_id: str,
        *,
        if_match: str | LeftOut = LEFT_OUT,
        text: str | LeftOut | None = LEFT_OUT,
        scenario: str | LeftOut | None = LEFT_OUT,
        tags: list[str] | LeftOut | None = LEFT_OUT,
        event_time: str | LeftOut | None = LEFT_OUT,
        event_time_end: str | LeftOut | None = LEFT_OUT,
        event_time_precision: str | LeftOut | None = LEFT_OUT,
        valid_from: str | LeftOut | None = LEFT_OUT,
        valid_to: str | LeftOut | None = LEFT_OUT,
        retention_until: str | LeftOut | None = LEFT_OUT,
        visibility: str | dict[str, Any] | LeftOut | None = LEFT_OUT,
        source: str | LeftOut | None = LEFT_OUT,
    ) -> MemoryOut:
        """Change a memory.

        Change the fields that are given. A new wording keeps the old one as a closed version.
        """
        return cast("MemoryOut", self._call("PATCH", f'/api/memories/{quote(atom_id, safe="")}', headers={"If-Match": if_match}, body=_given({"text": text, "scenario": scenario, "tags": tags, "event_time": event_time, "event_time_end": event_time_end, "event_time_precision": event_time_precision, "valid_from": valid_from, "valid_to": valid_to, "retention_until": retention_until, "visibility": visibility, "source": source})))

    def forget(
        self,
        atom_id: str,
        *,
        if_match: str | LeftOut = LEFT_OUT,
    ) -> None:
        """Forget a memory for good.

        Remove a memory with its index entries, its earlier wordings and their bytes.
        """
        self._call("DELETE", f'/api/memories/{quote(atom_id, safe="")}', headers={"If-Match": if_match})

    def recall(
        self,
        q: str,
        *,
        limit: int | LeftOut = LEFT_OUT,
        scenario: str | LeftOut | None = LEFT_OUT,
        holder: str | LeftOut | None = LEFT_OUT,
        tag: str | LeftOut | None = LEFT_OUT,
        cartridge: str | LeftOut | None = LEFT_OUT,
        as_of: str | LeftOut | None = LEFT_OUT,
        min_relevance: float | LeftOut | None = LEFT_OUT,
    ) -> RecallOut:
        """Recall memories by meaning and by words.

        The memories that fit a question best, each with its score, relevance, raw signals and reasons.
        """
        return cast("RecallOut", self._call("GET", "/api/recall", query={"q": q, "limit": limit, "scenario": scenario, "holder": holder, "tag": tag, "cartridge": cartridge, "as_of": as_of, "min_relevance": min_relevance}))

    def me(
        self,
    ) -> MeOut:
        """Who am I here?

        The holder the session or token stands for, and its scopes.
        """
        return cast("MeOut", self._call("GET", "/api/me"))

    def list_holders(
        self,
    ) -> HoldersOut:
        """The directory.

        Everybody registered, and the other holders of memories the caller may read.
        """
        return cast("HoldersOut", self._call("GET", "/api/holders"))

    def read_holder(
        self,
        holder_id: str,
    ) -> HolderOut:
        """One holder.

        One holder’s record. Nobody and who is known only by unreadable memories are answered alike.
        """
        return cast("HolderOut", self._call("GET", f'/api/holders/{quote(holder_id, safe="")}'))

    def set_holder(
        self,
        holder_id: str,
        *,
        name: str | LeftOut | None = LEFT_OUT,
        kind: Literal["person", "agent", "service"] | LeftOut | None = LEFT_OUT,
        knows_about: list[str] | LeftOut | None = LEFT_OUT,
        contact: dict[str, str] | LeftOut | None = LEFT_OUT,
        groups: list[str] | LeftOut | None = LEFT_OUT,
    ) -> HolderOut:
        """Register a holder or change its record.

        Everybody changes her own name, topics and contact (`write`); the rest needs a curator (`curate`).
        """
        return cast("HolderOut", self._call("PUT", f'/api/holders/{quote(holder_id, safe="")}', body=_given({"name": name, "kind": kind, "knows_about": knows_about, "contact": contact, "groups": groups})))

    def remove_holder(
        self,
        holder_id: str,
    ) -> None:
        """Unregister a holder.

        Take a holder out of the directory; its memories stay. Curators only.
        """
        self._call("DELETE", f'/api/holders/{quote(holder_id, safe="")}')

    def who_knows(
        self,
        q: str,
        *,
        limit: int | LeftOut = LEFT_OUT,
    ) -> WhoKnowsOut:
        """Who knows about this?

        The holders who may know, best first, also by what the caller may not read: that she knows, never what.
        """
        return cast("WhoKnowsOut", self._call("GET", "/api/who_knows", query={"q": q, "limit": limit}))

    def ask(
        self,
        question: str,
        *,
        idempotency_key: str | LeftOut = LEFT_OUT,
        scenario: str | LeftOut | None = LEFT_OUT,
        max_hops: int | LeftOut = LEFT_OUT,
        limit: int | LeftOut = LEFT_OUT,
        visited: list[str] | LeftOut = LEFT_OUT,
    ) -> AskOut:
        """Ask the household.

        Look in what the caller may read; if nothing there answers, visit holders and say whom to ask.
        """
        return cast("AskOut", self._call("POST", "/api/ask", headers={"Idempotency-Key": idempotency_key}, body=_given({"question": question, "scenario": scenario, "max_hops": max_hops, "limit": limit, "visited": visited})))

    def list_sources(
        self,
    ) -> SourcesOut:
        """List sources.

        The files the caller may open: her own, and those of which she may read every memory.
        """
        return cast("SourcesOut", self._call("GET", "/api/sources"))

    def add_source(
        self,
        body: bytes,
        content_type: str,
    ) -> AddedOut:
        """Upload a file and remember what it says.

        As `multipart/form-data`. A changed version of the caller's file of that name supersedes only what changed.
        """
        return cast("AddedOut", self._call("POST", "/api/sources", body=body, content_type=content_type))

    def read_source(
        self,
        source_id: str,
    ) -> SourceOut:
        """Read about one source.

        One source; missing and closed ids are answered alike.
        """
        return cast("SourceOut", self._call("GET", f'/api/sources/{quote(source_id, safe="")}'))

    def delete_source(
        self,
        source_id: str,
    ) -> None:
        """Delete a source with its memories.

        The file, its earlier versions and every memory that came from them, for good.
        """
        self._call("DELETE", f'/api/sources/{quote(source_id, safe="")}')

    def download_source(
        self,
        source_id: str,
    ) -> bytes:
        """Download a source's file.

        The file as it is kept.
        """
        return cast("bytes", self._call("GET", f'/api/sources/{quote(source_id, safe="")}/file'))

    def preview_source(
        self,
        source_id: str,
    ) -> bytes:
        """A picture's small version.

        WebP, at most 480 pixels wide and high.
        """
        return cast("bytes", self._call("GET", f'/api/sources/{quote(source_id, safe="")}/preview'))

    def list_webhooks(
        self,
    ) -> WebhooksOut:
        """My webhooks.

        The addresses that the caller’s events are sent to, without their secrets.
        """
        return cast("WebhooksOut", self._call("GET", "/api/webhooks"))

    def add_webhook(
        self,
        url: str,
        *,
        kinds: list[Literal["question", "answered", "expiring"]] | LeftOut = LEFT_OUT,
    ) -> WebhookOut:
        """Have my events sent to an address.

        From now on, the caller’s own events are sent there, signed: a question, an answer, a memory about to lapse.
        """
        return cast("WebhookOut", self._call("POST", "/api/webhooks", body=_given({"url": url, "kinds": kinds})))

    def remove_webhook(
        self,
        webhook_id: int,
    ) -> None:
        """Stop sending my events to an address.

        Nothing more is sent there.
        """
        self._call("DELETE", f"/api/webhooks/{webhook_id}")

    def inbox(
        self,
    ) -> InboxOut:
        """What waits for me.

        Questions to the caller, the board, the caller’s own questions, and who was referred to her.
        """
        return cast("InboxOut", self._call("GET", "/api/inbox"))

    def list_questions(
        self,
        *,
        state: Literal["open", "answered", "closed"] | LeftOut | None = LEFT_OUT,
        limit: int | LeftOut = LEFT_OUT,
    ) -> QuestionsOut:
        """Questions of mine, to me and on the board.

        The questions the caller is a party to, newest first.
        """
        return cast("QuestionsOut", self._call("GET", "/api/questions", query={"state": state, "limit": limit}))

    def put_question(
        self,
        question: str,
        *,
        to: str | LeftOut | None = LEFT_OUT,
    ) -> QuestionOut:
        """Ask somebody, or everybody.

        Put a question. An open one with the same words to the same holder comes back instead of a second one.
        """
        return cast("QuestionOut", self._call("POST", "/api/questions", body=_given({"question": question, "to": to})))

    def read_question(
        self,
        question_id: str,
    ) -> QuestionOut:
        """One question.

        One question. Missing ones and those put to others are answered alike.
        """
        return cast("QuestionOut", self._call("GET", f'/api/questions/{quote(question_id, safe="")}'))

    def close_question(
        self,
        question_id: str,
    ) -> None:
        """Close my question.

        The asker needs no answer any more; a question that nobody answered is forgotten.
        """
        self._call("DELETE", f'/api/questions/{quote(question_id, safe="")}')

    def answer_question(
        self,
        question_id: str,
        *,
        text: str | LeftOut | None = LEFT_OUT,
        atom_id: str | LeftOut | None = LEFT_OUT,
        readers: Literal["asker", "household"] | LeftOut = LEFT_OUT,
    ) -> QuestionOut:
        """Answer a question.

        The answer becomes a memory of the caller’s that the asker may read.
        """
        return cast("QuestionOut", self._call("POST", f'/api/questions/{quote(question_id, safe="")}/answers', body=_given({"text": text, "atom_id": atom_id, "readers": readers})))

    def pass_on_question(
        self,
        question_id: str,
        *,
        to: str | LeftOut | None = LEFT_OUT,
    ) -> QuestionOut:
        """Say that I do not know.

        Tell the asker so, and whom to ask; nobody else is shown the question by this.
        """
        return cast("QuestionOut", self._call("POST", f'/api/questions/{quote(question_id, safe="")}/pass_on', body=_given({"to": to})))

    def ask_instead(
        self,
        question_id: str,
        *,
        to: str | LeftOut | None = LEFT_OUT,
    ) -> QuestionOut:
        """Put my question to somebody else.

        The asker moves her question; left without a holder, to the board.
        """
        return cast("QuestionOut", self._call("POST", f'/api/questions/{quote(question_id, safe="")}/ask_instead', body=_given({"to": to})))

    def answer_helped(
        self,
        question_id: str,
        atom_id: str,
        helped: bool,
    ) -> QuestionOut:
        """Say whether an answer helped.

        It counts in the answerer’s standing when somebody asks something like it; else the question is open again.
        """
        return cast("QuestionOut", self._call("POST", f'/api/questions/{quote(question_id, safe="")}/helped', body=_given({"atom_id": atom_id, "helped": helped})))

    def list_scenarios(
        self,
    ) -> ScenariosOut:
        """Situations, with how many readable memories each has.

        The situations of readable memories; a curator also sees those that are only described.
        """
        return cast("ScenariosOut", self._call("GET", "/api/scenarios"))

    def describe_scenario(
        self,
        name: str,
        *,
        description: str | LeftOut | None = LEFT_OUT,
        default_visibility: str | dict[str, Any] | LeftOut | None = LEFT_OUT,
    ) -> ScenarioOut:
        """Describe a situation.

        Curators only: what it is for, and who reads what is written down in it when nobody says.
        """
        return cast("ScenarioOut", self._call("PUT", "/api/scenarios", body=_given({"name": name, "description": description, "default_visibility": default_visibility})))

    def merge_scenarios(
        self,
        names: list[str],
        into: str,
        *,
        dry_run: bool | LeftOut = LEFT_OUT,
    ) -> MoveOut:
        """Merge or rename situations.

        Moves the caller’s own memories (a curator: all she may read); a dry run unless told otherwise.
        """
        return cast("MoveOut", self._call("POST", "/api/scenarios/merge", body=_given({"names": names, "into": into, "dry_run": dry_run})))

    def list_edges(
        self,
        *,
        atom_id: str | LeftOut | None = LEFT_OUT,
        relation: Literal["supports", "contradicts", "derived_from", "cites", "answers", "supersedes"] | LeftOut | None = LEFT_OUT,
        limit: int | LeftOut = LEFT_OUT,
    ) -> EdgesOut:
        """Evidence edges.

        The edges whose both ends the caller may read.
        """
        return cast("EdgesOut", self._call("GET", "/api/edges", query={"atom_id": atom_id, "relation": relation, "limit": limit}))

    def link_memories(
        self,
        from_atom_id: str,
        to_atom_id: str,
        relation: Literal["supports", "contradicts", "derived_from", "cites"],
        *,
        confidence: float | LeftOut = LEFT_OUT,
    ) -> EdgeOut:
        """Link two memories.

        From a memory of the caller’s to one she may read; answering and replacing make the other relations.
        """
        return cast("EdgeOut", self._call("POST", "/api/edges", body=_given({"from_atom_id": from_atom_id, "to_atom_id": to_atom_id, "relation": relation, "confidence": confidence})))

    def unlink_memories(
        self,
        from_atom_id: str,
        to_atom_id: str,
        relation: Literal["supports", "contradicts", "derived_from", "cites"],
    ) -> None:
        """Take an edge back.

        Only from a memory of the caller’s.
        """
        self._call("DELETE", "/api/edges", query={"from_atom_id": from_atom_id, "to_atom_id": to_atom_id, "relation": relation})

    def list_cartridges(
        self,
    ) -> CartridgesOut:
        """Cartridges.

        The caller’s own cartridges and those shared with her.
        """
        return cast("CartridgesOut", self._call("GET", "/api/cartridges"))

    def make_cartridge(
        self,
        name: str,
        *,
        atom_ids: list[str] | LeftOut = LEFT_OUT,
    ) -> CartridgeOut:
        """Make a cartridge.

        A bundle of memories the caller may read; ids she may not read are left out.
        """
        return cast("CartridgeOut", self._call("POST", "/api/cartridges", body=_given({"name": name, "atom_ids": atom_ids})))

    def read_cartridge(
        self,
        cartridge_id: str,
    ) -> CartridgeOut:
        """One cartridge.

        Its memories: `GET /api/recall?cartridge=…`.
        """
        return cast("CartridgeOut", self._call("GET", f'/api/cartridges/{quote(cartridge_id, safe="")}'))

    def change_cartridge(
        self,
        cartridge_id: str,
        *,
        name: str | LeftOut | None = LEFT_OUT,
        add: list[str] | LeftOut = LEFT_OUT,
        remove: list[str] | LeftOut = LEFT_OUT,
        shared_with: list[str] | LeftOut | None = LEFT_OUT,
    ) -> CartridgeOut:
        """Change a cartridge.

        Its name, what is inside, with whom it is shared: by its owner.
        """
        return cast("CartridgeOut", self._call("PATCH", f'/api/cartridges/{quote(cartridge_id, safe="")}', body=_given({"name": name, "add": add, "remove": remove, "shared_with": shared_with})))

    def remove_cartridge(
        self,
        cartridge_id: str,
    ) -> None:
        """Take a cartridge apart.

        The memories stay.
        """
        self._call("DELETE", f'/api/cartridges/{quote(cartridge_id, safe="")}')

    def mount_cartridge(
        self,
        cartridge_id: str,
    ) -> CartridgeOut:
        """Look only in this cartridge.

        The caller’s questions look only inside what she has mounted; nobody else’s change.
        """
        return cast("CartridgeOut", self._call("POST", f'/api/cartridges/{quote(cartridge_id, safe="")}/mount'))

    def unmount_cartridge(
        self,
        cartridge_id: str,
    ) -> None:
        """Look everywhere again.

        Also for a cartridge the caller lost sight of.
        """
        self._call("DELETE", f'/api/cartridges/{quote(cartridge_id, safe="")}/mount')


def etag(memory: MemoryOut) -> str:
    """The version of a memory, for `if_match`."""
    return f'"{memory["updated_at"]}"'


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not LEFT_OUT}


def _read(content_type: str, content: bytes) -> Any:
    if not content:
        return None
    return json.loads(content) if content_type == "application/json" else content


def _refused(error: HTTPError) -> Refused:
    wait = error.headers.get("Retry-After", "")
    try:
        detail = str(json.loads(error.read())["detail"])
    except (ValueError, KeyError, TypeError):
        detail = error.reason
    return Refused(error.code, detail, int(wait) if wait.isdecimal() else None)
