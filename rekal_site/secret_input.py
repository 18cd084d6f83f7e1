"""Passphrases for the command line: from a file or typed, never from an argument that others can list."""

import sys
from getpass import getpass
from pathlib import Path

from memories.errors import Invalid


def passphrase_from(source: str | None, *, twice: bool = False) -> str:
    """The first line of a file, or what is typed for `-`; "" for None. Raises `Invalid`."""
    if source is None:
        return ""
    if source != "-":
        try:
            text = Path(source).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise Invalid(f"The passphrase cannot be read from {source}.", "passphrase") from None
    elif not sys.stdin.isatty():
        text = sys.stdin.readline()
    else:
        text = getpass("Passphrase: ")
        if twice and getpass("Once more: ") != text:
            raise Invalid("The two passphrases are not the same.", "passphrase")
    passphrase = (text.splitlines() or [""])[0]
    if not passphrase:
        raise Invalid("The passphrase is empty.", "passphrase")
    return passphrase
