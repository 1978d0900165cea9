"""Mutation fuzzing of `lineage.examine`: files, journals, logs and indexes spoiled at random.

    python -m tests.hostile.fuzz_lineage --count 200000 [--seed 1] [--jobs 2] [--only NUMBER]

Each number makes one store from the seed, whatever the count: `--only` makes it again. A store is spoiled by
flipped bytes, cuts, splices and parts of other stores. Whatever it is then: examining it neither fails nor
hangs, changes nothing in its directory and nothing outside, and never says that it opens natively when the
rows SQLite itself commits to say otherwise. A quarter of a second is some fifty stores on one core.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from persistence.errors import StoreError
from persistence.lineage import LineageReport, examine
from persistence.location import locate
from tests.persistence.engines.states import name_super_journal
from tests.persistence.lineage.craft import beside, complete, edit, foreign, hot, logged, meta

__all__ = ["Failure", "Fuzz", "main"]

SUFFIXES = ("", "-journal", "-wal", "-shm")
Parts = dict[str, bytes]
SLOWEST = 5.0  # seconds one store may take
_BATCH = 48  # stores written before the first of them is looked at


class Failure(AssertionError):
    """A store that was not examined as it must be; its number makes it again."""


def small_complete(folder: Path, name: str = "store.db", release: str = "0.36.0") -> Path:
    """A complete store of 512-byte pages, so that a flipped byte is likelier to matter."""
    return edit(
        complete(folder, release, name), "PRAGMA journal_mode=DELETE", "PRAGMA page_size=512", "VACUUM"
    )


def bases(folder: Path) -> dict[str, Parts]:
    """The stores that are spoiled, by name."""

    def parts(build: Callable[[Path], Path]) -> Parts:
        place = Path(tempfile.mkdtemp(dir=folder))
        path = build(place)
        found = {suffix: beside(path, suffix) for suffix in SUFFIXES}
        return {suffix: file.read_bytes() for suffix, file in found.items() if file.exists()}

    own = parts(small_complete)[""]
    outside = folder / "outside" / "other.db-mj1234ABCD"
    outside.parent.mkdir()
    outside.write_bytes(b"a super-journal that is not empty")

    def with_super(place: Path) -> Path:
        path = hot(place, "acme-desk", "lionagi", rows=40, base=own)
        name_super_journal(beside(path, "-journal"), os.fsencode(outside), 512)
        return path

    return {
        "own, at rest": {"": own},
        "own, log format": parts(lambda d: edit(small_complete(d), "PRAGMA journal_mode=WAL")),
        "older, at rest": parts(lambda d: small_complete(d, release="0.34.1")),
        "foreign": parts(foreign),
        "foreign, whole": parts(lambda d: meta(small_complete(d), "lineage", "acme-desk")),
        "too new": parts(lambda d: meta(small_complete(d), "version", "7")),
        "foreign in the log": parts(lambda d: logged(d, "lionagi", "acme-desk", rows=12, base=own)),
        "own in the log": parts(lambda d: logged(d, "acme-desk", "lionagi", rows=12, base=own)),
        "hidden by a journal": parts(lambda d: hot(d, "acme-desk", "lionagi", rows=40)),
        "own behind a journal": parts(lambda d: hot(d, "lionagi", "acme-desk", rows=40, base=own)),
        "foreign behind a journal": parts(lambda d: hot(d, "acme-desk", "lionagi", rows=40, base=own)),
        "a super-journal": parts(with_super),
    }


def spoil(parts: Parts, others: list[Parts], chance: random.Random) -> Parts:
    """One to four changes to a store's parts."""
    spoiled = {suffix: bytearray(data) for suffix, data in parts.items()}
    for _ in range(chance.choice((1, 1, 2, 2, 3, 4))):
        suffix = chance.choice(sorted(spoiled))
        data = spoiled[suffix]
        other = chance.choice(others)
        how = chance.random()
        if how < 0.45 and data:
            for _ in range(chance.choice((1, 1, 1, 2, 8))):
                data[_place(data, chance)] ^= 1 << chance.randrange(8)
        elif how < 0.60 and data:
            del data[chance.choice((chance.randrange(len(data)), len(data) // 512 * 512 // 2)) :]
        elif how < 0.75 and data:
            source = other.get(suffix) or other[""]
            start, length = _place(data, chance), chance.choice((1, 4, 16, 100, 512, 4096))
            begin = chance.randrange(len(source)) if source else 0
            data[start : start + length] = source[begin : begin + length]
        elif how < 0.82 and data:
            start, length = _place(data, chance), chance.choice((4, 24, 512, 4096))
            data[start : start + length] = bytes([chance.choice((0, 0xFF))]) * length
        elif how < 0.87:
            data += chance.randbytes(chance.choice((1, 24, 512, 4128)))
        elif how < 0.95:
            borrowed = chance.choice(SUFFIXES[1:])
            if borrowed in other:
                spoiled[borrowed] = bytearray(other[borrowed])
        elif suffix:
            del spoiled[suffix]
    return {suffix: bytes(data) for suffix, data in spoiled.items()}


def _place(data: bytearray, chance: random.Random) -> int:
    """A place to spoil: often one that means something."""
    if chance.random() < 0.4:
        return min(chance.choice((chance.randrange(100), chance.randrange(56), 512, 4096)), len(data) - 1)
    return chance.randrange(len(data))


@dataclass
class Fuzz:
    """Stores by number, made in directories that are used again (each file keeps its inode)."""

    root: Path
    seed: int = 1
    verdicts: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0

    def __post_init__(self) -> None:
        self._bases = bases(self.root)
        self._names = sorted(self._bases)
        self._outside = _state(self.root / "outside")
        self._mirror = self.root / "mirror"
        self._mirror.mkdir()

    def parts(self, number: int) -> tuple[str, Parts]:
        chance = random.Random(f"{self.seed}-{number}")
        name = self._names[number % len(self._names)]
        return name, spoil(self._bases[name], [self._bases[other] for other in self._names], chance)

    def run(self, numbers: Iterator[int] | range) -> None:
        """Examines the stores of these numbers. Raises Failure."""
        batch: list[tuple[int, str, Parts, Path]] = []
        for number in numbers:
            name, parts = self.parts(number)
            folder = self.root / f"store-{len(batch)}"
            _put(folder, parts)
            batch.append((number, name, parts, folder))
            if len(batch) == _BATCH:
                self._examine(batch)
                batch = []
        self._examine(batch)

    def _examine(self, batch: list[tuple[int, str, Parts, Path]]) -> None:
        for number, name, parts, folder in batch:
            before = _state(folder)
            started = time.perf_counter()
            try:
                report = examine(locate(folder / "store.db"), surroundings=False)
            except Exception as error:
                raise Failure(f"number {number} ({name}): {type(error).__name__}: {error}") from error
            took = time.perf_counter() - started
            self.slowest = max(self.slowest, took)
            if _state(folder) != before:
                raise Failure(f"number {number} ({name}): something changed beside the store")
            if _state(self.root / "outside") != self._outside:
                raise Failure(f"number {number} ({name}): something outside was touched")
            if took > SLOWEST:
                raise Failure(f"number {number} ({name}): took {took:.1f} s")
            self._judge(number, name, parts, report)

    def _judge(self, number: int, name: str, parts: Parts, report: LineageReport) -> None:
        refusal = report.native.refusal
        self.verdicts["opens" if report.native.opens else type(refusal).__name__] += 1
        for verdict in report.verdicts:
            if verdict.opens is False and not isinstance(verdict.refusal, StoreError):
                raise Failure(f"number {number} ({name}): {verdict.mode} is refused without a type")
        if report.native.opens:
            why = self._committed_otherwise(parts)
            if why is not None:
                raise Failure(f"number {number} ({name}): opens natively, but {why}")

    def _committed_otherwise(self, parts: Parts) -> str | None:
        """Why the rows SQLite commits to, opening a copy of the store itself, do not allow a native open."""
        shutil.rmtree(self._mirror)
        self._mirror.mkdir()
        for suffix, data in parts.items():
            (self._mirror / f"store.db{suffix}").write_bytes(data)
        connection = sqlite3.connect(self._mirror / "store.db", isolation_level=None)
        connection.text_factory = bytes
        try:
            tables = [
                row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
            ]
            if b"schema_meta" not in tables:
                return None if not set(tables) & {b"principals", b"filler"} else f"it has {tables}"
            rows = connection.execute("SELECT key, value FROM schema_meta").fetchall()
        except sqlite3.Error as error:
            return f"SQLite says {error}"
        finally:
            connection.close()
            self._put_back()
        lineage = [value for key, value in rows if key == b"lineage" and value is not None]
        version = [value for key, value in rows if key == b"version" and value is not None]
        if any(value != b"lionagi" for value in lineage) or len(lineage) > 1:
            return f"the lineage is {lineage}"
        if not lineage and version not in ([b"1"], [b"2"], [b"3"], [b"4"]):
            return f"there is no lineage and the version is {version}"
        if any(value.isdigit() and int(value) > 4 for value in version if isinstance(value, bytes)):
            return f"the version is {version}"
        return None

    def _put_back(self) -> None:
        """SQLite itself, recovering the mirror, removes the super-journal its journal names."""
        for name, _, _, _, _, data in self._outside:
            (self.root / "outside" / name).write_bytes(data)
        self._outside = _state(self.root / "outside")


def _put(folder: Path, parts: Parts) -> None:
    folder.mkdir(exist_ok=True)
    for suffix in SUFFIXES:
        file = folder / f"store.db{suffix}"
        if suffix in parts:
            with file.open("r+b" if file.exists() else "wb") as out:  # the same inode again
                out.truncate(0)
                out.write(parts[suffix])
        else:
            file.unlink(missing_ok=True)


def _state(folder: Path) -> list[tuple[str, int, int, int, int, bytes]]:
    found = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        status = entry.stat(follow_symlinks=False)
        data = Path(entry.path).read_bytes()
        found.append(
            (entry.name, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, data)
        )
    return found


def _share(given: tuple[int, int, range]) -> tuple[Counter[str], float, str | None]:
    seed, job, numbers = given
    with tempfile.TemporaryDirectory(prefix=f"fuzz-{job}-", dir=_quick()) as folder:
        tempfile.tempdir = str(Path(folder, "temporary"))  # private copies in memory as well
        Path(tempfile.tempdir).mkdir()
        fuzz = Fuzz(Path(folder), seed)
        try:
            fuzz.run(numbers)
        except Failure as error:
            return fuzz.verdicts, fuzz.slowest, str(error)
        return fuzz.verdicts, fuzz.slowest, None


def _quick() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int, help="make and examine one store alone")
    given = parser.parse_args(arguments)
    if given.only is not None:
        shares = [(given.seed, 0, range(given.only, given.only + 1))]
    else:
        shares = [(given.seed, job, range(job, given.count, given.jobs)) for job in range(given.jobs)]
    started = time.perf_counter()
    with multiprocessing.Pool(given.jobs) as pool:
        results = pool.map(_share, shares)
    verdicts = sum((found for found, _, _ in results), Counter[str]())
    failures = [failure for _, _, failure in results if failure is not None]
    print(f"{verdicts.total()} stores in {time.perf_counter() - started:.0f} s, seed {given.seed}")
    print(f"slowest {max(slowest for _, slowest, _ in results):.3f} s")
    for verdict, count in verdicts.most_common():
        print(f"  {count:7} {verdict}")
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
