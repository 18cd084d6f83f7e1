"""From authentication to a `Viewer`: sessions, bearer tokens and the command line's `--as`.

The viewer never comes from a request parameter. API and MCP callers are a `Principal`: who asks, and what the
session or token lets her do.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from ninja.errors import AuthenticationError, HttpError
from ninja.security import HttpBearer, SessionAuth

from holders import book, limits
from holders.models import SCOPES, Holder, SignIn, Token, hash_token
from memories.visibility import BUILT_IN_GROUPS, CURATORS, Viewer

REFUSED = "This token is unknown, expired or revoked."
NO_HOLDER = "This account is not linked to anybody in the household."
NO_CSRF = "A signed-in browser must send its CSRF token in the header X-CSRFToken."
NO_FORM = "Send the file as a form, with Content-Type: multipart/form-data."
NOT_JSON = "Send the body as JSON, with Content-Type: application/json."
# POST takes a file there, as a form; cookies need the CSRF token all the same.
FILE_CALLS = frozenset({"/api/sources", "/api/cartridges/import"})
TOKEN_CHARACTERS = 200  # ours have 49; anything longer is not worth hashing


def viewer_for(holder_id: str) -> Viewer:
    """The viewer a holder id stands for; an unregistered one has no kind and no groups."""
    holder = Holder.objects.filter(pk=holder_id).first()
    return Viewer(holder_id=holder_id) if holder is None else viewer_of(holder)


def viewer_of(holder: Holder) -> Viewer:
    """The viewer a registered holder is."""
    own = {group for group in holder.groups if group not in BUILT_IN_GROUPS.values()}
    return Viewer(holder.holder_id, holder.kind, frozenset(own | {BUILT_IN_GROUPS[holder.kind]}))


def viewer_of_account(user: User | AnonymousUser) -> Viewer | None:
    """The viewer a signed-in account stands for; an account linked to no holder sees nothing."""
    if not user.is_authenticated:
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


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller of the API or of MCP: on whose behalf, and with which scopes (`holders.models.SCOPES`)."""

    viewer: Viewer
    scopes: frozenset[str]
    token_id: int | None = None


def principal_of_token(plain: str) -> Principal | None:
    """Whom a bearer token stands for, or None when it is unknown, expired or revoked. Its use is noted.

    A token with `acting_for` gives a viewer that reads what both may read and writes as the person. One
    without the scope `curate` never acts as a curator, whoever holds it.
    """
    if not plain or len(plain) > TOKEN_CHARACTERS:
        return None
    token = Token.objects.live().filter(sha256=hash_token(plain)).first()
    if token is None:
        return None
    book.note_use(token)
    viewer = viewer_for(token.holder_id)
    if "curate" not in token.scopes:
        viewer = replace(viewer, groups=viewer.groups - {CURATORS})
    if token.acting_for:
        viewer = replace(viewer, acting_for=viewer_for(token.acting_for))
    return Principal(viewer, token.scopes & set(SCOPES), token.pk)


def admit(request: HttpRequest, principal: Principal) -> Viewer:
    """Put the principal on the request, count the call against its rate and look at the body's type."""
    request.viewer = principal.viewer  # type: ignore[attr-defined]
    request.scopes = principal.scopes  # type: ignore[attr-defined]
    limits.spend(principal.viewer, "call")
    expected = "multipart/form-data" if request.path in FILE_CALLS else "application/json"
    if request.headers.get("Content-Length", "0") != "0" and request.content_type != expected:
        raise HttpError(415, NOT_JSON if expected == "application/json" else NO_FORM)
    return principal.viewer


class TokenAuth(HttpBearer):
    """`Authorization: Bearer …`; where it is sent, it alone decides, whatever cookies come along."""

    def authenticate(self, request: HttpRequest, token: str) -> Viewer:
        """Raises `AuthenticationError` (401)."""
        principal = principal_of_token(token.strip())
        if principal is None:
            raise AuthenticationError(message=REFUSED)
        return admit(request, principal)


class CsrfCheck(CsrfViewMiddleware):
    """Django's own check, for calls that answer in JSON: it refuses without rendering a page."""

    def refuses(self, request: HttpRequest) -> bool:
        """Whether this request may have been sent by another site."""
        request.csrf_processing_done = False  # type: ignore[attr-defined]
        self.process_request(request)
        return self.process_view(request, HttpResponse, (), {}) is not None

    def _reject(self, _request: HttpRequest, _reason: str) -> HttpResponse:
        return HttpResponse(status=403)


class BrowserAuth(SessionAuth):
    """A signed-in browser; anything that writes needs the CSRF token."""

    def __call__(self, request: HttpRequest) -> Viewer | None:
        if not request.user.is_authenticated:
            return None
        if CsrfCheck(lambda _: HttpResponse()).refuses(request):
            raise HttpError(403, NO_CSRF)
        viewer: Viewer | None = request.viewer  # type: ignore[attr-defined]
        if viewer is None:
            raise HttpError(403, NO_HOLDER)
        return admit(request, Principal(viewer, frozenset(SCOPES)))
