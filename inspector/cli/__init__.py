"""The command line: one module a command, loaded lazily; stdout is data, stderr is talk."""

from __future__ import annotations


def main() -> None:
    from inspector.version import __version__

    print(__version__)  # noqa: T201
