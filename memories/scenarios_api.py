"""Situations over JSON."""

from typing import Any

from django.http import HttpRequest
from ninja import Field, Router, Schema

from memories import scenarios
from memories.http import caller, refusals
from memories.scenarios import Move, ScenarioCard
from memories.schemas import Body, MemoryOut, Who

router = Router(tags=["scenarios"])


class ScenarioOut(Schema):
    """A situation; the counts cover what the caller may read and change."""

    name: str = Field(examples=["house"])
    description: str
    default_visibility: dict[str, Any] | None = Field(
        description="Who reads what is written there unless it says."
    )
    memories: int
    mine: int = Field(description="How many of them a rename by the caller would touch.")


class ScenariosOut(Schema):
    """The situations of readable memories, most used first."""

    scenarios: list[ScenarioOut]


class ScenarioIn(Body):
    """What to say about a situation; a field left out stays, null takes the default away (curators)."""

    name: str = Field(examples=["house"], max_length=200)
    description: str | None = Field(None, max_length=scenarios.MAX_DESCRIPTION)
    default_visibility: Who | None = None


class MergeIn(Body):
    """Situations to put into one; one name renames it."""

    names: list[str] = Field(min_length=1, max_length=scenarios.MAX_MERGED)
    into: str = Field(max_length=200)
    dry_run: bool = True


class MoveOut(Schema):
    """What moved, or would move."""

    into: str
    moving: int
    staying: int = Field(description="Readable memories of others, which stay where they are.")
    examples: list[MemoryOut] = Field(description=f"Up to {scenarios.PREVIEWED} of those that move.")
    dry_run: bool


@router.get(
    "/scenarios",
    response={200: ScenariosOut, **refusals()},
    operation_id="list_scenarios",
    summary="Situations, with how many readable memories each has",
)
def get_scenarios(request: HttpRequest) -> dict[str, list[ScenarioCard]]:
    """The situations of readable memories; a curator also sees those that are only described."""
    return {"scenarios": scenarios.list_scenarios(caller(request, "read"))}


@router.put(
    "/scenarios",
    response={200: ScenarioOut, **refusals()},
    operation_id="describe_scenario",
    summary="Describe a situation",
)
def put_scenario(request: HttpRequest, payload: ScenarioIn) -> ScenarioCard:
    """Curators only: what it is for, and who reads what is written down in it when nobody says."""
    given = payload.model_dump(exclude_unset=True)
    return scenarios.describe(caller(request, "curate"), given.pop("name"), **given)


@router.post(
    "/scenarios/merge",
    response={200: MoveOut, **refusals(404)},
    operation_id="merge_scenarios",
    summary="Merge or rename situations",
)
def post_merge(request: HttpRequest, payload: MergeIn) -> Move:
    """Moves the caller’s own memories (a curator: all she may read); a dry run unless told otherwise."""
    return scenarios.merge(caller(request, "write"), payload.names, payload.into, dry_run=payload.dry_run)
