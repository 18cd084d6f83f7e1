"""The ASGI application `serve` runs: Django's pages in a few threads, asynchronous parts beside them by prefix."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rekal_site.settings")

django_pages = get_wsgi_application()

from rekal_site import daily, events  # noqa: E402  (Django is set up by the line before)
from rekal_site.mcp import http  # noqa: E402
from rekal_site.server import Site  # noqa: E402

agents = http.McpOverHttp()
listeners = events.Events()
application = Site(
    django_pages,
    mounts={http.PATH: agents, events.PATH: listeners},
    lifespans=[agents.lifespan, listeners.lifespan, daily.lifespan],
    farewells=[listeners.end],
)
