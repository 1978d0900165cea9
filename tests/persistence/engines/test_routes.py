"""The table of DESIGN 3.1, row by row: what state, what opening, what answer, and no trace of any."""

from __future__ import annotations

import os
import random
import shutil
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from persistence import files, filesystems
from persistence.engines import direct, routes
from persistence.engines.routes import Answer
from persistence.errors import (
    BusyError,
    NotAStoreError,
    StoreDamagedError,
    StoreError,
    StoreMissingError,
)
from persistence.location import locate
from persistence.records import ReadInfo, Route
from tests.persistence.engines.states import (
    ROWS,
    beside,
    crashed_log,
    flip,
    hot_journal,
    make,
    traces,
    writer,
)

FRAME = 24 + 4096


def count(path: Path, deadline: float = 10.0) -> tuple[int, ReadInfo]:
    """How many rows of `t` are seen, and how they were read; everything must be as it was after."""
    before = traces(path.parent)
    try:
        return direct.read(
            locate(path), lambda c: int(c.execute("SELECT count(*) FROM t").fetchone()[0]), deadline=deadline
        )
    finally:
        assert traces(path.parent) == before


def refused(path: Path) -> StoreError:
    folder = path.parent if path.parent.is_dir() else path.parent.parent
    before = traces(folder)
    with pytest.raises(StoreError) as caught:
        direct.read(locate(path), lambda c: c.execute("SELECT 1 FROM sqlite_master").fetchall())
    assert traces(folder) == before
    return caught.value


# -- no store at all ---------------------------------------------------------------------------------


def test_no_such_file(tmp_path: Path) -> None:
    assert isinstance(refused(tmp_path / "s.db"), StoreMissingError)
    assert isinstance(refused(tmp_path / "none" / "s.db"), StoreMissingError)
    (tmp_path / "file").touch()
    assert isinstance(refused(tmp_path / "file" / "s.db"), StoreMissingError)
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    assert "gone" in (refused(tmp_path / "link").observed or "")
    assert not (tmp_path / "gone").exists() and not (tmp_path / "none").exists()


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket"))
        for name, kind in (("folder", "a directory"), ("pipe", "a pipe"), ("socket", "a socket")):
            refusal = refused(tmp_path / name)
            assert isinstance(refusal, NotAStoreError) and refusal.observed == kind
    with pytest.raises(NotAStoreError, match="a device"):
        direct.read(locate("/dev/null"), lambda c: c)


def test_a_directory_with_a_store_in_it_says_so(tmp_path: Path) -> None:
    make(tmp_path / "state.db", "delete")
    assert "state.db" in (refused(tmp_path).remedy or "")


def test_links_that_lead_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert isinstance(refused(tmp_path / "a"), NotAStoreError | StoreMissingError)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"hello\n", "a text file"),
        (b"\x1f\x8b" + bytes(99), "gzip"),
        (bytes(8) + b"DUCK" + bytes(99), "DuckDB"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git-LFS"),
        (random.Random(1).randbytes(4096), "encrypted"),
        (b"SQLite format 2\0" + bytes(100), "another kind"),
    ],
    ids=["text", "gzip", "duckdb", "lfs", "encrypted", "almost"],
)
def test_what_is_no_database_says_what_it_looks_like(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "s.db").write_bytes(content)
    refusal = refused(tmp_path / "s.db")
    assert isinstance(refusal, NotAStoreError) and words in refusal.message


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "s.db").touch()
    before = traces(tmp_path)
    tables, info = direct.read(
        locate(tmp_path / "s.db"), lambda c: c.execute("SELECT * FROM sqlite_master").fetchall()
    )
    assert (tables, info.route) == ([], Route.EMPTY)
    assert traces(tmp_path) == before


# -- rollback format ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["delete", "truncate", "persist"])
def test_a_rollback_store_at_rest_is_read_live(tmp_path: Path, mode: str) -> None:
    rows, info = count(make(tmp_path / "s.db", mode))
    assert (rows, info.route, info.notices) == (ROWS, Route.LIVE, ())


@pytest.mark.parametrize("mode", ["delete", "truncate", "persist"])
def test_beside_a_writer_in_a_transaction_the_old_rows_show(tmp_path: Path, mode: str) -> None:
    store = make(tmp_path / "s.db", mode)
    with writer(store, "BEGIN IMMEDIATE", "DELETE FROM t") as other:
        assert count(store)[0] == ROWS
        other.do("COMMIT")
        rows, info = count(store)
        assert (rows, info.route) == (0, Route.LIVE)


def test_beside_a_writer_that_holds_everything_it_is_busy(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db", "delete")
    with writer(store, "BEGIN EXCLUSIVE") as other:
        with pytest.raises(BusyError) as caught:
            count(store, deadline=0.1)
        assert "corrupt" not in caught.value.message and caught.value.exit_status == 4
        other.do("COMMIT")
        assert count(store)[0] == ROWS


def test_busy_is_waited_out(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db", "delete")
    with writer(store, "BEGIN EXCLUSIVE") as other:
        import threading

        timer = threading.Timer(0.15, other.do, ("COMMIT",))
        timer.start()
        rows, _ = direct.read(locate(store), lambda c: c.execute("SELECT count(*) FROM t").fetchone()[0])
        timer.join()
        assert rows == ROWS


@pytest.mark.parametrize("mode", ["delete", "truncate", "persist"])
def test_a_crashed_writers_journal_is_rolled_back_on_a_copy(tmp_path: Path, mode: str) -> None:
    store = hot_journal(tmp_path / "s.db", mode)
    before = traces(tmp_path)
    (rows, half_done), info = direct.read(
        locate(store),
        lambda c: c.execute("SELECT count(*), sum(b LIKE 'half%') FROM t").fetchone(),
    )
    assert (rows, half_done, info.route) == (ROWS, 0, Route.COPY)
    assert traces(tmp_path) == before


def test_a_log_beside_a_rollback_store_is_read_by_copy(tmp_path: Path) -> None:
    logged = crashed_log(tmp_path / "other.db", commits=3)
    store = make(tmp_path / "s.db", "delete")
    shutil.copy(beside(logged, "-wal"), beside(store, "-wal"))
    assert count(store)[1].route is Route.COPY
    beside(store, "-wal").write_bytes(b"")
    rows, info = count(store)
    assert (rows, info.route) == (ROWS, Route.COPY)


# -- WAL format --------------------------------------------------------------------------------------


def test_a_wal_store_at_rest_is_settled(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    rows, info = count(store)
    assert (rows, info.route, info.notices) == (ROWS, Route.SETTLED, ())
    beside(store, "-wal").touch()
    assert count(store)[1].route is Route.SETTLED


def test_beside_an_idle_connection_it_is_settled(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    with writer(store, "SELECT count(*) FROM t"):
        assert beside(store, "-wal").stat().st_size == 0
        assert count(store)[1].route is Route.SETTLED


def test_a_writers_log_is_read_through_its_index(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    with writer(store, "PRAGMA wal_autocheckpoint=0") as other:
        for number in range(5):
            other.do(f"INSERT INTO t VALUES ({1000 + number}, 'new')")
            rows, info = count(store)
            assert (rows, info.route, info.notices) == (ROWS + number + 1, Route.LIVE_LOG, ())
        other.do("BEGIN IMMEDIATE")
        other.do("DELETE FROM t")
        assert count(store)[0] == ROWS + 5


def test_a_crashed_writers_log_is_read_through_the_index_it_left(tmp_path: Path) -> None:
    rows, info = count(crashed_log(tmp_path / "s.db", commits=5))
    assert (rows, info.route, info.notices) == (ROWS + 5, Route.LIVE_LOG, ())


def test_a_log_without_an_index_is_folded_in_on_a_copy(tmp_path: Path) -> None:
    store = crashed_log(tmp_path / "s.db", commits=5)
    beside(store, "-shm").unlink()
    rows, info = count(store)
    assert (rows, info.route, info.notices) == (ROWS + 5, Route.COPY, ())


def test_a_wal_store_with_a_hot_journal_is_read_by_copy(tmp_path: Path) -> None:
    other = hot_journal(tmp_path / "other.db")
    store = make(tmp_path / "s.db")
    shutil.copy(beside(other, "-journal"), beside(store, "-journal"))
    sight = routes.look(os.fsencode(store), "s.db")
    assert sight.hot and routes.opening(sight).route is Route.COPY
    before = traces(tmp_path)
    info = direct.read(locate(store), lambda c: c.execute("SELECT 1").fetchone())[1]
    assert info.route is Route.COPY and traces(tmp_path) == before


def test_a_zeroed_journal_beside_a_wal_store_means_nothing(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    beside(store, "-journal").write_bytes(bytes(512))
    assert count(store)[1].route is Route.SETTLED


# -- file systems, names -----------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_where_stat_cannot_be_trusted_it_is_read_by_copy(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filesystems, "untrusted", lambda path, device: "NFS")
    store = make(tmp_path / "s.db", mode)
    rows, info = count(store)
    assert (rows, info.route) == (ROWS, Route.COPY)
    assert "NFS" in routes.opening(routes.look(os.fsencode(store), "s.db")).reason


def test_this_file_system_is_trusted(tmp_path: Path) -> None:
    make(tmp_path / "s.db")
    assert filesystems.untrusted(os.fsencode(tmp_path / "s.db"), tmp_path.stat().st_dev) is None


def test_a_path_longer_than_sqlite_opens_is_read_by_copy(tmp_path: Path) -> None:
    folder = tmp_path
    while len(os.fsencode(folder)) < 520:
        folder = folder / ("d" * 100)
        folder.mkdir()
    shutil.copy(make(tmp_path / "s.db"), folder / "s.db")
    rows, info = count(folder / "s.db")
    assert (rows, info.route) == (ROWS, Route.COPY)


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_second_name_is_told(tmp_path: Path, mode: str) -> None:
    store = make(tmp_path / "s.db", mode)
    os.link(store, tmp_path / "second.db")
    rows, info = count(tmp_path / "second.db")
    assert rows == ROWS and [notice.code for notice in info.notices] == ["second-name"]


def test_a_links_sidecars_lie_beside_the_file(tmp_path: Path) -> None:
    """As SQLite resolves it: what lies beside the link is not looked at."""
    (tmp_path / "real").mkdir()
    store = crashed_log(tmp_path / "real" / "s.db", commits=4)
    (tmp_path / "link.db").symlink_to(store)
    before = traces(tmp_path / "real")
    rows, info = count(tmp_path / "link.db")
    assert (rows, info.route) == (ROWS + 4, Route.LIVE_LOG)
    assert traces(tmp_path / "real") == before


# -- contradictions (DECISIONS 18) -------------------------------------------------------------------


def codes(path: Path) -> tuple[Route, list[str]]:
    before = traces(path.parent)
    info = direct.read(locate(path), lambda c: c.execute("SELECT count(*) FROM sqlite_master").fetchone())[1]
    assert traces(path.parent) == before
    return info.route, [notice.code for notice in info.notices]


def test_a_log_whose_header_is_not_valid(tmp_path: Path) -> None:
    store = crashed_log(tmp_path / "s.db")
    flip(beside(store, "-wal"), 10)
    assert codes(store) == (Route.COPY, ["log-header"])
    assert count(store)[0] == ROWS


@pytest.mark.parametrize("index", [True, False])
def test_a_log_that_breaks_off_before_two_commits(tmp_path: Path, index: bool) -> None:
    store = crashed_log(tmp_path / "s.db", commits=5)
    if not index:
        beside(store, "-shm").unlink()
    flip(beside(store, "-wal"), 32 + 2 * FRAME + 500)
    assert codes(store) == (Route.COPY, ["log-broken"])
    assert count(store)[0] == ROWS + 2


def test_a_torn_last_transaction_is_normal_and_said(tmp_path: Path) -> None:
    store = crashed_log(tmp_path / "s.db", unfinished=True)
    route, said = codes(store)
    assert said == ["log-torn"] and route is Route.LIVE_LOG
    assert count(store)[0] == ROWS + 5


def test_a_zero_byte_file_beside_a_log_or_journal(tmp_path: Path) -> None:
    store = crashed_log(tmp_path / "s.db")
    store.write_bytes(b"")
    assert codes(store) == (Route.COPY, ["empty-beside"])
    other = hot_journal(tmp_path / "other.db")
    other.write_bytes(b"")
    assert codes(other) == (Route.COPY, ["empty-beside"])


def test_a_journal_that_is_too_short(tmp_path: Path) -> None:
    store = hot_journal(tmp_path / "s.db")
    journal = beside(store, "-journal")
    journal.write_bytes(journal.read_bytes()[: files.journal_facts(os.fsencode(journal)).promised - 1])
    assert codes(store) == (Route.COPY, ["journal-short"])


def test_a_torn_first_page_is_mended_by_its_journal(tmp_path: Path) -> None:
    store = hot_journal(tmp_path / "s.db")
    data = bytearray(store.read_bytes())
    data[:100] = bytes(100)
    store.write_bytes(data)
    assert codes(store) == (Route.COPY, ["no-header"])
    assert count(store)[0] == ROWS


def test_a_sidecar_that_is_no_file(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    beside(store, "-wal").mkdir()
    refusal = refused(store)
    assert isinstance(refusal, StoreDamagedError) and refusal.code == "odd-sidecar"


def test_no_remedy_advises_deleting(tmp_path: Path) -> None:
    words = Path(routes.__file__).read_text() + Path(files.__file__).read_text()
    for word in ("delete it", "remove it", "rebuild", "recreate", "erase"):
        assert word not in words


# -- answers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("route", "error", "moved", "expected"),
    [
        (Route.LIVE, "SQLITE_BUSY", False, Answer.WAIT),
        (Route.LIVE, "SQLITE_READONLY_ROLLBACK", False, Answer.COPY),
        (Route.LIVE, "SQLITE_READONLY_RECOVERY", False, Answer.AGAIN),
        (Route.LIVE, "SQLITE_CANTOPEN", False, Answer.AGAIN),
        (Route.LIVE, "SQLITE_IOERR_LOCK", False, Answer.COPY),
        (Route.LIVE, "SQLITE_CORRUPT", False, Answer.RAISE),
        (Route.LIVE, "SQLITE_CORRUPT", True, Answer.AGAIN),
        (Route.LIVE, "SQLITE_ERROR", True, Answer.RAISE),
        (Route.LIVE_LOG, "SQLITE_BUSY_RECOVERY", False, Answer.WAIT),
        (Route.LIVE_LOG, "SQLITE_READONLY_CANTINIT", False, Answer.AGAIN),
        (Route.LIVE_LOG, "SQLITE_READONLY_DIRECTORY", False, Answer.AGAIN),
        (Route.LIVE_LOG, "SQLITE_PROTOCOL", False, Answer.AGAIN),
        (Route.LIVE_LOG, "SQLITE_NOTADB", False, Answer.RAISE),
        (Route.SETTLED, "SQLITE_CORRUPT", True, Answer.AGAIN),
        (Route.SETTLED, "SQLITE_CORRUPT", False, Answer.RAISE),
        (Route.SETTLED, "SQLITE_IOERR_SHORT_READ", True, Answer.AGAIN),
        (Route.COPY, "SQLITE_BUSY", True, Answer.RAISE),
    ],
)
def test_what_an_answer_means(route: Route, error: str, moved: bool, expected: Answer) -> None:
    assert routes.answer(route, error, moved=moved) is expected


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_an_opening_counts_only_after_a_real_read(tmp_path: Path, mode: str) -> None:
    """Byte 16 on: a header that begins well and holds nonsense is found by reading, not by connecting."""
    store = make(tmp_path / "s.db", mode)
    data = bytearray(store.read_bytes())
    data[100:4096] = b"\xff" * 3996
    store.write_bytes(data)
    refusal = refused(store)
    assert isinstance(refusal, StoreDamagedError)
    assert "SQLITE_CORRUPT" in (refusal.observed or "")


OPENINGS: dict[str, Callable[[Path], Path]] = {
    "live": lambda path: make(path, "delete"),
    "settled": make,
    "live log": crashed_log,
    "copy": hot_journal,
}


@pytest.mark.parametrize("word", OPENINGS)
def test_what_is_read_is_what_sqlite_would_give(tmp_path: Path, word: str) -> None:
    store = OPENINGS[word](tmp_path / "s.db")
    query = "SELECT count(*), sum(a), group_concat(b) FROM t"
    ours, info = direct.read(locate(store), lambda c: c.execute(query).fetchone())
    assert info.route.value == word
    oracle = sqlite3.connect(store)  # recovers it for good: last
    assert oracle.execute(query).fetchone() == ours
    oracle.close()
