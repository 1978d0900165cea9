"""What is said of a read-only open is what a read-only open does: the same route, or the same refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from persistence import StateDB
from persistence.errors import StoreError
from persistence.lineage import examine
from persistence.location import locate
from tests.persistence.lineage.cases import CASES
from tests.persistence.lineage.craft import complete, foreign, logged

NAMES = [
    name
    for name, case in CASES.items()
    if not (case.as_user or case.hold or name.startswith(("url-", "lineage-", "version-")))
]


async def opened(path: Path) -> tuple[bool, str, set[str]]:
    try:
        async with StateDB(path) as db:
            await db.facts()
            read = db.last_read
            assert read is not None
            return True, str(read.route), {notice.code for notice in read.notices}
    except StoreError as error:
        return False, error.code, set()


@pytest.mark.parametrize("name", NAMES)
async def test_a_read_only_open_does_what_is_said_of_it(name: str, tmp_path: Path) -> None:
    CASES[name].build(tmp_path)
    path = tmp_path / "store.db"
    verdict = examine(locate(path), surroundings=False).read_only
    does, how, notices = await opened(path)
    assert verdict.opens is does
    assert (verdict.route if does else verdict.refusal and verdict.refusal.code) == how
    assert len(verdict.notices) >= len(notices)


@pytest.mark.parametrize(
    "make", [complete, foreign, lambda d: logged(d, "lionagi", "acme-desk", native=True)]
)
async def test_a_path_longer_than_sqlite_opens_is_read_by_copy_and_not_written(
    make: object, tmp_path: Path
) -> None:
    folder = tmp_path
    while len(str(folder)) < 520:
        folder /= "a" * 60
        folder.mkdir()
    made = make(tmp_path)  # type: ignore[operator]
    for suffix in ("", "-wal", "-shm"):
        part = made.with_name(made.name + suffix)
        if part.exists():
            part.rename(folder / part.name)
    path = folder / made.name
    report = examine(locate(path), surroundings=False)
    assert report.read_only.opens is True and report.read_only.route == "copy"
    assert report.native.refusal is not None and report.native.refusal.code == "long-path"
    assert report.seen is not None and report.seen.lineage
    assert (await opened(path))[:2] == (True, "copy")
