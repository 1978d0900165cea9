"""The Journal: every key, a torn line, what is copied and exported; no credential, no control character."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path

import pytest

from inspector.actions.journal import Entry, Journal, Phase
from inspector.screens.export import ExportScreen
from inspector.screens.journal import JournalPlace
from inspector.screens.open import OpenPlace
from inspector.screens.whole import WholeScreen
from persistence.errors import StoreError
from tests.inspector.driving import CONTROLS, driven, screen_text, settled, typed
from tests.inspector.gate.gates import press

REFUSAL = StoreError(
    "A column is there that the profile does not know.",
    code="column-extra",
    where="/desk/managed.db",
    expected="no such column",
    observed="priority TEXT",
    remedy="Have a new version of the profile made.",
).as_dict()


def tell(journal: Journal, count: int = 1, **fields: object) -> None:
    for number in range(count):
        given = {"action": "probe", "event": "done", "store": "/desk/managed.db", "lineage": "acme-desk",
                 "profile": "acme-desk-fresh-run@1", "owner": "kim", "run": f"r{number:04}",
                 "committed": (Phase("session"), Phase("live message", 2)), "seconds": 0.25,
                 "when": time.time() - 1000 + number}  # fmt: skip
        journal.append(Entry(**{**given, **fields}))  # type: ignore[arg-type]


@pytest.fixture
def journal(own_places: Path) -> Journal:
    """A few actions, a refusal, hostile words, a password, and a line that a kill left half of."""
    journal = Journal(own_places / "state")
    tell(journal, 3)
    tell(journal, event="refused", run=None, committed=(), refusal=REFUSAL, owner="lee")
    tell(
        journal, action="copy-run", run="[b]r\x1b[31m\u202e", source="postgresql://kim:secret@host/state s001"
    )
    with journal.path.open("ab") as file:
        file.write(b'{"format":1,"action":"rec\x1b[2J')
    tell(journal, action="record", event="interrupted", run="r-cut", note="The run was ended as cancelled.")
    return journal


async def test_everything_of_it_without_a_store(journal: Journal, tmp_path: Path) -> None:
    async with driven(None, size=(170, 40)) as pilot:
        assert isinstance(pilot.app.screen, OpenPlace)
        await press(pilot, "escape", "J")
        place = pilot.app.screen
        assert isinstance(place, JournalPlace)
        text = screen_text(pilot)
        assert place.grid.row_count == 7 and "1 of 7" in text and not CONTROLS.search(text)
        assert "secret" not in text and "[b]r" in text and "journal.jsonl" in text
        lines = [row for row in text.split("\n") if "probe" in row or "record" in row or "copy-run" in row]
        assert "record" in lines[0] and "interrupted" in lines[0]  # the newest first
        assert any("?" in row and "✗ not readable: not a who" in row for row in text.split("\n"))
        # One entry, whole, and copied.
        text = await press(pilot, "enter")
        assert isinstance(pilot.app.screen, WholeScreen)
        for words in (
            "record  interrupted",
            "session, live message x2",
            "The run was ended as cancelled.",
            "r-cut",
        ):
            assert words in text, words
        await press(pilot, "y", "escape")
        assert "The run was ended as cancelled." in pilot.app.clipboard and "r-cut" in pilot.app.clipboard
        # The torn line as what it is.
        text = await press(pilot, "j", "enter")
        assert "a line that is no entry: not a whole line" in text and not CONTROLS.search(text)
        await press(pilot, "escape")
        # The refusal, with what was expected and what to do.
        await press(pilot, "slash")
        await typed(pilot, "outcome:refused owner:lee")
        await press(pilot, "enter")
        assert place.grid.row_count == 1
        text = await press(pilot, "enter")
        for words in (
            "column-extra",
            "priority TEXT",
            "no such column",
            "Have a new version of the profile made.",
        ):
            assert words in text, words
        await press(pilot, "escape", "Y")
        assert json.loads(pilot.app.clipboard)["code"] == "column-extra"
        await press(pilot, "l", "y")
        assert pilot.app.clipboard == "probe"
        # What the filter cannot use is said; one that fits nothing too; esc takes it away.
        await press(pilot, "slash")
        await typed(pilot, " outcom:x")
        assert "is outcome meant?" in screen_text(pilot)
        await press(pilot, "enter", "escape")
        assert place.grid.row_count == 7
        await press(pilot, "slash")
        await typed(pilot, "run:nobody")
        assert "No entry fits the filter." in screen_text(pilot)
        await press(pilot, "escape", "escape")
        # More is told meanwhile: r reads it, and so does coming back.
        tell(journal)
        await press(pilot, "r")
        assert place.grid.row_count == 8
        tell(journal)
        await press(pilot, "o", "left_square_bracket")
        await settled(pilot)
        assert pilot.app.screen is place and place.grid.row_count == 9


@pytest.mark.parametrize("form", ["csv", "json", "markdown"])
async def test_exported_as_it_is_shown(journal: Journal, tmp_path: Path, form: str) -> None:
    target = tmp_path / f"out.{form}"
    async with driven(None, "journal") as pilot:
        place = pilot.app.screen
        assert isinstance(place, JournalPlace)
        await press(pilot, "slash")
        await typed(pilot, "owner:kim")
        await press(pilot, "enter", "e")
        screen = pilot.app.screen
        assert isinstance(
            screen, ExportScreen
        ) and "the journal, newest first, owner:kim: 5 entries" in screen_text(pilot)
        screen.query_one("#forms").highlighted = screen._what.forms.index(form)  # type: ignore[attr-defined]
        await pilot.pause()
        field = screen.query_one("#export-path")
        field.value = str(target)  # type: ignore[attr-defined]
        field.focus()
        await press(pilot, "enter")
    text = target.read_text("utf-8")
    assert "secret" not in text and "lee" not in text and text.count("acme-desk-fresh-run@1") == 5
    if form == "csv":
        found = list(csv.DictReader(text.splitlines()))
        assert found[0]["outcome"] == "interrupted" and len(found) == 5
    if form == "json":
        assert len(json.loads(text)["rows"]) == 5


async def test_an_empty_journal_says_so_and_thousands_are_windowed(own_places: Path) -> None:
    journal = Journal(own_places / "state")
    async with driven(None, "journal", size=(80, 24)) as pilot:
        assert "Nothing was written yet, and nothing refused." in screen_text(pilot)
        journal.folder.mkdir(parents=True, exist_ok=True)
        line = Entry("probe", "done", "/desk/managed.db", run="r").line()
        with journal.path.open("wb") as file:
            file.write(b"".join(line.replace(b'"id":"', b'"id":"%05d' % n) for n in range(20_000)))
        text = await press(pilot, "r")
        assert "1 of 20,000" in text
        text = await press(pilot, "G")
        assert "20,000 of 20,000" in text
