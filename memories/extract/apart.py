"""Files from outside are read in a process of their own, within bounds of time and memory.

Parsers hang on some files, unfold others to gigabytes, and those written in C can be made to crash: any of that may
cost the process that reads the file, and never the server that took it.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memories.errors import Invalid
from memories.extract.images import Picture
from memories.extract.sniff import Kind
from memories.extract.text import Piece

SECONDS = 300.0  # by the clock; `child` has less, of the processor's time
BEYOND = "The file cannot be read: it is damaged, or it takes more time or memory than a file may."


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file is and what it says; of a picture also the bytes that are kept."""

    kind: Kind
    pieces: list[Piece] = field(default_factory=list)
    picture: Picture | None = None


def read(path: Path, name: str) -> Reading:
    """Sniff and read a file that its sender calls `name`. Raises `Invalid`."""
    with tempfile.TemporaryDirectory(prefix="rekal-read-") as spare:
        folder = Path(spare)
        found = _found(path, name, folder)
        if "refused" in found:
            raise Invalid(found["refused"], found["field"])
        picture = _picture(found["picture"], folder) if found["picture"] else None
        return Reading(Kind(**found["kind"]), [Piece(**one) for one in found["pieces"]], picture)


def _found(path: Path, name: str, folder: Path) -> Any:
    """What the child wrote down; its own words go nowhere, since they may quote the file."""
    root = str(Path(__file__).resolve().parents[2])
    known = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-P", "-m", "memories.extract.child", str(path.resolve()), name, str(folder)]
    try:
        subprocess.run(  # noqa: S603  (our own module; the name is one argument)
            command, env=os.environ | {"PYTHONPATH": os.pathsep.join(known)}, timeout=SECONDS, check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return json.loads((folder / "found.json").read_bytes())
    except (subprocess.SubprocessError, FileNotFoundError):
        raise Invalid(BEYOND, "file") from None


def _picture(about: dict[str, Any], folder: Path) -> Picture:
    width, height = about["size"]
    return Picture(
        content=(folder / "picture").read_bytes(),
        preview=(folder / "preview").read_bytes(),
        taken=about["taken"],
        size=(width, height),
    )
