"""`import`: bring memories in from a file or a folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from holders.newcomers import register
from memories.cartridge_files import archive
from memories.store import zone
from memories.transfer import files
from memories.transfer.formats import FORMATS, format_of
from memories.transfer.identities import Choices
from memories.transfer.load import Loaded, Skipped, load
from memories.transfer.records import Options
from memories.transfer.whatsapp import ORDERS
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import NOTHING, RekalCommand
from rekal_site.management.cartridges import bring_in, imported_lines
from rekal_site.options import pairs, visibility_option

CARTRIDGE = "cartridge"
SHOWN = 20  # refused lines named one by one; a file of another shape would refuse every one of its lines


class Command(RekalCommand):
    """Takes what it can, says what it could not; the file is only read."""

    help = (
        "Bring memories in from a file, a folder or a zip. Running it again adds nothing; an import that was cut "
        "short goes on. People the file names become theirs:name unless you map them, and what comes in is private "
        "to you unless you say otherwise; only your own JSON Lines keep theirs. "
        "Formats: cartridge (a .rekal file); "
        + "; ".join(f"{one.name} ({one.title})" for one in FORMATS)
        + "."
    )
    examples = (
        "import memories.jsonl --as mira",
        "import ~/.rekal/old.db --as mira --dry-run",
        "import 'WhatsApp Chat with Jonas.txt' --as mira --map 'Jonas W.=jonas' --map Mira=mira",
        "import notes.csv --as mira --column text=Note --visibility household",
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="the file, folder or zip; it is not changed")
        parser.add_argument("--format", metavar="NAME", help="what the file is, when it does not say itself")
        parser.add_argument(
            "--visibility",
            metavar="V",
            help="private, household, JSON, or file: as the file says, its names mapped",
        )
        parser.add_argument(
            "--map",
            action="append",
            metavar="NAME=HOLDER",
            help="who a name in the file is; may be given again",
        )
        parser.add_argument(
            "--column",
            action="append",
            metavar="FIELD=COLUMN",
            help="CSV: which column is the text, the date, …",
        )
        parser.add_argument(
            "--date-order", choices=ORDERS, help="chats and tables: the order of day, month and year"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would happen, and write nothing")
        parser.add_argument(
            "--passphrase-file", metavar="FILE", help="the passphrase of a sealed cartridge (-: ask for it)"
        )

    def run(self, viewer: Viewer, **options: Any) -> int | None:
        path: Path = options["path"]
        if _is_cartridge(path, options["format"]):
            found = bring_in(self, viewer, options)
            self.show(found, options, imported_lines(found))
            return None
        choices = Choices(
            visibility_option(options["visibility"]), pairs(options["map"], "map"), options["dry_run"]
        )
        told = Options(zone(), pairs(options["column"], "column"), options["date_order"] or "")
        chosen = format_of(path, options["format"])
        size = path.stat().st_size
        with render.progress(self.stderr, path.name) as advance:
            report = load(
                viewer,
                chosen.read(path, told),
                keep_ids=chosen.ours,
                choices=choices,
                progress=lambda record: advance(record.end, size),
            )
        registered = [] if choices.dry_run else register(viewer, report)
        self.show(_body(report, registered, choices), options, self._lines(report, registered, choices))
        self._explain(report.notes, "Note")
        self._explain(report.skipped, "Line")
        nothing = not (
            report.taken or report.already_here or registered or (choices.dry_run and report.holders)
        )
        return NOTHING if report.skipped and nothing else None

    def _lines(self, report: Loaded, registered: Sequence[str], choices: Choices) -> render.Lines:
        lines = [render.line(summary(report, dry_run=choices.dry_run))]
        if registered:
            lines.append(
                render.line(f"{len(registered)} people registered: {', '.join(registered[:SHOWN])}.")
            )
        elif choices.dry_run and report.holders:
            lines.append(render.line(f"{len(report.holders)} people are told of."))
        lines += [
            render.line(f"  {name} → {holder_id}") for name, holder_id in sorted(report.names.items())[:SHOWN]
        ]
        return lines

    def _explain(self, sentences: Sequence[Skipped], title: str) -> None:
        for line, why in sentences[:SHOWN]:
            self.complain(f"{title} {line}: {why}" if line else why)
        if len(sentences) > SHOWN:
            self.complain(f"… and {len(sentences) - SHOWN} more; --json names every one.")


def _is_cartridge(path: Path, stated: str | None) -> bool:
    if stated is not None:
        return stated == CARTRIDGE
    return path.is_file() and archive.recognises(path, files.head(path))


def summary(report: Loaded, *, dry_run: bool = False) -> str:
    """What became of the file, in a sentence."""
    taken = f"{render.memories(report.taken)} {'would be taken' if dry_run else 'taken'}"
    tied = f" {report.links} links set." if report.links else ""
    return f"{taken}, {report.already_here} here already, {len(report.skipped)} not taken.{tied}"


def _body(report: Loaded, registered: Sequence[str], choices: Choices) -> dict[str, Any]:
    """The counts and the refused lines; the rest only where there is any."""
    more = {
        "notes": [one._asdict() for one in report.notes],
        "names": report.names,
        "holders": [one.holder_id for one in report.holders] if choices.dry_run else list(registered),
        "dry_run": choices.dry_run,
    }
    return {
        "taken": report.taken,
        "already_here": report.already_here,
        "skipped": [one._asdict() for one in report.skipped],
    } | {key: value for key, value in more.items() if value}
