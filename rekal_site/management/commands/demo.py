"""`demo`: a household to try, three questions with their three outcomes, and the server."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.db import connection

from holders.ask import ask
from holders.auth import viewer_for
from holders.registry import names_of
from memories import store_file
from memories.errors import NotAllowed
from memories.store import zone
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.demo import load as demo
from rekal_site.management.commands.serve import Command as Serve
from rekal_site.management.commands.serve import add_address, make_store


class Command(Serve):
    """Works on a store of its own: `.demo/memory.db`, or the one REKAL_DB names."""

    help = "Make a demo household, ask it three questions, say who can sign in, and serve it."
    examples = ("demo", "demo --no-serve")

    def arguments(self, parser: CommandParser) -> None:
        add_address(parser)
        parser.add_argument("--no-serve", action="store_true", help="stop after the three questions")

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        path = store_file.configured_path()
        if path is not None and store_file.inspect(path).kind not in {"missing", "empty"}:
            self.gate(secret=True)
        self._steps(prepare())
        for question in demo.questions():
            self._ask(question)
        self._sign_ins()
        if not options["no_serve"]:
            self.serve(options)
        return None

    def _steps(self, steps: Iterable[str]) -> None:
        begin = time.monotonic()
        for step in steps:
            self.stdout.write(f"· {step} ({time.monotonic() - begin:.1f} s)")
            self.stdout.flush()

    def _ask(self, question: demo.Question) -> None:
        """The question as one would type it, and what `ask` prints."""
        result = ask(viewer_for(question.viewer), question.text)
        names = names_of({*result.visited, *(hit.memory.holder_id for hit in result.answers)})
        command = render.line("\n$ rekal ask ", f'"{question.text}" --as {question.viewer}')
        render.write(self.stdout, [command, *render.ask_lines(result, names, zone())])

    def _sign_ins(self) -> None:
        password = demo.open_accounts()
        who = ", ".join(
            f"{one.username} ({one.name}{', curator' if one.curator else ''})" for one in demo.accounts()
        )
        lines = [
            render.line("\nWho can sign in: ", who),
            render.line("with the password ", (password, "bold"), ", new each time the demo starts."),
            render.line(f"The store is {settings.REKAL_DB}; set REKAL_DB to it to try the commands.\n"),
        ]
        render.write(self.stdout, lines)


def prepare() -> Iterable[str]:
    """Make and fill the demo store, unless it is there. Raises `NotAllowed` for a store that is no demo."""
    path = store_file.configured_path()
    if path is not None and path.exists() and not demo.is_loaded():
        _remove_half_filled(path)
    if path is not None and not path.exists():
        yield f"making the demo store {path}"
        make_store()
    if not demo.is_loaded():
        yield from demo.load()


def _remove_half_filled(path: Path) -> None:
    """A demo store whose filling was cut short is made anew; a household's own store is never touched."""
    if not demo.is_demo():
        raise NotAllowed(f"{path} is a household’s own store, no demo; name another file with REKAL_DB.")
    connection.close()
    for part in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        part.unlink(missing_ok=True)
