"""What every page uses: who is signed in, the way to the door and back, and where a refusal is shown.

Who is not signed in goes to the door, and finds her half-filled form behind it.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.core import signing
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import render, resolve_url
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from memories.errors import Conflict, Invalid, NotAllowed, NotFound, RekalError, TooMany
from memories.visibility import Viewer

STATUS = {NotFound: 404, NotAllowed: 403, Invalid: 422, Conflict: 409, TooMany: 429}
OWNER_FIELD = "form_owner"
OWNER_SALT = "form-owner"
UNFINISHED = "unfinished_form"
UNFINISHED_SECONDS = 15 * 60
UNFINISHED_BYTES = 256 * 1024
NOTHING: Mapping[str, str] = {}


def viewer_of(request: HttpRequest) -> Viewer | None:
    """Who is signed in, or nobody."""
    return getattr(request, "viewer", None)


def member(request: HttpRequest) -> Viewer:
    """Who is signed in, on a page that is for members only."""
    viewer: Viewer = request.viewer  # type: ignore[attr-defined]
    return viewer


def wants_part(request: HttpRequest) -> bool:
    """Whether htmx wants the part that changes; never for a page it brings back from its history."""
    return bool(request.htmx) and not request.htmx.history_restore_request  # type: ignore[attr-defined]


def blame(form: Form, refusal: RekalError, renamed: Mapping[str, str] = NOTHING) -> None:
    """Show a verb's refusal at the field it is about; `renamed` says what the form calls the verb's fields."""
    name = getattr(refusal, "field", "")
    field = renamed.get(name, name)
    form.add_error(field if field in form.fields else None, str(refusal))


def sign_owner(viewer: Viewer | None) -> str:
    """A signed word on every form that says for whom it was drawn."""
    return signing.dumps(viewer.holder_id, salt=OWNER_SALT) if viewer else ""


def members_only(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Only for who is signed in as a holder; a form sent by an expired session waits behind the sign-in."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if viewer_of(request) is None:
            return _to_the_door(request)
        return view(request, *args, **kwargs)

    return guarded


def _to_the_door(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:  # an account that is linked to no holder
        return render(request, "no_holder.html", status=403)
    back = request.get_full_path()
    if request.method == "POST":
        back = request.POST.get("form_page") or back
        _keep(request, back)
    address = f"{resolve_url('sign-in')}?{urlencode({'next': back})}"
    if getattr(request, "htmx", False):
        return HttpResponse(headers={"HX-Redirect": address})
    return HttpResponseRedirect(address)


def _keep(request: HttpRequest, back: str) -> None:
    """Set the form aside in this browser's session, for whom it was drawn for and a quarter of an hour."""
    owner = _owner(request)
    fields = {
        key: values for key, values in request.POST.lists() if key not in {"csrfmiddlewaretoken", OWNER_FIELD}
    }
    if owner and sum(len(value) for values in fields.values() for value in values) <= UNFINISHED_BYTES:
        request.session[UNFINISHED] = {"owner": owner, "page": back.partition("?")[0], "fields": fields}
        request.session.set_expiry(UNFINISHED_SECONDS)


def _owner(request: HttpRequest) -> str:
    try:
        return str(signing.loads(request.POST.get(OWNER_FIELD, ""), salt=OWNER_SALT))
    except signing.BadSignature:
        return ""


def unfinished(request: HttpRequest) -> QueryDict | None:
    """The form this person had half filled on this page when her session ended; given back once."""
    kept = request.session.get(UNFINISHED)
    if not kept or kept["page"] != request.path:
        return None
    del request.session[UNFINISHED]
    viewer = viewer_of(request)
    if viewer is None or kept["owner"] != viewer.holder_id:
        return None
    fields = QueryDict(mutable=True)
    for key, values in kept["fields"].items():
        fields.setlist(key, values)
    return fields


def form_expired(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form drawn before the last sign-in: nothing was changed, and its text is still in the page behind."""
    return render(
        request,
        "refused.html",
        {
            "sentence": _(
                "This page was open for too long, so nothing was changed. Go back, reload it, send it again."
            )
        },
        status=403,
    )


def refusal_page(request: HttpRequest, refusal: RekalError) -> HttpResponse:
    """The refusal's own sentence, with the status that belongs to it."""
    response = _refusal_page(request, str(refusal), _status(refusal))
    if isinstance(refusal, TooMany):
        response["Retry-After"] = str(refusal.retry_after)
    return response


def _status(refusal: RekalError) -> int:
    return next((code for kind, code in STATUS.items() if isinstance(refusal, kind)), 400)


def _refusal_page(request: HttpRequest, sentence: str, status: int) -> HttpResponse:
    if getattr(request, "htmx", False):
        response = render(request, "refused.html#sentence", {"sentence": sentence}, status=status)
        response["HX-Retarget"], response["HX-Reswap"] = "#messages", "innerHTML"
        return response
    return render(request, "refused.html", {"sentence": sentence}, status=status)
