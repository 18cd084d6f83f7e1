"""What goes in and out of the JSON API about holders, spelled out."""

from typing import Literal

from ninja import Field, Schema

from memories.schemas import Body, HitOut, Limit, Parameters, Question

Confidence = Literal["strong", "likely", "possible"]


class MeOut(Schema):
    """Who the caller is, and what her session or token lets her do."""

    holder_id: str = Field(examples=["mira"])
    name: str
    kind: str = Field(description="person, agent or service; empty when not registered.")
    groups: list[str]
    scopes: list[str] = Field(examples=[["ask", "read", "write"]])
    acting_for: str | None = Field(description="The person this agent’s token acts for, if any.")


class HolderIn(Body):
    """A holder’s record; a field left out stays as it is."""

    name: str | None = Field(None, examples=["Mira"])
    kind: Literal["person", "agent", "service"] | None = None
    knows_about: list[str] | None = Field(
        None, description="Declared topics.", examples=[["heating", "the car"]]
    )
    contact: dict[str, str] | None = Field(
        None, description="Free-form ways to reach her.", examples=[{"phone": "+49 30 5550100"}]
    )
    groups: list[str] | None = Field(None, description="The household’s own groups.", examples=[["adults"]])


class HolderOut(Schema):
    """A holder; contact and groups are shown to the household’s people and agents."""

    holder_id: str
    name: str
    kind: str = Field(description="person, agent or service; empty when not registered.")
    registered: bool
    knows_about: list[str]
    contact: dict[str, str]
    groups: list[str]


class HoldersOut(Schema):
    """The directory, by id: everybody registered, and the other holders of memories the caller may read."""

    holders: list[HolderOut]


class KnowerOut(Schema):
    """Somebody who may know; the reasons name only what the caller may read or she declared."""

    holder_id: str
    name: str
    kind: str
    registered: bool
    confidence: Confidence
    basis: list[str] = Field(examples=[["Holds something about this that you cannot read."]])
    contact: dict[str, str]


class WhoKnowsOut(Schema):
    """Who may know, best first. Who was named sees by whom and about which question."""

    query: str
    holders: list[KnowerOut]


class WhoKnowsParameters(Parameters):
    """A question, and how many holders at most."""

    q: Question
    limit: Limit = 5


class AskIn(Body):
    """A question to the household."""

    question: Question
    scenario: str | None = Field(
        None, description="The situation at hand; hop 0 looks at it and at what fits any."
    )
    max_hops: int = Field(
        3, ge=0, le=20, description="How many holders to visit; 0 stays with what the caller may read."
    )
    limit: Limit = 5
    visited: list[str] = Field(
        default_factory=list,
        max_length=200,
        description="What the servers before this one have visited, as `store/holder`; people leave it out.",
    )


class LiveStepOut(Schema):
    """A holder that was asked on its own server, at which hop, and what came of it."""

    holder_id: str
    hop: int
    outcome: str = Field(examples=["It did not answer within 3.0 seconds."])


class ReferralOut(KnowerOut):
    """Somebody to ask, and at which hop she was met."""

    hop: int


class AskOut(Schema):
    """One of three ends: an answer, somebody to ask, or nobody who knows (a result, not an error)."""

    status: Literal["answered", "referred", "no_holder_knows"]
    question: str
    hops_used: int
    visited: list[str]
    answers: list[HitOut]
    referrals: list[ReferralOut]
    trail: list[LiveStepOut] = Field(description="What came of the holders that were asked live.")
