"""What `import` and `cartridge-import` share: a `.rekal` file comes in the same way through either."""

from pathlib import Path
from typing import Any

from memories.cartridge_files.load import Imported, import_cartridge
from memories.transfer.identities import Choices
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import RekalCommand
from rekal_site.options import pairs, visibility_option
from rekal_site.secret_input import passphrase_from


def bring_in(
    command: RekalCommand,
    viewer: Viewer,
    options: dict[str, Any],
    *,
    name: str | None = None,
    mount: bool = False,
) -> Imported:
    """Import a cartridge with the given options, with a progress bar."""
    choices = Choices(
        visibility_option(options["visibility"]), pairs(options["map"], "map"), options["dry_run"]
    )
    passphrase = passphrase_from(options.get("passphrase_file"))
    path: Path = options["path"]
    with render.progress(command.stderr, path.name) as advance:
        return import_cartridge(
            viewer, path, choices=choices, passphrase=passphrase, name=name, mount=mount, progress=advance
        )


def imported_lines(found: Imported) -> render.Lines:
    """What became of the file."""
    taken = f"{render.memories(found.taken)} {'would be taken' if found.dry_run else 'taken'}"
    where = "" if found.dry_run else f" Cartridge {found.cartridge_id}{', mounted' if found.mounted else ''}."
    sentence = f"“{found.name}” by {found.by}: {taken}, {found.already_here} here already.{where}"
    return [
        render.line(sentence), *(render.line(f"  {name} → {one}") for name, one in sorted(found.names.items()))
    ]  # fmt: skip
