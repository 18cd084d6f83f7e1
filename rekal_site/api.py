"""The JSON API at `/api/`: the apps' routers under one roof, and what every refusal looks like.

Every error body is `{"detail": sentence}`. No error and no log line ever holds memory text: only the kind of
an unexpected error is logged, with where it happened.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.multipartparser import MultiPartParserError
from django.urls import URLPattern, re_path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI, Schema
from ninja.errors import HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema

from holders.api import router as holders_router
from holders.auth import BrowserAuth, TokenAuth
from holders.cartridge_files_api import router as cartridge_files_router
from holders.events_api import router as events_router
from holders.questions_api import router as questions_router
from memories.api import router as memories_router
from memories.cartridges_api import router as cartridges_router
from memories.edges_api import router as edges_router
from memories.errors import Conflict, Invalid, NotAllowed, NotFound, RekalError, TooMany
from memories.http import Stale
from memories.scenarios_api import router as scenarios_router
from memories.sources_api import router as sources_router
from rekal_site.refusals import note_fault, sentence_about

STATUSES: dict[type[RekalError], int] = {
    NotFound: 404, NotAllowed: 403, Invalid: 422, Stale: 412, Conflict: 409, TooMany: 429, RekalError: 503,
}  # fmt: skip
NO_SUCH_CALL = "There is no such call; /api/docs lists them."


class Api(NinjaAPI):
    """Ninja's API, with an OpenAPI document that strict readers take."""

    def get_openapi_schema(self, **given: Any) -> OpenAPISchema:
        """The document; examples of a parameter stand in its schema, where a list of them is allowed."""
        document = super().get_openapi_schema(**given)
        calls = (call for path in document["paths"].values() for call in path.values())
        for parameter in (one for call in calls for one in call.get("parameters", ())):
            parameter.pop("examples", None)
        return document


api = Api(
    title="Rekal",
    version="1",
    description=(
        "A household’s shared memory: remember, recall, and who knows when you may not read it yourself. "
        "Callers send `Authorization: Bearer <token>`; signed-in browsers send their cookie and, to write, "
        'their CSRF token. Every refusal is `{"detail": "one sentence"}`.\n\n'
        "`GET /api/events` is a stream of server-sent events for the caller (`question`, `answered`, `expiring`; "
        "`?kinds=`, `?after=`, `Last-Event-ID`); the same events can be sent to a webhook."
    ),
    auth=[TokenAuth(), BrowserAuth()],
    urls_namespace="api",
)


class Health(Schema):
    """The server is up."""

    status: str = "ok"


@api.get(
    "/health", auth=None, response=Health, operation_id="health", summary="Is the server up?", tags=["health"]
)
def get_health(request: HttpRequest) -> Health:
    """Needs no sign-in and says nothing about the household."""
    return Health()


api.add_router("", cartridge_files_router)  # before the others: `import` is no cartridge's id
api.add_router("", memories_router)
api.add_router("", holders_router)
api.add_router("", sources_router)
api.add_router("", events_router)
api.add_router("", questions_router)
api.add_router("", scenarios_router)
api.add_router("", edges_router)
api.add_router("", cartridges_router)


def refuse(request: HttpRequest, status: int, sentence: str, **headers: str) -> HttpResponse:
    """A refusal's reply: its status, its sentence and its headers (written with `_` for `-`)."""
    response = api.create_response(request, {"detail": sentence}, status=status)
    for name, value in headers.items():
        response[name.replace("_", "-")] = value
    return response


@api.exception_handler(RekalError)
def refused(request: HttpRequest, error: RekalError) -> HttpResponse:
    """What a verb would not do."""
    status = next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
    headers = {"Retry_After": str(error.retry_after)} if isinstance(error, TooMany) else {}
    return refuse(request, status, str(error), **headers)


@api.exception_handler(HttpError)
def refused_by_http(request: HttpRequest, error: HttpError) -> HttpResponse:
    """What never got to a verb: no credentials, no CSRF token, no JSON."""
    if error.status_code == 401:
        sentence = str(error) if str(error) != "Unauthorized" else "Sign in, or send an API token."
        return refuse(request, 401, sentence, WWW_Authenticate="Bearer")
    if error.status_code == 400:
        return refuse(request, 422, "The body is not JSON that can be read.")
    return refuse(request, error.status_code, str(error))


@api.exception_handler(ValidationError)
def refused_by_schema(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """A field or parameter that does not fit; the first one is named, its value never repeated."""
    return refuse(request, 422, sentence_for(error.errors[0]))


@api.exception_handler(RequestDataTooBig)
def refused_by_size(request: HttpRequest, _error: RequestDataTooBig) -> HttpResponse:
    """Longer than any call needs."""
    return refuse(request, 422, "The body is too long; a memory’s text may have at most 64 KiB.")


@api.exception_handler(MultiPartParserError)
def refused_by_form(request: HttpRequest, error: MultiPartParserError) -> HttpResponse:
    """An upload whose form is broken."""
    return refuse(request, 422, "The form cannot be read; send it as multipart/form-data with its boundary.")


@api.exception_handler(Http404)
def no_such_call(request: HttpRequest, _error: Http404) -> HttpResponse:
    """No route of ours."""
    return refuse(request, 404, NO_SUCH_CALL)


@api.exception_handler(Exception)
def unexpected(request: HttpRequest, error: Exception) -> HttpResponse:
    """A fault of ours."""
    return refuse(request, 500, note_fault(error))


def sentence_for(problem: dict[str, Any]) -> str:
    """One sentence for one of pydantic's problems, without the value that caused it."""
    names = [
        str(part) for part in problem["loc"] if part not in ("body", "query", "path", "payload", "filters")
    ]
    return sentence_about(names[0] if names and names[0] != "query" else "", problem)


def _as_json(view: Callable[..., Any]) -> Callable[..., HttpResponse]:
    """The view, with a refused method and a missing route answered like every other refusal."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response: HttpResponse = view(request, *args, **kwargs)
        except Http404 as error:
            return no_such_call(request, error)
        if isinstance(response, HttpResponseNotAllowed):
            return refuse(request, 405, "This call does not know that method.", Allow=response["Allow"])
        return response

    return answered


@csrf_exempt
def _nothing_here(request: HttpRequest) -> HttpResponse:
    return refuse(request, 404, NO_SUCH_CALL)


def _routes() -> list[URLPattern]:
    """Every route of the API, and a last one for what is none."""
    routes = [one for one in api.urls[0] if isinstance(one, URLPattern)]
    for route in routes:
        route.callback = _as_json(route.callback)
    return [*routes, re_path(r"", _nothing_here)]


urls = (_routes(), "api", "api")
