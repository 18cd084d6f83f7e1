"""What goes in and out of the JSON API, spelled out: a field that is not here is neither taken nor shown.

Times go out as store text (UTC); they may come in as dates or times in the household's zone.
"""

from typing import Annotated, Any

from ninja import Field, Schema
from pydantic import ConfigDict, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from memories.browse import MAX_LIMIT

LIMIT = MAX_LIMIT

Limit = Annotated[int, Field(ge=1, le=LIMIT, description=f"How many at most, 1–{LIMIT}.")]
AtomId = Annotated[str, Field(description="Sixteen hexadecimal digits.", examples=["9f2c4e01ab37d5c8"])]
Moment = Annotated[
    str | None,
    Field(
        description="`2026-07-19`, `2026-07-19T18:30` (the household’s zone) or with an offset.",
        max_length=64,
    ),
]
Who = Annotated[
    str | dict[str, Any],
    Field(
        description="Who may read it: `household`, `private`, or an object with `scope` (household, private, "
        "holders) and optional `holders`, `groups`, `deny` (lists of names) and `discoverable` (may it hint "
        "that the holder knows?).",
        examples=["private", {"scope": "holders", "groups": ["adults"], "deny": ["ben"]}],
    ),
]
Question = Annotated[
    str, Field(description="A question or some words, in any language.", examples=["Where is the spare key?"])
]


class Refusal(Schema):
    """Why a call was refused, in one sentence."""

    detail: str = Field(examples=["There is no memory with this id that you may read."])


class Body(Schema):
    """A request body that takes nothing it does not know."""

    model_config = ConfigDict(extra="forbid")


class Parameters(Schema):
    """Query parameters; an unknown one is refused, since a misspelt filter would quietly show too much."""

    @model_validator(mode="before")
    @classmethod
    def nothing_unknown(cls, values: Any, info: ValidationInfo) -> Any:
        """Raises what a body with an unknown field raises."""
        request = (info.context or {}).get("request")
        if request is not None and (unknown := sorted(set(request.GET) - set(cls.model_fields))):
            raise PydanticCustomError(
                "unknown_parameter", "There is no parameter “{name}” here.", {"name": unknown[0][:40]}
            )
        return values


class MemoryOut(Schema):
    """A memory as the caller may see it; `supersedes` names what the caller may read of what it replaced."""

    atom_id: AtomId
    text: str = Field(examples=["The spare key is in the blue box in the hall."])
    holder_id: str = Field(description="Whose memory it is.", examples=["mira"])
    recorded_by: str = Field(
        description="Who wrote it down for the holder; empty when she did.", examples=[""]
    )
    origin: str = Field(description="self, observed, artifact or third_party.", examples=["self"])
    scenario: str = Field(description="The situation it may be used in; empty is any.", examples=["house"])
    tags: list[str] = Field(examples=[["keys"]])
    event_time: str | None = Field(examples=["2026-07-19T00:00:00.000+00:00"])
    event_time_end: str | None
    event_time_precision: str = Field(
        description="instant, minute, hour, day, month, year or unknown.", examples=["day"]
    )
    valid_from: str | None
    valid_to: str | None = Field(description="When it stopped being true; null while it is.")
    retention_until: str | None
    visibility: dict[str, Any] = Field(
        description="Whole for who may change it, the scope alone for others.",
        examples=[{"scope": "household"}],
    )
    supersedes: list[str]
    source: str = Field(description="Where it came from, such as `manual.pdf#page=3`.", examples=[""])
    created_at: str
    updated_at: str


class PageOut(Schema):
    """Memories, newest first; `next` is the cursor of the following page, null on the last."""

    items: list[MemoryOut]
    next: str | None


class HitOut(Schema):
    """A recalled memory with everything its rank came from."""

    memory: MemoryOut
    score: float
    relevance: float = Field(description="0–1; holds no recency.")
    signals: dict[str, float] = Field(description="Raw numbers.")
    basis: list[str] = Field(description="The reasons, as sentences.")


class RecallOut(Schema):
    """The best hits, best first."""

    query: str
    hits: list[HitOut]


class MemoryIn(Body):
    """A statement to remember."""

    text: str = Field(
        description="The statement, up to 64 KiB; kept as it is.",
        examples=["The spare key is in the blue box in the hall."],
    )
    scenario: str | None = Field(None, description="The situation it may be used in.", examples=["house"])
    tags: list[str] | None = Field(None, examples=[["keys"]])
    holder_id: str | None = Field(None, description="Whose memory it is, if not the caller’s.")
    origin: str | None = Field(None, description="self, observed, artifact or third_party.")
    event_time: Moment = None
    event_time_end: Moment = None
    event_time_precision: str | None = None
    valid_from: Moment = None
    valid_to: Moment = None
    retention_until: Moment = None
    visibility: Who | None = None
    replaces: list[str] = Field(
        default_factory=list, description="Ids of memories that this one closes.", max_length=LIMIT
    )
    source: str | None = Field(None, description="Where it came from, such as `manual.pdf#page=3`.")


class MemoryChanges(Body):
    """What to change; a field left out stays, null clears a time."""

    text: str | None = Field(None, description="A new wording; the old one is kept as a closed version.")
    scenario: str | None = None
    tags: list[str] | None = None
    event_time: Moment = None
    event_time_end: Moment = None
    event_time_precision: str | None = None
    valid_from: Moment = None
    valid_to: Moment = None
    retention_until: Moment = None
    visibility: Who | None = None
    source: str | None = None


class ListParameters(Parameters):
    """Filters of a list of memories."""

    q: str | None = Field(None, description="Words to look for, unranked.")
    scenario: str | None = None
    holder: str | None = Field(None, description="Whose memories.")
    tag: str | None = None
    current: bool = Field(True, description="Only what is true now; false shows closed ones too.")
    limit: Limit = 50
    cursor: str | None = Field(None, description="`next` of the page before.")


class RecallParameters(Parameters):
    """A question and where to look."""

    q: Question
    limit: Limit = 10
    scenario: str | None = Field(None, description="Memories of this situation and of any; left out, all.")
    holder: str | None = Field(None, description="Whose memories.")
    tag: str | None = None
    cartridge: str | None = Field(None, description="Only within this cartridge.")
    as_of: Moment = None
    min_relevance: float | None = Field(None, ge=0, le=1, allow_inf_nan=False)
