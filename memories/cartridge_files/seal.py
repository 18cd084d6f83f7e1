"""A cartridge behind a passphrase, in age's own format: `age --decrypt` opens it without us."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from memories.errors import Invalid, RekalError

MAGIC = b"age-encryption.org/v1"
SHORTEST = 8
MAX_SEALED = 256 * 1024**2  # bytes; it is opened in memory


class MissingExtra(RekalError):
    """A library that cartridges need is not installed."""


def optional(module: str) -> Any:
    """A module of the extra `cartridges`. Raises `MissingExtra`, whose sentence says how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(
            "Cartridges need two more libraries here; install them with: pip install 'rekal[cartridges]'."
        ) from None


def is_sealed(path: Path) -> bool:
    """Whether a file begins as age's files do."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def checked_passphrase(passphrase: str) -> str:
    """A passphrase that is worth having. Raises `Invalid`."""
    if len(passphrase) < SHORTEST:
        raise Invalid(f"A passphrase has at least {SHORTEST} characters.", "passphrase")
    return passphrase


def seal(content: bytes, passphrase: str) -> bytes:
    """Encrypt with scrypt and ChaCha20-Poly1305; takes a second by design. Raises `Invalid`, `MissingExtra`."""
    if len(content) > MAX_SEALED:
        raise Invalid("The cartridge is too large to be sealed; export it in parts.", "passphrase")
    encrypt: Callable[[bytes, str], bytes] = optional("pyrage.passphrase").encrypt
    return encrypt(content, checked_passphrase(passphrase))


def unseal(path: Path, passphrase: str) -> bytes:
    """Decrypt a sealed file. Raises `Invalid` for a wrong passphrase and for a damaged file, alike."""
    if path.stat().st_size > MAX_SEALED + 1024**2:
        raise Invalid("The sealed file is larger than any of ours.", "file")
    if not passphrase:
        raise Invalid("The cartridge is sealed; give its passphrase.", "passphrase")
    pyrage = optional("pyrage")
    try:
        return cast("bytes", optional("pyrage.passphrase").decrypt(path.read_bytes(), passphrase))
    except pyrage.DecryptError:
        raise Invalid(
            "The passphrase does not open this file, or the file is damaged.", "passphrase"
        ) from None
