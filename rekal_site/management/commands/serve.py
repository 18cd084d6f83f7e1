"""`serve`: the household's pages, API and MCP over HTTP."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandParser

from holders.first_run import first_run_code
from memories import store_file
from memories.embedding import cache
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import RekalCommand
from rekal_site.server import address_of, listen, run


class Command(RekalCommand):
    """A store that is not there yet is made; one of another build is refused."""

    help = "Serve the pages, the API and MCP. A missing store is made; Ctrl-C stops the server."
    examples = ("serve", "serve --host 0.0.0.0 --port 8080     (for the whole home network)")
    needs_viewer = False
    takes_viewer = False
    needs_store = False

    def arguments(self, parser: CommandParser) -> None:
        add_address(parser)

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        make_store()
        self.gate(secret=True)
        self.serve(options)
        return None

    def serve(self, options: dict[str, Any]) -> None:
        """Say where, and serve until told to stop."""
        listener = listen(options["host"], options["port"])
        from rekal_site.asgi import application  # noqa: PLC0415  (importing it sets the whole site up)

        cache.engine()  # the first question shall not wait for the model
        code = first_run_code()
        lines = [render.line(f"Serving {address_of(listener)} — Ctrl-C stops it.")]
        if code:
            lines.append(
                render.line("Nobody can sign in yet: open that page and type this code: ", (code, "bold"))
            )
        self.show({"url": address_of(listener), "first_run_code": code}, options, lines)
        self.stdout.flush()
        run(application, listener)


def add_address(parser: CommandParser) -> None:
    """`--host` and `--port`."""
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="H", help="the address to listen on (127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=int, default=8000, metavar="P", help="the port (8000; 0: any free one)"
    )


def make_store() -> None:
    """Make and migrate a store where there is none; leave any other file alone."""
    path = store_file.configured_path()
    if path is not None and store_file.inspect(path).kind in {"missing", "empty"}:
        store_file.make_private(path)
        call_command("migrate", verbosity=0, interactive=False)
