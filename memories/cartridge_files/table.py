"""`atoms.parquet`: a memory a row, zstd, plain pages. Read in small batches within bounds, never as a whole."""

import io
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from memories.cartridge_files.manifest import MAX_MEMORIES
from memories.cartridge_files.seal import optional
from memories.errors import Invalid

BATCH = 500
MAX_UNPACKED = 1024**3  # bytes of all columns, as the file's footer states them
MAX_RATIO = 400  # how many times the file may grow; see `archive`
SMALL = 16 * 1024**2  # bytes; so much it may unpack to whatever its size
MAX_VALUES = (
    1_000_000  # entries of one list column in one group of ours (500 rows); nothing at all packs the best
)
ENCODINGS = {"PLAIN", "RLE"}  # a dictionary lets a few bytes stand for gigabytes; ours are written without
TEXTS = (
    "atom_id", "text", "modality", "source", "created_at", "updated_at", "holder_id", "origin", "scenario",
    "event_time_precision", "event_time_source", "visibility", "edges", "trust",
)  # fmt: skip
OPTIONAL = (
    "source_file", "event_time", "event_time_end", "valid_from", "valid_to", "retention_until", "layout",
)  # fmt: skip
LISTS = ("tags", "supersedes")
NUMBER = "token_equivalent"

Row = dict[str, Any]


def schema() -> Any:
    """The columns, by name and type. JSON is text: `visibility`, `edges`, `trust`, `layout`."""
    pa = optional("pyarrow")
    return pa.schema(
        [pa.field(name, pa.string(), nullable=False) for name in TEXTS]
        + [pa.field(name, pa.string()) for name in OPTIONAL]
        + [pa.field(name, pa.list_(pa.field("element", pa.string())), nullable=False) for name in LISTS]
        + [pa.field(NUMBER, pa.int64(), nullable=False)]
    )


def write_rows(rows: Iterable[Row]) -> bytes:
    """The rows as a Parquet file. Raises `MissingExtra`."""
    pa, parquet = optional("pyarrow"), optional("pyarrow.parquet")
    out = io.BytesIO()
    shape = schema()
    pending = iter(rows)
    with parquet.ParquetWriter(
        out, shape, compression="zstd", use_dictionary=False, store_schema=False, write_statistics=False
    ) as writer:
        while batch := list(islice(pending, BATCH)):
            writer.write_table(pa.Table.from_pylist(batch, schema=shape))
    return out.getvalue()


def read_rows(content: bytes) -> Iterator[Row]:
    """The rows of a Parquet file of exactly our shape. Raises `Invalid` for every other."""
    pa, parquet = optional("pyarrow"), optional("pyarrow.parquet")
    try:
        file = parquet.ParquetFile(
            pa.BufferReader(content),
            thrift_string_size_limit=64 * 1024**2,
            thrift_container_size_limit=2_000_000,
        )
        _check(file, len(content))
        for batch in file.iter_batches(batch_size=BATCH, use_threads=False):
            yield from batch.to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise Invalid("The cartridge's atoms.parquet cannot be read.", "file") from None


def _check(file: Any, size: int) -> None:
    """Column names and types, which may be empty, the number of rows, and how each column is packed."""
    found = [(one.name, str(one.type), one.nullable) for one in file.schema_arrow]
    if found != [(one.name, str(one.type), one.nullable) for one in schema()]:
        raise Invalid("The cartridge's atoms.parquet has other columns than ours.", "file")
    about = file.metadata
    if about.num_rows > MAX_MEMORIES:
        raise Invalid(f"A cartridge holds at most {MAX_MEMORIES:,} memories.", "file")
    columns = [
        about.row_group(group).column(column)
        for group in range(about.num_row_groups)
        for column in range(about.num_columns)
    ]
    if any(
        not set(one.encodings) <= ENCODINGS or one.compression not in ("ZSTD", "UNCOMPRESSED")
        for one in columns
    ):
        raise Invalid("The cartridge's atoms.parquet is packed in a way that ours never are.", "file")
    unpacked = sum(one.total_uncompressed_size for one in columns)
    if (
        unpacked > min(MAX_UNPACKED, max(SMALL, size * MAX_RATIO))
        or max((one.num_values for one in columns), default=0) > MAX_VALUES
    ):
        raise Invalid("The cartridge's atoms.parquet would unpack to more than it may.", "file")
