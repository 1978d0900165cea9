"""A conversation by windows: its order, its gaps, its repeats, its disorder, its long and broken messages."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from persistence.errors import StoreError
from persistence.reading import transcript as module
from persistence.reading.transcript import Transcript
from tests.persistence.rows.support import make, opened
from tests.persistence.stores import make_store, message, put


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(module, "CHUNK", 50)
    yield


def talk(path: Path, ids: Any, *messages: dict[str, Any]) -> Path:
    make_store(path)
    put(path, "progressions", {"id": "p", "created_at": 1.0, "collection": json.dumps(ids)})
    put(path, "messages", *messages)
    return path


def many(count: int) -> list[dict[str, Any]]:
    return [message(n, content={"assistant_response": f"text {n}"}) for n in range(count)]


async def surveyed(transcript: Transcript) -> list[Any]:
    return [part async for part in transcript.survey()]


async def hits(transcript: Transcript, text: str) -> list[int]:
    return [place async for part in transcript.search(text) for place in part.positions]


async def test_windows_are_the_conversation(tmp_path: Path) -> None:
    messages = many(300)
    ids = [each["id"] for each in reversed(messages)]
    async with opened(talk(tmp_path / "s.db", ids, *messages)) as db:
        transcript = await db.transcript("p")
        assert (transcript.state, transcript.length, transcript.duplicates) == ("list", 300, 0)
        found: list[str] = []
        for first in range(0, 320, 40):
            window = await transcript.window(first, 40)
            assert [entry.position for entry in window] == list(range(first, min(first + 40, 300)))
            found += [entry.id for entry in window]
        assert found == ids
        entry = (await transcript.window(5, 1))[0]
        assert entry.parts[0].text == "text 294" and entry.role == "assistant"
        assert entry.class_name == "lionagi.protocols.messages.assistant_response.AssistantResponse"
        assert await transcript.window(300, 5) == () and await transcript.window(5, 0) == ()
        assert (await transcript.window(-3, 5))[0].position == 0


async def test_gaps_repeats_and_disorder_are_marked(tmp_path: Path) -> None:
    messages = many(6)
    ids = ["m0000", "m0002", "m0001", "gone", "m0000", 7, None, "m0003", "gone", ""]
    async with opened(talk(tmp_path / "s.db", ids, *messages)) as db:
        transcript = await db.transcript("p")
        assert transcript.duplicates == 2 and transcript.marked == {4, 5, 6, 8}
        window = await transcript.window(0, 20)
        assert [entry.position for entry in window if not entry.exists] == [3, 5, 6, 8, 9]
        assert {e.position: e.duplicate_of for e in window if e.duplicate_of is not None} == {4: 0, 8: 3}
        assert [entry.position for entry in window if entry.out_of_order] == [2, 4]
        assert [entry.id for entry in window[5:7]] == ["7", "null"]
        assert {entry.problem for entry in window[5:7]} == {"not an id"}
        assert transcript.marked == {2, 3, 4, 5, 6, 8, 9}
        # The same, told by a window that begins with it.
        assert [(await transcript.window(place, 1))[0].out_of_order for place in (1, 2)] == [False, True]


async def test_a_survey_knows_what_windows_have_not_shown(tmp_path: Path) -> None:
    messages = many(200)
    ids = [each["id"] for each in messages]
    ids[60], ids[61] = ids[61], ids[60]
    ids[10] = "gone one"
    ids[150] = "gone two"
    async with opened(talk(tmp_path / "s.db", ids, *messages)) as db:
        transcript = await db.transcript("p")
        assert (transcript.dangling, transcript.out_of_order) == (None, None)
        parts = await surveyed(transcript)
        assert (transcript.dangling, transcript.out_of_order) == (2, 1)
        assert [part.progress.done for part in parts] == [50, 100, 150, 200]
        assert [place for part in parts for place in part.dangling] == [10, 150]
        assert [place for part in parts for place in part.out_of_order] == [61]
        times = [at for part in parts for at in part.times]
        assert len(times) == 200 and times[10] is None and times[11] == 1011.0
        assert transcript.marked == {10, 61, 150}


@pytest.mark.parametrize(
    ("collection", "state"),
    [("[]", "empty"), ("{}", "not a list"), ("[cut", "not JSON"), ("[" * 90_000, "not a list")],
)
async def test_four_words_for_no_list(tmp_path: Path, collection: str, state: str) -> None:
    path = make_store(tmp_path / "s.db")
    put(path, "progressions", {"id": "p", "created_at": 1.0, "collection": collection})
    async with opened(path) as db:
        transcript = await db.transcript("p")
        assert (transcript.state, transcript.length) == (state, 0)
        assert (transcript.why is None) == (state == "empty")
        assert await transcript.window(0, 10) == () and await surveyed(transcript) == []
        assert await transcript.whole(0) is None and await hits(transcript, "x") == []
        assert (await db.transcript("none")).state == "missing"


async def test_a_long_message_is_read_in_part_and_then_whole(tmp_path: Path) -> None:
    long = "lorem ipsum " * 100_000
    rows = [message(0, content={"assistant_response": long}), message(1, content='{"cut": "' + "y" * 40_000)]
    async with opened(talk(tmp_path / "s.db", ["m0000", "m0001"], *rows)) as db:
        transcript = await db.transcript("p")
        one, other = await transcript.window(0, 2, head=100)
        assert one.parts[0].text == long[:100] and one.truncated and one.size > 1_200_000
        assert one.problem is None
        whole = await transcript.whole(0)
        assert whole is not None and whole.parts[0].text == long and not whole.truncated
        assert other.truncated and other.parts
        broken = await transcript.whole(1)
        assert broken is not None and broken.problem is not None and broken.raw == rows[1]["content"]
        assert broken.size == len(rows[1]["content"])


async def test_messages_of_any_kind_of_row(tmp_path: Path) -> None:
    rows = [
        message(0, content="[1, 2]", lion_class=99, node_metadata='{"lion_class": "acme.Own"}'),
        message(1, content="null", created_at="noon", role=5),
        message(2, content=b"\xff\xfe", sender="a\udcff".encode("utf-8", "surrogateescape")),
        message(3, content='{"instruction": "bad \xff"}'.encode("latin-1"), lion_class=0),
    ]
    ids = [f"m{n:04}" for n in range(4)]
    async with opened(talk(tmp_path / "s.db", ids, *rows)) as db:
        window = await (await db.transcript("p")).window(0, 10)
        assert window[0].class_name == "acme.Own"
        assert window[1].created_at is None and window[1].role == "5" and window[1].parts == ()
        assert window[2].problem is not None and window[2].raw == "\udcff\udcfe"
        assert window[3].parts[0].text == "bad \udcff"
        assert window[3].class_name == "__unknown__"


async def test_a_search_finds_what_is_shown(tmp_path: Path) -> None:
    rows = many(120)
    rows[7]["content"] = {"instruction": "把潮汐表翻译成中文", "context": ["Übergröße"]}
    rows[70]["content"] = {"function": "lookup_tide", "arguments": {"port": 'Ærø "north" 100%'}}
    rows[71]["content"] = '{"instruction": "plain 潮汐"}'
    rows[99]["content"] = "not json, 潮汐 there"
    ids = [each["id"] for each in rows]
    async with opened(talk(tmp_path / "s.db", ids, *rows)) as db:
        transcript = await db.transcript("p")
        assert await hits(transcript, "潮汐") == [7, 71, 99]
        assert await hits(transcript, "ÜBERGRÖSSE") == [7] or await hits(transcript, "Übergröße") == [7]
        assert await hits(transcript, 'Ærø "NORTH" 100%') == [70]
        assert await hits(transcript, "LOOKUP_tide") == [70]
        assert await hits(transcript, "TEXT 11") == [11, *range(110, 120)]
        assert await hits(transcript, "assistant_response") == []
        assert await hits(transcript, "1_0") == [] and await hits(transcript, "") == []
        progress = [part.progress async for part in transcript.search("none")]
        assert [each.done for each in progress] == [50, 100, 120]


async def test_a_list_is_read_once_a_change_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = talk(tmp_path / "s.db", ["m0000"], *many(3))
    async with opened(path) as db:
        first = await db.transcript("p")
        monkeypatch.setattr(module, "read_list", None)  # would fail if the list were taken in again
        assert (await db.transcript("p")).length == 1
        assert await first.refreshed() is first
        monkeypatch.undo()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute('UPDATE progressions SET collection = \'["m0000", "m0001"]\'')
            connection.commit()
        again = await first.refreshed()
        assert again is not first and again.length == 2
        # The one before still shows what it showed.
        assert first.length == 1 and len(await first.window(0, 10)) == 1


async def test_stores_that_lack_a_part(tmp_path: Path) -> None:
    async with opened(make(tmp_path / "none.db", "CREATE TABLE t (a)")) as db:
        with pytest.raises(StoreError) as refused:
            await db.transcript("p")
        assert refused.value.code == "no-such-table"
    path = make(
        tmp_path / "half.db",
        "CREATE TABLE progressions (id TEXT PRIMARY KEY, collection TEXT)",
        """INSERT INTO progressions VALUES ('p', '["a", "b"]')""",
    )
    async with opened(path) as db:
        transcript = await db.transcript("p")
        assert [entry.exists for entry in await transcript.window(0, 5)] == [False, False]
        await surveyed(transcript)
        assert transcript.dangling == 2 and await hits(transcript, "a") == []
