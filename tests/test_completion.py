"""The tab key, in a real bash."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

MANAGE = Path(__file__).resolve().parent.parent / "manage.py"


@pytest.mark.parametrize(
    ("words", "offered"), [(["rekal", "who"], "who-knows"), (["rekal", "recall", "--li"], "--limit=")]
)
def test_bash_completes_commands_and_options(words, offered, capsys, tmp_path, monkeypatch):
    call_command("completion", "bash")
    script = capsys.readouterr().out
    rekal = tmp_path / "rekal"
    rekal.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{MANAGE}" "$@"\n')
    rekal.chmod(0o755)
    monkeypatch.setenv("REKAL_DB", str(tmp_path / "memory.db"))
    typed = " ".join(words)
    ask = f'COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _rekal_completion "{rekal}"; echo "${{COMPREPLY[@]}}"'

    done = subprocess.run(
        ["bash", "-c", script + ask], capture_output=True, text=True, timeout=60, check=True
    )

    assert offered in done.stdout.split()


def test_zsh_is_told_to_read_it(capsys):
    call_command("completion", "zsh")

    assert capsys.readouterr().out.startswith("autoload -U +X bashcompinit")
