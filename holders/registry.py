"""The directory of holders: who they are, what they know about and how to reach them.

A holder with memories exists whether or not anybody registered it; the registry adds a name and reachability,
and with its kind the built-in group that lets people and agents read what the household shares.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

from holders import topics
from holders.models import KINDS, Holder, Invite, SignIn, Token
from memories import timestamps
from memories.drafts import checked_choice, checked_name
from memories.errors import Invalid, NotAllowed, NotFound
from memories.fields import dump_json
from memories.models import Atom
from memories.visibility import BUILT_IN_GROUPS, CURATORS, Viewer

NO_SUCH_HOLDER = "There is no such holder."
MAX_ID = MAX_NAME = MAX_TOPIC = 200
MAX_TOPICS = 100
MAX_GROUPS = 50
MAX_GROUP = 64
MAX_CONTACTS = 20
MAX_CONTACT_KEY = 40
MAX_CONTACT = 500

_RUNS_CODE = re.compile(r"(?:javascript|vbscript|data|file|blob)\s*:", re.IGNORECASE)
_WEB = re.compile(r"https?://[^\s/]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HolderCard:
    """A holder as one viewer may see it; `contact` and `groups` are for the household's people and agents."""

    holder_id: str
    name: str
    kind: str
    registered: bool
    knows_about: tuple[str, ...] = ()
    contact: dict[str, str] = field(default_factory=dict)
    groups: tuple[str, ...] = ()


def sees_contacts(viewer: Viewer | None, holder_id: str) -> bool:
    """Whether `viewer` learns how to reach this holder: the household does, guests and outsiders don't.

    An agent acting for a person learns what both may. The host (None) sees all.
    """
    if viewer is None or viewer.holder_id == holder_id:
        return True
    return viewer.in_household and (viewer.acting_for is None or sees_contacts(viewer.acting_for, holder_id))


def card_for(viewer: Viewer | None, holder: Holder) -> HolderCard:
    """The part of a holder's record that `viewer` may see."""
    close = sees_contacts(viewer, holder.holder_id)
    return HolderCard(
        holder_id=holder.holder_id,
        name=holder.name,
        kind=holder.kind,
        registered=True,
        knows_about=tuple(holder.topics),
        contact=holder.contact if close else {},
        groups=tuple(holder.groups) if close else (),
    )


def list_holders(viewer: Viewer) -> list[HolderCard]:
    """Everybody registered, and the unregistered holders of memories that `viewer` may read; by id."""
    cards = [card_for(viewer, holder) for holder in Holder.objects.all()]
    known = {card.holder_id for card in cards}
    readable = Atom.objects.visible_to(viewer).exclude(holder_id__in=["", *known])
    unregistered = readable.order_by().values_list("holder_id", flat=True).distinct()
    cards += [HolderCard(holder_id, "", "", registered=False) for holder_id in unregistered]
    return sorted(cards, key=lambda card: card.holder_id)


def get_holder(viewer: Viewer, holder_id: str) -> HolderCard:
    """One holder's card. Raises `NotFound`, alike for nobody and who is known by hidden memories alone."""
    if holder := Holder.objects.filter(pk=holder_id).first():
        return card_for(viewer, holder)
    if holder_id and Atom.objects.visible_to(viewer).filter(holder_id=holder_id).exists():
        return HolderCard(holder_id, "", "", registered=False)
    raise NotFound(NO_SUCH_HOLDER)


def set_holder(
    viewer: Viewer | None,
    holder_id: str,
    *,
    name: str | None = None,
    kind: str | None = None,
    knows_about: Sequence[str] | None = None,
    contact: Mapping[str, str] | None = None,
    groups: Sequence[str] | None = None,
) -> HolderCard:
    """Register a holder or change its record; None leaves a field as it is. The host (viewer None) may all.

    Everybody changes her own name, topics and contact; kinds, groups and other holders' records need a
    curator, and nobody gives or takes the group `curators`, or changes her own groups, but the host. Raises
    `Invalid`, `NotAllowed`.
    """
    changes = _checked(name=name, kind=kind, knows_about=knows_about, contact=contact, groups=groups)
    key = checked_id(holder_id)
    with transaction.atomic():
        stored = Holder.objects.filter(pk=key).first()
        holder = stored or Holder(holder_id=key)
        _require_right(viewer, holder, changes, is_new=stored is None)
        for column, value in changes.items():
            setattr(holder, column, value)
        holder.updated_at = timestamps.now()
        holder.save(force_insert=stored is None)
        topics.keep(holder.topics if "knows_about_json" in changes else ())
        if "groups_json" in changes:
            _admit_to_admin(holder)
    return card_for(viewer, holder)


def _admit_to_admin(holder: Holder) -> None:
    """The admin asks for a staff account besides the group: who becomes a curator has one, who stops loses it."""
    accounts = get_user_model().objects.filter(sign_in__holder_id=holder.holder_id)
    accounts.update(is_staff=CURATORS in holder.groups)


def remove_holder(viewer: Viewer | None, holder_id: str) -> None:
    """Unregister a holder: its memories stay, its sign-in and tokens end; only the host links it again.

    Raises `NotFound`, `NotAllowed`.
    """
    if viewer is not None and not viewer.is_curator:
        raise NotAllowed("Only a curator may take a holder out of the directory.")
    with transaction.atomic():
        holder = Holder.objects.filter(pk=holder_id).first()
        if holder is None:
            raise NotFound(NO_SUCH_HOLDER)
        if viewer is not None and CURATORS in holder.groups:
            raise NotAllowed("A curator is taken out of the directory on the host’s command line only.")
        Invite.objects.open().filter(holder_id=holder_id).delete()
        SignIn.objects.filter(holder_id=holder_id).delete()
        Token.objects.live().of(holder_id).update(revoked_at=timestamps.now())
        holder.delete()


def _require_right(
    viewer: Viewer | None, holder: Holder, changes: Mapping[str, Any], *, is_new: bool
) -> None:
    """Raises `NotAllowed` with the sentence that fits."""
    if viewer is None:
        return
    own = holder.holder_id == viewer.holder_id
    if not viewer.is_curator and (is_new or not own):
        raise NotAllowed("Only a curator may register a holder or change somebody else’s record.")
    if changes.get("kind", holder.kind) != holder.kind and not is_new and not viewer.is_curator:
        raise NotAllowed("Only a curator may change what kind of holder somebody is.")
    if "groups_json" not in changes or set(_names(changes["groups_json"])) == set(holder.groups):
        return
    if own:
        raise NotAllowed("Your own groups are changed by a curator, or on the host’s command line.")
    if (CURATORS in holder.groups) != (CURATORS in _names(changes["groups_json"])):
        raise NotAllowed("The group “curators” is given and taken on the host’s command line only.")


def _names(groups_json: str) -> list[str]:
    return Holder(groups_json=groups_json).groups


def checked_id(holder_id: object) -> str:
    """A holder id: letters of any script, digits and `. : _ - @`. Raises `Invalid`."""
    if (
        not isinstance(holder_id, str)
        or not 0 < len(holder_id) <= MAX_ID
        or not all(map(_fits_an_id, holder_id))
    ):
        raise Invalid(
            f"A holder id has letters, digits and . : _ - @, no spaces, and at most {MAX_ID} characters.",
            "holder_id",
        )
    return holder_id


def _fits_an_id(character: str) -> bool:
    return character in ".:_-@" or unicodedata.category(character)[0] in "LNM"


def _checked(
    *, name: object, kind: object, knows_about: object, contact: object, groups: object
) -> dict[str, Any]:
    """The given fields as columns, checked. Raises `Invalid`."""
    columns: dict[str, Any] = {}
    if name is not None:
        columns["name"] = checked_name(name, "name", MAX_NAME)
    if kind is not None:
        columns["kind"] = checked_choice(kind, KINDS, "kind")
    if knows_about is not None:
        names = _checked_names(knows_about, "knows_about", MAX_TOPICS, MAX_TOPIC)
        columns["knows_about_json"] = dump_json(names)
    if contact is not None:
        columns["contact_json"] = dump_json(checked_contact(contact))
    if groups is not None:
        columns["groups_json"] = dump_json(_checked_groups(groups))
    return columns


def _checked_names(value: object, field_name: str, most: int, length: int) -> list[str]:
    """Short texts, trimmed, without repeats and empty ones, in the given order."""
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) > most:
        raise Invalid(f"“{field_name}” is a list of at most {most} short texts.", field_name)
    names = [checked_name(one, field_name, length) for one in value]
    return list(dict.fromkeys(one for one in names if one))


def _checked_groups(value: object) -> list[str]:
    names = sorted(_checked_names(value, "groups", MAX_GROUPS, MAX_GROUP))
    if built_in := sorted(set(names) & set(BUILT_IN_GROUPS.values())):
        raise Invalid(
            f"The group “{built_in[0]}” follows from the kind of holder and is not given.", "groups"
        )
    return names


def checked_contact(value: object) -> dict[str, str]:
    """Ways to reach a holder: short names and short texts, none of which would run code when tapped.

    `rekal_url` and every other key that ends in `url` hold an http(s) address. Raises `Invalid`.
    """
    if not isinstance(value, Mapping) or len(value) > MAX_CONTACTS:
        raise Invalid(
            f"A contact is an object of at most {MAX_CONTACTS} short texts, such as phone or email.",
            "contact",
        )
    pairs = ((checked_name(key, "contact", MAX_CONTACT_KEY), _checked_way(one)) for key, one in value.items())
    contact = {key: way for key, way in pairs if key and way}
    for key, way in contact.items():
        if key.lower().endswith("url") and not _WEB.match(way):
            raise Invalid(f"“{key}” is an address that begins with http:// or https://.", "contact")
    return contact


def _checked_way(value: object) -> str:
    way = checked_name(value, "contact", MAX_CONTACT)
    if _RUNS_CODE.match(re.sub(r"[\s\x00-\x20]+", "", way)):
        raise Invalid("A contact is a number, an address or a link, not a script or a file.", "contact")
    return way


def names_of(holder_ids: Iterable[str]) -> dict[str, str]:
    """The registered names of these holders, by id; who has none is left out."""
    named = Holder.objects.filter(pk__in=list(holder_ids)).exclude(name="")
    return dict(named.values_list("holder_id", "name"))


def called(_viewer: Viewer) -> dict[str, tuple[str, ...]]:
    """What each registered holder is called, by id, for questions that name one."""
    return {one: (name,) if name else () for one, name in Holder.objects.values_list("holder_id", "name")}
