"""What a verb raises when it will not do what was asked; every face turns these into its own refusals.

Each message is one sentence for the person who asked. It never holds text that person may not read.
"""

import math


class RekalError(Exception):
    """The base of every refusal of ours."""


class NotFound(RekalError):
    """No such thing for this viewer; the same words whether it is missing or unreadable (404)."""


class NotAllowed(RekalError):
    """The viewer may read it, and may not do this to it (403)."""


class Invalid(RekalError):
    """Input that cannot be taken as it is (422); `field` names where, when one field is to blame."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class Conflict(RekalError):
    """Somebody else changed it meanwhile, or it clashes with what is there (409, 412)."""


class TooMany(RekalError):
    """Too many calls in a short time (429); `retry_after` is in whole seconds."""

    def __init__(self, retry_after: float) -> None:
        self.retry_after = max(1, math.ceil(retry_after))
        super().__init__(f"That is too often; try again in {self.retry_after} seconds.")
