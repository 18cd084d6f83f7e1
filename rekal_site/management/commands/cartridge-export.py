"""`cartridge-export`: write a cartridge of one's own as a file for somebody."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from holders.audience import CHOICES, audience_of
from memories.cartridge_files import write
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import RekalCommand
from rekal_site.secret_input import passphrase_from


class Command(RekalCommand):
    """What goes in is what the exporter and everybody it is for may read."""

    help = (
        "Write a cartridge as a .rekal file. Only what everybody it is for may read goes in; --preview says what "
        "that is, and writes nothing."
    )
    examples = (
        "cartridge-export 9f2c4e01ab37d5c8 house.rekal --as mira --for household --preview",
        "cartridge-export 9f2c4e01ab37d5c8 house.rekal --as mira --for holder:jonas --passphrase-file secret.txt",
    )
    needs_model = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cartridge_id", help="the cartridge’s id")
        parser.add_argument("path", type=Path, help="the file to write")
        parser.add_argument("--for", dest="audience", required=True, metavar="WHOM", help=CHOICES)
        parser.add_argument("--preview", action="store_true", help="say what would go in, and write nothing")
        parser.add_argument(
            "--passphrase-file",
            metavar="FILE",
            help="seal it with the passphrase in this file (-: ask for it)",
        )

    def run(self, viewer: Viewer, **options: Any) -> int | None:
        audience = audience_of(options["audience"])
        if options["preview"]:
            found = write.preview(viewer, options["cartridge_id"], audience)
            self.show(found, options, self._preview_lines(found))
            return None
        passphrase = passphrase_from(options["passphrase_file"], twice=True)
        made = write.export_cartridge(
            viewer, options["cartridge_id"], audience, options["path"], passphrase=passphrase
        )
        body = {"path": str(options["path"]), **made.manifest.model_dump(), "sealed": made.sealed}
        counts = made.manifest.counts
        sentence = (
            f"{render.memories(counts.memories)} and {counts.sources} files written to {options['path']}"
            f"{', sealed' if made.sealed else ''}; {made.left_out} left out. dna {made.manifest.dna}"
        )
        self.show(body, options, [render.line(sentence)])
        return None

    def _preview_lines(self, found: write.Preview) -> render.Lines:
        lines = [
            render.line(f"For {found.audience}: {render.memories(found.count)}, {found.left_out} left out.")
        ]
        lines += [render.line(f"  {memory.text}") for memory in found.memories]
        return [*lines, *(render.line(f"  file: {name}") for name in found.sources)]
