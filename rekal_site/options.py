"""Options that several commands share, from text to what the verbs take."""

from collections.abc import Sequence
from typing import Any

from memories.errors import Invalid
from memories.fields import read_json
from memories.transfer.identities import AS_IN_FILE


def visibility_option(text: str | None) -> Any:
    """A scope's name, `file`, or JSON. Raises `Invalid`."""
    if text is None or text == AS_IN_FILE or not text.lstrip().startswith("{"):
        return text
    stated = read_json(text, dict, None)
    if stated is None:
        raise Invalid(
            "--visibility is private, household, file, or a JSON object with a scope.", "visibility"
        )
    return stated


def pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    """`KEY=VALUE` options as a dictionary. Raises `Invalid`."""
    found = {}
    for one in given or ():
        key, separator, value = one.rpartition("=") if option == "map" else one.partition("=")
        if not separator or not key.strip() or not value.strip():
            raise Invalid(f"--{option} is written NAME=VALUE, not “{one[:40]}”.", option)
        found[key.strip()] = value.strip()
    return found
