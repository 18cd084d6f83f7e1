"""From authentication to a `Viewer`: sessions, bearer tokens and the command line's `--as`."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from holders.models import Holder, SignIn
from memories.visibility import BUILT_IN_GROUPS, Viewer


def viewer_for(holder_id: str) -> Viewer:
    """The viewer a holder id stands for; an unregistered one has no kind and no groups."""
    holder = Holder.objects.filter(pk=holder_id).first()
    if holder is None:
        return Viewer(holder_id=holder_id)
    own = {group for group in holder.groups if group not in BUILT_IN_GROUPS.values()}
    return Viewer(holder.holder_id, holder.kind, frozenset(own | {BUILT_IN_GROUPS[holder.kind]}))


def viewer_of_account(user: object) -> Viewer | None:
    """The viewer a signed-in account stands for; an account linked to no holder sees nothing."""
    if not getattr(user, "is_authenticated", False):
        return None
    holder_id = SignIn.objects.filter(user=user).values_list("holder_id", flat=True).first()
    return viewer_for(holder_id) if holder_id else None


class ViewerMiddleware:
    """Sets `request.viewer` from the session; every page and the admin start from it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.viewer = viewer_of_account(request.user)  # type: ignore[attr-defined]
        return self.get_response(request)
