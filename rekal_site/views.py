"""What makes the pages an app on one's phone: manifest, service worker, and the page for when the house is away."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from memories import store


@require_GET
def manifest(request: HttpRequest) -> JsonResponse:
    """The web app manifest; the household's name is its name."""
    icons = [("rekal/icon-192.png", "192x192", "any"), ("rekal/icon-512.png", "512x512", "any")]
    icons.append(("rekal/icon-maskable-512.png", "512x512", "maskable"))
    content = {
        "name": str(store.get_setting("household_name") or "Rekal"),
        "short_name": "Rekal",
        "description": _("What this household remembers, and who knows what"),
        "lang": get_language(),
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#f7f6f2",
        "theme_color": "#007a50",
        "icons": [
            {"src": static(path), "sizes": sizes, "type": "image/png", "purpose": purpose}
            for path, sizes, purpose in icons
        ],
    }
    return JsonResponse(content, content_type="application/manifest+json")


@require_GET
def service_worker(request: HttpRequest) -> HttpResponse:
    """A worker that keeps the offline page and nothing that anybody wrote."""
    return render(request, "service_worker.js", content_type="text/javascript")


@require_GET
def offline(request: HttpRequest) -> HttpResponse:
    """Shown by the worker while the household's computer cannot be reached."""
    return render(request, "offline.html")
