"""The nine items of D8 on stores of acme-desk's own making; and that each of them can fail."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspector.demo.acme_desk.migrations import migrate
from inspector.demo.acme_desk.store import initialize
from persistence.guard.same_store import SameStore
from persistence.location import locate
from persistence.profiles import load_profile
from persistence.proof import attempts as attempting
from persistence.proof import changes as changing
from persistence.proof import kept as keeping
from persistence.proof import recovery as recovering
from persistence.proof.bench import Bench
from persistence.proof.concurrency import concurrency
from persistence.proof.lifecycle import lifecycle, shapes
from persistence.proof.limits import DEFAULTS, Limits
from persistence.proof.ownership import ownership
from persistence.proof.proving import Asked, ProofStep, prove
from persistence.proof.readback import Readback
from persistence.proof.scorecard import NAMES, Item, Scorecard
from persistence.proof.scratch import Scratch

READBACK = f"{sys.executable} -m inspector.demo.acme_desk readback"


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scorecard, list[ProofStep], bool]:
    """A whole proof on a fresh and a migrated store, and whether both are byte for byte what they were."""
    directory = tmp_path_factory.mktemp("proof")
    fresh, migrated = directory / "fresh.db", directory / "migrated.db"
    initialize(fresh, sample=True)
    initialize(migrated, 5, sample=True)
    migrate(migrated)
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in directory.iterdir()}
    told: list[ProofStep] = []
    asked = Asked(
        load_profile("acme-desk-fresh-run"),
        (locate(fresh), locate(migrated)),
        ("kim", "lee"),
        READBACK,
        Limits(hold_p50_ms=1000, hold_p99_ms=5000, hold_max_ms=10000, busy_rate=0.5, messages=3),
        0.5,
    )
    card = asyncio.run(prove(asked, told.append))
    after = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in directory.iterdir()}
    return card, told, before == after


Proved = tuple[Scorecard, list[ProofStep], bool]


@pytest.mark.adr("0128-D8-01", "0128-D8-02", "0128-D8-20", "0128-D8-21")
@pytest.mark.parametrize("number", NAMES)
def test_the_shipped_profile_holds(proved: Proved, number: int) -> None:
    item = proved[0].items[number - 1]
    assert item.number == number
    assert item.failures == ()


@pytest.mark.adr("0128-D8-03")
def test_the_stores_given_are_only_copied(proved: Proved) -> None:
    assert proved[2]


@pytest.mark.adr("0128-D8-04")
def test_a_fresh_and_a_migrated_shape(proved: Proved) -> None:
    stores = proved[0].items[0].figures["stores"]
    assert [one["held"] for one in stores] == [True, True]
    assert len({one["shape"] for one in stores}) == 2
    assert proved[0].items[0].notes == ()


@pytest.mark.adr("0128-D8-06", "0128-D8-07")
def test_every_ending_is_read_back_by_the_desk_itself(proved: Proved) -> None:
    figures = proved[0].items[1].figures
    assert figures["endings"] == ["completed", "failed", "cancelled", "retried"]
    assert figures["read_back_by"] == "its own command"
    assert proved[0].items[1].notes == ()


@pytest.mark.adr("0128-D8-08", "0128-D8-09")
def test_every_row_is_compared(proved: Proved) -> None:
    figures = proved[0].items[2].figures
    assert figures["tables"] == 13
    assert figures["rows"] > 15
    assert figures["added"] > 40


@pytest.mark.adr("0128-D8-10", "0128-D8-11", "0128-D8-12")
def test_attempts_are_named(proved: Proved) -> None:
    names = proved[0].items[3].figures["names"]
    assert len(names) == len(set(names)) >= 100
    for word in ("unknown table", "a column the profile does not update", "generic UPDATE", "RETURNING"):
        assert any(word in name for name in names), word
    for word in ("REPLACE", "ATTACH", "a temporary table", "a new pool connection", "after a reconnect"):
        assert any(word in name for name in names), word


@pytest.mark.adr("0128-D8-13")
def test_two_principals(proved: Proved) -> None:
    names = proved[0].items[4].figures["names"]
    assert "a branch of another's session" in names
    assert "a message with a taken id" in names


@pytest.mark.adr("0128-D8-14", "0128-D8-15")
def test_both_moments_of_a_change(proved: Proved) -> None:
    assert proved[0].items[5].figures["moments"] == 2
    assert proved[0].items[5].figures["changes"] == 8


@pytest.mark.adr("0128-D8-16", "0128-D8-17")
def test_concurrency_says_its_figures_and_its_limits(proved: Proved) -> None:
    figures = proved[0].items[6].figures
    assert figures["limits"]["hold_max_ms"] == 10000
    assert 0 < figures["hold_p50_ms"] <= figures["hold_p99_ms"] <= figures["hold_max_ms"]
    assert figures["other_side_table"] == "tickets"
    assert figures["other_side_writes"] > 0
    assert (
        figures["other_side_wait_p99_ms"] > 0 and 0 <= figures["busy_rate"] <= 1 and figures["log_bytes"] > 0
    )
    assert figures["checkpoints"] > 0


def test_versions_are_named(proved: Proved) -> None:
    assert proved[0].items[7].figures["sqlite"] == sqlite3.sqlite_version


@pytest.mark.adr("0128-D8-19")
def test_kills_lose_nothing_that_was_acknowledged(proved: Proved) -> None:
    assert proved[0].items[8].figures["kills"] == 3
    assert proved[0].items[8].figures["acknowledged"] >= 3


def test_progress_names_every_item(proved: Proved) -> None:
    done = [step.item.number for step in proved[1] if step.item is not None]
    assert done == list(NAMES)
    assert proved[0].held
    assert proved[0].as_dict()["held"] is True


# -- each can fail ---------------------------------------------------------------------------------------


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    store = tmp_path / "desk.db"
    initialize(store, sample=True)
    with Scratch() as scratch:

        def make(**changed: Any) -> Bench:
            given: dict[str, Any] = {
                "profile": load_profile("acme-desk-fresh-run"),
                "owners": ("kim", "lee"),
                "readback": None,
                "limits": DEFAULTS,
                "seconds": 0.1,
                "scratch": scratch,
                "pristines": [scratch.take(locate(changed.pop("store", store)))],
                "tell": lambda _doing: None,
            }
            return Bench(**(given | changed))

        yield make


def said(item: Item, words: str) -> None:
    assert any(words in failure for failure in item.failures), item.failures


async def test_a_store_that_drifted_is_not_proved(bench: Callable[..., Bench], tmp_path: Path) -> None:
    drifted = tmp_path / "drifted.db"
    initialize(drifted)
    with closing(sqlite3.connect(drifted)) as connection:
        connection.execute("ALTER TABLE messages ADD COLUMN extra TEXT")
    said(await shapes(bench(store=drifted)), "column-extra")


async def test_a_store_in_use_is_copied_as_it_is_and_never_touched(
    bench: Callable[..., Bench], tmp_path: Path
) -> None:
    """Its manager has it open, with a log and a transaction begun: the committed state is proved on."""
    folder = tmp_path / "live"
    folder.mkdir()
    live = folder / "live.db"
    initialize(live, sample=True)
    with closing(sqlite3.connect(live, isolation_level=None)) as manager:
        manager.execute("UPDATE sessions SET name = 'committed' WHERE id = 'lee-sess'")
        manager.execute("BEGIN IMMEDIATE")
        manager.execute("UPDATE sessions SET name = 'not yet' WHERE id = 'lee-sess'")
        before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
        assert {"live.db", "live.db-wal", "live.db-shm"} == set(before)
        made = bench(store=live)
        item = await shapes(made)
        after = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
        manager.execute("ROLLBACK")
    assert item.failures == () and after == before
    with closing(sqlite3.connect(made.pristines[0].path)) as copy:
        assert copy.execute("SELECT name FROM sessions WHERE id = 'lee-sess'").fetchall() == [("committed",)]


async def test_a_readback_that_shows_something_else(bench: Callable[..., Bench], tmp_path: Path) -> None:
    script = tmp_path / "lies.py"
    script.write_text('print(\'{"status": "running", "messages": 1}\')')
    item = await lifecycle(bench(readback=Readback(f"{sys.executable} -S {script}")))
    said(item, "status is shown as 'running'")


async def test_a_row_of_others_that_changes(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = keeping.record

    async def clumsy(db: Any, owner: Any, ending: str, path: Path, **more: Any) -> Any:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("UPDATE sessions SET name = 'taken' WHERE id = 'lee-sess'")
        return await record(db, owner, ending, path, **more)

    monkeypatch.setattr(keeping, "record", clumsy)
    monkeypatch.setattr(keeping, "ENDINGS", ("completed",))
    said(await keeping.kept(bench()), "sessions: the row lee-sess was changed")


async def test_an_attempt_that_is_not_refused(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempting, "_statements", lambda _bench: iter([("a plain read", "SELECT 1")]))
    item = await attempting.attempts(bench())
    said(item, "execute: a plain read: it was not refused")
    said(item, "transaction: a plain read: it was not refused")


async def test_one_principal_is_not_two(bench: Callable[..., Bench]) -> None:
    said(await ownership(bench(owners=("kim",))), "--owner2")


async def test_two_principals_that_are_one(bench: Callable[..., Bench]) -> None:
    """A second run of the same owner is still another run: nothing it names is its own."""
    assert (await ownership(bench(owners=("kim", "kim")))).held


async def test_changes_that_are_taken_for_the_other_kind(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    harmless, refusing = changing._harmless(), changing._refusing(bench())
    first = dict([next(iter(refusing.items()))])
    monkeypatch.setattr(changing, "_refusing", lambda _bench: harmless)
    monkeypatch.setattr(changing, "_harmless", lambda: first)
    item = await changing.changes(bench())
    said(item, "a table is added beside the closure, before the first write: it was not refused")
    said(item, "a column is added to the closure, between two writes: it was refused")


@pytest.mark.adr("0128-D8-17")
@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(hold_p50_ms=0), "hold_p50_ms is"),
        (Limits(hold_max_ms=0), "hold_max_ms is"),
        (Limits(log_bytes=0), "log_bytes is"),
        (Limits(messages=10**9), "messages were recorded"),
    ],
)
async def test_a_limit_that_is_passed(bench: Callable[..., Bench], limits: Limits, words: str) -> None:
    said(await concurrency(bench(limits=limits)), words)


async def test_the_hold_is_all_the_time_under_the_lock(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guard's own questions belong to it: they are asked while the lock is held."""
    check = SameStore.check

    def slow(store: SameStore) -> None:
        time.sleep(0.02)
        check(store)

    monkeypatch.setattr(SameStore, "check", slow)
    item = await concurrency(bench())
    assert item.figures["hold_p50_ms"] >= 20


async def test_an_acknowledged_message_that_is_gone(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = recovering._killed

    async def boasting(*arguments: Any) -> list[str]:
        return [*await killed(*arguments), "one-more", "and-another"]

    monkeypatch.setattr(recovering, "_killed", boasting)
    monkeypatch.setattr(recovering, "_KILLS", 1)
    said(await recovering.recovery(bench()), "its order does not begin with them")


async def test_a_proof_needs_a_store() -> None:
    with pytest.raises(ValueError, match="needs a store"):
        await prove(Asked(load_profile("acme-desk-fresh-run"), ()))


async def test_cancelled_it_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = tmp_path / "store" / "desk.db"
    store.parent.mkdir()
    initialize(store, sample=True)
    begun = asyncio.Event()
    asked = Asked(load_profile("acme-desk-fresh-run"), (locate(store),), ("kim", "lee"))
    task = asyncio.create_task(prove(asked, lambda step: begun.set() if step.number == 2 else None))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
