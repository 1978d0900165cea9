"""ADR-0055 D1: the relational store answers for its records; a file is no alternate form of a row."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from persistence import StateDB, locate
from persistence.reading.values import decode_json
from tests.acceptance.screens import shown
from tests.persistence.stores import make_filled, make_store, put, run_sql, session

ROOT = Path(__file__).resolve().parents[2]
GETS = sorted(
    name
    for name, method in inspect.getmembers(StateDB, inspect.iscoroutinefunction)
    if name.startswith("get_")
)
LISTS = sorted(
    name
    for name, method in inspect.getmembers(StateDB, inspect.iscoroutinefunction)
    if name.startswith("list_")
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return make_filled(tmp_path / "home" / "state.db")


@pytest.fixture
async def db(path: Path) -> AsyncIterator[StateDB]:
    async with StateDB(path) as opened:
        yield opened


def _required(method: object) -> int:
    parameters = inspect.signature(method).parameters.values()  # type: ignore[arg-type]
    return sum(parameter.default is parameter.empty for parameter in parameters)


async def _everything(db: StateDB) -> str:
    """What every method of the facade answers, as text."""
    out = {}
    for name in LISTS:
        method = getattr(db, name)
        out[name] = repr(list(await method(*["s000"] * _required(method))))
    for name in GETS:
        method = getattr(db, name)
        if name == "get_messages":
            out[name] = repr(await method(["m0000", "none"]))
        elif name == "get_message_type":
            out[name] = repr(await method(1))
        else:
            answers = [await method(*[key] * _required(method)) for key in ("s000", "p000", "d1", "none")]
            out[name] = repr(answers)
    return json.dumps(out)


@pytest.mark.adr("0055-D1-02")
def test_the_store_is_a_file_unless_something_else_is_chosen(tmp_path: Path) -> None:
    for chosen in ({}, {"LIONAGI_HOME": str(tmp_path)}, {"LIONAGI_STATE_DB_URL": " "}):
        location = locate(None, environ=chosen)
        assert location.backend == "sqlite" and location.origin == "default"
        assert location.name == "state.db"
    assert locate(None, environ={"LIONAGI_STATE_DB_URL": "postgresql://h/d"}).backend == "postgresql"


@pytest.mark.adr("0055-D1-03")
def test_persistence_knows_no_command_line() -> None:
    for file in sorted((ROOT / "persistence").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                assert name.partition(".")[0] not in ("inspector", "click", "textual", "rich"), file


@pytest.mark.adr("0055-D1-03")
def test_using_persistence_loads_no_command_line(path: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from persistence import StateDB\n"
        "async def use():\n"
        f"    async with StateDB({str(path)!r}) as db:\n"
        "        await db.list_sessions(); await db.facts(); await db.catalogue()\n"
        "asyncio.run(use())\n"
        "print(*(m for m in ('inspector', 'click', 'textual', 'rich') if m in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == ""


@pytest.mark.adr("0055-D1-03", "0055-D1-28")
async def test_a_directory_of_runs_stands_in_for_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run = home / "runs" / "20251009T080000-abcdef"
    for folder in (run / "branches", run / "stream", run / "artifacts" / "out"):
        folder.mkdir(parents=True)
    (run / "run.json").write_text('{"id": "20251009T080000-abcdef", "status": "running"}')
    (run / "branches" / "b9.json").write_text('{"id": "b9", "messages": []}')
    (run / "artifacts" / "out" / "board.md").write_text("# a board")
    path = make_store(home / "state.db")
    put(path, "sessions", session(0, run_id="other", artifacts_path=str(run / "artifacts")))
    async with StateDB(path) as db:
        assert [row["id"] for row in await db.list_sessions()] == ["s000"]
        assert await db.get_sessions_for_run("20251009T080000-abcdef") == []
        assert await db.get_branch("b9") is None
        assert await db.list_branches() == await db.list_artifacts() == await db.list_messages() == []
        assert await db.get_artifact_verification("s000") is None


@pytest.mark.adr("0055-D1-04")
async def test_files_that_disagree_change_no_answer(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "work" / "out"
    out.mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    run_sql(
        path,
        f"UPDATE artifacts SET file_path = '{out / 'board.md'}'",
        f"UPDATE definitions SET path = '{out / 'clerk.md'}'",
        f"UPDATE sessions SET artifacts_path = '{out}'",
    )
    async with StateDB(path) as db:
        before = await _everything(db)
        (out / "board.md").write_text('{"v": 999, "status": "failed"}')
        (out / "clerk.md").write_text("another text than the stored one")
        Path("clerk.md").write_text("another again")
        assert await _everything(db) == before
        (out / "board.md").unlink()
        (out / "clerk.md").write_bytes(b"\0" * 100)
        assert await _everything(db) == before
        definition = await db.get_definition("agent", "clerk")
        assert definition is not None and definition["content"] == "clerk v3"


@pytest.mark.adr("0055-D1-05")
async def test_a_stored_path_comes_back_as_it_is(path: Path) -> None:
    odd = ["/etc/passwd", "../../x", "C:\\x", "a\nb", "", "~/x", "out/*.md", "file:///x", "\U0001f6a2/\udcff"]
    for number, text in enumerate(odd):
        value = text.encode("utf-8", "surrogateescape").hex()
        run_sql(
            path,
            "INSERT INTO artifacts (id, created_at, updated_at, kind, name, content, file_path) "
            f"VALUES ('x{number}', 1, 1, 'k', 'n{number}', '{{}}', CAST(x'{value}' AS TEXT))",
        )
    async with StateDB(path) as db:
        for number, text in enumerate(odd):
            row = await db.get_artifact(f"x{number}")
            assert row is not None and row["file_path"] == text
            assert set(row) == {
                *("id", "invocation_id", "session_id", "created_at", "updated_at"),
                *("kind", "name", "content", "file_path"),
            }


@pytest.mark.adr("0055-D1-16", "0055-D1-20", "0055-D1-21")
async def test_get_session_is_the_row_or_none(path: Path) -> None:
    async with StateDB(path) as db:
        row = await db.get_session("s000")
        stored = await db.fetch_one("SELECT * FROM sessions WHERE id = 's000'")
        assert isinstance(row, dict) and stored is not None
        assert set(row) == set(stored)
        for name, value in stored.items():
            assert row[name] == value or row[name] == decode_json(value), name
        assert await db.get_session("none") is None


@pytest.mark.adr("0055-D1-20", "0055-D1-21")
@pytest.mark.parametrize("name", GETS)
async def test_a_get_gives_one_mapping_or_none(db: StateDB, name: str) -> None:
    method = getattr(db, name)
    documented = {
        "get_progression": [],
        "get_branch_messages": [],
        "get_messages": {},
        "get_sessions_for_run": [],
        "get_session_signals_after": [],
    }
    arguments = {
        "get_message_type": (10**6,),
        "get_messages": (["none"],),
        "get_session_signals_after": ("none", 0),
    }
    missing = arguments.get(name, ("none",) * _required(method))
    assert await method(*missing) == documented.get(name)
    if name in documented:
        assert "[]" in inspect.getdoc(method) or name != "get_progression"
    existing = {
        "get_artifact": "000000000000",
        "get_artifact_contract": "s002",
        "get_artifact_verification": "s003",
        "get_definition": ("agent", "clerk"),
        "get_engine_def_by_name": "deep",
        "get_message_type": 3,
        "get_meta": "lineage",
        "get_project": "project 0",
        "get_schedule_by_name": "nightly 1",
        "get_schedule_run_by_invocation": "i0",
        "get_session_by_cc_id": "cc1",
        "get_show_by_topic": "topic 0",
        "get_workflow_def_by_name": "flow",
        "get_worker": "w0",
        "get_session": "s000",
        "get_branch": "b0",
        "get_message": "m0000",
        "get_invocation": "i0",
        "get_show": "h0",
        "get_play": "y0",
        "get_team": "t0",
        "get_team_message": "tm0",
        "get_schedule": "c0",
        "get_schedule_run": "cr0",
        "get_engine_def": "e0",
        "get_workflow_def": "w0",
        "get_session_signal": "g0",
        "get_session_control": "k0",
        "get_engine_run": "er0",
        "get_approval": "a0",
        "get_status_transition": "st0",
        "get_admin_event": "ev0",
        "get_dispatch": "do0",
        "get_attention_disposition": "it0",
    }
    if name in existing:
        key = existing[name]
        answer = await method(*key) if isinstance(key, tuple) else await method(key)
        assert isinstance(answer, str if name == "get_meta" else dict)
    else:
        assert name in documented, name


@pytest.mark.adr("0055-D1-22")
@pytest.mark.parametrize("name", LISTS)
async def test_a_list_is_a_list(db: StateDB, name: str) -> None:
    method = getattr(db, name)
    rows = await method(*["none"] * _required(method))
    assert isinstance(rows, list)
    assert all(isinstance(row, dict) for row in rows)
    if _required(method):
        assert rows == []
    else:
        assert rows, name


@pytest.mark.adr("0055-D1-27")
async def test_one_decoder_for_decoded_values_and_text(db: StateDB) -> None:
    assert "documented decoder" in (inspect.getmodule(decode_json).__doc__ or "")
    for table, column in (("messages", "content"), ("sessions", "artifact_contract_json")):
        lower = await db.fetch_all(f"SELECT id, {column} AS cell FROM {table} ORDER BY id")
        for row in lower:
            get = db.get_message if table == "messages" else db.get_session
            facade = await get(row["id"])
            assert facade is not None
            assert decode_json(row["cell"]) == facade[column]
            assert decode_json(facade[column]) == facade[column]


@pytest.mark.adr("0055-D1-28")
async def test_a_missing_row_stays_missing_although_its_files_exist(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by looking away: no method lists a directory at all."""
    listed: list[object] = []

    def noted(original: object) -> object:
        def listing(*arguments: object, **named: object) -> object:
            listed.append(arguments)
            return original(*arguments, **named)  # type: ignore[operator]

        return listing

    async with StateDB(path) as db:
        await db.list_sessions()  # what is loaded on first use is loaded by now
        await db.facts()
        for name in ("listdir", "scandir", "walk"):
            monkeypatch.setattr(os, name, noted(getattr(os, name)))
        await _everything(db)
        assert await db.get_artifact("none") is None
    assert listed == []


CONTRACT = {
    "expected": [
        {"id": "board", "path": "out/expected.md", "required": True},
        {"id": "log", "path": "out/missing.txt", "required": True},
    ]
}
VERIFICATION = {
    "status": "failed",
    "checked_at": 1003.0,
    "missing_required": [{"id": "log", "path": "out/missing.txt"}],
    "missing_optional": [],
    "produced": [{"id": "board", "path": "out/expected.md", "size": 2048, "present": True}],
}
CAPTURED = re.compile(
    r"\b(captured?|archived?|backed up|preserved?|retained?|saved (file|bytes)|stored (file|bytes)"
    r"|contents? of the file|file'?s contents?)\b",
    re.IGNORECASE,
)


@pytest.fixture
def with_files(path: Path, tmp_path: Path) -> Path:
    """A run with artifacts, a contract and a verification, and files where the rows say they are."""
    out = tmp_path / "work" / "out"
    out.mkdir(parents=True)
    for name in ("board.md", "expected.md"):
        (out / name).write_text("FILE-CONTENT-ON-DISK")
    run_sql(
        path,
        f"UPDATE artifacts SET file_path = '{out / 'board.md'}', content = '{{\"said\": \"ROW\"}}'",
        f"UPDATE sessions SET artifacts_path = '{out.parent}' WHERE id = 's000'",
        f"UPDATE sessions SET artifact_contract_json = '{json.dumps(CONTRACT)}', "
        f"artifact_verification_json = '{json.dumps(VERIFICATION)}' WHERE id = 's000'",
    )
    return path


@pytest.mark.adr("0055-D1-05")
async def test_a_path_is_shown_as_a_reference(with_files: Path, tmp_path: Path) -> None:
    run_sql(with_files, "UPDATE artifacts SET file_path = 'out/[b]odd[/b].md'")
    text = await shown(with_files, "run/s000/artifacts")
    lines = text.splitlines()
    assert "path" in lines and "out/[b]odd[/b].md" in lines
    assert not CAPTURED.search(text)


@pytest.mark.adr("0055-D1-05")
def test_no_word_of_the_application_says_that_bytes_were_captured() -> None:
    for file in sorted((ROOT / "inspector").rglob("*.py")):
        if "demo" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                found = CAPTURED.search(node.value)
                assert found is None, f"{file.relative_to(ROOT)}:{node.lineno}: {found}"


@pytest.mark.adr("0055-D1-30")
async def test_a_row_s_content_is_never_shown_as_a_file_s(
    with_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No place of this application shows a file a row names: what is shown there is the row's, under its
    column's name, and no such file is opened for it."""
    work = str(tmp_path / "work")
    opened: list[object] = []
    real_open = os.open

    def noted(name: object, *arguments: object, **named: object) -> int:
        if isinstance(name, str | bytes | os.PathLike) and os.fsdecode(name).startswith(work):
            opened.append(name)
        return real_open(name, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", noted)
    monkeypatch.setattr("builtins.open", _watching(work, opened))
    for place in ("run/s000/artifacts", "run/s000/raw", "run/s000"):
        text = await shown(with_files, place)
        assert "FILE-CONTENT-ON-DISK" not in text
        if place.endswith("artifacts"):
            lines = text.splitlines()
            assert "content" in lines and '{"said": "ROW"}' in lines
    assert opened == []


def _watching(work: str, opened: list[object]) -> object:
    real = open

    def watching(name: object, *arguments: object, **named: object) -> object:
        if isinstance(name, str | bytes | os.PathLike) and os.fsdecode(name).startswith(work):
            opened.append(name)
        return real(name, *arguments, **named)  # type: ignore[call-overload]

    return watching


@pytest.mark.adr("0055-D1-31")
async def test_five_things_have_five_names(with_files: Path) -> None:
    from inspector.glossary import WORDS

    # In words: each has its own entry, and none is explained as another.
    for word in ("run", "artifact", "contract", "definition"):
        assert word in WORDS
    assert "verification" in WORDS["contract"]
    # On the screen: the artifact rows, the recorded verification and the files it is about stand apart,
    # each under its own heading; the row itself is the view called raw.
    lines = (await shown(with_files, "run/s000/artifacts")).splitlines()
    heading = next(line for line in lines if line.startswith("contract"))
    assert lines.index(heading) < lines.index("name")
    text = "\n".join(lines)
    for word in ("artifacts", "when it was checked", "missing", "present", "path", "raw"):
        assert word in text, word
    raw = (await shown(with_files, "run/s000/raw", size=(140, 90))).splitlines()
    assert "artifact_verification_json" in raw and "artifact_contract_json" in raw


@pytest.mark.adr("0055-D1-31")
def test_commands_name_them_apart(with_files: Path) -> None:
    command = [sys.executable, "-m", "inspector", "run", str(with_files), "s000", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    run = json.loads(done.stdout)["run"]
    assert run["contract"] == CONTRACT and run["verification"] == VERIFICATION
    assert run["row"]["id"] == "s000"
    assert {"row", "contract", "verification"} <= set(run) and "definitions" not in run
