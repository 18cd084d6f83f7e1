"""`holders`: the directory."""

from typing import Any

from holders.models import Holder
from holders.registry import card_for, list_holders
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import NOTHING, RekalCommand


class Command(RekalCommand):
    """Lists whom the viewer may know of; the host sees everybody registered."""

    help = "List the holders: who they are, what they know about, how to reach them."
    examples = ("holders", "holders --as lea", "holders --json")
    needs_viewer = False
    needs_model = False

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        if viewer is None:
            cards = [card_for(None, holder) for holder in Holder.objects.order_by("holder_id")]
        else:
            cards = list_holders(viewer)
        self.show({"holders": render.body(cards)}, options, [render.holder_table(cards)] if cards else ())
        if cards:
            return None
        self.complain("Nobody is registered yet; register somebody with holder-set.")
        return NOTHING
