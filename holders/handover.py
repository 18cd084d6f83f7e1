"""Cartridge files on their way through a page or the API: received from an upload, handed out as a download."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from django.core.files.uploadedfile import UploadedFile
from django.http import FileResponse

from holders.audience import audience_of
from memories.cartridge_files import write
from memories.transfer.export import slug
from memories.visibility import Viewer

MIME = "application/vnd.rekal.cartridge"


@contextmanager
def received(file: "UploadedFile[Any]") -> Iterator[Path]:
    """An uploaded file under a path of its own, for as long as it is read."""
    with tempfile.TemporaryDirectory() as spare:
        place = Path(spare) / "incoming.rekal"
        with place.open("wb") as copy:
            for block in file.chunks():
                copy.write(block)
        yield place


def handed_out(viewer: Viewer, cartridge_id: str, audience: str, passphrase: str) -> FileResponse:
    """A cartridge as a download, for this audience. Raises what `write_cartridge` raises."""
    out = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115  (the response closes it when it is sent)
    try:
        made = write.write_cartridge(viewer, cartridge_id, audience_of(audience), out, passphrase=passphrase)
    except BaseException:
        out.close()
        raise
    out.seek(0)
    name = f"{slug(made.manifest.name) or 'cartridge'}.rekal"
    response = FileResponse(out, as_attachment=True, filename=name, content_type=MIME)
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, no-store"
    return response
