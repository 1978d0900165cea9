"""A run: every view and every key of it, on a run with all there can be and on runs that lack things."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.navigation import Address
from inspector.widgets.conversation import Conversation
from tests.inspector.built import LONG, REVIEW, make_world
from tests.inspector.driving import CONTROLS, driven, screen_lines, screen_text, settled, typed
from tests.persistence.stores import make_store, message, put, run_sql, session

VIEWS = ("conversation", "timeline", "branches", "signals", "history", "artifacts", "raw")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_world(tmp_path_factory.mktemp("world") / "state.db")


async def test_the_head_says_what_it_was(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}") as pilot:
        said = screen_text(pilot)
        for words in (
            "✓ completed",
            "nightly build review",
            "agent planner",
            "model-3",
            "1 h 59 min",
            "project harbour",
            "12,400 in, 2,070 out",
            "two of three checks explained",
            "keep ✎",
        ):
            assert words in said, words  # fmt: skip


async def test_the_conversation_is_the_progression(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}", size=(120, 124)) as pilot:
        said = screen_text(pilot)
        assert "1 of 14" in said
        assert "You are a careful reviewer." in said
        assert '→ lookup_tide  { port: "Ærøskøbing", day: 3 }' in said
        assert "← lookup_tide" in said
        assert "▲ 4b1f09c2-gone is named here and does not exist" in said
        assert "again, the same as 5" in said
        assert "older than the one before" in said
        assert "silence" in said
        assert "{not json" in said
        assert "│ line two" in said
        assert "• " not in said or "1. lookup_tide takes them as UTC" in said
        assert not CONTROLS.search(said.replace("\n", ""))
        assert "[/red] [@click=app.quit]x[/]" in said


async def test_markdown_text_and_json(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}", size=(120, 124)) as pilot:
        assert "What failed" in screen_text(pilot)
        assert "# What failed" not in screen_text(pilot)
        await pilot.press("v")
        await settled(pilot)
        assert "# What failed" in screen_text(pilot)
        assert "**same reason**" in screen_text(pilot)
        await pilot.press("v")
        await settled(pilot)
        assert "assistant_response:" in screen_text(pilot)
        await pilot.press("v")
        await settled(pilot)
        assert "**same reason**" not in screen_text(pilot)


async def test_folding_one_and_all(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}", size=(120, 124)) as pilot:
        assert "more," in screen_text(pilot), "a long message is shown in part"
        await pilot.press("Z")
        await settled(pilot)
        outline = [line for line in screen_lines(pilot) if " assistant  " in line]
        assert len(outline) == 6
        await pilot.press("Z")
        await settled(pilot)
        await pilot.press("z")
        await settled(pilot)
        assert "system  You are a careful reviewer." in screen_text(pilot)
        await pilot.press("z")
        await settled(pilot)
        assert "system  You are a careful reviewer." not in screen_text(pilot)


async def test_moving_by_message_line_and_page(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}", size=(100, 30)) as pilot:
        conversation = pilot.app.screen.query_one(Conversation)
        await pilot.press("j", "j")
        assert conversation.cursor == 2
        await pilot.press("k")
        assert conversation.cursor == 1
        await pilot.press("G")
        await settled(pilot)
        assert "14 of 14" in screen_text(pilot)
        await pilot.press("pageup")
        await settled(pilot)
        assert conversation.cursor < 13
        await pilot.press("g")
        await settled(pilot)
        assert conversation.cursor == 0
        seen = set()
        for _ in range(60):
            await pilot.press("down")
            seen.add(conversation.cursor)
        assert seen | {0} == set(range(14)), "every message is stopped at"
        await pilot.press("home", "pagedown", "ctrl+d", "ctrl+u", "end")
        await settled(pilot)
        assert conversation.cursor == 13


async def test_marks_are_gone_to(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}", size=(100, 30)) as pilot:
        conversation = pilot.app.screen.query_one(Conversation)
        await pilot.press("m")
        await settled(pilot)
        assert conversation.cursor == 5
        await pilot.press("m")
        await settled(pilot)
        assert conversation.cursor > 5
        await pilot.press("M")
        await settled(pilot)
        assert conversation.cursor == 5


async def test_branches_are_switched_by_key_and_from_their_list(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}") as pilot:
        assert "conversation › main" in screen_text(pilot)
        await pilot.press("b")
        await settled(pilot)
        assert "conversation › side ветка" in screen_text(pilot)
        assert "1 of 2" in screen_text(pilot)
        await pilot.press("b")
        await settled(pilot)
        assert "1 of 3" in screen_text(pilot), "the run's own progression is one of them"
        await pilot.press("B", "B")
        await settled(pilot)
        assert "conversation › main" in screen_text(pilot)
        await pilot.press("tab", "tab")
        await settled(pilot)
        await pilot.press("j", "enter")
        await settled(pilot)
        assert "conversation › side ветка" in screen_text(pilot)


async def test_searching_finds_goes_on_and_ends(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}") as pilot:
        conversation = pilot.app.screen.query_one(Conversation)
        await pilot.press("ctrl+f")
        await typed(pilot, "ci/log")
        await pilot.press("enter")
        await settled(pilot)
        await _search_over(pilot)
        assert conversation.cursor == 1
        assert "1 of 2 messages" in screen_text(pilot)
        await pilot.press("n")
        await settled(pilot)
        assert conversation.cursor == 7
        await pilot.press("n")
        await settled(pilot)
        assert conversation.cursor == 1, "it begins again"
        await pilot.press("N")
        await settled(pilot)
        assert conversation.cursor == 7
        await pilot.press("escape")
        await settled(pilot)
        assert "of 2 messages" not in screen_text(pilot)
        assert pilot.app.screen.NAME == "run"  # type: ignore[attr-defined]


async def test_searching_for_what_is_not_there_says_so(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}") as pilot:
        await pilot.press("slash")
        await typed(pilot, "nowhere at all")
        await pilot.press("enter")
        await settled(pilot)
        await _search_over(pilot)
        assert "no message has these words" in screen_text(pilot)


async def test_a_message_is_gone_to_by_number(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}") as pilot:
        await pilot.press("ctrl+g")
        await settled(pilot)
        await typed(pilot, "9")
        await pilot.press("enter")
        await settled(pilot)
        assert "9 of 14" in screen_text(pilot)


async def test_a_message_is_copied_exactly_and_as_stored(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}") as pilot:
        await pilot.press("j", "j", "j", "j")
        await settled(pilot)
        await pilot.press("y")
        await settled(pilot)
        assert pilot.app.clipboard == LONG
        assert "message 5" in screen_text(pilot)
        await pilot.press("Y")
        await settled(pilot)
        assert json.loads(pilot.app.clipboard) == {"assistant_response": LONG}
        await pilot.press("k")
        await pilot.press("y")
        await settled(pilot)
        assert json.loads(pilot.app.clipboard)["function"] == "lookup_tide"


async def test_enter_opens_a_message_whole(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}") as pilot:
        await pilot.press("G", "k", "k", "k", "k", "k")
        await settled(pilot)
        await pilot.press("g", "enter")
        await settled(pilot)
        assert "message 1, system" in screen_text(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert pilot.app.screen.NAME == "run"  # type: ignore[attr-defined]


@pytest.mark.parametrize("form", ["markdown", "json"])
async def test_the_conversation_is_exported_whole(world: Path, tmp_path: Path, form: str) -> None:
    target = tmp_path / f"out.{'md' if form == 'markdown' else 'json'}"
    async with driven(world, f"run/{REVIEW}") as pilot:
        await pilot.press("e")
        await settled(pilot)
        assert "the conversation, 14 messages" in screen_text(pilot)
        if form == "json":
            await pilot.press("down")
        await pilot.press("enter")
        await settled(pilot)
        path = pilot.app.screen.query_one("#export-path")
        path.value = str(target)  # type: ignore[attr-defined]
        await pilot.press("enter")
        await settled(pilot)
        assert "written" in screen_text(pilot)
    body = target.read_text("utf-8")
    if form == "markdown":
        assert LONG.strip() in body
        assert "## 6. (named here, and not there)" in body
        assert "# nightly build review" in body
    else:
        found = json.loads(body)
        assert [each["position"] for each in found["messages"]] == list(range(14))
        assert found["messages"][5] == {"position": 5, "id": "4b1f09c2-gone", "exists": False}
        assert found["messages"][4]["content"] == {"assistant_response": LONG}
        assert found["run"]["id"] == REVIEW


async def test_the_timeline_draws_messages_signals_changes_and_silences(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}/timeline") as pilot:
        said = screen_text(pilot)
        for words in (
            "assistant ",
            "signals",
            "status",
            "of silence",
            "● running",
            "✓ completed",
            "signal [x] 1",
            "messages of branch main",
        ):
            assert words in said, words  # fmt: skip
        await pilot.press("G", "enter")
        await settled(pilot)
        assert pilot.app.screen.view == "history"  # type: ignore[attr-defined]


async def test_a_burst_leads_to_its_first_message(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}/timeline") as pilot:
        lines = screen_lines(pilot)
        at = next(number for number, line in enumerate(lines) if "▪" in line and "from 7" in line)
        await pilot.click(offset=(40, at), times=2)
        await settled(pilot)
        assert pilot.app.screen.view == "conversation"  # type: ignore[attr-defined]
        assert "7 of 14" in screen_text(pilot)


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ("branches", ("main", "side ветка", "1 of 2")),
        ("signals", ("run.started", "op.progress", "1 of 3")),
        ("history", ("running", "completed", "engine", "1 of 2")),
        ("artifacts", ("report 1", "out/board.md", "✗ missing", "✓ present, 12 kB", "○ missing", "1 of 2")),
        ("raw", ("progression_id", "p-review", "playbook_name", "fields")),
    ],
)
async def test_every_view_shows_what_there_is(world: Path, view: str, words: tuple[str, ...]) -> None:
    async with driven(world, f"run/{REVIEW}/{view}") as pilot:
        said = screen_text(pilot)
        for each in words:
            assert each in said, each
        assert f"› {'status history' if view == 'history' else view}" in said
        await pilot.press("y")
        await settled(pilot)
        assert pilot.app.clipboard


async def test_tab_goes_round_and_the_address_follows(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}") as pilot:
        for view in (*VIEWS[1:], VIEWS[0]):
            await pilot.press("tab")
            await settled(pilot)
            assert pilot.app.screen.address() == Address("run", REVIEW, view)  # type: ignore[attr-defined]
        await pilot.press("shift+tab")
        await settled(pilot)
        assert pilot.app.screen.view == "raw"  # type: ignore[attr-defined]
        await pilot.press("escape", "left_square_bracket")
        await settled(pilot)
        assert pilot.app.screen.address() == Address("run", REVIEW, "raw")  # type: ignore[attr-defined]


async def test_views_by_the_mouse(world: Path) -> None:
    async with driven(world, f"run/{REVIEW}") as pilot:
        lines = screen_lines(pilot)
        at = next(number for number, line in enumerate(lines) if "timeline" in line)
        await pilot.click(offset=(lines[at].index("signals") + 2, at))
        await settled(pilot)
        assert pilot.app.screen.view == "signals"  # type: ignore[attr-defined]


async def test_a_run_that_is_not_there(world: Path) -> None:
    async with driven(world, str(Address("run", "nobody[/]"))) as pilot:
        assert "There is no such run in this store" in screen_text(pilot)
        assert "nobody[/]" in screen_text(pilot)
        await pilot.press("escape", "escape")
        await settled(pilot)
        assert pilot.app.screen.NAME == "runs"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("collection", "words"),
    [
        ("[]", "empty"),
        ("{not json", "not JSON"),
        ('{"a": 1}', "not a list"),
        (None, "there is no such progression"),
    ],
)
async def test_a_progression_that_is_none_says_what_it_is(
    tmp_path: Path, collection: str | None, words: str
) -> None:
    path = make_store(tmp_path / "state.db")
    put(path, "sessions", session(1))
    if collection is not None:
        put(path, "progressions", {"id": "p001", "created_at": 1.0, "collection": collection})
    async with driven(path, "run/s001") as pilot:
        assert words in screen_text(pilot)


async def test_an_old_store_says_what_it_lacks(tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db", "0.26.0")
    put(path, "sessions", session(1, name="old one"))
    put(path, "progressions", {"id": "p001", "created_at": 1.0, "collection": ["m0001"]})
    put(path, "messages", message(1))
    async with driven(path, "run/s001") as pilot:
        assert "text 1" in screen_text(pilot)
        await pilot.press("tab")
        await settled(pilot)
        assert "signals: not in this store" in screen_text(pilot)
        lines = screen_lines(pilot)
        at = next(number for number, line in enumerate(lines) if "timeline" in line)
        await pilot.click(offset=(lines[at].index("signals") + 2, at))
        await settled(pilot)
        assert pilot.app.screen.view == "timeline", "a view the store has nothing for is not gone to"  # type: ignore[attr-defined]
        for view in ("branches", "raw"):
            await pilot.press("tab")
            await settled(pilot)
            assert pilot.app.screen.view == view  # type: ignore[attr-defined]
        assert "not in this store" in screen_text(pilot)


async def test_a_growing_conversation_keeps_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspector.follow import Follower

    monkeypatch.setattr(Follower, "SHORTEST", 0.05)
    path = make_store(tmp_path / "state.db")
    put(path, "sessions", session(1))
    ids = [f"m{number:04}" for number in range(300)]
    put(path, "messages", *(message(number) for number in range(301)))
    put(path, "progressions", {"id": "p001", "created_at": 1.0, "collection": ids})
    async with driven(path, "run/s001") as pilot:
        conversation = pilot.app.screen.query_one(Conversation)
        await pilot.press("j", "j", "j")
        top, cursor = conversation.top, conversation.cursor
        run_sql(path, f"UPDATE progressions SET collection = '{json.dumps([*ids, 'm0300'])}'")
        await _until_count(pilot, conversation, 301)
        assert (conversation.top, conversation.cursor) == (top, cursor)
        assert "1 new" in screen_text(pilot)
        await pilot.press("G")
        await settled(pilot)
        assert "301 of 301" in screen_text(pilot)
        assert "new ↓" not in screen_text(pilot)
        run_sql(path, f"UPDATE progressions SET collection = '{json.dumps([*ids, 'm0300', 'm0001'])}'")
        await _until_count(pilot, conversation, 302)
        assert "text 1" in screen_text(pilot), "at the end, new messages come into sight"


async def _until_count(pilot: object, conversation: Conversation, count: int) -> None:
    import asyncio

    for _ in range(200):
        if conversation.count == count:
            break
        await asyncio.sleep(0.05)
        await pilot.pause()  # type: ignore[attr-defined]
    assert conversation.count == count
    await settled(pilot)  # type: ignore[arg-type]


async def _search_over(pilot: object) -> None:
    import asyncio

    for _ in range(100):
        if not pilot.app.screen.query_one("#search").searching:  # type: ignore[attr-defined]
            break
        await asyncio.sleep(0.02)
    await settled(pilot)  # type: ignore[arg-type]
