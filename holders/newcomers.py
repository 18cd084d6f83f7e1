"""People whom an imported file tells of, on their way into the directory."""

from collections.abc import Sequence

from holders.models import Holder
from holders.registry import set_holder
from memories.errors import Invalid, NotAllowed
from memories.transfer.load import Loaded, Skipped
from memories.transfer.records import HolderDraft
from memories.visibility import GUESTS, Viewer


def register(viewer: Viewer, report: Loaded) -> list[str]:
    """Put people the file tells of into the directory where they are missing; the ids of the new ones.

    They come in as guests: being in somebody's address book opens nothing. Whoever may not register anybody has
    that said once in the report.
    """
    new: list[str] = []
    for draft in report.holders:
        if Holder.objects.filter(pk=draft.holder_id).exists():
            continue
        try:
            set_holder(
                viewer, draft.holder_id, name=draft.name, kind=draft.kind, knows_about=draft.knows_about,
                contact=draft.contact, groups=[GUESTS],
            )  # fmt: skip
            new.append(draft.holder_id)
        except NotAllowed as error:
            report.notes.append(Skipped(0, f"{_count(report.holders)} not registered: {error}"))
            break
        except Invalid as error:
            report.skipped.append(Skipped(0, f"{draft.name}: {error}"))
    return new


def _count(holders: Sequence[HolderDraft]) -> str:
    return "1 person was" if len(holders) == 1 else f"{len(holders)} people were"
