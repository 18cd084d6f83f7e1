"""What holders are called, for questions that name one. The registry is `holders`' business: it lends us a look-up.

`memories` never imports `holders`; `holders.apps` sets `registered` when Django starts.
"""

from collections.abc import Callable, Iterable, Mapping

from django.db import connection

from memories.models import Atom
from memories.visibility import Viewer

Names = Mapping[str, tuple[str, ...]]


def _none_registered(viewer: Viewer) -> Names:
    return {}


registered: Callable[[Viewer], Names] = _none_registered


def known_names(viewer: Viewer, question: str) -> dict[str, tuple[str, ...]]:
    """Holder ids with what the viewer may call them: who is registered, and whose memories she may read.

    Of unregistered ids only those are looked up whose words stand in the question: a store may have many.
    """
    names = dict(registered(viewer))
    folded = question.casefold()
    mentioned = [one for one in _unregistered(names) if any(part in folded for part in _parts(one))]
    if mentioned:
        readable = Atom.objects.visible_to(viewer).filter(holder_id__in=mentioned)
        names |= {one: (one,) for one in readable.values_list("holder_id", flat=True).distinct()}
    return {holder: tuple(dict.fromkeys((*called, holder))) for holder, called in names.items()}


def _parts(holder_id: str) -> Iterable[str]:
    return [
        part for part in holder_id.casefold().replace(":", " ").replace("-", " ").split() if len(part) > 1
    ]


def _unregistered(names: Names) -> list[str]:
    """Every holder id that atoms name and the registry does not: a loose scan over the index, one step an id."""
    sql = """
        WITH RECURSIVE ids(holder_id) AS (
            SELECT min(holder_id) FROM atoms
            UNION ALL
            SELECT (SELECT min(holder_id) FROM atoms WHERE holder_id > ids.holder_id) FROM ids
            WHERE ids.holder_id IS NOT NULL
        )
        SELECT holder_id AS id FROM ids WHERE holder_id IS NOT NULL
    """
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return [holder for (holder,) in cursor.fetchall() if holder and holder not in names]
