"""Text as files hold it: in UTF-8, in UTF-16, or in the code page of old programs."""

import io
from collections.abc import Iterator
from typing import BinaryIO

LOOKED_AT = 65_536  # bytes that a file's encoding is told from


def text_of(content: bytes, *, cut: bool = False) -> str:
    """Text by its byte order mark, else UTF-8, else the Western code page old programs wrote.

    `cut`: these are a file's first bytes, which may end within a character.
    """
    if cut and is_utf8(content):
        return content.decode("utf-8-sig", "ignore")
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def text_lines(file: BinaryIO) -> Iterator[str]:
    """The lines of a text file without their ends, decoded as `text_of` would, read as they come.

    Only LF, CRLF and CR end a line: other separators of Unicode belong to what people wrote.
    """
    start = file.read(LOOKED_AT)
    encoding = "utf-8-sig"
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif not is_utf8(start):
        encoding = "cp1252"
    file.seek(0)
    text = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline=None)
    try:
        for line in text:
            yield line.rstrip("\n")
    finally:
        text.detach()  # the file is its opener's to close


def is_utf8(start: bytes) -> bool:
    """Whether it is UTF-8, but for a character cut at the end."""
    try:
        start.decode()
    except UnicodeDecodeError as error:
        return error.start > len(start) - 4  # only cut in the middle of a character
    return True
