"""`sources`: the files that memories come from."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from rich.table import Table

from memories import sources
from memories.errors import Invalid
from memories.sources import SourceCard
from memories.store import zone
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import NOTHING, RekalCommand
from rekal_site.options import visibility_option


class Command(RekalCommand):
    """Lists what the viewer may open, takes a file in, or deletes one."""

    help = (
        "List the files you may open, add one (its text becomes memories that point back to it; a changed version of "
        "your file of that name replaces only what changed), or delete one with every memory that came from it."
    )
    examples = (
        "sources --as mira",
        "sources add manual.pdf --as mira --scenario kitchen --visibility household",
        "sources rm 3f0c1d2e4b5a69788796a5b4c3d2e1f0 --as mira",
    )
    needs_model = False
    wipes = True

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", nargs="?", choices=("list", "add", "rm"), default="list")
        parser.add_argument("what", nargs="?", metavar="PATH|ID", help="add: the file; rm: the source’s id")
        parser.add_argument("--scenario", help="add: the situation its memories are of use in")
        parser.add_argument("--tag", action="append", metavar="T", help="add: a tag; may be given again")
        parser.add_argument("--visibility", metavar="V", help="add: private, household, or JSON with a scope")
        parser.add_argument("--text", help="add: what a picture shows or a recording says")

    def run(self, viewer: Viewer, **options: Any) -> int | None:
        if options["action"] == "list":
            return self._list(viewer, options)
        if not options["what"]:
            wanted = "a file" if options["action"] == "add" else "the id of a source"
            raise Invalid(f"sources {options['action']} needs {wanted}.", "what")
        if options["action"] == "add":
            self._add(viewer, Path(options["what"]), options)
        else:
            self._remove(viewer, options["what"], options)
        return None

    def _list(self, viewer: Viewer, options: dict[str, Any]) -> int | None:
        cards = sources.list_sources(viewer)
        self.show({"items": render.body(cards)}, options, [_table(cards)] if cards else ())
        if cards:
            return None
        self.complain("There is no file yet that you may open.")
        return NOTHING

    def _add(self, viewer: Viewer, path: Path, options: dict[str, Any]) -> None:
        self.gate()
        try:
            with path.open("rb") as file:
                added = sources.add_source(
                    viewer, path.name, file, scenario=options["scenario"], tags=options["tag"],
                    visibility=visibility_option(options["visibility"]), text=options["text"],
                )  # fmt: skip
        except OSError as error:
            raise Invalid(
                f"{path} cannot be read ({(error.strerror or 'unknown error').lower()}).", "what"
            ) from None
        card = added.source
        sentence = (
            f"{card.name} ({card.source_id}): {added.new} memories made, {added.unchanged} unchanged, "
            f"{added.superseded} replaced, {added.closed} closed."
        )
        self.show(added, options, [render.line(sentence), *(render.line(note) for note in card.notes)])

    def _remove(self, viewer: Viewer, source_id: str, options: dict[str, Any]) -> None:
        gone = sources.delete_source(viewer, source_id)
        sentence = f"Deleted, with {render.memories(gone)}."
        self.show({"deleted": source_id, "memories": gone}, options, [render.line(sentence)])


def _table(cards: list[SourceCard]) -> Table:
    """A line a file."""
    table = Table(box=None, pad_edge=False)
    for title in ("id", "name", "kind", "bytes", "memories", "by", "added"):
        table.add_column(title, overflow="fold")
    for card in cards:
        table.add_row(
            card.source_id, render.printable(card.name), card.kind, str(card.size_bytes), str(card.memories),
            render.printable(card.uploaded_by), render.date(card.created_at, zone()),
        )  # fmt: skip
    return table
