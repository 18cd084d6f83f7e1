"""The `rekal` console script and `manage.py`: Django's command runner with our settings."""

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    """Run the command named in `sys.argv`; the exit code is the command's own."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rekal_site.settings")
    for stream in (sys.stdout, sys.stderr):  # a cp1252 terminal must not stop an emoji
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        execute_from_command_line(sys.argv)
    except BrokenPipeError:  # `rekal recall … | head` closes early; that is no failure
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
