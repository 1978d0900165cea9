"""What a command prints: data on stdout, talk on stderr."""

from __future__ import annotations

import sys

from inspector.reports.encoding import encode

__all__ = ["say", "write"]


def say(text: str) -> None:
    """A line for the person on stderr."""
    sys.stdout.flush()
    print(text, file=sys.stderr)  # noqa: T201


def write(text: str) -> None:
    """Data to stdout; bytes that were not UTF-8 in the store come out as they were, except on a terminal."""
    stream = sys.stdout
    if not stream.isatty() and hasattr(stream, "buffer"):
        stream.flush()
        stream.buffer.write(encode(text))
        stream.buffer.flush()
    else:
        stream.write(text)
