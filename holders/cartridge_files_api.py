"""Cartridges as files over JSON: preview and export for an audience, import, and taking an import out again.

It stands in this layer because an audience is made of holders.
"""

import json
from typing import Annotated, Any

from django.http import FileResponse, HttpRequest
from ninja import Field, File, Form, Query, Router, Schema, Status, UploadedFile

from holders.audience import CHOICES, audience_of
from holders.handover import MIME, handed_out, received
from memories.cartridge_files import load, write
from memories.errors import Invalid
from memories.fields import read_json
from memories.http import caller, refusals
from memories.schemas import Body, MemoryOut, Parameters
from memories.transfer.identities import Choices

router = Router(tags=["cartridges"])

Audience = Annotated[str, Field(description=f"Whom it is for: {CHOICES}.", examples=["household"])]
FILE = {
    "content": {MIME: {"schema": {"type": "string", "format": "binary"}}},
    "description": "The cartridge, a zip; sealed in age's format when a passphrase is given",
}


class PreviewParameters(Parameters):
    """For whom."""

    audience: Audience


class PreviewOut(Schema):
    """What an export would hold; nothing is written."""

    name: str
    audience: str
    memories: list[MemoryOut] = Field(description="The first 200.")
    count: int
    left_out: int = Field(
        description="Memories of the cartridge the caller may read and the audience may not."
    )
    sources: list[str] = Field(description="Files that go along.")
    token_equivalent: int


class ExportIn(Body):
    """For whom, and whether it is sealed."""

    audience: Audience
    passphrase: str = Field("", description="At least 8 characters, to seal the file; empty leaves it open.")


class ImportIn(Schema):
    """How to take a cartridge in."""

    passphrase: str = ""
    name: str | None = Field(None, description="What to call it here.", max_length=200)
    visibility: str | None = Field(
        None, description="private (when left out), household, file (the scopes it states) or a JSON object."
    )
    holders: str | None = Field(
        None, description="A JSON object: who the file's names are here. The others become `theirs:name`."
    )
    mount: bool = False
    dry_run: bool = False

    def choices(self) -> Choices:
        """The fields as importing takes them. Raises `Invalid`."""
        visibility: Any = self.visibility or None
        if visibility and visibility.lstrip().startswith("{"):
            visibility = read_json(visibility, dict, visibility)
        return Choices(visibility, _holders(self.holders), self.dry_run)


class ImportedOut(Schema):
    """What a cartridge came to; after a dry run `taken` is what would be."""

    cartridge_id: str
    name: str
    by: str = Field(description="Who made it, by the name used there.")
    household: str
    created_at: str
    taken: int
    already_here: int
    sources: int
    links: int
    token_equivalent: int
    mounted: bool
    names: dict[str, str] = Field(description="Whom each of the file's names became.")
    dry_run: bool


class RemovedOut(Schema):
    """What taking a cartridge out came to."""

    name: str
    removed: int
    kept: int = Field(description="Memories that also lie in another cartridge.")


def _holders(text: str | None) -> dict[str, str]:
    if not text:
        return {}
    try:
        stated = json.loads(text)
    except (ValueError, RecursionError):
        stated = None
    if not isinstance(stated, dict) or not all(isinstance(one, str) for one in stated.values()):
        raise Invalid("“holders” is a JSON object of names and holder ids.", "holders")
    return stated


@router.post(
    "/cartridges/import",
    response={201: ImportedOut, 200: ImportedOut, **refusals()},
    operation_id="import_cartridge",
    summary="Bring a cartridge file in",
)
def post_import(
    request: HttpRequest, file: File[UploadedFile], details: Form[ImportIn]
) -> Status[load.Imported]:
    """As `multipart/form-data`. The file is checked whole first; it comes in private to the caller unless chosen."""
    viewer = caller(request, "write")
    with received(file) as place:
        found = load.import_cartridge(
            viewer, place, choices=details.choices(), passphrase=details.passphrase, name=details.name,
            mount=details.mount,
        )  # fmt: skip
    return Status(200 if details.dry_run else 201, found)


@router.get(
    "/cartridges/{cartridge_id}/export",
    response={200: PreviewOut, **refusals(404)},
    operation_id="preview_cartridge_export",
    summary="What a cartridge file would hold",
)
def get_export(request: HttpRequest, cartridge_id: str, query: Query[PreviewParameters]) -> write.Preview:
    """The memories that both the caller and everybody in the audience may read."""
    return write.preview(caller(request, "read"), cartridge_id, audience_of(query.audience))


@router.post(
    "/cartridges/{cartridge_id}/export",
    response={200: None, **refusals(404)},
    operation_id="export_cartridge",
    summary="Write a cartridge file",
    openapi_extra={"responses": {200: FILE}},
)
def post_export(request: HttpRequest, cartridge_id: str, payload: ExportIn) -> FileResponse:
    """The file; `POST`, since a passphrase must not stand in an address."""
    viewer = caller(request, "read")
    return handed_out(viewer, cartridge_id, payload.audience, payload.passphrase)


@router.delete(
    "/cartridges/{cartridge_id}/memories",
    response={200: RemovedOut, **refusals(404)},
    operation_id="remove_imported_cartridge",
    summary="Take an imported cartridge out whole",
)
def delete_imported(request: HttpRequest, cartridge_id: str) -> load.Removed:
    """The cartridge with every memory and file that came with it, for good; what also lies elsewhere stays."""
    return load.remove_imported(caller(request, "write"), cartridge_id)
