"""A server at the gate: no profile lets it in, and that is said at once, in the app and by command."""

from __future__ import annotations

from pathlib import Path

import pytest

from persistence.errors import StoreError
from tests.inspector.actions.managed import entries
from tests.inspector.cli.conftest import Command, command
from tests.inspector.driving import driven, screen_text
from tests.inspector.gate.gates import place_of, press
from tests.inspector.server.conftest import Twins

__all__ = ["command"]


async def test_an_action_on_a_server_is_refused_as_soon_as_a_profile_is_named(
    twins: Twins, own_places: Path
) -> None:
    async with driven(twins.url, "actions", allow_writes=True) as pilot:
        await press(pilot, "enter")
        assert "2 ▸ no profile is chosen" in screen_text(pilot)
        text = await press(pilot, "p", "enter")
        assert "4 ✗ not admitted" in text and "3 ▸ owner: nobody is looked up on a server" in text
        assert "Only a SQLite file that holds a store" in text and "observed    a server database" in text
        assert not place_of(pilot).gate_steps.field.display and twins.secret not in text
        assert "not-a-store" in await press(pilot, "enter")
    (told,) = entries(own_places / "state")
    assert told.event == "refused" and (told.refusal or {})["code"] == "not-a-store"
    assert twins.secret not in str(told)


@pytest.mark.parametrize("owner", [(), ("--owner", "kim")], ids=["nobody", "kim"])
def test_and_a_command_refuses_it_as_well(
    twins: Twins, command: Command, own_places: Path, owner: tuple[str, ...]
) -> None:
    words = ("probe", twins.url, "--profile", "acme-desk-fresh-run", *owner)
    done = command(*words, "--allow-writes", "--confirm", "acme-desk", "--json")
    assert done.status == 3 and done.json["refusal"]["code"] == "not-a-store"
    assert done.json["refusal"]["observed"] == "a server database" and twins.secret not in done.out + done.err
    assert [each.event for each in entries(own_places / "state")] == ["refused"]


async def test_and_so_does_the_library(twins: Twins) -> None:
    from persistence import StateDB

    with pytest.raises(StoreError) as refused:
        await StateDB(twins.url, profile="acme-desk-fresh-run", owner="kim").open()
    assert refused.value.code == "compatibility-server" and refused.value.exit_status == 3
