"""Whatever a store holds: no screen changes its structure, none falls over, no control character gets out."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.inspector.driving import CONTROLS, driven, screen_lines, screen_text, settled, typed
from tests.persistence.stores import make_store, message, put, session

EVIL = [
    "[/red] [b]bold[/b] [@click=app.quit]press me[/]",
    "[link=file:///etc/passwd]x[/link] [[[ ]] [/] \\[x]\\",
    "\x1b]52;c;aGFja2Vk\x07\x1b[2J\x1b[5m\x1b]0;title\x07",
    "\x9b31m \x90dcs\x9c \x85 \x00 nul \x7f del \x08\x08",
    "\u202eright-to-left\u202c \u2066isolated\u2069 \u200f\u200b\u2060",
    "اكتب ملخصا قصيرا لجدول المد والجزر שלום",
    "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301 z\u0335\u0336\u0337\u0338",
    "🏴‍☠️👨‍👩‍👧‍👦🇯🇵 日誌\ufe0f\ufe0f\ufe0f",
    "tab\there\r\nnew\rline\u2028sep\u2029para",
    "$foreground {0} %s ${HOME} `x` # > - | * _",
    "x" * 5_000,
    "",
    " ",
]
WALLS = ("─" * 20,)


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every text column of every table the screens read holds something hostile."""
    path = make_store(tmp_path_factory.mktemp("evil") / "state.db")
    for number, text in enumerate(EVIL):
        put(
            path,
            "sessions",
            session(
                number,
                name=text,
                status=text if number % 3 else "completed",
                agent_name=text,
                model=text,
                project=text,
                user_label=text,
                playbook_name=text,
                status_reason_summary=text,
                status_reason_code=text,
                started_at=(1000.0, -5.0, 1e300, None)[number % 4],
                ended_at=(2000.0, float("inf"), None)[number % 3],
                node_metadata=text,
                artifact_contract_json=json.dumps({"expected": [{"path": text}, 5, None]}),
                artifact_verification_json=(text, json.dumps({"status": text, "produced": [{"path": text}]}))[
                    number % 2
                ],
            ),
        )
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO progressions VALUES ('p000', 1, ?)", (json.dumps(_messages(connection)),))
    connection.execute(
        "UPDATE sessions SET total_cost_usd = 'not money', input_tokens = x'ff00' WHERE id = 's001'"
    )
    connection.execute("UPDATE sessions SET name = CAST(x'c328ff41' AS TEXT) WHERE id = 's002'")
    connection.execute("UPDATE sessions SET name = x'0001fe' WHERE id = 's003'")
    connection.commit()
    connection.close()
    for number, text in enumerate(EVIL):
        progression = "p000" if number == 0 else f"none-{number}"
        branch = {"id": f"b{number}-{text[:40]}", "created_at": 1.0, "progression_id": progression}
        put(path, "branches", {**branch, "session_id": "s000", "name": text, "status": text})
        signal = {"id": f"g{number}", "seq": number, "ts": 1000.0 + number, "payload": {"text": text}}
        put(path, "session_signals", {**signal, "session_id": "s000", "kind": text, "op_id": text})
        change = {"id": f"t{number}", "entity_type": "session", "entity_id": "s000", "created_at": 1000.0}
        names = ("previous_status", "status", "reason_code", "reason_summary", "source", "actor")
        rest = {"evidence_refs": "[]", "metadata": "{}"}
        put(path, "status_transitions", {**change, **rest, **dict.fromkeys(names, text)})
        artifact = {"id": f"a{number}", "session_id": "s000", "created_at": 1, "updated_at": 1}
        put(path, "artifacts", {**artifact, **dict.fromkeys(("kind", "name", "content", "file_path"), text)})
    return path


def _messages(connection: sqlite3.Connection) -> list[Any]:
    """Puts the messages in, and gives the list: with ids that are none, twice, and not there."""
    contents: list[Any] = []
    for text in EVIL:
        contents += [
            {"assistant_response": text},
            {"instruction": text, text: {text: [text]}},
            {"function": text, "arguments": {text: text}},
            {"function": text, "arguments": text, "output": {text: text}},
            text,
        ]
    raw = [json.dumps(content) for content in contents]
    raw += [
        "{broken",
        "NaN",
        '{"a": NaN, "a": 1e999, "b": 123456789012345678901234567890}',
        "[" * 3000,
        "\x00",
        "",
    ]
    ids: list[Any] = []
    for number, content in enumerate(raw):
        row = message(
            number, content=content, role=EVIL[number % len(EVIL)], sender="\x1b[1m", recipient="[/]"
        )
        row["created_at"] = (1000.0 + number, -1.0, 1e300, float("inf"))[number % 4 if number % 9 == 0 else 0]
        names = ", ".join(row)
        connection.execute(
            f"INSERT INTO messages ({names}) VALUES ({', '.join('?' * len(row))})", list(row.values())
        )
        ids.append(row["id"])
    return [*ids, "gone\x1b[31m[/]", ids[0], 17, None, {"not": "an id"}, [], ""]


def check(pilot: Any) -> None:
    """The frame stands where it stood, every line is as wide as the screen, and nothing speaks."""
    width, height = pilot.app.size
    lines = screen_lines(pilot)
    assert len(lines) == height
    for line in lines:
        assert not CONTROLS.search(line), repr(line)
    assert lines[0].lstrip().startswith("◆")
    assert lines[2] == "─" * width
    assert lines[-3] == "─" * width
    assert "q quit" in lines[-1]


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
@pytest.mark.parametrize(
    "place",
    [
        "overview",
        "runs",
        "run/s000",
        "run/s001",
        "run/s002",
        "run/s000/timeline",
        "run/s000/branches",
        "run/s000/signals",
        "run/s000/history",
        "run/s000/artifacts",
        "run/s000/raw",
        "found/broken-json",
    ],
)
async def test_every_place(evil: Path, place: str, size: tuple[int, int]) -> None:
    async with driven(evil, place, size=size) as pilot:
        check(pilot)
        for key in ("G", "pageup", "g", "v", "Z", "j", "l", "l", "l", "s"):
            await pilot.press(key)
        await settled(pilot)
        check(pilot)


async def test_the_whole_hostile_conversation(evil: Path) -> None:
    async with driven(evil, "run/s000", size=(100, 40)) as pilot:
        for _ in range(3):
            for _ in range(24):
                await pilot.press("pagedown")
                check(pilot)
            await settled(pilot)
            check(pilot)
            await pilot.press("v", "g")
        assert "press me" in screen_text(pilot) or pilot.app.is_running


async def test_a_click_on_data_does_nothing_of_its_own(evil: Path) -> None:
    async with driven(evil, "run/s000", size=(120, 40)) as pilot:
        for y in range(8, 36):
            for x in ((8, 34), (20, 46))[y % 2]:
                await pilot.click(offset=(x, y))
        await settled(pilot)
        assert pilot.app.is_running
        assert pilot.app.screen.NAME == "run"  # type: ignore[attr-defined]


async def test_hostile_values_in_layers(evil: Path) -> None:
    """Whole values, help, palette, export, toasts, tooltips, the filter and the search."""
    async with driven(evil, "run/s000", size=(120, 40)) as pilot:
        for _ in range(6):
            await pilot.press("enter")
            await settled(pilot, rounds=2)
            assert not CONTROLS.search("".join(screen_lines(pilot)))
            await pilot.press("escape", "j")
        await pilot.press("y")
        await settled(pilot)
        assert not CONTROLS.search("".join(screen_lines(pilot)))
        await pilot.press("e")
        await settled(pilot)
        assert not CONTROLS.search("".join(screen_lines(pilot)))
        await pilot.press("escape", "ctrl+p")
        await typed(pilot, "press")
        await pilot.pause(0.4)
        assert not CONTROLS.search("".join(screen_lines(pilot)))
        await pilot.press("escape")
        await pilot.hover("#run-head", offset=(20, 0))
        await pilot.pause(0.5)
        assert not CONTROLS.search("".join(screen_lines(pilot)))


async def test_a_cell_of_fifty_megabytes(tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db")
    put(path, "sessions", session(1))
    put(path, "progressions", {"id": "p001", "created_at": 1.0, "collection": ["m0001", "m0002"]})
    big = json.dumps({"assistant_response": "many words " * 4_800_000})
    put(path, "messages", message(1, content=big), message(2))
    async with driven(path, "run/s001") as pilot:
        said = screen_text(pilot)
        assert "many words" in said
        assert "53 MB in all" in said
        await pilot.press("enter")
        await settled(pilot)
        assert "53 MB" in screen_text(pilot)
        await pilot.press("escape", "v", "v", "j")
        await settled(pilot)
        assert "2 of 2" in screen_text(pilot)


SHAPES = [
    (1, 1),
    (2, 5),
    (5, 2),
    (20, 5),
    (39, 11),
    (41, 13),
    (60, 16),
    (80, 24),
    (200, 8),
    (12, 90),
    (400, 120),
]


@pytest.mark.parametrize(
    "place",
    [
        "overview",
        "runs",
        "run/s000",
        "run/s000/timeline",
        "run/s000/artifacts",
        "run/s000/raw",
        "found/broken-json",
    ],
)
async def test_any_size(evil: Path, place: str) -> None:
    async with driven(evil, place) as pilot:
        for shape in (*SHAPES, *reversed(SHAPES)):
            await pilot.resize_terminal(*shape)
            await pilot.pause()
            lines = screen_lines(pilot)
            assert len(lines) == shape[1]
        await pilot.resize_terminal(120, 40)
        await settled(pilot)
        check(pilot)


@pytest.mark.parametrize("keys", ["question_mark", "t", "e", "ctrl+p", "slash"])
async def test_layers_at_any_size(evil: Path, keys: str) -> None:
    async with driven(evil, "runs") as pilot:
        await pilot.press(keys)
        await pilot.pause()
        for shape in SHAPES:
            await pilot.resize_terminal(*shape)
            await pilot.pause()
        assert pilot.app.is_running
