"""One import of many lines in a process of its own: `python -m tests.benchmarks.import_run LINES`.

The bare engine embeds lines of the same kind in between the batches, so that both meet the same machine. Prints one
JSON object: seconds a line of both, their ratio, and the peak of resident memory in MB.
"""

import json
import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

EVERY = 10  # batches between two samples of the bare engine


def statement(chance: random.Random, number: int) -> str:
    """A line as short as a chat's: what it costs besides its embedding weighs most there."""
    from tests.benchmarks.stores import PLACES, THINGS

    return f"The {chance.choice(THINGS)} {number} is in the {chance.choice(PLACES)}."


def write_lines(path: Path, count: int) -> None:
    """A file of our own JSON Lines, each line another statement."""
    chance = random.Random(11)
    with path.open("w") as lines:
        for number in range(count):
            one = {
                "atom_id": f"{number:016x}",
                "text": statement(chance, number),
                "event_time": "2026-01-02",
            }
            lines.write(json.dumps(one) + "\n")


class BareEngine:
    """The engine alone, on lines of the same kind, in between the import's batches."""

    def __init__(self, count: int) -> None:
        from memories.embedding import cache
        from memories.transfer.load import BATCH

        self.engine, self.batch, self.count = cache.engine(), BATCH, count
        self.chance = random.Random(5)
        self.spans: list[float] = []
        self.batches = 0
        self.engine.embed_passages(["a sentence to warm up with"] * 8)

    def between(self, _record: Any) -> None:
        """Called after each batch of the import: now and then, take the time of one batch of the engine's."""
        self.batches += 1
        if self.batches % EVERY == 1:
            texts = [statement(self.chance, self.chance.randrange(self.count)) for _ in range(self.batch)]
            begin = time.perf_counter()
            self.engine.embed_passages(texts)
            self.spans.append(time.perf_counter() - begin)

    def seconds_a_line(self) -> float:
        """What embedding one line takes."""
        return sum(self.spans) / (len(self.spans) * self.batch)


def run(folder: Path, count: int) -> dict[str, Any]:
    """Import `count` lines, then the same file once more."""
    from memories.transfer import jsonl
    from memories.transfer.load import load
    from memories.visibility import Viewer

    path, viewer = folder / "many.jsonl", Viewer("mira", "person", frozenset({"people"}))
    write_lines(path, count)
    bare = BareEngine(count)
    begin = time.perf_counter()
    report = load(viewer, jsonl.read(path), keep_ids=True, progress=bare.between)
    importing = (time.perf_counter() - begin - sum(bare.spans)) / count
    begin = time.perf_counter()
    again = load(viewer, jsonl.read(path), keep_ids=True)
    return {
        "taken": report.taken,
        "taken_again": again.taken,
        "import_ms_a_line": round(1000 * importing, 2),
        "bare_ms_a_line": round(1000 * bare.seconds_a_line(), 2),
        "throughput_of_the_bare_engine": round(bare.seconds_a_line() / importing, 2),
        "again_ms_a_line": round(1000 * (time.perf_counter() - begin) / count, 3),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main(count: int) -> None:
    """Set a store up in a folder of its own, import into it, and print what was measured."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"REKAL_DB": f"{folder}/memory.db", "DJANGO_SETTINGS_MODULE": "rekal_site.settings"}
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        print(json.dumps(run(Path(folder), count)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
