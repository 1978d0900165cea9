"""ADR-0128 A.4: each operation's statements, its refusals, and its rollback, on a store acme-desk manages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from persistence import StateCompatibilityRefused, StateDB
from persistence.engines.statements import Statement, Steps
from persistence.writing.compatibility.manifest import OPERATIONS, book_of
from tests.managed import ALL, Spied, dump, live, message, profile_of, stamps

Ask = Callable[[StateDB], Awaitable[Any]]


def signal(db: StateDB, session: str) -> Awaitable[int]:
    return db.insert_session_signal(session_id=session, kind="k", ts=1.0, payload={"n": 1})


def status(db: StateDB, session: str) -> Awaitable[bool]:
    return db.update_status("session", session, new_status="completed", reason_code="run.completed.ok")


CALLS: dict[str, Ask] = {
    "create_progression": lambda db: db.create_progression("new", ["m"]),
    "create_session": lambda db: db.create_session(
        {"id": "new", "progression_id": "sp", "status": "running", "invocation_id": "kim-inv"}
    ),
    "insert_message": lambda db: db.insert_message(message("new", lion_class_str="acme.New")),
    "create_branch": lambda db: db.create_branch({"id": "new", "session_id": "s", "progression_id": "bp"}),
    "persist_live_message": lambda db: live(db, "new", system_branch_id="b"),
    "append_to_progression": lambda db: db.append_to_progression("bp", "m2"),
    "insert_messages": lambda db: db.insert_messages(
        [message("new"), message("new2")], progression_ids=["bp"], session_id="s"
    ),
    "insert_session_signal": lambda db: signal(db, "s"),
    "update_session": lambda db: db.update_session(
        "s", name="n", node_metadata={"a": 1}, status="completed", reason_code="run.completed.ok"
    ),
    "update_artifact_verification": lambda db: db.update_artifact_verification("s", {"status": "passed"}),
    "merge_session_node_metadata": lambda db: db.merge_session_node_metadata("s", {"error": "x"}),
    "set_session_user_label": lambda db: db.set_session_user_label("s", "mine"),
    "update_status": lambda db: status(db, "s"),
    "update_branch": lambda db: db.update_branch("b", name="n", system_msg_id="m"),
    "finalize_branch": lambda db: db.finalize_branch("b", status="completed"),
}
FOREIGN: dict[str, tuple[Ask, ...]] = {
    "create_progression": (
        lambda db: db.create_progression("lee-prog"),
        lambda db: db.create_progression("kim-old-prog"),
        lambda db: db.create_progression("new", ["lee-msg"]),
    ),
    "create_session": (
        lambda db: db.create_session({"id": "lee-sess", "progression_id": "sp"}),
        lambda db: db.create_session({"id": "kim-old-sess", "progression_id": "sp"}),
        lambda db: db.create_session({"id": "new", "progression_id": "lee-prog"}),
    ),
    "insert_message": (lambda db: db.insert_message(message("lee-msg")),),
    "create_branch": (
        lambda db: db.create_branch({"id": "lee-branch", "session_id": "s", "progression_id": "bp"}),
        lambda db: db.create_branch({"id": "new", "session_id": "lee-sess", "progression_id": "bp"}),
    ),
    "persist_live_message": (
        lambda db: live(db, "lee-msg"),
        lambda db: live(db, "new", session_id="lee-sess"),
    ),
    "append_to_progression": (
        lambda db: db.append_to_progression("lee-prog", "m"),
        lambda db: db.append_to_progression("bp", "lee-msg"),
    ),
    "insert_messages": (
        lambda db: db.insert_messages([message("new"), message("lee-msg")]),
        lambda db: db.insert_messages([message("new")], progression_ids=["lee-prog"]),
        lambda db: db.insert_messages([message("new")], session_id="lee-sess"),
    ),
    "insert_session_signal": (lambda db: signal(db, "lee-sess"),),
    "update_session": (
        lambda db: db.update_session("lee-sess", name="n"),
        lambda db: db.update_session("s", last_msg_id="lee-msg"),
    ),
    "update_artifact_verification": (lambda db: db.update_artifact_verification("lee-sess", {}),),
    "merge_session_node_metadata": (lambda db: db.merge_session_node_metadata("lee-sess", {"a": 1}),),
    "set_session_user_label": (lambda db: db.set_session_user_label("lee-sess", "mine"),),
    "update_status": (lambda db: status(db, "lee-sess"),),
    "update_branch": (
        lambda db: db.update_branch("lee-branch", name="n"),
        lambda db: db.update_branch("b", system_msg_id="lee-msg"),
    ),
    "finalize_branch": (lambda db: db.finalize_branch("lee-branch", status="completed"),),
}


@pytest.fixture
async def ready(run: StateDB) -> StateDB:
    """A run with a message beside it that no progression lists."""
    await run.insert_message(message("m2"))
    return run


def test_every_operation_has_its_calls() -> None:
    assert set(CALLS) == set(FOREIGN) == set(OPERATIONS)


@pytest.mark.adr("0128-A4-01")
@pytest.mark.parametrize("name", ALL)
async def test_the_statements_it_runs_are_those_it_declares(name: str, ready: StateDB, spied: Spied) -> None:
    spied.clear()
    await CALLS[name](ready)
    book = book_of(profile_of())
    entries = {entry.text: entry for _, entry in book.entries(OPERATIONS[name])}
    assert {operation for operation, _ in spied.texts} == {name}
    ran = spied.of(name)
    assert set(ran) <= set(entries)
    assert [text for text in ran if entries[text].verb != "select"], "it writes"
    always = {
        entry.text
        for spec, entry in book.entries(OPERATIONS[name])
        if spec in OPERATIONS[name].writes and entry.verb == "insert" and spec.when is None
    }
    assert always <= set(ran)


@pytest.mark.adr("0128-A4-02", "0128-D5-07", "0128-D3-15")
@pytest.mark.parametrize("name", ALL)
async def test_an_existing_id_or_a_foreign_row_refuses(name: str, ready: StateDB, desk: Path) -> None:
    before, written = dump(desk), stamps(desk)
    for ask in FOREIGN[name]:
        with pytest.raises(StateCompatibilityRefused) as caught:
            await ask(ready)
        error = caught.value
        assert error.operation == name and error.profile == profile_of().identity
        assert error.committed == () and error.message and error.remedy
    assert dump(desk) == before and stamps(desk) == written
    await CALLS[name](ready)  # and the handle goes on


FORBIDDEN = Statement(lambda _: text("UPDATE tickets SET subject = 'mine'"))


class Denying:
    """An engine whose every operation is followed, in its own transaction, by a statement that is denied."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    async def run(self, operation: str, steps: Callable[[], Steps[Any]], **named: Any) -> Any:
        def more() -> Steps[Any]:
            answer = yield from steps()
            yield FORBIDDEN()
            return answer

        return await self._engine.run(operation, more, **named)


@pytest.mark.adr("0128-A4-03", "0128-D3-22", "0128-D8-12")
@pytest.mark.parametrize("name", ALL)
async def test_it_is_rolled_back_when_a_later_statement_is_denied(
    name: str, ready: StateDB, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, committed = dump(desk), ready.committed
    writer: Any = ready._writer
    with monkeypatch.context() as patch:
        patch.setattr(writer, "_engine", Denying(writer._engine))
        with pytest.raises(StateCompatibilityRefused) as caught:
            await CALLS[name](ready)
    assert caught.value.operation == name
    assert dump(desk) == before and ready.committed == committed
    await CALLS[name](ready)  # its rows are not taken for this run's, and the handle goes on
    assert dump(desk) != before
