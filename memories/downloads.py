"""Kept files on their way out, the same from a page and from the API: downloads that no browser runs."""

from pathlib import Path

from django.http import FileResponse

INLINE = {
    "image/jpeg",
    "image/png",
    "image/webp",
    "image/gif",
    "audio/mpeg",
    "audio/ogg",
    "audio/flac",
    "audio/wav",
    "audio/mp4",
}


def served(place: Path, name: str, mime: str) -> FileResponse:
    """A kept file on its way out: never sniffed, never run, never cached; only pictures and sound open in the page."""
    inline = mime in INLINE
    content_type = mime if inline or mime == "application/pdf" else "application/octet-stream"
    response = FileResponse(
        place.open("rb"), as_attachment=not inline, filename=name, content_type=content_type
    )
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Cache-Control"] = "private, no-store"
    return response
