"""What every page and reply of ours carries, and what becomes of a refusal."""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers

from holders.reader import preference_of, zone_of
from memories.errors import RekalError
from memories.pages import refusal_page, viewer_of

_SIGN_IN_SERVER = urlsplit(settings.REKAL_OIDC_SERVER)
_FORMS_MAY_LEAD_TO = f" {_SIGN_IN_SERVER.scheme}://{_SIGN_IN_SERVER.netloc}" if _SIGN_IN_SERVER.netloc else ""
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'self'; "
    f"form-action 'self'{_FORMS_MAY_LEAD_TO}; frame-ancestors 'none'"
)
FACES_WITHOUT_PAGES = ("/api/", "/mcp", "/static/")


class PrivatePagesMiddleware:
    """No cache keeps what one person read, nothing leaves the house, a partial is never taken for a page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Cache-Control", "no-store, private")
        patch_vary_headers(response, ["HX-Request", "Cookie", "Authorization"])
        return response


class ReaderMiddleware:
    """Pages speak the reader's language and show times in her zone."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path.startswith(FACES_WITHOUT_PAGES):
            return self.get_response(request)
        preference = preference_of(viewer_of(request))
        request.preference = preference  # type: ignore[attr-defined]
        if preference.language:
            translation.activate(preference.language)
            request.LANGUAGE_CODE = translation.get_language()
        with timezone.override(zone_of(preference)):
            return self.get_response(request)


class RefusalMiddleware:
    """A verb's refusal becomes a page with the same sentence and the right status."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Pages only: the API answers its own refusals."""
        if isinstance(exception, RekalError) and not request.path.startswith(FACES_WITHOUT_PAGES):
            return refusal_page(request, exception)
        return None
