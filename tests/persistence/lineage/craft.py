"""Crafted stores, one a case: what they are, how they are named to be opened, and how each is built.

The cases are those an oracle of the real orchestrator was asked about (`oracle-native.json`). Plain sqlite3
makes them; the complete stores they begin with come from `tests.persistence.stores`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.persistence.stores import make_store

Build = Callable[[Path], object]
Statement = str | tuple[str, tuple[Any, ...]]

META = 'CREATE TABLE schema_meta ("key" TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)'
LINEAGE_ROW = "INSERT INTO schema_meta VALUES ('lineage', ?)"
VERSION_ROW = "INSERT INTO schema_meta VALUES ('version', ?)"


@dataclass(frozen=True)
class Crafted:
    """A case: `open` is relative to its directory, `{abs}` standing for that; `hold` is a lock that another
    process has; `as_user`: permissions count, whoever runs the test."""

    name: str
    what: str
    build: Build
    open: str = "store.db"
    hold: str | None = None
    as_user: bool = False

    def spelled(self, folder: Path) -> str:
        return self.open.replace("{abs}", str(folder))


CASES: dict[str, Crafted] = {}


def case(name: str, what: str, **more: Any) -> Callable[[Build], Build]:
    def add(build: Build) -> Build:
        assert name not in CASES, name
        CASES[name] = Crafted(name, what, build, **more)
        return build

    return add


# -- pieces -------------------------------------------------------------------------------------------


def complete(folder: Path, release: str = "0.36.0", name: str = "store.db") -> Path:
    """A complete store of a release, at rest in WAL format, with the rows that release writes."""
    path = make_store(folder / name, release, wal=True)
    if release != "0.36.0":
        version = {"0.26.0": "1", "0.28.0": "1", "0.30.2": "1", "0.32.0": "2", "0.34.1": "3"}[release]
        meta(path, "lineage", None)
        meta(path, "version", version)
    return path


def edit(path: Path, *statements: Statement) -> Path:
    """Runs statements and leaves nothing beside the file."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(*((statement,) if isinstance(statement, str) else statement))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    return path


def meta(path: Path, key: str, value: object) -> Path:
    """Sets one row of schema_meta; None removes it."""
    edit(path, ("DELETE FROM schema_meta WHERE key = ?", (key,)))
    if value is not None:
        edit(path, ("INSERT INTO schema_meta (key, value) VALUES (?, ?)", (key, value)))
    return path


def loose_meta(path: Path, *rows: tuple[object, object]) -> Path:
    """Puts a schema_meta without types and keys in place, so that any value can be kept."""
    inserts = [("INSERT INTO schema_meta VALUES (?, ?)", row) for row in rows]
    return edit(path, "DROP TABLE schema_meta", 'CREATE TABLE schema_meta ("key", value)', *inserts)


def small(folder: Path, *statements: Statement, name: str = "store.db", wal: bool = False) -> Path:
    """A small store of just these statements, at rest."""
    path = folder / name
    connection = sqlite3.connect(path, isolation_level=None)
    if wal:
        connection.execute("PRAGMA journal_mode=WAL")
    for statement in statements:
        connection.execute(*((statement,) if isinstance(statement, str) else statement))
    connection.close()
    return path


MANAGED: tuple[Statement, ...] = (
    "BEGIN",
    META,
    (LINEAGE_ROW, ("acme-desk",)),
    (VERSION_ROW, ("7",)),
    "CREATE TABLE principals (id TEXT PRIMARY KEY)",
    "COMMIT",
)
"""What the application that manages `foreign` stores runs to create one."""


def foreign(folder: Path, **more: Any) -> Path:
    """A small store another application manages."""
    return small(folder, *MANAGED, **more)


def in_child(code: str, *arguments: object) -> None:
    """Runs code in a child that ends at once, so that SQLite cleans nothing up."""
    head = "import os, shutil, sqlite3, sys\n"
    source = f"{head}{textwrap.dedent(code)}\nos._exit(0)"
    subprocess.run([sys.executable, "-S", "-c", source, *map(str, arguments)], check=True)


_HOT = """
    path, committed, pending, drop, size = sys.argv[1:6]
    c = sqlite3.connect(path, isolation_level=None)
    c.execute("PRAGMA synchronous = OFF")
    c.execute("BEGIN")
    c.execute('CREATE TABLE IF NOT EXISTS schema_meta ("key" TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)')
    c.execute("CREATE TABLE filler (id INTEGER PRIMARY KEY, pad TEXT)")
    c.execute("INSERT OR REPLACE INTO schema_meta VALUES ('version','4')")
    if committed != '-':
        c.execute("INSERT OR REPLACE INTO schema_meta VALUES ('lineage', ?)", (committed,))
    c.execute("CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY)")
    c.executemany("INSERT INTO filler(pad) VALUES (?)", [('x' * 900,)] * int(size))
    c.execute("COMMIT")
    c.execute("PRAGMA synchronous = FULL")  # a journal that was never synced promises nothing
    c.execute("PRAGMA cache_size = 4")
    c.execute("PRAGMA cache_spill = 1")
    c.execute("BEGIN IMMEDIATE")
    if drop == '1':
        c.execute("DELETE FROM schema_meta WHERE key='lineage'")
    else:
        c.execute("INSERT OR REPLACE INTO schema_meta VALUES ('lineage', ?)", (pending,))
    c.execute("UPDATE filler SET pad = 'y' || substr(pad, 2)")
    for suffix in ('', '-journal'):
        shutil.copyfile(path + suffix, path.replace('live.db', 'store.db') + suffix)
"""


def hot(
    folder: Path, committed: str, pending: str, *, drop_row: bool = False, rows: int = 400, base: bytes = b""
) -> Path:
    """A store whose interrupted transaction spilled pages into the file; its hot journal lies beside it.

    `committed` and `pending` are the lineage before and in that transaction (`-`: no row before).
    """
    live = folder / "live.db"
    if base:
        live.write_bytes(base)
    in_child(_HOT, live, committed, pending, int(drop_row), rows)
    for left in folder.glob("live.db*"):
        left.unlink()
    return folder / "store.db"


_LOGGED = """
    path, in_file, in_log, shm, commit, native, rows = sys.argv[1:8]
    c = sqlite3.connect(path, isolation_level=None)
    c.execute("PRAGMA journal_mode = WAL")
    c.execute("PRAGMA wal_autocheckpoint = 0")
    c.execute("CREATE TABLE filler (id INTEGER PRIMARY KEY, pad TEXT)")
    if native == '0':
        c.execute('CREATE TABLE schema_meta ("key" TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)')
        c.execute("INSERT INTO schema_meta VALUES ('version','4')")
        c.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY)")
    else:
        c.execute("DELETE FROM schema_meta WHERE key='lineage'")
    if in_file != '-':
        c.execute("INSERT OR REPLACE INTO schema_meta VALUES ('lineage', ?)", (in_file,))
    c.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if commit == '0':
        c.execute("PRAGMA cache_size = 4")
        c.execute("BEGIN IMMEDIATE")
    if in_log == '-':
        c.execute("DELETE FROM schema_meta WHERE key='lineage'")
    elif in_log != '=':
        c.execute("INSERT OR REPLACE INTO schema_meta VALUES ('lineage', ?)", (in_log,))
    c.executemany("INSERT INTO filler(pad) VALUES (?)", [('x' * 900,)] * int(rows))
    for suffix in ('', '-wal') + (('-shm',) if shm == '1' else ()):
        shutil.copyfile(path + suffix, path.replace('live.db', 'store.db') + suffix)
"""


def logged(
    folder: Path,
    in_file: str,
    in_log: str,
    *,
    shm: bool = True,
    commit: bool = True,
    native: bool = False,
    rows: int = 60,
    base: bytes = b"",
) -> Path:
    """A WAL store whose file holds lineage `in_file` and whose log sets it to `in_log` (`-`: no row).

    `native` begins with a complete store, `base` with the store of these bytes.
    """
    live = folder / "live.db"
    if base:
        live.write_bytes(base)
    elif native:
        complete(folder, name="live.db")
    in_child(_LOGGED, live, in_file, in_log, int(shm), int(commit), int(native or bool(base)), rows)
    for left in folder.glob("live.db*"):
        left.unlink()
    return folder / "store.db"


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def spoil(path: Path, start: int, change: Callable[[bytes], bytes]) -> Path:
    """Changes a file's bytes from `start` on."""
    data = path.read_bytes()
    path.write_bytes(data[:start] + change(data[start:]))
    return path


def forget_modes(folder: Path) -> None:
    """Gives rights back, so that the directory can be removed."""
    for entry in (folder, *folder.rglob("*")):
        if not entry.is_symlink():
            with contextlib.suppress(OSError):
                entry.chmod(0o755 if entry.is_dir() else 0o644)


def copy_of(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to, symlinks=True))


def state_of(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Kind, size, mode, times and bytes of everything beneath a directory."""
    found: dict[str, tuple[Any, ...]] = {}
    for root, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(root, name)
            status = path.lstat()
            content: object = None
            if path.is_symlink():
                content = str(path.readlink())
            elif path.is_file():
                with contextlib.suppress(PermissionError):
                    content = path.read_bytes()
            found[str(path.relative_to(folder))] = (
                status.st_mode,
                status.st_size,
                status.st_mtime_ns,
                content,
            )
    return found
