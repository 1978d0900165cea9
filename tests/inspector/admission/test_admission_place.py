"""The place Admission: every key, every drifted store, and that asking changes nothing."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from inspector import settings
from inspector.admitting import Choice
from inspector.screens.admission_choice import OwnerChooser
from inspector.screens.admission_finding import FindingScreen
from inspector.screens.help import help_content
from inspector.screens.refused import RefusedPlace
from inspector.typeset.lines import Line
from inspector.widgets.failure import FailurePanel
from inspector.widgets.section_list import SectionList
from tests.inspector.admission.desks import DRIFTED, admit, changed, desk, place_of, press, states
from tests.inspector.driving import CONTROLS, driven, screen_text, settled
from tests.persistence.stores import make_store

# -- nothing is chosen by itself ----------------------------------------------------------------------------


@pytest.mark.adr("0128-D2-03")
async def test_nothing_is_chosen_until_a_person_chooses(tmp_path: Path) -> None:
    """The profiles are listed, the one made for this application is marked, and none is asked."""
    async with driven(desk(tmp_path), "admission") as pilot:
        place = place_of(pilot)
        text = screen_text(pilot)
        assert place.report is None and place.choice == Choice()
        assert "p profile none" in text and "? no profile is chosen" in text
        assert "made for acme-desk, which manages this store" in text
        assert "made for harbour-master, another application" in text
        for key in ("w", "a"):
            assert "choose a profile first" in await press(pilot, key)
        await press(pilot, "r")
        assert place.report is None


async def test_choosing_a_profile_asks_and_the_owner_is_still_nobody(tmp_path: Path) -> None:
    async with driven(desk(tmp_path), "admission") as pilot:
        place = await admit(pilot, owner=None)
        assert place.report is not None and not place.report.admitted
        assert [finding.code for finding in place.report.findings] == ["owner-missing"]
        assert place.report.findings[0].expected == "one of principals.id"
        text = screen_text(pilot)
        assert "w owner nobody yet" in text and "No owner was named  w chooses" in text


async def test_the_verdict_counts_what_the_tab_counts(tmp_path: Path) -> None:
    priority = "ALTER TABLE sessions ADD COLUMN priority TEXT NOT NULL DEFAULT ''"
    store = changed(tmp_path, priority, "CREATE INDEX sessions_by_model ON sessions (model)")
    async with driven(store, "admission") as pilot:
        place = await admit(pilot)
        text = screen_text(pilot)
        assert place.report is not None and len(place.report.findings) == 2
        assert "✗ refused: 1 finding  ▲ 1 notice  sessions.priority: " in text and "findings 2" in text


async def test_the_first_finding_is_shown_with_the_table_it_is_about(tmp_path: Path) -> None:
    store = changed(tmp_path, "ALTER TABLE sessions ADD COLUMN priority TEXT")
    async with driven(store, "admission", size=(80, 24)) as pilot:
        text = await press(pilot, "p", "enter")
        assert place_of(pilot).findings.current is not None and "the store  1 finding" in text
        text = await press(pilot, "w", "down", "down", "enter")
        assert place_of(pilot).findings.current is not None and "sessions  1 finding" in text


async def test_each_view_has_an_address(tmp_path: Path) -> None:
    async with driven(desk(tmp_path), "admission//links") as pilot:
        place = place_of(pilot)
        await press(pilot, "p", "enter")
        assert place.view == "links" and "its rows point there" in screen_text(pilot)
        await press(pilot, "tab")
        assert str(place.address()) == "admission//promises"
        await press(pilot, "4", "left_square_bracket")
        assert place_of(pilot) is place and place.view == "promises"


async def test_admitted_in_one_line(tmp_path: Path) -> None:
    store = desk(tmp_path)
    before = states(tmp_path)
    async with driven(store, "admission") as pilot:
        place = await admit(pilot)
        text = screen_text(pilot)
        assert place.report is not None and place.report.admitted
        assert "✓ admitted  10 tables, " in text and "w owner kim" in text and "a operations all 1" in text
        assert "✓ holds" in text and "settled, " in text
    assert states(tmp_path) == before


async def test_what_the_configuration_names_is_asked_at_once(tmp_path: Path) -> None:
    """Naming a profile and an owner there is choosing them; the profile it does not know is a refusal."""
    config = settings.load({"profile": "acme-desk-fresh-run@1", "owner": "lee", "history": False})
    async with driven(desk(tmp_path), "admission", config=config) as pilot:
        place = place_of(pilot)
        assert place.report is not None and place.report.admitted and place.choice.owner == "lee"
    config = settings.load({"profile": "nobodys", "history": False})
    async with driven(desk(tmp_path), "admission", config=config) as pilot:
        place = place_of(pilot)
        assert place.report is None and place.query_one(FailurePanel).display
        assert "There is no such profile" in screen_text(pilot)


async def test_lineage_leads_here(tmp_path: Path) -> None:
    async with driven(desk(tmp_path), "lineage") as pilot:
        pilot.app.screen.query_one("#decided", SectionList).select("verdict compatibility")
        await press(pilot, "enter")
        assert place_of(pilot).report is None


# -- each drifted store -------------------------------------------------------------------------------------


@pytest.mark.adr("0128-D2-16")
@pytest.mark.parametrize("name", DRIFTED)
async def test_each_drifted_store_says_what_and_why(name: str, tmp_path: Path) -> None:
    """Cause, both sides, why and remedy are on the screen; no byte of the store changes."""
    code, where, expected, observed = DRIFTED[name]
    store = desk(tmp_path, name)
    before = states(tmp_path)
    async with driven(store, "admission", size=(140, 40)) as pilot:
        place = await admit(pilot)
        assert place.report is not None
        at = [finding.code for finding in place.report.findings].index(code)
        assert place.findings.select(f"finding {at}")
        await settled(pilot)
        text = screen_text(pilot)
        finding = place.report.findings[at]
        assert "✗ refused" in text and where in text and code in text
        for words in (expected, observed, "expected", "observed", "why", "what to do"):
            assert words in text, words
        for sentence in (finding.why, finding.remedy):
            assert all(word in text for word in sentence.split()), sentence
    assert states(tmp_path) == before


@pytest.mark.parametrize("name", ["desk-mail", "desk-follow-up"])
async def test_stacked_at_80_columns_the_finding_opens_over_the_list(name: str, tmp_path: Path) -> None:
    code, where, expected, observed = DRIFTED[name]
    async with driven(desk(tmp_path, name), "admission", size=(80, 30)) as pilot:
        place = await admit(pilot)
        assert place.report is not None
        at = [finding.code for finding in place.report.findings].index(code)
        assert not place.query_one("#admission-finding").display
        place.findings.select(f"finding {at}")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, FindingScreen)
        text = screen_text(pilot)
        for words in (where, expected, observed, "why", "what to do", "what it means"):
            assert words in text, words
        await press(pilot, "y")
        assert code in pilot.app.clipboard and "what to do: " in pilot.app.clipboard
        await press(pilot, "j", "k", "escape")
        assert place_of(pilot) is place


async def test_every_difference_is_found_at_once_and_grouped_by_table(tmp_path: Path) -> None:
    store = changed(
        tmp_path,
        "ALTER TABLE sessions ADD COLUMN mood TEXT",
        "ALTER TABLE messages ADD COLUMN tone TEXT",
        "CREATE TRIGGER t AFTER INSERT ON messages BEGIN DELETE FROM session_signals WHERE ts < 0; END",
        "CREATE INDEX plain ON messages (role)",
    )
    async with driven(store, "admission", size=(120, 50)) as pilot:
        place = await admit(pilot)
        assert place.report is not None
        rows = [line.strip() for line in screen_text(pilot).split("\n")]
        heads = [n for n, row in enumerate(rows) if row.startswith(("messages ", "sessions "))]
        assert len(heads) >= 2
        tables = {finding.table for finding in place.report.findings}
        assert {"sessions", "messages"} <= tables and len(place.report.refusing) >= 4
        assert any("▲" in row and "plain" in row for row in rows)


# -- views --------------------------------------------------------------------------------------------------


async def test_tab_goes_through_the_views(tmp_path: Path) -> None:
    async with driven(desk(tmp_path, "desk-priority"), "admission", size=(120, 50)) as pilot:
        place = await admit(pilot)
        text = await press(pilot, "tab")
        assert place.view == "writes" and place.ceiling.has_focus
        assert "sessions  46 columns" in text and "✗  priority" in text and "i when made" in text
        text = await press(pilot, "tab")
        assert place.view == "links" and "◂─ tickets" in text and "outside the profile's tables" in text
        assert "session_id + owner_id  goes with it" in text and "first_msg_id, last_msg_id" in text
        text = await press(pilot, "tab")
        assert place.view == "promises" and "owner_id of every row names one of principals.id" in text
        assert "never move back" in text and "✓ create_session" in text
        await press(pilot, "tab")
        assert place.view == "findings" and place.findings.has_focus
        await press(pilot, "shift+tab")
        assert place.view == "promises"
        await press(pilot, "escape")
        assert place.view == "findings"


async def test_the_write_ceiling_says_why_a_column_is_left_out(tmp_path: Path) -> None:
    async with driven(desk(tmp_path, "desk-mail"), "admission", size=(120, 50)) as pilot:
        place = await admit(pilot)
        await press(pilot, "tab")
        ceiling = place.ceiling
        for column, words in (
            ("desk_pinned", "left out when a row is made, and never changed: "),
            ("owner_id", "always the owner, and never changed"),
            ("user_label", "left out when a row is made, and may be changed later: "),
            ("name", "written when a row is made, and may be changed later"),
            ("id", "written when a row is made, and never changed"),
            ("source_kind", "check-changed: see the findings"),
        ):
            assert ceiling.select("sessions", column)
            await settled(pilot)
            text = screen_text(pilot)
            assert f"sessions.{column}  " in text and words in text, column
        profile = place.choice.profile
        assert profile is not None
        reason = profile.writes["sessions"].unwritten["desk_pinned"]
        ceiling.select("sessions", "desk_pinned")
        await settled(pilot)
        assert reason in screen_text(pilot) and "INTEGER, never empty, else 0" in screen_text(pilot)


async def test_before_an_answer_every_view_is_empty_and_nothing_fails(tmp_path: Path) -> None:
    async with driven(desk(tmp_path), "admission") as pilot:
        await press(pilot, "tab", "left", "right", "j", "tab", "j", "tab", "j", "tab")
        assert place_of(pilot).view == "findings"


# -- taking away --------------------------------------------------------------------------------------------


async def test_y_copies_the_report(tmp_path: Path) -> None:
    async with driven(desk(tmp_path, "desk-mail"), "admission") as pilot:
        text = await press(pilot, "y")
        assert "there is no answer yet" in text
        await admit(pilot)
        await press(pilot, "y")
        assert pilot.app.clipboard.startswith("## Admission of") and "check-changed" in pilot.app.clipboard


async def test_e_writes_the_report_in_three_forms(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    async with driven(desk(tmp_path, "desk-mail"), "admission") as pilot:
        await admit(pilot)
        for downs, ending in enumerate((".md", ".json", ".html")):
            await press(pilot, "e", *["down"] * downs, "enter")
            field = pilot.app.screen.query_one("#export-path", Input)
            assert field.value.endswith(f"desk-mail.db-admission{ending}")
            field.value = str(tmp_path / "out" / f"report{ending}")
            await press(pilot, "enter")
    written = {path.suffix: path.read_text("utf-8") for path in (tmp_path / "out").iterdir()}
    assert all("check-changed" in text for text in written.values()) and len(written) == 3
    assert json.loads(written[".json"])["admission"]["admitted"] is False
    assert written[".md"].startswith("## ") and written[".html"].startswith("<!doctype html>")


# -- the store moves, others, none --------------------------------------------------------------------------


async def test_r_asks_again(tmp_path: Path) -> None:
    store = desk(tmp_path)
    async with driven(store, "admission") as pilot:
        place = await admit(pilot)
        assert place.report is not None and place.report.admitted
        connection = sqlite3.connect(store)
        connection.execute("ALTER TABLE sessions ADD COLUMN mood TEXT")
        connection.commit()
        connection.close()
        await press(pilot, "r")
        assert place.choice.owner == "kim"
        assert [finding.code for finding in place.report.findings] == ["column-extra"]


async def test_the_choice_goes_with_the_store(tmp_path: Path) -> None:
    store = desk(tmp_path)
    async with driven(store, "admission") as pilot:
        place = await admit(pilot)
        await press(pilot, "1", "3")
        assert place_of(pilot) is place and place.choice.owner == "kim"
        pilot.app.session.open(str(desk(tmp_path, "desk-mail")))  # type: ignore[attr-defined]
        await settled(pilot)
        assert pilot.app.session.choice == Choice()  # type: ignore[attr-defined]


async def test_an_answer_for_a_store_that_was_left_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspector.screens import admission as module
    from persistence.location import locate

    async with driven(desk(tmp_path), "admission") as pilot:
        place = await admit(pilot, owner=None)
        before, asked = place.report, module.admitted

        async def late(*arguments: Any) -> Any:
            pilot.app.session.location = locate(str(tmp_path / "another.db"))  # type: ignore[attr-defined]
            return await asked(*arguments)

        monkeypatch.setattr(module, "admitted", late)
        place._ask(place.choice.owned_by("kim"))
        await settled(pilot)
        assert place.report is before and place.choice.owner is None


async def test_a_private_copy_shows_its_progress(tmp_path: Path) -> None:
    """Beside a journal a killed program left, the answer comes from a copy, and its making is told."""
    store = desk(tmp_path, "desk-rollback")
    beside = tmp_path / "beside"
    beside.mkdir()
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("PRAGMA cache_size = 4")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE messages SET content = content || ' '")
    connection.execute("UPDATE sessions SET updated_at = updated_at + 1")
    for end in ("", "-journal"):
        (beside / f"state.db{end}").write_bytes(Path(f"{store}{end}").read_bytes())
    connection.execute("ROLLBACK")
    connection.close()
    before, told = states(beside), []
    async with driven(beside / "state.db", "admission") as pilot:
        place = place_of(pilot)
        set_status = place.set_status

        def listening(status: Line) -> None:
            told.append("".join(run.text for run in status))
            set_status(status)

        place.set_status = listening  # type: ignore[method-assign]
        await admit(pilot)
        assert place.report is not None and place.report.read is not None
        assert place.report.read.route == "copy" and "copy, " in screen_text(pilot)
        assert [finding.code for finding in place.report.refusing] == ["journal-mode"]
    assert any(words.startswith("asking, ") and words.endswith("%") for words in told), told
    assert states(beside) == before


async def test_a_store_of_ours_is_refused_for_what_it_is(tmp_path: Path) -> None:
    make_store(tmp_path / "state.db")
    async with driven(tmp_path / "state.db", "admission") as pilot:
        place = await admit(pilot, owner=None)
        assert place.report is not None and place.report.findings[0].code == "lineage-own"
        assert "✗ refused" in screen_text(pilot)
        text = await press(pilot, "w")
        assert isinstance(pilot.app.screen, OwnerChooser) and "owner of the rows" in text


async def test_a_store_that_does_not_open_is_told_as_well(tmp_path: Path) -> None:
    store = tmp_path / "notes.db"
    store.write_text("these are notes, and no database at all" * 40)
    async with driven(store, "admission") as pilot:
        if isinstance(pilot.app.screen, RefusedPlace):
            await press(pilot, "3")
        place = await admit(pilot, owner=None)
        assert place.report is not None and place.report.findings[0].code == "not-a-store"
        await press(pilot, "w", *"kim", "enter")
        assert place.choice.owner == "kim"
        await press(pilot, "r", "escape")
        assert isinstance(pilot.app.screen, RefusedPlace)


async def test_help_says_what_the_signs_mean(tmp_path: Path) -> None:
    async with driven(desk(tmp_path), "admission", size=(120, 60)) as pilot:
        text = help_content(place_of(pilot)).plain
        for words in (
            "Choose the profile",
            "Choose whose rows",
            "refuses: nothing can be written",
            "closure",
        ):
            assert words in text


async def test_the_palette_offers_the_place_and_its_keys(tmp_path: Path) -> None:
    async with driven(desk(tmp_path), "overview") as pilot:
        await press(pilot, "ctrl+p", *"admi", "enter")
        assert place_of(pilot)


async def test_it_stands_in_any_room(tmp_path: Path) -> None:
    """Every view is drawn at every size, the smallest too, and what was chosen is still there."""
    async with driven(desk(tmp_path, "desk-follow-up"), "admission") as pilot:
        place = await admit(pilot)
        for size in ((1, 1), (20, 5), (40, 12), (200, 60)):
            await pilot.resize_terminal(*size)
            for _ in range(4):
                place.action_next_view(1)
                await pilot.pause()
                assert not CONTROLS.search(screen_text(pilot))
        await pilot.resize_terminal(120, 40)
        await settled(pilot)
        assert place.view == "findings" and "trigger-extra" in screen_text(pilot)
