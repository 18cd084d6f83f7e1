"""Schemathesis against a running server: whatever is sent, no server error and no undocumented reply."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.command_line import empty_store  # noqa: F401
from tests.servers import Household, new_household  # noqa: F401

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def test_no_reply_is_undocumented(new_household: Callable[[str], Household], tmp_path: Path) -> None:
    home = new_household("contract")
    home.register(mira={"knows_about": ["heating"], "contact": {"phone": "+49 30 1"}}, bot={"kind": "agent"})
    home.remember("mira", "The boiler is serviced in May.", visibility="household")
    home.remember("mira", "The savings card has the pin 7741.", visibility="private")
    program = Path(sys.executable).with_name("schemathesis")
    with home.serving() as url:
        command = [
            str(program), "run", f"{url}api/openapi.json", "-H", f"Authorization: Bearer {home.tokens['bot']}",
            "-c", CHECKS, "--phases", "examples,fuzzing", "--max-examples", "5", "--seed", "1", "--no-color",
        ]  # fmt: skip
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout[-6_000:]
