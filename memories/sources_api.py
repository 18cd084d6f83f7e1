"""Sources over JSON: upload a file, list, open and delete."""

from typing import Any, BinaryIO, cast

from django.http import FileResponse, HttpRequest, HttpResponse
from ninja import Field, File, Form, Router, Schema, Status, UploadedFile

from memories import sources
from memories.downloads import served
from memories.fields import read_json
from memories.http import caller, refusals

router = Router(tags=["sources"])

FILE = {
    "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
    "description": "The file",
}


class SourceOut(Schema):
    """A file that memories came from."""

    source_id: str
    name: str = Field(examples=["manual.pdf"])
    kind: str = Field(description="What it is by its bytes.", examples=["pdf"])
    mime: str
    sha256: str = Field(description="Of the file as it is kept: a picture without its location.")
    size_bytes: int
    created_at: str
    uploaded_by: str
    memories: int = Field(description="Current memories that came from it.")
    has_preview: bool
    proposed_event_time: str | None = Field(
        description="When the camera says the picture was taken; nobody confirmed it."
    )
    notes: list[str] = Field(description="What could not be read, as sentences.")


class AddedOut(Schema):
    """What an upload came to."""

    source: SourceOut
    new: int = Field(description="Memories made.")
    unchanged: int = Field(description="Memories of an earlier version that still stand.")
    superseded: int = Field(description="Memories of an earlier version that new ones replace.")
    closed: int = Field(description="Memories of an earlier version that the file says no more.")


class SourcesOut(Schema):
    """Sources, newest first."""

    items: list[SourceOut]


class SourceIn(Schema):
    """What to give the memories of a file."""

    scenario: str | None = None
    tags: str | None = Field(None, description="Separated by commas.")
    visibility: str | None = Field(None, description="household, private, or a JSON object with a scope.")
    text: str | None = Field(None, description="What to call a picture or a recording.")

    def given(self) -> dict[str, Any]:
        """The fields as `add_source` takes them."""
        tags = [tag.strip() for tag in (self.tags or "").split(",") if tag.strip()]
        visibility: Any = self.visibility or None
        if visibility and visibility.lstrip().startswith("{"):
            visibility = read_json(visibility, dict, visibility)
        return {"scenario": self.scenario, "tags": tags, "visibility": visibility, "text": self.text}


@router.get(
    "/sources", response={200: SourcesOut, **refusals()}, operation_id="list_sources", summary="List sources"
)
def get_sources(request: HttpRequest) -> dict[str, Any]:
    """The files the caller may open: her own, and those of which she may read every memory."""
    return {"items": sources.list_sources(caller(request, "read"))}


@router.post(
    "/sources",
    response={201: AddedOut, **refusals()},
    operation_id="add_source",
    summary="Upload a file and remember what it says",
)
def post_source(
    request: HttpRequest, file: File[UploadedFile], details: Form[SourceIn], response: HttpResponse
) -> Status[sources.Added]:
    """As `multipart/form-data`. A changed version of the caller's file of that name supersedes only what changed."""
    viewer = caller(request, "write")
    added = sources.add_source(viewer, file.name or "", cast("BinaryIO", file), **details.given())
    response["Location"] = f"{request.path}/{added.source.source_id}"
    return Status(201, added)


@router.get(
    "/sources/{source_id}",
    response={200: SourceOut, **refusals(404)},
    operation_id="read_source",
    summary="Read about one source",
)
def get_source(request: HttpRequest, source_id: str) -> sources.SourceCard:
    """One source; missing and closed ids are answered alike."""
    return sources.get_source(caller(request, "read"), source_id)


@router.get(
    "/sources/{source_id}/file",
    response={200: None, **refusals(404)},
    operation_id="download_source",
    summary="Download a source's file",
    openapi_extra={"responses": {200: FILE}},
)
def get_file(request: HttpRequest, source_id: str) -> FileResponse:
    """The file as it is kept."""
    card, place = sources.open_file(caller(request, "read"), source_id)
    return served(place, card.name, card.mime)


@router.get(
    "/sources/{source_id}/preview",
    response={200: None, **refusals(404)},
    operation_id="preview_source",
    summary="A picture's small version",
    openapi_extra={"responses": {200: FILE}},
)
def get_preview(request: HttpRequest, source_id: str) -> FileResponse:
    """WebP, at most 480 pixels wide and high."""
    card, place = sources.open_file(caller(request, "read"), source_id, preview=True)
    return served(place, f"{card.name}.webp", "image/webp")


@router.delete(
    "/sources/{source_id}",
    response={204: None, **refusals(404)},
    operation_id="delete_source",
    summary="Delete a source with its memories",
)
def remove_source(request: HttpRequest, source_id: str) -> Status[None]:
    """The file, its earlier versions and every memory that came from them, for good."""
    sources.delete_source(caller(request, "write"), source_id)
    return Status(204, None)
