"""Whom a cartridge is made for, in words: `me`, `household`, `outside`, `group:adults`, `holder:jonas`."""

from holders.auth import viewer_for
from holders.models import Holder
from memories.cartridge_files.write import Audience
from memories.drafts import checked_name
from memories.errors import Invalid
from memories.visibility import Viewer

ME, HOUSEHOLD, OUTSIDE = "me", "household", "outside"
CHOICES = f"{ME}, {HOUSEHOLD}, {OUTSIDE}, group:NAME or holder:ID"


def audience_of(name: str) -> Audience:
    """The audience a name stands for, with a viewer for each who belongs to it. Raises `Invalid`.

    `outside` is anybody beyond the household: for them the exporter gives away what she holds herself.
    """
    kind, _, which = checked_name(name, "audience").partition(":")
    if name in (ME, OUTSIDE):
        return Audience(name, own_only=name == OUTSIDE)
    viewers = _viewers(kind, which)
    if not viewers:
        raise Invalid(f"Say whom it is for: {CHOICES}, with somebody in it.", "audience")
    return Audience(name, viewers)


def _viewers(kind: str, which: str) -> tuple[Viewer, ...]:
    if kind == "holder" and which:
        return (viewer_for(which),)
    everybody = [
        viewer_for(holder_id) for holder_id in Holder.objects.order_by("pk").values_list("pk", flat=True)
    ]
    if kind == HOUSEHOLD and not which:
        return tuple(one for one in everybody if one.in_household)
    return tuple(one for one in everybody if kind == "group" and which in one.groups)
