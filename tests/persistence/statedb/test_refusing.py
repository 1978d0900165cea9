"""A read-only store refuses every write, before anything else happens."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from persistence import ReadOnlyStoreError, StateDB
from persistence.writing.surface import RecordWrites, StoreWrites
from tests.persistence.stores import make_store, marks_of

WRITES = [
    name
    for surface in (RecordWrites, StoreWrites)
    for name, value in vars(surface).items()
    if not name.startswith("_") and inspect.isfunction(value)
]

# ADR-0055 D1 to D5, by name.
OF_THE_CONTRACT = {
    "append_to_progression",
    "create_branch",
    "create_invocation",
    "create_progression",
    "create_schedule_run",
    "create_session",
    "execute",
    "insert_admin_event",
    "insert_artifact",
    "insert_message",
    "save_definition",
    "transaction",
    "update_artifact_verification",
}


def _nonsense(method: Any) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of the wrong types for everything the signature requires."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in inspect.signature(method).parameters.values():
        if parameter.default is not parameter.empty or parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = object()
        else:
            positional.append(object())
    return positional, named


def test_the_contract_s_writes_are_there() -> None:
    assert set(WRITES) >= OF_THE_CONTRACT
    assert len(WRITES) == len(set(WRITES))
    assert all(hasattr(StateDB, name) for name in WRITES)


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("name", WRITES)
async def test_every_write_is_refused(tmp_path: Path, name: str, opened: bool) -> None:
    path = make_store(tmp_path / "state.db")
    before = marks_of(path)
    db = StateDB(path)
    if opened:
        await db.open()
    method = getattr(db, name)
    positional, named = _nonsense(method)
    try:
        with pytest.raises(ReadOnlyStoreError) as caught:
            answer = method(*positional, **named)
            if inspect.isawaitable(answer):
                await answer
        assert caught.value.code == "read-only"
        assert name in caught.value.message
        assert caught.value.committed == ()
    finally:
        await db.close()
    assert marks_of(path) == before


async def test_a_store_that_does_not_exist_is_not_made_by_a_write(tmp_path: Path) -> None:
    with pytest.raises(ReadOnlyStoreError):
        await StateDB(tmp_path / "no" / "state.db").create_session({})
    assert list(tmp_path.iterdir()) == []


async def test_no_method_asks_which_mode_it_is_in() -> None:
    for surface in (RecordWrites, StoreWrites):
        source = inspect.getsource(surface)
        assert "mode is" not in source and "Mode" not in source
