"""The person in front of the page: her language, her time zone, her theme, and the names she sees."""

from collections.abc import Iterable
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from holders.models import Holder, Preference
from memories import cartridges, store
from memories.fields import dump_json
from memories.pages import sign_owner, viewer_of
from memories.visibility import Viewer

THEMES = ("light", "dark")


def preference_of(viewer: Viewer | None) -> Preference:
    """What `viewer` chose; an unsaved, empty row for who chose nothing yet."""
    found = Preference.objects.filter(pk=viewer.holder_id).first() if viewer else None
    return found or Preference(holder_id=viewer.holder_id if viewer else "")


def hidden_topics(holder_id: str) -> list[str]:
    """Topics a holder's memories show that she would rather not be asked about."""
    found = Preference.objects.filter(pk=holder_id).first()
    return found.hidden_topics if found else []


def hide_topics(holder_id: str, topics: Iterable[str]) -> None:
    """Write which topics of hers are not shown."""
    chosen = dump_json(sorted(set(topics)))
    Preference.objects.update_or_create(pk=holder_id, defaults={"hidden_topics_json": chosen})


def keep_looks(response: HttpResponse, *, theme: str | None = None, language: str = "") -> None:
    """Cookies, so that this browser looks and speaks the same before one signs in; no theme or language, no cookie."""
    if theme is not None:
        response.set_cookie(
            "theme", theme, max_age=settings.SESSION_COOKIE_AGE, samesite="Lax", httponly=True
        )
    if language:
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME, language, max_age=settings.SESSION_COOKIE_AGE, samesite="Lax"
        )


def zone_of(preference: Preference) -> ZoneInfo:
    """The reader's own time zone, else the household's."""
    try:
        return ZoneInfo(preference.time_zone) if preference.time_zone else store.zone()
    except (KeyError, ValueError, OSError):
        return store.zone()


def names_of_holders() -> dict[str, str]:
    """Every registered holder's name by id; who is not registered goes by the id itself."""
    return {
        holder_id: name or holder_id for holder_id, name in Holder.objects.values_list("holder_id", "name")
    }


def groups_of_household() -> list[str]:
    """The household's own groups, by name."""
    rows = Holder.objects.exclude(groups_json="[]").values_list("groups_json", flat=True)
    return sorted({group for row in rows for group in Holder(groups_json=row).groups})


def page(request: HttpRequest) -> dict[str, object]:
    """What every template may use: the viewer, her theme, the names of the household, what is mounted."""
    viewer = viewer_of(request)
    preference = getattr(request, "preference", None)
    theme = preference.theme if preference and preference.theme else request.COOKIES.get("theme", "")
    return {
        "viewer": viewer,
        "theme": theme if theme in THEMES else "",
        "names": SimpleLazyObject(names_of_holders),
        "groups": SimpleLazyObject(groups_of_household),
        "household": SimpleLazyObject(lambda: str(store.get_setting("household_name") or "Rekal")),
        "mounted": SimpleLazyObject(lambda: mounted_by(viewer)),
        "languages": settings.LANGUAGES,
        "form_owner": SimpleLazyObject(lambda: sign_owner(viewer)),
    }


def mounted_by(viewer: Viewer | None) -> list[tuple[str, str]]:
    """`(cartridge_id, name)` of what scopes this viewer's questions now."""
    if viewer is None:
        return []
    return list(cartridges.mounted_by(viewer).values_list("cartridge_id", "name"))
