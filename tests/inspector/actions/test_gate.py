"""The gate: six steps; each refusal typed, told to the journal, and without a trace in the store."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector import settings
from inspector.actions import policy as policies
from inspector.actions.gate import Gate
from inspector.actions.journal import JournalError, Phase
from inspector.actions.plan import Told
from inspector.actions.policy import WritePolicy
from inspector.actions.probe import Probe
from persistence.errors import BusyError, StateCompatibilityRefused, StoreError
from tests.inspector.actions.managed import (
    LINEAGE,
    OWNER,
    PROFILE,
    all_hold,
    desk,
    entries,
    gate_of,
    marks,
    ready,
    rows,
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return desk(tmp_path / "desk" / "managed.db")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


async def test_it_opens_step_by_step_and_says_what_is_missing(store: Path, folder: Path) -> None:
    gate = gate_of(Probe(), store, folder)
    assert [step.number for step in gate.steps] == [1, 2, 3, 4, 5, 6]
    assert [step.held for step in gate.steps] == [True, False, None, None, None, None]
    await gate.choose_profile(PROFILE)
    assert [step.held for step in gate.steps] == [True, True, False, None, None, None]
    gate.choose_owner(OWNER)
    assert [step.held for step in gate.steps] == [True, True, None, None, None, None]
    await gate.admit()
    assert [step.held for step in gate.steps] == [True, True, True, True, None, False]
    await gate.prepare()
    assert gate.preview is not None and [step.held for step in gate.steps][4] is None
    gate.shown()
    assert [step.held for step in gate.steps] == [True, True, True, True, True, False]
    gate.type_lineage(LINEAGE)
    assert gate.is_open and gate.refusal() is None
    said = [step.says for step in gate.steps]
    assert said[1] == "profile acme-desk-fresh-run@1" and said[2] == "owner kim (exists)"
    assert said[3].startswith("admitted now, ") and "schema cookie" in said[3]
    assert said[4].startswith("preview: 7 operations, up to 25 statements, 8 transactions")


async def test_every_step_that_does_not_hold_says_what_would_help(store: Path, folder: Path) -> None:
    gate = gate_of(Probe(), store, folder, allowed=False)
    for step in gate.steps:
        if step.held is False:
            assert step.refusal is not None and step.refusal.remedy and step.refusal.expected, step.name
    assert (gate.refusal() or StoreError("")).code == "writes-not-allowed"


Change = Callable[[Path], None]


def _sql(*statements: str) -> Change:
    def change(path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        for statement in statements:
            connection.execute(statement).fetchall()
        connection.close()

    return change


REFUSALS = [
    ("writes-not-allowed", {"allowed": False}, None),
    ("writes-forbidden", {"policy": WritePolicy(forbid_exposed_sqlite=True)}, None),
    ("policy-unread", {"policy": WritePolicy(doubt="config.toml is not used: nonsense")}, None),
    ("no-profile", {"profile": None}, None),
    ("no-such-profile", {"profile": "nobody-made-this"}, None),
    ("owner-missing", {"owner": None}, None),
    ("owner-missing", {"owner": ""}, None),
    ("owner-unknown", {"owner": "nobody"}, None),
    ("owner-unknown", {"owner": "KIM"}, None),
    ("lineage-own", {}, _sql("UPDATE schema_meta SET value = 'lionagi' WHERE key = 'lineage'")),
    ("lineage-other", {}, _sql("UPDATE schema_meta SET value = 'other-desk' WHERE key = 'lineage'")),
    ("column-extra", {}, _sql("ALTER TABLE sessions ADD COLUMN priority TEXT")),
    ("journal-mode", {}, _sql("PRAGMA journal_mode = DELETE")),
    ("lineage-not-typed", {"lineage": ""}, None),
    ("lineage-not-typed", {"lineage": "acme-Desk"}, None),
    ("lineage-not-typed", {"lineage": "acme-desk "}, None),
]


@pytest.mark.parametrize(
    ("code", "given", "change"), REFUSALS, ids=[f"{n}-{r[0]}" for n, r in enumerate(REFUSALS)]
)
async def test_each_refusal_is_typed_and_told_and_changes_no_byte(
    store: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: str,
    given: dict[str, object],
    change: Change | None,
) -> None:
    monkeypatch.setattr(policies, "exposed_version", lambda: "3.40.1")
    if change is not None:
        change(store)
    before = marks(store)
    gate = await ready(Probe(), store, folder, **given)
    assert not gate.is_open
    outcome = await gate.run()
    assert outcome.event == "refused" and outcome.committed == ()
    assert isinstance(outcome.error, StoreError) and outcome.error.code == code
    assert outcome.error.remedy and outcome.error.exit_status == 3
    assert marks(store) == before
    (told,) = entries(folder)
    assert (told.action, told.event, told.committed) == ("probe", "refused", ())
    assert told.refusal is not None and told.refusal["code"] == code and told.refusal["committed"] == []


async def test_what_was_found_does_not_hold_for_another_choice(store: Path, folder: Path) -> None:
    gate = await ready(Probe(), store, folder)
    assert gate.is_open
    gate.choose_owner("lee")
    assert not gate.is_open and gate.report is None and gate.preview is None
    await gate.admit()
    gate.type_lineage(LINEAGE)
    assert not gate.is_open  # the preview was another owner's
    await gate.choose_profile(PROFILE)
    assert [step.held for step in gate.steps][2:] == [None, None, None, None]


async def test_it_is_shut_again_after_an_action(store: Path, folder: Path) -> None:
    gate = await ready(Probe(), store, folder)
    seen: list[Told] = []
    outcome = await gate.run(seen.append)
    assert outcome.event == "done" and outcome.error is None and outcome.transactions == 8
    assert [told.done for told in seen] == list(range(1, 9)) and {told.total for told in seen} == {8}
    assert not gate.is_open and gate.steps[3].held is None
    again = await gate.run()
    assert again.event == "refused" and again.committed == ()
    assert isinstance(again.error, StoreError) and again.error.code == "gate-shut"
    assert len(rows(store, "SELECT 1 FROM sessions WHERE name = 'store-inspector probe'")) == 1


async def test_the_journal_has_the_action_before_and_after(store: Path, folder: Path) -> None:
    outcome = await (await ready(Probe(), store, folder)).run()
    begun, done = entries(folder)
    assert (begun.event, done.event) == ("begun", "done") and begun.id == done.id
    assert begun.committed == () and begun.operations["create_session"] == 1
    assert done.committed == outcome.committed and Phase("progression", 2) in done.committed
    assert (done.lineage, done.version, done.profile, done.owner) == (LINEAGE, "7", f"{PROFILE}@1", OWNER)
    assert done.run == outcome.run and done.seconds is not None and done.refusal is None


async def test_without_a_journal_nothing_is_begun(store: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "state"
    blocked.write_text("in the way")
    before = marks(store)
    gate = await ready(Probe(), store, blocked)
    with pytest.raises(JournalError):
        await gate.run()
    assert marks(store) == before and not gate.is_open


async def test_a_refusal_is_still_told_when_the_journal_cannot_be(store: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "state"
    blocked.write_text("in the way")
    outcome = await (await ready(Probe(), store, blocked, lineage="no")).run()
    assert isinstance(outcome.error, StoreError) and outcome.error.code == "lineage-not-typed"
    assert outcome.stands is not None and "not in the journal" in outcome.stands


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_sql("PRAGMA journal_mode = DELETE"), "journal"),
        (_sql("UPDATE schema_meta SET value = 'lionagi' WHERE key = 'lineage'"), "lineage"),
        (_sql("ALTER TABLE messages ADD COLUMN mood TEXT"), "mood"),
        (_sql("PRAGMA foreign_keys = OFF", "DELETE FROM principals WHERE id = 'kim'"), "owner"),
    ],
    ids=["not WAL any more", "another lineage", "another column", "no such owner"],
)
async def test_a_store_that_changed_after_the_preview_is_refused_at_the_open(
    store: Path, folder: Path, change: Change, says: str
) -> None:
    gate = await ready(Probe(), store, folder)
    change(store)
    before = marks(store)
    outcome = await gate.run()
    assert outcome.event == "refused" and outcome.committed == ()
    assert isinstance(outcome.error, StateCompatibilityRefused)
    assert says in str(outcome.error).lower()
    assert marks(store) == before
    begun, refused = entries(folder)
    assert begun.event == "begun" and refused.event == "refused" and refused.refusal is not None
    assert refused.refusal["code"] == outcome.error.code and not gate.is_open


async def test_a_busy_store_is_called_busy_at_the_gate_and_asked_once(
    store: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a store that could not be read: it was waited for, and nothing is wrong with it."""
    from persistence.profiles import admission

    asked: list[int] = []

    def busy(*_: object, **__: object) -> None:
        asked.append(1)
        raise BusyError("Another program holds the store, and did not let go in time.")

    monkeypatch.setattr(admission, "read_store", busy)
    gate = await ready(Probe(), store, folder)
    assert gate.steps[3].held is False and gate.steps[3].says == "not known yet whether it is admitted"
    outcome = await gate.run()
    assert isinstance(outcome.error, BusyError) and outcome.error.exit_status == 4 and len(asked) == 1
    (told,) = entries(folder)
    assert told.refusal is not None and told.refusal["code"] == "busy"


async def test_an_action_beside_the_desk_leaves_everything_it_asks_for(store: Path, folder: Path) -> None:
    outcome = await (await ready(Probe(), store, folder)).run()
    assert outcome.event == "done" and all_hold(store)
    asked = "SELECT name, owner_id, status, json_extract(node_metadata, '$.probe.profile') FROM sessions"
    ((name, owner, status, profile),) = rows(store, f"{asked} WHERE id = ?", outcome.run)
    assert (name, owner, status) == ("store-inspector probe", "kim", "completed")
    assert profile == f"{PROFILE}@1"
    ((took,),) = rows(store, "SELECT ended_at - started_at FROM sessions WHERE id = ?", outcome.run)
    assert took is not None and took >= 0  # a complete run says when it began and when it ended


async def test_a_dry_run_opens_no_writer(store: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(self: Gate, *_: object) -> object:
        raise AssertionError("the writer was opened")

    monkeypatch.setattr(Gate, "_write", never)
    before = marks(store)
    outcome = (await ready(Probe(), store, folder, allowed=False, lineage="")).tried()
    assert outcome.event == "tried" and outcome.error is None and marks(store) == before
    (told,) = entries(folder)
    assert told.event == "tried" and told.run is None and told.operations["create_session"] == 1
    refused = (await ready(Probe(), store, folder, owner="nobody")).tried()
    assert isinstance(refused.error, StoreError) and refused.error.code == "owner-unknown"


async def test_an_interruption_before_the_writer_is_told(
    store: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from persistence.statedb import StateDB

    gate = await ready(Probe(), store, folder)
    real = StateDB.open

    async def interrupted(self: StateDB) -> StateDB:
        if self.profile is not None:
            raise asyncio.CancelledError
        return await real(self)

    monkeypatch.setattr(StateDB, "open", interrupted)
    with pytest.raises(asyncio.CancelledError) as caught:
        await gate.run()
    assert caught.value.args[0].event == "interrupted" and gate.outcome is caught.value.args[0]
    assert [each.event for each in entries(folder)] == ["begun", "interrupted"] and not gate.is_open


# -- the policy ------------------------------------------------------------------------------------------


def policy_of(text: str) -> WritePolicy:
    from inspector import places

    places.config_file().parent.mkdir(parents=True, exist_ok=True)
    places.config_file().write_text(text)
    return WritePolicy.of(settings.load())


def test_a_policy_forbids_an_exposed_sqlite_and_only_that(monkeypatch: pytest.MonkeyPatch) -> None:
    forbids = policy_of("[writes]\nforbid_exposed_sqlite = true\n")
    assert forbids.forbid_exposed_sqlite and forbids.origin.endswith("config.toml")
    monkeypatch.setattr(policies, "exposed_version", lambda: "3.40.1")
    refused = forbids.refusal()
    assert refused is not None and refused.code == "writes-forbidden" and refused.observed == "SQLite 3.40.1"
    assert WritePolicy().refusal() is None
    monkeypatch.setattr(policies, "exposed_version", lambda: None)
    assert forbids.refusal() is None


@pytest.mark.parametrize(
    "text",
    ["[writes\n", "[writes]\nforbid_exposed_sqlite = 'yes'\n", "[write]\nforbid_exposed_sqlite = true\n",
     "writes = true\n", "[writes]\nforbid_exposed = true\n"],
)  # fmt: skip
def test_a_policy_that_cannot_be_read_lets_nothing_be_written(text: str) -> None:
    refused = policy_of(text).refusal()
    assert refused is not None and refused.code == "policy-unread"


def test_what_else_is_wrong_with_the_configuration_is_no_matter() -> None:
    assert policy_of('theme = 7\nnonsense = 1\n[keymap]\n"app.quit" = 7\n').refusal() is None


async def test_the_preview_says_that_the_sqlite_is_exposed(
    store: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspector.actions import preview

    for version, said in (("3.40.1", True), (None, False)):
        monkeypatch.setattr(preview, "exposed_version", lambda version=version: version)
        gate = await ready(Probe(), store, folder)
        assert gate.preview is not None
        assert any("WAL-reset" in warning for warning in gate.preview.warnings) is said
        assert any("kim's" in warning for warning in gate.preview.warnings)
