"""What columns of several tables share: moments, ids, JSON and their CHECKs."""

import secrets
from typing import Any

from django.db import models
from django.db.models import Q

from memories import timestamps
from memories.fields import JSONOfType, JSONValid, MatchesGlob

MOMENT: dict[str, Any] = {"max_length": timestamps.WIDTH}


def new_atom_id() -> str:
    """Sixteen hexadecimal digits, as the first seed's `uuid4().hex[:16]`."""
    return secrets.token_hex(8)


def json_check(table: str, column: str, json_type: str = "") -> models.CheckConstraint:
    """A CHECK that a column holds JSON (of one type)."""
    condition = JSONOfType(column, json_type) if json_type else JSONValid(column)
    return models.CheckConstraint(condition=condition, name=f"{table}_{column}_is_json")


def moment_check(table: str, column: str) -> models.CheckConstraint:
    """A CHECK that a column holds store text (see `timestamps`) or NULL."""
    return models.CheckConstraint(
        condition=Q(**{f"{column}__isnull": True}) | Q(MatchesGlob(column, timestamps.GLOB)),
        name=f"{table}_{column}_is_utc",
    )
