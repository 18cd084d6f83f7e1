"""`export`: take out what one may read, to a file, a folder or stdout."""

import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any

from django.core.management.base import CommandParser

from holders.registry import list_holders
from memories.errors import Invalid
from memories.transfer import export
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import RekalCommand

MARK = ".rekal-export.json"  # in a folder of notes: which of its files are ours


class Command(RekalCommand):
    """What leaves the store is what the holder could read one by one."""

    help = (
        "Write what a holder may read: jsonl holds everything and can be imported again, md is a folder of notes, "
        "csv a table for spreadsheets. Without a path it goes to stdout; an earlier export of that name is replaced."
    )
    examples = (
        "export memories.jsonl --as mira",
        "export notes --as mira --format md",
        "export --as mira --format csv > memories.csv",
    )
    needs_model = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path", nargs="?", type=Path, help="the file, or the folder for md; stdout when left out"
        )
        parser.add_argument("--format", choices=export.FORMATS, default="jsonl", help="(jsonl)")

    def run(self, viewer: Viewer, **options: Any) -> int | None:
        path: Path | None = options["path"]
        if path is None:
            self._print(viewer, options["format"])
            return None
        try:
            count = _write(viewer, path, options["format"])
        except OSError as error:
            raise Invalid(
                f"{path} cannot be written ({(error.strerror or 'unknown error').lower()}).", "path"
            ) from None
        self.show(
            {"path": str(path), "memories": count},
            options,
            [render.line(f"{render.memories(count)} written to {path}.")],
        )
        return None

    def _print(self, viewer: Viewer, chosen: str) -> None:
        """Line by line to stdout, which is UTF-8 whatever the terminal's code page says."""
        for piece in _pieces(viewer, chosen):
            self.stdout.write(piece, ending="")


def _directory(viewer: Viewer) -> list[dict[str, Any]]:
    """The registered holders as the viewer sees them."""
    kept = ("holder_id", "name", "kind", "knows_about", "contact")
    return [{key: asdict(card)[key] for key in kept} for card in list_holders(viewer) if card.registered]


def _pieces(viewer: Viewer, chosen: str) -> Iterable[str]:
    if chosen == "csv":
        return export.as_csv(viewer)
    if chosen == "md":
        return (text for _, text in export.as_notes(viewer))
    return export.as_jsonl(viewer, _directory(viewer))


def _write(viewer: Viewer, path: Path, chosen: str) -> int:
    """Write the file or folder whole or not at all, readable by its owner alone; how many memories are in it."""
    if chosen == "md":
        return write_notes(viewer, path)
    if path.is_dir():
        raise Invalid(f"{path} is a folder; name a file for {chosen}.", "path")
    count = -1 if chosen == "csv" else 0
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, encoding="utf-8", newline="", delete=False
    ) as file:
        try:
            if chosen == "csv":
                file.write("\ufeff")  # without it spreadsheets guess the code page
            for piece in _pieces(viewer, chosen):
                file.write(piece)
                count += 1
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    return count


def write_notes(viewer: Viewer, folder: Path) -> int:
    """Write a folder of notes; what an earlier export left and is no more, is taken away, other files stay.

    Raises `Invalid` when the folder holds files of somebody else's making.
    """
    if folder.exists() and not folder.is_dir():
        raise Invalid(f"{folder} is a file; name a folder for md.", "path")
    earlier = _earlier(folder)
    if earlier is None:
        raise Invalid(f"{folder} holds files that are no export of ours; name a new folder.", "path")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    written = []
    for name, text in export.as_notes(viewer):
        target = folder / name
        target.parent.mkdir(exist_ok=True, mode=0o700)
        target.write_text(text, "utf-8", newline="")
        target.chmod(0o600)
        written.append(name)
    for name in earlier - set(written):
        (folder / name).unlink(missing_ok=True)
    (folder / MARK).write_text(json.dumps(sorted(written), ensure_ascii=False), "utf-8")
    return len(written)


def _earlier(folder: Path) -> set[str] | None:
    """The notes of an earlier export in this folder; None when it is not ours to write into."""
    mark = folder / MARK
    if mark.is_file():
        try:
            names = json.loads(mark.read_text("utf-8"))
        except ValueError:
            return None
        inside = (one for one in names if isinstance(one, str) and ".." not in PurePosixPath(one).parts)
        return {one for one in inside if not PurePosixPath(one).is_absolute()}
    return set() if not folder.exists() or not any(folder.iterdir()) else None
