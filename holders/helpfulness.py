"""Whose answers helped before: what askers said, as a reason to ask the same person about something like it."""

from holders.models import Answer
from memories.answerability import answers as would_answer
from memories.models import Atom
from memories.recall import rank
from memories.visibility import Viewer

LOOKED_AT = 200  # answers that helped, newest first
QUOTED = 80  # characters of the earlier question


def helped_before(viewer: Viewer, question: str) -> dict[str, str]:
    """By holder id a sentence on an answer of hers that helped with a question like this.

    Counts only where the viewer may read both the earlier question and its answer; nothing for her own answers.
    """
    rows = list(
        Answer.objects.filter(helped=True)
        .exclude(holder_id__in=viewer.ids)
        .order_by("-created_at", "-pk")[:LOOKED_AT]
    )
    if not rows:
        return {}
    named = {one for row in rows for one in (row.question_id, row.atom_id)}
    visible = Atom.objects.visible_to(viewer)
    readable = set(visible.filter(atom_id__in=named).values_list("atom_id", flat=True))
    holders = {
        row.question_id: row.holder_id for row in reversed(rows) if {row.question_id, row.atom_id} <= readable
    }
    found: dict[str, str] = {}
    for one in (
        rank(viewer, question, visible.filter(atom_id__in=list(holders)), LOOKED_AT) if holders else ()
    ):
        if would_answer([one.relevance]):
            said = one.atom.text[:QUOTED] + ("…" if len(one.atom.text) > QUOTED else "")
            found.setdefault(holders[one.atom.atom_id], f"An answer to “{said}” helped before.")
    return found
