"""What every command of ours shares: `--as`, `--json`, the gate in front of the store, exit codes and sentences.

Exit 0: done. 1: nothing found, or refused, with one sentence on stderr. 2: wrong usage.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter
from django.db import DatabaseError, connections

from holders.auth import viewer_for
from memories import checks
from memories.errors import Invalid, RekalError
from memories.store import LOG_HELD_SENTENCE, log_is_held
from memories.visibility import Viewer
from rekal_site import render

NOTHING = 1
USAGE = 2


class HelpFormatter(DjangoHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of the examples under the options."""


class RekalCommand(BaseCommand):
    """A face on the command line: parse, one verb, render.

    A subclass gives `help`, `examples` (each a command line after `rekal`), `arguments` and `run`.
    """

    examples: ClassVar[Sequence[str]] = ()
    needs_viewer: ClassVar[bool] = True
    takes_viewer: ClassVar[bool] = True
    needs_store: ClassVar[bool] = True
    needs_model: ClassVar[bool] = True
    wipes: ClassVar[bool] = (
        False  # it removes memories for good, and says so when their bytes could not go yet
    )
    requires_system_checks = []
    suppressed_base_arguments = {
        "--version", "--verbosity", "-v", "--settings", "--pythonpath", "--traceback", "--no-color", "--force-color",
    }  # fmt: skip

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Django's parser with our examples below it."""
        lines = "".join(f"  rekal {example}\n" for example in self.examples)
        epilog = f"examples:\n{lines}" if lines else None
        return super().create_parser(
            prog_name, subcommand, formatter_class=HelpFormatter, epilog=epilog, **kwargs
        )

    def add_arguments(self, parser: CommandParser) -> None:
        """The command's own arguments, then `--as` and `--json`."""
        self.arguments(parser)
        who = (
            "who is asking: a holder’s id"
            if self.needs_viewer
            else "act as this holder (default: the host, who may)"
        )
        if self.takes_viewer:
            parser.add_argument("--as", dest="viewer", metavar="HOLDER", required=self.needs_viewer, help=who)
        parser.add_argument("--json", action="store_true", help="print the API’s reply body instead of text")

    def arguments(self, parser: CommandParser) -> None:
        """Add what only this command takes."""

    def run(self, viewer: Viewer, **options: Any) -> int | None:
        """Do it and print; the exit code, None for 0."""
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        """Pass the gate, make the viewer, run, and turn a refusal into its sentence and exit code."""
        try:
            code = self._run(options)
        except Invalid as error:
            self._refuse(str(error), USAGE)
        except RekalError as error:
            self._refuse(str(error), NOTHING)
        except DatabaseError as error:
            self._refuse(f"The store could not be used: {error}.", NOTHING)
        except KeyboardInterrupt:
            self._refuse("Stopped.", 130)
        if code:
            self._leave(code)

    def _run(self, options: dict[str, Any]) -> int | None:
        if self.needs_store:
            self.gate(model=self.needs_model)
        holder_id = options.pop("viewer", None)
        if holder_id is not None and not holder_id.strip():
            raise Invalid("--as needs the id of a holder.", "viewer")
        viewer = viewer_for(holder_id) if holder_id is not None else None
        code = self.run(viewer, **options)  # type: ignore[arg-type]  # None is the host
        if self.wipes and log_is_held():
            self.complain(LOG_HELD_SENTENCE)
        return code

    def gate(self, *, model: bool = True, secret: bool = False) -> None:
        """Refuse to touch a store that is missing, foreign, newer, older or of another model."""
        for problem in checks.refusals(model=model, secret=secret):
            self._refuse(f"{problem.msg} {problem.hint or ''}".strip(), NOTHING)

    def _refuse(self, sentence: str, code: int) -> NoReturn:
        self.complain(sentence)
        self._leave(code)

    def complain(self, sentence: str) -> None:
        """One sentence on stderr."""
        self.stderr.write(render.printable(sentence))

    def _leave(self, code: int) -> NoReturn:
        """Exit with the code; under `call_command` an exception carries it."""
        if not self.from_command_line:
            raise CommandExit(code)
        connections.close_all()
        sys.exit(code)

    @property
    def from_command_line(self) -> bool:
        """Whether a person or a script started this, and not `call_command`."""
        return bool(getattr(self, "_called_from_command_line", False))

    @property
    def on_terminal(self) -> bool:
        """Whether a person reads stdout."""
        return bool(self.stdout.isatty())

    def show(self, result: Any, options: dict[str, Any], lines: render.Lines) -> None:
        """Print a result as the API's body or as lines for people."""
        if options["json"]:
            self.stdout.write(render.to_json(result, pretty=self.on_terminal))
        else:
            render.write(self.stdout, lines)


class CommandExit(CommandError):
    """A command that ends with a code other than 0 when Python called it; its sentence is on stderr already."""

    def __init__(self, returncode: int) -> None:
        super().__init__(f"exit {returncode}", returncode=returncode)
