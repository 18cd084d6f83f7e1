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


def run(folder: Path, count: int) -> dict[str, Any]:
    """Import `count` lines, then the same file once more."""
    from memories.embedding import cache
    from memories.transfer import jsonl
    from memories.transfer.load import BATCH, load
    from memories.transfer.records import Record
    from memories.visibility import Viewer

    path, viewer, chance = (
        folder / "many.jsonl",
        Viewer("mira", "person", frozenset({"people"})),
        random.Random(5),
    )
    write_lines(path, count)
    engine = cache.engine()
    engine.embed_passages(["a sentence to warm up with"] * 8)
    bare: list[float] = []
    batches, asleep = 0, 0.0

    def sample() -> float:
        """Seconds the engine takes for one batch of new lines."""
        texts = [statement(chance, chance.randrange(count)) for _ in range(BATCH)]
        begin = time.perf_counter()
        engine.embed_passages(texts)
        bare.append(time.perf_counter() - begin)
        return bare[-1]

    def progress(_record: Record) -> None:
        nonlocal batches, asleep
        batches += 1
        if batches % EVERY == 1:
            asleep += sample()

    begin = time.perf_counter()
    report = load(viewer, jsonl.read(path), keep_ids=True, progress=progress)
    importing = (time.perf_counter() - begin - asleep) / count
    begin = time.perf_counter()
    again = load(viewer, jsonl.read(path), keep_ids=True)
    embedding = sum(bare) / (len(bare) * BATCH)
    return {
        "taken": report.taken,
        "taken_again": again.taken,
        "import_ms_a_line": round(1000 * importing, 2),
        "bare_ms_a_line": round(1000 * embedding, 2),
        "throughput_of_the_bare_engine": round(embedding / importing, 2),
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
