"""Handles shared in one process: the same store, mode, profile and owner, and nothing else."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from persistence import Mode, StateDB, StoreError, shared_handle
from persistence.engines.gate import gate_for


@pytest.fixture
def path(native_file: Path, tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    place = tmp_path / "home" / "state.db"
    shutil.copyfile(native_file, place)
    return place


async def test_the_same_store_is_one_handle_however_it_is_spelled(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path.parent.parent / "link").symlink_to(path.parent)
    monkeypatch.chdir(path.parent)
    spellings = [
        path,
        str(path),
        "state.db",
        f"file:{path}",
        f"sqlite:///{path}",
        path.parent.parent / "link/state.db",
    ]
    async with shared_handle(path, mode=Mode.NATIVE) as first:
        for spelled in spellings:
            async with shared_handle(spelled, mode=Mode.NATIVE) as other:
                assert other is first
        assert first.is_open
        await first.create_progression("p")
    assert not first.is_open
    async with shared_handle(path, mode=Mode.NATIVE) as again:
        assert again is not first
        assert len(await again.list_progressions()) == 1


async def test_another_mode_is_another_handle(path: Path) -> None:
    async with shared_handle(path) as reading, shared_handle(path, mode=Mode.NATIVE) as writing:
        assert reading is not writing
        assert (reading.mode, writing.mode) == (Mode.READ_ONLY, Mode.NATIVE)
    with pytest.raises(ValueError, match="profile"):
        async with shared_handle(path, mode=Mode.NATIVE, profile="acme-desk"):
            pass
    with pytest.raises(ValueError, match="owner"):
        async with shared_handle(path, owner="kim"):
            pass


async def test_those_who_come_at_once_share_one_opening(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[StateDB] = []
    real = StateDB.open

    async def watch(self: StateDB) -> StateDB:
        if not self.is_open:
            opened.append(self)
            await asyncio.sleep(0.01)
        return await real(self)

    monkeypatch.setattr(StateDB, "open", watch)

    async def use(number: int) -> StateDB:
        async with shared_handle(path, mode=Mode.NATIVE) as db:
            await db.create_progression(f"p{number}")
            return db

    used = await asyncio.gather(*(use(number) for number in range(8)))
    assert len(opened) == 1 and len(set(map(id, used))) == 1
    found = path.stat()
    assert gate_for((found.st_dev, found.st_ino)).handles == ()


async def test_a_handle_made_for_a_new_store_is_shared_too(tmp_path: Path) -> None:
    path = tmp_path / "new" / "state.db"
    async with (
        shared_handle(path, mode=Mode.NATIVE) as first,
        shared_handle(path, mode=Mode.NATIVE) as second,
    ):
        assert first is second


async def test_another_file_under_the_name_is_another_handle(path: Path) -> None:
    other = path.with_name("other.db")
    shutil.copyfile(path, other)
    async with shared_handle(path, mode=Mode.NATIVE) as first:
        other.replace(path)
        async with shared_handle(path, mode=Mode.NATIVE) as second:
            assert second is not first
            await second.create_progression("p")


async def test_a_failed_opening_leaves_nothing_shared(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_text("no database")
    for _ in range(2):
        with pytest.raises(StoreError):
            async with shared_handle(path, mode=Mode.NATIVE):
                pass


def test_each_event_loop_has_its_own(path: Path) -> None:
    async def use() -> int:
        async with shared_handle(path, mode=Mode.NATIVE) as db:
            await db.create_progression("p")
            return len(await db.list_progressions())

    assert asyncio.run(use()) == 1
    assert asyncio.run(use()) == 1
