"""What a cartridge says of itself, and the `dna` that names its content."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, BinaryIO, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memories.errors import Invalid
from memories.fields import dump_json

FORMAT = "rekal-cartridge"
VERSION = 1
NAME = "manifest.json"
ATOMS = "atoms.parquet"
SOURCES = "sources"
MAX_MEMORIES = 200_000
MAX_SOURCES = 5_000
BLOCK = 1024 * 1024

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, Field(max_length=200)]


class _Strict(BaseModel):
    """Nothing is converted, nothing unknown is taken."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SourceEntry(_Strict):
    """A file in `sources/`: named there by its sha256, and what it was called."""

    path: Annotated[str, Field(pattern=r"^sources/[0-9a-f]{64}$")]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    kind: Annotated[str, Field(max_length=32)]
    mime: Annotated[str, Field(max_length=127)]
    sha256: Sha256
    size_bytes: Annotated[int, Field(ge=0)]


class Counts(_Strict):
    """How much is inside."""

    memories: Annotated[int, Field(ge=0, le=MAX_MEMORIES)]
    edges: Annotated[int, Field(ge=0)]
    sources: Annotated[int, Field(ge=0, le=MAX_SOURCES)]


class Manifest(_Strict):
    """`manifest.json`: `by` is the exporter's holder id in her own household, `audience` whom it was made for."""

    format: Literal["rekal-cartridge"] = "rekal-cartridge"
    schema_version: int = VERSION
    name: Annotated[str, Field(min_length=1, max_length=200)]
    by: Name
    household: Name = ""
    audience: Name
    created_at: Annotated[str, Field(max_length=40)]
    token_equivalent: Annotated[int, Field(ge=0, le=2**53)]
    counts: Counts
    sources: Annotated[list[SourceEntry], Field(max_length=MAX_SOURCES)] = []
    dna: Sha256

    def dump(self) -> bytes:
        """The manifest as it is written."""
        return (dump_json(self.model_dump()) + "\n").encode()


def read_manifest(content: bytes) -> Manifest:
    """Parse and check `manifest.json`. Raises `Invalid`."""
    try:
        stated: Any = json.loads(content.decode())
    except (ValueError, RecursionError):
        raise Invalid("The cartridge's manifest cannot be read.", "file") from None
    if not isinstance(stated, Mapping) or stated.get("format") != FORMAT:
        raise Invalid("The file is no cartridge of ours.", "file")
    version = stated.get("schema_version")
    if isinstance(version, int) and version > VERSION:
        raise Invalid("The cartridge was made by a newer rekal; bring this one up to date first.", "file")
    try:
        manifest = Manifest.model_validate(stated)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise Invalid(f"The cartridge's manifest does not fit at “{where[:60]}”.", "file") from None
    if manifest.schema_version != VERSION or len(manifest.sources) != manifest.counts.sources:
        raise Invalid("The cartridge's manifest does not fit its own counts.", "file")
    if len({one.path for one in manifest.sources}) != len(manifest.sources):
        raise Invalid("The cartridge's manifest names a source twice.", "file")
    if any(one.path != f"{SOURCES}/{one.sha256}" for one in manifest.sources):
        raise Invalid("The cartridge's manifest names a source by another sum than its own.", "file")
    return manifest


def dna(files: Iterable[tuple[str, Callable[[], BinaryIO]]]) -> str:
    """sha256 over the sorted relative paths and the bytes of all files but the manifest, in hexadecimal.

    It names a content and notices damage; it is no signature, since whoever makes a cartridge also writes this.
    """
    total = hashlib.sha256()
    for path, opener in sorted(files, key=lambda one: one[0].encode()):
        if path != NAME:
            total.update(path.encode())
            with opener() as file:
                while block := file.read(BLOCK):
                    total.update(block)
    return total.hexdigest()
