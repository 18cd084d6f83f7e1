"""The process that `apart` starts: reads one file and writes what it found into a folder, then ends.

`python -m memories.extract.child FILE NAME FOLDER`
"""

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from memories.errors import Invalid
from memories.extract import images, sniff
from memories.extract.text import extract

CPU_SECONDS = 180
MEMORY = 2 * 1024**3  # bytes of address space; a picture of the largest size needs half of it
NICER = 5  # who asks meanwhile comes first


def bound() -> None:
    """Take less than all: where the system knows no such limits, the clock of `apart` is left."""
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource  # noqa: PLC0415  (not on Windows)

        os.nice(NICER)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def found(path: Path, name: str, folder: Path) -> dict[str, Any]:
    """What the file is and says, as JSON takes it; a picture's bytes go into the folder."""
    try:
        kind = sniff.sniff(path, name)
        about, pieces = None, []
        if kind.modality == "image":
            picture = images.prepare(path.read_bytes())
            (folder / "picture").write_bytes(picture.content)
            (folder / "preview").write_bytes(picture.preview)
            about = {"taken": picture.taken, "size": picture.size}
        elif kind.modality != "audio":
            pieces = extract(path, kind)
    except Invalid as error:
        return {"refused": str(error), "field": error.field}
    return {"kind": asdict(kind), "pieces": [asdict(one) for one in pieces], "picture": about}


def main() -> None:
    """Read the file that the command line names."""
    path, name, folder = sys.argv[1:]
    bound()
    said = json.dumps(found(Path(path), name, Path(folder)))
    Path(folder, "found.json").write_text(said, encoding="utf-8")


if __name__ == "__main__":
    main()
