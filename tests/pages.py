"""What tests of pages share: what is kept, what a reply says, how htmx asks."""

from typing import Any

from memories.remember import remember

PASSWORD = "four ordinary brown words"
HTMX = {"HTTP_HX_REQUEST": "true"}


def keep(viewer: Any, text: str, **given: Any) -> Any:
    """A memory of the viewer's that everyone at home may read, unless said otherwise."""
    return remember(viewer, text, **{"visibility": "household", **given})


def text_of(response: Any) -> str:
    """The page as text."""
    return response.content.decode()
