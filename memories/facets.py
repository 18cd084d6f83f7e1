"""What a viewer's readable memories are about: scenarios, holders and tags, counted in that set alone."""

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Count

from memories.models import Atom
from memories.visibility import AtomQuerySet, Viewer, readable_sql

Facet = tuple[str, int]


def scenarios_of(viewer: Viewer) -> list[Facet]:
    """`(scenario, memories)`, most used first; the empty scenario is left out."""
    return counted(Atom.objects.visible_to(viewer).exclude(scenario=""), "scenario")


def holders_of(viewer: Viewer) -> list[Facet]:
    """`(holder_id, memories)`, most first."""
    return counted(Atom.objects.visible_to(viewer).exclude(holder_id=""), "holder_id")


def counted(atoms: AtomQuerySet, column: str) -> list[Facet]:
    """`(value, memories)` of a column over readable atoms, most first, then by value."""
    rows = atoms.order_by().values_list(column).annotate(count=Count("pk")).order_by("-count", column)
    return [(str(name), int(count)) for name, count in rows]


def tags_of(viewer: Viewer, *, holder: str | None = None, limit: int = 40) -> list[Facet]:
    """`(tag, memories)` of current memories, most used first."""
    atoms = Atom.objects.visible_to(viewer).current()
    if holder is not None:
        atoms = atoms.filter(holder_id=holder)
    try:
        sql, params = readable_sql(atoms)
    except EmptyResultSet:
        return []
    return _tags(sql, params, limit)


def _tags(sql: str, params: tuple[Any, ...], limit: int) -> list[Facet]:
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT entry.value, count(*)
            FROM atoms, json_each(CASE WHEN json_valid(atoms.tags) THEN atoms.tags ELSE '[]' END) AS entry
            WHERE atoms.id IN ({sql}) AND entry.type = 'text'
            GROUP BY entry.value ORDER BY count(*) DESC, entry.value LIMIT %s
            """,
            [*params, limit],
        )
        return [(str(tag), int(count)) for tag, count in cursor.fetchall()]
