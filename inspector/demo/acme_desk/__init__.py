"""acme-desk: a made-up application that manages a store agent runs are recorded into.

It keeps runs beside its own support tickets and knows for every row which principal owns it. It is what a
managing application is to this project: another program. So it uses the standard library's `sqlite3` and
nothing of ours, has its own initializer, migrations and reading paths, and runs in a process of its own:

    python -m inspector.demo.acme_desk init|migrate|list|show|stream|check|readback|write|checkpoint STORE ...
"""

from __future__ import annotations

__all__ = ["LINEAGE", "VERSION", "VERSIONS", "DeskError"]

LINEAGE = "acme-desk"
VERSION = 7
VERSIONS = (5, 6, 7)
"""The schemas it ever made; all migrate to the last."""


class DeskError(Exception):
    """What acme-desk says when it will not do something."""
