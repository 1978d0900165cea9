"""The shell: opening, places and the way back, layers, following, refusing, leaving."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from inspector.follow import Follower
from inspector.navigation import Address
from inspector.screens.place import Place
from tests.inspector.built import CLOCK, REVIEW, make_world
from tests.inspector.driving import driven, screen_lines, screen_text, settled, typed
from tests.persistence.stores import marks_of


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_world(tmp_path_factory.mktemp("world") / "state.db")


async def test_the_first_line_says_whose_store_how_it_is_open_and_how_it_was_read(world: Path) -> None:
    async with driven(world) as pilot:
        first = screen_lines(pilot)[0]
        assert "◆ state.db" in first
        assert str(world.parent)[-12:] in first
        assert "lionagi · 4" in first
        assert "READ-ONLY" in first
        assert "live" in first or "settled" in first
        assert "kB" in first


async def test_the_shell_is_painted_before_the_store_is_open(world: Path) -> None:
    from inspector.app import InspectorApp

    app = InspectorApp(str(world))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        early = [strip.text for strip in app.screen._compositor.render_strips()]
        assert "◆ state.db" in early[0]
        assert "READ-ONLY" in early[0]
        await settled(pilot)
        assert "1 of 40" in screen_text(pilot)


async def test_looking_changes_nothing(world: Path) -> None:
    before = marks_of(world)
    async with driven(world) as pilot:
        for key in ("enter", "tab", "tab", "escape", "r", "question_mark", "escape", "t", "escape"):
            await pilot.press(key)
            await settled(pilot, rounds=2)
    assert marks_of(world) == before


async def test_a_store_that_is_not_there_is_refused_in_words(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere" / "gone.db"
    async with driven(missing) as pilot:
        said = screen_text(pilot)
        assert "this store does not open" in said
        assert "There is no such store" in said
        assert "Traceback" not in said
        await pilot.press("y")
        await settled(pilot)
        assert "There is no such store" in pilot.app.clipboard
    assert not missing.parent.exists()


@pytest.mark.parametrize(
    "content",
    [b"just some text\n" * 40, b"\x1f\x8b" + b"x" * 600, b"SQLite format 3\0" + b"\xff" * 900],
    ids=["text", "archive", "broken header"],
)
async def test_what_is_no_store_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.db"
    path.write_bytes(content)
    async with driven(path) as pilot:
        said = screen_text(pilot)
        assert "this store does not open" in said
        assert "Traceback" not in said
        assert "odd.db" in said


async def test_r_tries_again_once_the_store_is_there(tmp_path: Path) -> None:
    path = tmp_path / "later.db"
    async with driven(path) as pilot:
        assert "does not open" in screen_text(pilot)
        make_world(path)
        await pilot.press("r")
        await settled(pilot)
        assert "nightly build review" in screen_text(pilot)


async def test_a_directory_and_markup_in_a_name_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "[b]x[-red] \x1b[31m.db"
    path.mkdir()
    async with driven(path) as pilot:
        said = screen_text(pilot)
        assert "does not open" in said
        assert "[b]x[-red]" in said
        assert "\x1b" not in said


async def test_number_keys_and_the_mouse_go_to_places(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}") as pilot:
        await pilot.press("4")
        await settled(pilot)
        assert pilot.app.screen.NAME == "runs"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.screen.NAME == "run"  # type: ignore[attr-defined]
        at = screen_lines(pilot)[1].index("4 Runs")
        await pilot.click("#places-line", offset=(at + 1, 0))
        await settled(pilot)
        assert pilot.app.screen.NAME == "runs"  # type: ignore[attr-defined]


async def test_back_and_forward_keep_the_cursor(world: Path) -> None:
    async with driven(world) as pilot:
        await pilot.press("j", "j", "j", "enter")
        await settled(pilot)
        assert pilot.app.screen.NAME == "run"  # type: ignore[attr-defined]
        await pilot.press("left_square_bracket")
        await settled(pilot)
        assert "4 of 40" in screen_text(pilot)
        await pilot.press("right_square_bracket")
        await settled(pilot)
        assert pilot.app.screen.NAME == "run"  # type: ignore[attr-defined]
        await pilot.press("escape")
        await settled(pilot)
        assert pilot.app.screen.NAME == "runs"  # type: ignore[attr-defined]
        assert "4 of 40" in screen_text(pilot)


async def test_escape_closes_one_layer(world: Path) -> None:
    async with driven(world) as pilot:
        await pilot.press("slash")
        await typed(pilot, "status:failed")
        assert "status:failed" in screen_text(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert "that fit" in screen_text(pilot), "the first escape only leaves the line"
        await pilot.press("escape")
        await settled(pilot)
        assert "1 of 40" in screen_text(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert pilot.app.screen.NAME == "runs"  # type: ignore[attr-defined]


async def test_letters_only_type_while_a_line_has_the_focus(world: Path) -> None:
    async with driven(world) as pilot:
        await pilot.press("slash")
        await typed(pilot, "q4rt")
        assert pilot.app.is_running
        assert "q4rt" in screen_text(pilot)
        assert isinstance(pilot.app.screen, Place)


async def test_help_tells_the_keys_in_force(world: Path) -> None:
    async with driven(world) as pilot:
        await pilot.press("question_mark")
        await settled(pilot)
        said = screen_text(pilot)
        assert "Every run of the store" in said
        assert "keys here" in said
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(pilot.app.screen, Place)


async def test_themes_are_shown_at_once_and_remembered(world: Path) -> None:
    from inspector import settings

    async with driven(world) as pilot:
        assert pilot.app.theme == "lion-dark"
        await pilot.press("t")
        await settled(pilot)
        await pilot.press("j")
        await settled(pilot)
        assert pilot.app.theme == "lion-light"
        await pilot.press("escape")
        await settled(pilot)
        assert pilot.app.theme == "lion-dark"
        await pilot.press("t", "j", "enter")
        await settled(pilot)
        assert pilot.app.theme == "lion-light"
    assert settings.load().theme == "lion-light"
    async with driven(world) as pilot:
        assert pilot.app.theme == "lion-light"


async def test_an_unknown_theme_falls_back_and_says_so(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORE_INSPECTOR_THEME", "[red]nothing")
    async with driven(world) as pilot:
        assert pilot.app.theme == "lion-dark"
        assert "there is no theme [red]nothing" in screen_text(pilot)


async def test_keys_can_be_given_anew(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORE_INSPECTOR_KEYMAP", "app.help=f5")
    async with driven(world) as pilot:
        await pilot.press("question_mark")
        await settled(pilot)
        assert isinstance(pilot.app.screen, Place)
        await pilot.press("f5")
        await settled(pilot)
        assert not isinstance(pilot.app.screen, Place)


async def test_the_palette_finds_places_actions_and_runs(world: Path) -> None:
    async with driven(world) as pilot:
        await pilot.press("ctrl+p")
        await typed(pilot, "nightly")
        await pilot.pause(0.5)
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.place.address() == Address("run", REVIEW, "conversation")  # type: ignore[attr-defined]


async def test_standing_notices_are_read_whole_by_key_and_palette(world: Path, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(world.read_bytes())
    async with driven(path) as pilot:
        await pilot.press("i")
        await settled(pilot)
        assert isinstance(pilot.app.screen, Place)  # there is none
    (tmp_path / "other.db").hardlink_to(path)
    async with driven(path, size=(80, 24)) as pilot:
        whole = "what was written under another name may not be seen"
        assert whole not in " ".join(screen_text(pilot).split())
        for opened_by in ("key", "palette"):
            await pilot.press("i" if opened_by == "key" else "colon")
            if opened_by == "palette":
                await typed(pilot, "notices")
                await pilot.pause(0.5)
                await pilot.press("enter")
            await settled(pilot)
            shown = " ".join(screen_text(pilot).replace("│", " ").split())
            assert "what to know about this store" in shown and whole in shown, opened_by
            await pilot.press("escape")
            await settled(pilot)


async def test_the_palette_takes_markup_from_a_store_as_text(world: Path) -> None:
    async with driven(world) as pilot:
        await pilot.press("colon")
        await typed(pilot, "markup")
        await pilot.pause(0.5)
        assert "[b]markup[/b] name" in screen_text(pilot)


async def test_following_reads_again_when_somebody_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Follower, "SHORTEST", 0.05)
    path = make_world(tmp_path / "state.db")
    async with driven(path) as pilot:
        assert "1 of 40" in screen_text(pilot)
        await pilot.press("j", "j")
        name = screen_lines(pilot)[5]
        _add_run(path, "arrived just now")
        await _until(pilot, "of 41")
        assert "4 of 41" in screen_text(pilot), "the cursor is still on its row"
        assert screen_lines(pilot)[5][1:40] == name[1:40]
        assert "1 new" in screen_text(pilot)
        await pilot.press("g")
        await settled(pilot)
        assert "arrived just now" in screen_text(pilot)


async def test_f_stops_following_and_says_that_the_store_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Follower, "SHORTEST", 0.05)
    path = make_world(tmp_path / "state.db")
    async with driven(path) as pilot:
        await pilot.press("f")
        await settled(pilot)
        _add_run(path, "not yet")
        await _until(pilot, "moved")
        assert "not yet" not in screen_text(pilot)
        await pilot.press("r")
        await _until(pilot, "not yet")


async def test_no_query_runs_while_nothing_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Follower, "SHORTEST", 0.02)
    monkeypatch.setattr(Follower, "LONGEST", 0.02)
    path = make_world(tmp_path / "state.db")
    async with driven(path) as pilot:
        read = pilot.app.opened.read  # type: ignore[attr-defined]
        await pilot.pause(0.5)
        assert pilot.app.opened.read is read  # type: ignore[attr-defined]


async def test_a_small_terminal_gets_a_card(world: Path) -> None:
    async with driven(world, size=(40, 12)) as pilot:
        assert "make me bigger" in screen_text(pilot)
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        assert "1 of 40" in screen_text(pilot)


@pytest.mark.parametrize(
    "keys", [(), ("slash",), ("question_mark",), ("t",), ("e",), ("ctrl+p",), ("enter",)]
)
async def test_the_program_can_be_left_in_any_state(world: Path, keys: tuple[str, ...]) -> None:
    async with driven(world) as pilot:
        await pilot.press(*keys)
        await pilot.press("ctrl+q")
        await pilot.pause()
    assert not pilot.app.is_running


async def test_leaving_while_the_store_is_being_opened(world: Path) -> None:
    from inspector.app import InspectorApp

    app = InspectorApp(str(world))
    async with app.run_test() as pilot:
        await pilot.press("q")
    assert app.return_code == 0


async def test_leaving_from_a_refusal(tmp_path: Path) -> None:
    async with driven(tmp_path / "none.db") as pilot:
        await pilot.press("q")
    assert pilot.app.return_code == 0


async def test_our_own_fault_ends_with_code_1_and_is_told_without_contents(world: Path) -> None:
    from inspector.fault import FaultApp, report

    with pytest.raises(ZeroDivisionError):
        async with driven(world, fault_ok=True) as pilot:

            def broken() -> None:
                _ = 1 / 0

            pilot.app.call_later(broken)
            await pilot.pause()
    assert pilot.app.return_code == 1
    said = report(pilot.app.fault)  # type: ignore[attr-defined]
    assert "ZeroDivisionError" in said
    assert "division by zero" not in said, "an error's message may hold what a store holds"
    page = FaultApp(pilot.app.fault)  # type: ignore[attr-defined]
    async with page.run_test() as second:
        shown = screen_text(second)
        assert "our fault" in shown
        assert "Traceback" not in shown
        await second.press("w")
        await second.pause()
        assert "written to" in screen_text(second)
        await second.press("q")


async def test_credentials_never_reach_the_screen() -> None:
    url = "postgresql://kim:s3cret-word@127.0.0.1:1/state?password=hidden-too"
    async with driven(url, size=(140, 30)) as pilot:
        await pilot.pause(0.3)
        await settled(pilot)
        said = screen_text(pilot)
        assert "s3cret-word" not in said
        assert "hidden-too" not in said
        assert "kim" in said


def _add_run(path: Path, name: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(
        "INSERT INTO sessions (id, created_at, updated_at, progression_id, name, status)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (f"new-{name}", CLOCK, CLOCK + 50, "p000", name, "running"),
    )
    connection.commit()
    connection.close()


async def _until(pilot: object, words: str, seconds: float = 15) -> None:
    import asyncio
    import time

    end = time.monotonic() + seconds
    while words not in screen_text(pilot):  # type: ignore[arg-type]
        assert time.monotonic() < end, f"{words!r} never came:\n{screen_text(pilot)}"  # type: ignore[arg-type]
        await asyncio.sleep(0.05)
        await pilot.pause()  # type: ignore[attr-defined]
