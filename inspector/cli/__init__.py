"""The command line: one module a command, loaded lazily; stdout is data, stderr is talk.

Exit codes (DESIGN 2): 0 yes or done; 1 our fault; 2 usage; 3 a typed refusal; 4 no such store, no
connection or busy; 130 interrupted. Nothing ends in a traceback unless STORE_INSPECTOR_TRACEBACK is set.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main", "run"]


def main() -> None:
    """What `store-inspector` and `python -m inspector` run."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit code."""
    if list(arguments) in (["--version"], ["-V"]):
        # Answered before anything is imported: scripts ask this often.
        from inspector.version import __version__

        sys.stdout.write(f"store-inspector {__version__}\n")
        return 0
    from inspector.cli.ending import guarded

    return guarded(arguments)
