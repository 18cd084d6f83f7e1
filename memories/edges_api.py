"""Evidence edges over JSON."""

from typing import Literal

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema, Status

from memories import edges
from memories.edges import Edge
from memories.http import caller, refusals
from memories.schemas import AtomId, Body, Limit, Parameters

router = Router(tags=["edges"])

Claimed = Literal["supports", "contradicts", "derived_from", "cites"]
Relation = Literal["supports", "contradicts", "derived_from", "cites", "answers", "supersedes"]


class EdgeOut(Schema):
    """One memory about another."""

    from_atom_id: AtomId
    to_atom_id: AtomId
    relation: str = Field(examples=["supports"])
    confidence: float


class EdgesOut(Schema):
    """Edges, newest first."""

    edges: list[EdgeOut]


class EdgeIn(Body):
    """What a memory of the caller’s says about another."""

    from_atom_id: AtomId
    to_atom_id: AtomId
    relation: Claimed
    confidence: float = Field(1.0, ge=0, le=1, allow_inf_nan=False)


class EdgeParameters(Parameters):
    """Which edges."""

    atom_id: str | None = Field(None, description="Only those of this memory.")
    relation: Relation | None = None
    limit: Limit = 50


class EdgeName(Parameters):
    """An edge by its ends and its relation."""

    from_atom_id: str
    to_atom_id: str
    relation: Claimed


@router.get(
    "/edges", response={200: EdgesOut, **refusals(404)}, operation_id="list_edges", summary="Evidence edges"
)
def get_edges(request: HttpRequest, filters: Query[EdgeParameters]) -> dict[str, list[Edge]]:
    """The edges whose both ends the caller may read."""
    return {"edges": edges.list_edges(caller(request, "read"), **filters.model_dump())}


@router.post(
    "/edges",
    response={201: EdgeOut, **refusals(404)},
    operation_id="link_memories",
    summary="Link two memories",
)
def post_edge(request: HttpRequest, payload: EdgeIn) -> Status[Edge]:
    """From a memory of the caller’s to one she may read; answering and replacing make the other relations."""
    return Status(201, edges.link(caller(request, "write"), **payload.model_dump()))


@router.delete(
    "/edges",
    response={204: None, **refusals(404)},
    operation_id="unlink_memories",
    summary="Take an edge back",
)
def delete_edge(request: HttpRequest, edge: Query[EdgeName]) -> Status[None]:
    """Only from a memory of the caller’s."""
    edges.unlink(caller(request, "write"), **edge.model_dump())
    return Status(204, None)
