"""An import keeps most of the engine's bare throughput, and its memory does not grow with the file."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

AT_LEAST = 0.6
MOST_MB = 300


def measured(lines: int) -> dict[str, Any]:
    """What one import in a process of its own says of itself."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.import_run", str(lines)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    print(f"\nimport of {lines}: {found}")
    return found


@pytest.mark.parametrize(
    "lines",
    [
        2_560,
        pytest.param(
            100_000,
            marks=pytest.mark.skipif(
                "BENCH_LARGE" not in os.environ, reason="takes half an hour: BENCH_LARGE=1 make bench"
            ),
        ),
    ],
)
def test_an_import_keeps_most_of_the_bare_engines_throughput(benchmark, lines):
    found = benchmark.pedantic(measured, args=(lines,), rounds=1)
    benchmark.extra_info |= found
    assert (found["taken"], found["taken_again"]) == (lines, 0)
    assert found["throughput_of_the_bare_engine"] >= AT_LEAST
    assert found["peak_mb"] <= MOST_MB
