"""Names from outside: who they become here, and who may read what comes with them.

Nothing a foreign file says about people is believed: its holders, groups and denials are mapped by whoever brings it
in, or set apart as `theirs:name`, where they match nobody of this household.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from memories.drafts import checked_name
from memories.errors import Invalid
from memories.visibility import parse_visibility

NAMESPACE = "theirs"
AS_IN_FILE = "file"
LONGEST = 150
PRIVATE = "private"


@dataclass(frozen=True, slots=True)
class Choices:
    """What whoever imports decides: who the file's names are, who may read it, whether anything is written at all.

    `visibility` None: private, or for files of ours what they say; `file`: what they say, with its names mapped.
    """

    visibility: Any = None
    holders: Mapping[str, str] = field(default_factory=dict)
    dry_run: bool = False

    def __post_init__(self) -> None:
        if self.visibility not in (None, AS_IN_FILE):
            parse_visibility(self.visibility)
        for name, holder_id in self.holders.items():
            if not name.strip() or not checked_name(holder_id, "map").strip():
                raise Invalid("A mapping is written NAME=HOLDER, such as “Jonas W.=jonas”.", "map")


def apart(name: str) -> str:
    """The id of somebody from outside: `theirs:jonas-w`. Letters, digits and `.:_-@` stay."""
    folded = unicodedata.normalize("NFKC", name).strip().casefold()
    kept = "".join(one if _fits(one) else "-" for one in folded)
    slug = re.sub(r"-{2,}", "-", kept).strip("-")[:LONGEST]
    return f"{NAMESPACE}:{slug or sha256(name.encode('utf-8', 'replace')).hexdigest()[:12]}"


def _fits(character: str) -> bool:
    return character in ".:_-@" or unicodedata.category(character)[0] in "LNM"


def holder_of(name: str, choices: Choices, *, ours: bool) -> str:
    """The holder id a name of the file stands for: mapped, else itself in files of ours, else set apart."""
    if name in choices.holders:
        return choices.holders[name]
    return name if ours else apart(name)


def visibility_of(stated: Any, choices: Choices, *, ours: bool) -> Any:
    """Who may read a record: what was chosen, else what a file of ours says, else its importer alone."""
    if choices.visibility == AS_IN_FILE:
        return _mapped(stated, choices, ours=ours) if stated else PRIVATE
    if choices.visibility is not None:
        return choices.visibility
    return _mapped(stated, choices, ours=True) if ours else PRIVATE


def _mapped(stated: Any, choices: Choices, *, ours: bool) -> Any:
    """A stated visibility with its holders and groups mapped like every other name."""
    if not isinstance(stated, Mapping):
        return stated
    named = {
        key: [holder_of(one, choices, ours=ours) for one in stated[key] if isinstance(one, str)]
        for key in ("holders", "groups", "deny")
        if isinstance(stated.get(key), list)
    }
    return {**stated, **named}
