"""`client`: the Python client of this server's API, on stdout."""

from typing import Any

from memories.visibility import Viewer
from rekal_site.client_source import source
from rekal_site.management.base import RekalCommand


class Command(RekalCommand):
    """Writes one module; it needs no store."""

    help = "Print the Python client of this API: one typed module that needs nothing but Python."
    examples = ("client > rekal_client.py",)
    needs_viewer = False
    takes_viewer = False
    needs_store = False

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        text = source()
        if options["json"]:
            self.show({"source": text}, options, [])
        else:
            self.stdout.write(text, ending="")
        return None
