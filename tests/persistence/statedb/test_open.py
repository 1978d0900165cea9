"""Opening and closing a handle: what it proves, what it refuses, what it never makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import persistence
from persistence import Mode, StateDB, StoreError, StoreMissingError, locate
from persistence.errors import __all__ as error_names
from tests.persistence.stores import make_store, marks_of


async def test_an_open_handle_reads_and_says_how(tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db")
    db = StateDB(path)
    assert not db.is_open and db.last_read is None
    async with db:
        assert db.is_open
        assert db.mode is Mode.READ_ONLY
        assert db.location.path == bytes(path)
        assert db.last_read is not None
        assert await db.token() == await db.token()
    assert not db.is_open


async def test_a_missing_store_is_said_and_nothing_is_made(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "no" / "such" / "state.db")
    with pytest.raises(StoreMissingError) as caught:
        await db.open()
    assert caught.value.exit_status == 4
    assert not db.is_open
    assert list(tmp_path.iterdir()) == []


async def test_a_closed_handle_says_so(tmp_path: Path) -> None:
    db = StateDB(make_store(tmp_path / "state.db"))
    with pytest.raises(StoreError) as caught:
        await db.get_session("x")
    assert caught.value.code == "not-open"
    async with db:
        assert await db.get_session("x") is None
    with pytest.raises(StoreError):
        await db.catalogue()


async def test_closing_twice_and_opening_again(tmp_path: Path) -> None:
    db = StateDB(make_store(tmp_path / "state.db"))
    await db.close()
    await db.open()
    assert await db.open() is db
    await db.close()
    await db.close()
    async with db:
        assert await db.list_sessions() == []


async def test_a_profile_that_is_none_opens_nothing(tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db")
    before = marks_of(path)
    db = StateDB(path, profile="no-such-profile-anywhere", owner="kim")
    with pytest.raises(StoreError) as caught:
        await db.open()
    assert caught.value.code == "no-such-profile"
    assert not db.is_open and db.admission is None and db.committed == {}
    assert marks_of(path) == before


def test_the_modes_that_contradict_what_is_passed(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with pytest.raises(ValueError, match="native open takes none"):
        StateDB(path, mode=Mode.NATIVE, profile="acme-desk")
    with pytest.raises(ValueError, match="needs a profile"):
        StateDB(path, mode=Mode.COMPATIBILITY)
    with pytest.raises(ValueError, match="owner"):
        StateDB(path, owner="kim")
    with pytest.raises(ValueError, match="not-a-mode"):
        StateDB(path, mode="not-a-mode")  # type: ignore[arg-type]
    assert StateDB(path, profile="acme-desk").mode is Mode.COMPATIBILITY
    assert StateDB(path, mode=Mode("read-only")).mode is Mode.READ_ONLY


def test_a_location_is_taken_as_it_is(tmp_path: Path) -> None:
    location = locate(tmp_path / "state.db")
    assert StateDB(location).location is location


@pytest.mark.parametrize("name", ["StateDB", "Mode", "locate", "StoreLocation", *error_names])
def test_the_package_exports(name: str) -> None:
    assert name in dir(persistence)
    assert getattr(persistence, name).__name__ == name


def test_type_checkers_see_every_export() -> None:
    declared = Path(persistence.__file__).read_text("utf-8")
    for name in ("StateDB", "Mode", "locate", "StoreLocation", *error_names):
        assert f" import {name} as {name}\n" in declared, name


def test_the_package_exports_nothing_else() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Reader'"):
        _ = persistence.Reader


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import persistence", "sqlalchemy persistence.errors asyncio sqlite3"),
        ("from persistence import Mode, locate, StoreMissingError", "sqlalchemy asyncio sqlite3"),
        ("from persistence import StateDB", "textual rich click inspector"),
    ],
)
def test_what_importing_costs(code: str, unwanted: str) -> None:
    probe = f"import sys; {code}; print(*(m for m in {unwanted.split()!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
