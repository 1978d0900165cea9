"""Many writers, cancelled ones, busy stores, and what is left when a handle is closed or its process ends."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from persistence import BusyError, Mode, ReadOnlyStoreError, StateDB, StoreError
from tests.native import Backend, count

ROOT = Path(__file__).resolve().parents[3]
Again = Callable[[], Awaitable[StateDB]]


async def test_appenders_on_two_handles_lose_nothing(native: StateDB, native_again: Again) -> None:
    other = await native_again()
    await native.create_progression("p")
    await asyncio.gather(
        *(
            handle.append_to_progression("p", f"{name}{n}")
            for n in range(60)
            for name, handle in (("a", native), ("b", other), ("c", native))
        )
    )
    found = await native.get_progression("p")
    assert len(found) == len(set(found)) == 180
    for name in "abc":
        assert {one for one in found if one[0] == name} == {f"{name}{n}" for n in range(60)}


async def test_one_appender_keeps_its_order_among_others(native: StateDB, native_again: Again) -> None:
    other = await native_again()
    await native.create_progression("p")

    async def append(handle: StateDB, name: str) -> None:
        for number in range(40):
            await handle.append_to_progression("p", f"{name}{number}")

    await asyncio.gather(append(native, "a"), append(other, "b"), append(native, "c"))
    found = await native.get_progression("p")
    for name in "abc":
        assert [one for one in found if one[0] == name] == [f"{name}{n}" for n in range(40)]


async def test_signals_of_a_session_are_numbered_without_gaps(
    native: StateDB, native_again: Again, native_session: str
) -> None:
    other = await native_again()
    numbers = await asyncio.gather(
        *(
            handle.insert_session_signal(session_id="s", kind="k", ts=1.0, payload={})
            for _ in range(15)
            for handle in (native, other)
        )
    )
    assert sorted(numbers) == list(range(1, 31))


async def test_no_reader_ever_sees_a_status_without_its_transition(
    native: StateDB, native_again: Again, native_session: str
) -> None:
    reader = await native_again()
    done = asyncio.Event()
    override = {"override": True, "override_actor": "a", "override_justification": "j"}

    async def change() -> None:
        for number in range(40):
            status = ("failed", "running", "completed", "cancelled")[number % 4]
            code = "run.started.ok" if status == "running" else "run.cancelled.system"
            await native.update_status("session", "s", new_status=status, reason_code=code, **override)
        done.set()

    async def watch() -> int:
        seen = 0
        sql = (
            "SELECT s.status, (SELECT t.status FROM status_transitions t WHERE t.entity_id = s.id "
            "ORDER BY t.created_at DESC LIMIT 1) AS latest, "
            "(SELECT count(*) FROM status_transitions t WHERE t.entity_id = s.id) AS changes FROM sessions s"
        )
        changes = 0
        while not done.is_set():
            row = await reader.fetch_one(sql)
            assert row is not None and row["status"] == row["latest"]
            assert row["changes"] >= changes
            changes = row["changes"]
            seen += 1
        return seen

    _, seen = await asyncio.gather(change(), watch())
    assert seen > 3
    assert await count(native, "status_transitions") == 41


async def test_a_cancelled_write_is_whole_or_nothing(native: StateDB, native_session: str) -> None:
    await native.create_progression("p")
    rng = random.Random(7)
    finished: list[int] = []

    async def write(number: int) -> None:
        batch = [{"id": f"m{number}-{n}", "content": {"n": n}, "role": "user"} for n in range(4)]
        await native.insert_messages(batch, progression_ids=["p"], session_id="s")
        finished.append(number)

    tasks = []
    for number in range(60):
        tasks.append(asyncio.create_task(write(number)))
        await asyncio.sleep(rng.choice((0, 0, 0.0005, 0.002)))
        rng.choice(tasks).cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    order = await native.get_progression("p")
    there = {row["id"] for row in await native.list_messages()}
    assert set(order) == there and len(order) == len(there)
    for number in range(60):
        mine = [one for one in order if one.startswith(f"m{number}-")]
        assert mine in ([], [f"m{number}-{n}" for n in range(4)])
        assert mine or number not in finished
    await native.append_to_progression("p", "still usable")


async def test_a_cancelled_transaction_is_undone(native: StateDB) -> None:
    begun = asyncio.Event()

    async def slow() -> None:
        async with native.transaction() as transaction:
            await transaction.create_progression("lost")
            begun.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(slow())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await count(native, "progressions") == 0
    await native.create_progression("next")
    assert await count(native, "progressions") == 1


@pytest.fixture
def path(native_file: Path, tmp_path: Path) -> Path:
    place = tmp_path / "state.db"
    shutil.copyfile(native_file, place)
    return place


async def test_a_store_that_is_held_is_busy_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "30")
    async with StateDB(path, mode=Mode.NATIVE) as db:
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError) as busy:
            await db.create_progression("p")
        assert "corrupt" not in f"{busy.value} {busy.value.remedy}".lower()
        assert await db.list_progressions() == []
        holder.execute("COMMIT")
        await db.create_progression("p")
        holder.close()


async def test_a_row_somebody_locked_is_busy_on_a_server(
    native_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncpg

    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "50")
    async with StateDB(native_database, mode=Mode.NATIVE) as db:
        await db.create_progression("p")
        holder = await asyncpg.connect(native_database)
        try:
            async with holder.transaction():
                await holder.execute("SELECT 1 FROM progressions FOR UPDATE")
                with pytest.raises(BusyError):
                    await db.append_to_progression("p", "a")
            await db.append_to_progression("p", "a")
        finally:
            await holder.close()


async def test_a_server_that_ends_the_connection_is_said_and_the_next_write_works(
    native_database: str,
) -> None:
    import asyncpg

    async with StateDB(native_database, mode=Mode.NATIVE) as db:
        await db.create_progression("p")
        other = await asyncpg.connect(native_database)
        try:
            await other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        finally:
            await other.close()
        for name in ("q", "r"):
            try:
                await db.create_progression(name)
            except StoreError as error:
                assert error.exit_status == 4
        await db.create_progression("s")
        assert {"p", "s"} <= {row["id"] for row in await db.list_progressions()}


async def test_a_writer_opens_only_between_reads_and_reads_go_on_beside_it(path: Path) -> None:
    async with StateDB(path) as reading:
        async with reading.read_snapshot() as snapshot:
            await snapshot.fetch_one("SELECT 1 AS n")
            opening = asyncio.create_task(StateDB(path, mode=Mode.NATIVE).open())
            await asyncio.sleep(0.05)
            assert not opening.done(), "a read of this process is in progress"
        db = await opening
        await db.create_progression("p")
        assert [row["id"] for row in await reading.list_progressions()] == ["p"]
        with pytest.raises(ReadOnlyStoreError):
            await reading.create_progression("q")
        await db.close()


async def test_reads_of_a_handle_do_not_wait_for_each_other(native: StateDB) -> None:
    await native.create_progression("p")
    async with native.read_snapshot() as outer:
        before = await outer.fetch_one("SELECT count(*) AS n FROM progressions")
        async with native.read_snapshot() as inner:
            await inner.fetch_one("SELECT 1 AS n")
            await native.create_progression("q")
            counts = await asyncio.gather(*(native.count_sessions() for _ in range(25)))
            assert counts == [0] * 25
        assert await outer.fetch_one("SELECT count(*) AS n FROM progressions") == before
    with pytest.raises(StoreError):
        await native.fetch_one("DELETE FROM progressions")
    assert await count(native, "progressions") == 2


async def test_a_read_that_takes_too_long_is_ended(native: StateDB, native_backend: Backend) -> None:
    slow = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) "
        "SELECT count(*) AS n FROM n"
    )
    with pytest.raises(StoreError) as late:
        await native.fetch_one(slow, deadline=0.1)
    assert late.value.code == "deadline"
    assert await native.fetch_one("SELECT 1 AS n") == {"n": 1}


async def test_opening_and_closing_leaves_no_descriptor_and_no_thread(path: Path) -> None:
    async def once() -> None:
        async with StateDB(path, mode=Mode.NATIVE) as db:
            await db.create_progression("p")
            await asyncio.gather(db.list_progressions(), db.list_sessions(), db.get_session("x"))

    await once()
    gc_threads = threading.active_count()
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(6):
        await once()
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors
    for _ in range(100):
        if threading.active_count() <= gc_threads:
            break
        time.sleep(0.01)
    assert threading.active_count() <= gc_threads


async def test_an_open_that_is_cancelled_anywhere_leaves_nothing(path: Path) -> None:
    from persistence.engines.gate import gate_for

    found = path.stat()
    for number in range(12):
        db = StateDB(path, mode=Mode.NATIVE)
        task = asyncio.create_task(db.open())
        await asyncio.sleep(number * 0.002)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            assert not db.is_open
        await db.close()
    for _ in range(100):
        if gate_for((found.st_dev, found.st_ino)).handles == ():
            break
        await asyncio.sleep(0.02)
    assert gate_for((found.st_dev, found.st_ino)).handles == ()
    async with StateDB(path, mode=Mode.NATIVE) as db:
        await db.create_progression("p")


def test_a_process_that_forgets_to_close_still_ends(path: Path) -> None:
    code = (
        "import asyncio, sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from persistence import Mode, StateDB\n"
        "async def main():\n"
        f"    db = await StateDB({str(path)!r}, mode=Mode.NATIVE).open()\n"
        "    await db.create_progression('p')\n"
        "    await db.list_progressions()\n"
        "asyncio.run(main())\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT id FROM progressions").fetchall() == [("p",)]
    connection.close()


SAVER = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from persistence import Mode, StateDB
async def main():
    async with StateDB(sys.argv[2], mode=Mode.NATIVE) as db:
        for n in range(int(sys.argv[3])):
            print(await db.save_definition(kind="agent", name="n", path="p", content=f"{sys.argv[4]} {n}"))
            await db.append_to_progression("p", f"{sys.argv[4]}-{n}")
asyncio.run(main())
"""


async def test_processes_that_save_at_once_leave_no_gap(native_backend: Backend) -> None:
    store = native_backend.location.url or native_backend.location.fspath
    async with StateDB(native_backend.location, mode=Mode.NATIVE) as db:
        await db.create_progression("p")
        savers = [
            subprocess.Popen(
                [sys.executable, "-c", SAVER, str(ROOT), store.replace("+asyncpg", ""), "25", name],
                stdout=subprocess.PIPE,
                text=True,
            )
            for name in "ab"
        ]
        outputs = await asyncio.gather(*(asyncio.to_thread(saver.communicate) for saver in savers))
        assert [saver.returncode for saver in savers] == [0, 0]
        versions = sorted(int(line) for output, _ in outputs for line in output.split())
        assert versions == list(range(1, 51))
        order: list[Any] = await db.get_progression("p")
        assert len(order) == len(set(order)) == 50
