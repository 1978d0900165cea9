"""Every system call that examining a store makes on its files or its private copy, made to fail.

    python -m tests.hostile.faults_lineage [--jobs 2]

Each (call, error) pair is made to fail once, at each of the first times it comes, and for ever (strace's
injection). Whatever fails, the answer is a typed one that names the cause, nothing of the store is changed,
and nothing is left in the temporary directory but what could not be removed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persistence.engines.copies import _PREFIX
from tests.persistence.lineage.craft import foreign, hot, logged, state_of
from tests.strace import calls

__all__ = ["STORES", "Fault", "Outcome", "faults", "main", "observed", "run"]

ROOT = Path(__file__).resolve().parents[2]
NAMES = tuple(f"name{number}" for number in range(20))

DRIVER = """
import json, sys, tempfile
tempfile.tempdir = sys.argv[2]
tempfile._name_sequence = iter([f"name{n}" for n in range(20)])
from tests.persistence.lineage.probe import answer
print(json.dumps(answer(sys.argv[1])))
"""

STORES: dict[str, Callable[[Path], Path]] = {
    "at rest": foreign,
    "with a log": lambda folder: logged(folder, "lionagi", "acme-desk"),
    "without an index": lambda folder: logged(folder, "-", "acme-desk", shm=False, rows=5),
    "with a journal": lambda folder: hot(folder, "acme-desk", "lionagi", rows=30),
}

ERRORS: dict[str, tuple[str, ...]] = {
    "openat": ("EACCES", "EMFILE", "EIO"),
    "newfstatat": ("EACCES", "EIO"),
    "stat": ("EACCES", "EIO"),
    "lstat": ("EACCES", "EIO"),
    "fstat": ("EIO",),
    "pread64": ("EIO",),
    "read": ("EIO",),
    "write": ("ENOSPC", "EIO"),
    "pwrite64": ("ENOSPC", "EIO"),
    "copy_file_range": ("ENOSPC", "EIO", "EXDEV"),
    "mkdir": ("EACCES", "ENOSPC"),
    "ftruncate": ("EIO",),
    "unlink": ("EACCES",),
    "rmdir": ("EACCES",),
    "flock": ("EINTR",),
    "statfs": ("EIO",),
    "getdents64": ("EIO",),
    "access": ("EACCES",),
    "faccessat2": ("EACCES",),
    "fcntl": ("EACCES",),
    "lseek": ("EIO",),
}
"""What each call may answer. Interrupts of reads and writes are taken up again by Python and SQLite alike."""

CODES: dict[str, frozenset[str]] = {
    "EACCES": frozenset(
        ("no-permission", "cannot-open", "no-copy", "no-room", "io-error", "busy", "no-locks")
    ),
    "EMFILE": frozenset(("too-many-files", "cannot-open", "no-copy")),
    "EIO": frozenset(
        ("io-error", "cannot-open", "no-copy", "no-room", "damaged", "no-locks", "store-moving")
    ),
    "ENOSPC": frozenset(("no-room", "no-copy")),
}
"""The codes that name the cause."""


@dataclass(frozen=True)
class Fault:
    """A call on a file of the store or of the copy, its error, and when: `1` the first time, `1+` always."""

    store: str
    call: str
    error: str
    when: str

    def __str__(self) -> str:
        return f"{self.store}: {self.call} {self.error} when={self.when}"


@dataclass(frozen=True)
class Outcome:
    """What became of a run: the probe's answer (None: it failed), what changed, what was left."""

    fault: Fault
    answer: dict[str, Any] | None
    said: str
    changed: bool
    left: tuple[str, ...]

    def wrong(self) -> str | None:
        """Why this is not how it must be; None when it is."""
        if self.answer is None:
            return f"no typed answer: {self.said[-400:]}"
        if self.changed:
            return "the store's directory changed"
        if self.answer["native"] == "opened":
            return "a foreign store would be opened natively"
        if self.left and self.fault.call not in (
            "unlink",
            "rmdir",
            "unlinkat",
            "openat",
            "newfstatat",
            "lstat",
        ):
            return f"left behind: {self.left}"
        code = self.answer.get("code")
        expected = CODES.get(self.fault.error, frozenset()) | {"foreign-lineage"}
        if code not in expected and self.answer["native"] != "StoreMissingError":
            return f"{self.answer['native']} ({code}) does not name the cause"
        return None


def paths(store: Path, temporary: Path) -> list[str]:
    """Every path a fault may be about: the store's files, the private directories, what is in them."""
    found = [f"{store}{suffix}" for suffix in ("", "-journal", "-wal", "-shm")]
    found.append(str(temporary))
    for name in NAMES[:3]:
        folder = temporary / f"{_PREFIX}{name}"
        found += [
            str(folder),
            *(f"{folder}/{part}" for part in ("in-use", "store", "store-wal", "store-journal")),
        ]
    return found


def command(store: Path, temporary: Path, *options: str) -> list[str]:
    watched = [word for path in paths(store, temporary) for word in ("-P", path)]
    driver = [sys.executable, "-c", DRIVER, str(store), str(temporary)]
    return ["strace", "-f", "-qq", "-y", *watched, *options, *driver]


def observed(name: str) -> dict[str, int]:
    """The calls examining this store makes on those files, and how often."""
    with tempfile.TemporaryDirectory() as folder:
        store, temporary = _made(name, Path(folder))
        log = Path(folder, "log")
        subprocess.run(command(store, temporary, "-o", str(log)), cwd=ROOT, check=True, capture_output=True)
        counted: dict[str, int] = {}
        for call in calls(log):
            counted[call.name] = counted.get(call.name, 0) + 1
        return counted


def _made(name: str, folder: Path) -> tuple[Path, Path]:
    (folder / "store").mkdir()
    (folder / "temporary").mkdir()
    return STORES[name](folder / "store"), folder / "temporary"


def faults(name: str, *, times: int = 3) -> Iterator[Fault]:
    """The faults of a store: each pair once, at each of the first `times` times it comes, and for ever."""
    for call, count in sorted(observed(name).items()):
        for error in ERRORS.get(call, ()):
            for number in range(1, min(count, times) + 1):
                yield Fault(name, call, error, str(number))
            if error != "EINTR":
                yield Fault(name, call, error, "1+")


def run(fault: Fault) -> Outcome:
    """Examines a fresh store under one fault."""
    with tempfile.TemporaryDirectory() as folder:
        store, temporary = _made(fault.store, Path(folder))
        before = state_of(store.parent)
        done = subprocess.run(
            command(
                store,
                temporary,
                "-o",
                os.devnull,
                "-e",
                f"inject={fault.call}:error={fault.error}:when={fault.when}",
                "-e",
                f"trace={fault.call}",
            ),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        left = tuple(sorted(entry.name for entry in temporary.iterdir()))
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            answer = None
        return Outcome(fault, answer, done.stdout + done.stderr, state_of(store.parent) != before, left)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--store", choices=list(STORES), action="append")
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args(arguments)
    wanted = [fault for name in given.store or STORES for fault in faults(name, times=given.times)]
    bad = 0
    answers: dict[tuple[str, str], set[str]] = {}
    with ThreadPoolExecutor(given.jobs) as pool:
        for outcome in pool.map(run, wanted):
            said = outcome.answer or {}
            key = (outcome.fault.call, outcome.fault.error)
            answers.setdefault(key, set()).add(f"{said.get('native')} ({said.get('code')})")
            wrong = outcome.wrong()
            if wrong is not None:
                bad += 1
                print(f"WRONG {outcome.fault}: {wrong}")
    for (call, error), found in sorted(answers.items()):
        print(f"{call:18} {error:8} {', '.join(sorted(found))}")
    print(f"{len(wanted)} faults, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
