"""The `rekal` console script and `manage.py`: Django's command runner with our settings and our own front page."""

import os
import sys
from pathlib import Path

from django.core.management import execute_from_command_line

from rekal_site.version import version

DEMO_STORE = ".demo/memory.db"

FRONT_PAGE = """\
rekal: a household's shared memory

  remember TEXT --as HOLDER     write something down
  recall QUERY --as HOLDER      find what fits, among what you may read
  ask QUESTION --as HOLDER      an answer, somebody to ask, or nobody who knows
  who-knows QUESTION --as H     who may know, without what
  forget ID --as HOLDER         remove one memory for good
  prune --as HOLDER             remove many of your own
  import PATH --as HOLDER       bring memories in from a file
  export [PATH] --as HOLDER     take out what you may read
  cartridge-export, cartridge-import, cartridge-remove   bundles for somebody else

  holders, holder-set, holder-rm   the directory of holders
  invite HOLDER                    a link with which a person makes her own account
  token HOLDER                     a token for the API and agents
  serve                            the pages, the API and MCP
  migrate, doctor, reembed         keep the store in order
  backup PATH, restore PATH        a copy while it is in use, and back
  daily                            remove what should not be kept any longer
  demo                             a household to try

`rekal COMMAND --help` explains each, with examples; `rekal help --commands` names every one.
Each reads the store that REKAL_DB names (~/.rekal/memory.db). Try: rekal demo
"""


def main() -> None:
    """Run the command named in `sys.argv`; the exit code is the command's own."""
    arguments = sys.argv[1:]
    for stream in (sys.stdout, sys.stderr):  # a cp1252 terminal must not stop an emoji
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if "DJANGO_AUTO_COMPLETE" in os.environ:  # the tab key, see the command `completion`
        _run(os.environ.get("COMP_WORDS", "").split()[1:] or ["help"])
    elif arguments[:1] in ([], ["--help"], ["-h"], ["help"]) and len(arguments) < 2:
        print(FRONT_PAGE, end="")
    elif arguments == ["--version"]:
        print(f"rekal {version() or '(a checkout that is not installed)'}")
    else:
        _run(arguments)


def _run(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rekal_site.settings")
    if arguments[0] == "demo" and not os.environ.get("REKAL_DB"):
        os.environ["REKAL_DB"] = str(Path(DEMO_STORE).absolute())  # never into the household's own store
    try:
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except BrokenPipeError:  # `rekal recall … | head` closes early; that is no failure
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
