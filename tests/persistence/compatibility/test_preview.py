"""The preview of an operation: the statements that are run, before any store is opened."""

from __future__ import annotations

from typing import Any

import pytest

from persistence import StateCompatibilityRefused, StateDB, ValueRefusedError
from persistence.writing.compatibility.manifest import OPERATIONS
from persistence.writing.compatibility.preview import Later, OperationPreview, preview
from tests.acceptance.test_adr_0128_a4 import CALLS
from tests.managed import ALL, Spied, message, profile_of


class Previewing:
    """Takes the facade's calls, and keeps their previews."""

    def __init__(self) -> None:
        self.shown: list[OperationPreview] = []

    def __getattr__(self, operation: str) -> Any:
        def ask(*arguments: Any, **named: Any) -> Any:
            async def one() -> None:
                self.shown.append(preview(profile_of(), "kim", operation, *arguments, **named))

            return one()

        return ask


@pytest.fixture
async def ready(run: StateDB) -> StateDB:
    await run.insert_message(message("m2"))
    return run


@pytest.mark.parametrize("name", ALL)
async def test_what_is_shown_is_what_is_run(name: str, ready: StateDB, spied: Spied) -> None:
    previewing = Previewing()
    await CALLS[name](previewing)  # type: ignore[arg-type]
    (shown,) = previewing.shown
    spied.clear()
    await CALLS[name](ready)
    ran = spied.of(name)
    always = [one.text for one in shown.statements if one.when is None]
    left = iter(ran)
    assert all(text in left for text in always), "in this order, whatever is between"
    assert set(ran) <= {one.text for one in shown.statements}
    assert shown.operation == name and shown.transaction in shown.commits
    assert shown.requires == tuple(rule.says for rule in OPERATIONS[name].requires)
    for one in shown.statements:
        assert set(one.parameters) or "?" not in one.text
        if one.verb != "select" and one.table != "message_types" and one.when is None:
            assert one.parameters["owner"] == "kim"


def test_values_known_only_then_are_marked() -> None:
    shown = preview(
        profile_of(), "kim", "insert_session_signal", session_id="s", kind="k", ts=1.0, payload={"a": 1}
    )
    values = shown.statements[-1].parameters
    assert values["v_seq"] == Later("the session's next number") and values["v_payload"] == '{"a": 1}'
    shown = preview(profile_of(), "kim", "insert_message", message("m"))
    added = {one.table: one for one in shown.statements if one.verb == "insert"}
    assert added["message_types"].when and isinstance(added["messages"].parameters["v_lion_class"], Later)
    number = preview(profile_of(), "kim", "insert_message", {"id": "m", "content": {}, "role": "user"})
    assert next(one.parameters["v_lion_class"] for one in number.statements if one.table == "messages") == 0
    merged = preview(profile_of(), "kim", "update_session", "s", node_metadata={"a": 1}, num_turns=1)
    (update,) = [one for one in merged.statements if one.verb == "update" and one.when is None]
    assert isinstance(update.parameters["v_node_metadata"], Later)
    assert (update.parameters["v_num_turns"], update.parameters["g_input_tokens"]) == (1, 0)


def test_a_preview_refuses_what_the_operation_refuses() -> None:
    with pytest.raises(ValueRefusedError):
        preview(profile_of(), "kim", "insert_message", {"id": "m", "role": "user"})
    with pytest.raises(StateCompatibilityRefused, match="order of a progression"):
        preview(profile_of(), "kim", "set_progression", "p", [])
    with pytest.raises(StateCompatibilityRefused):
        preview(profile_of(), "kim", "create_session", {"id": "s", "progression_id": "p", "owner_id": "lee"})
    with pytest.raises(StateCompatibilityRefused):
        preview(profile_of("create_progression"), "kim", "create_session", {})
