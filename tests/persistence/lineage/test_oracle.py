"""Every crafted store of the oracle: the verdict is the orchestrator's own, or differs for a reason given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
import sqlalchemy

from persistence.errors import StoreError
from persistence.lineage import LineageReport, examine
from persistence.location import locate
from tests.persistence.engines.states import Writer, writer
from tests.persistence.lineage.cases import CASES
from tests.persistence.lineage.craft import Crafted, copy_of, forget_modes, state_of
from tests.persistence.lineage.probe import examine_elsewhere

ORACLE: dict[str, str] = json.loads(Path(__file__).with_name("oracle-native.json").read_text("utf-8"))[
    "native"
]

SQLALCHEMY = tuple(int(part) for part in sqlalchemy.__version__.split(".")[:2])
_TYPED = "the driver's error, as the typed one"
_LOCATION = "what names no file is refused before anything is looked for"
_SHAPE = (
    "its sessions table is not one a release made (DECISIONS 10); the orchestrator's migration failed on it"
)
_DAMAGE = "damage never decides in favour of opening (DECISIONS 18)"
_URI = "a file: URI is one wherever it is written; the orchestrator created a tree of folders"
_LATER = "whose store it is does not depend on who holds it or may write it; the connection says so"

DEVIATIONS: dict[str, tuple[str, str]] = {
    "lineage-null": (
        "UnrecognizedStoreError",
        "schema_meta without its key is none a release made (DECISIONS 10)",
    ),
    "lineage-twice-lionagi-last": (
        "ForeignLineageError",
        "two rows that are not both lionagi (DECISIONS 11)",
    ),
    "meta-absent-lookalike": (
        "UnrecognizedStoreError",
        "37 columns were added to another application's table",
    ),
    "meta-is-view-native-tables": (
        "UnrecognizedStoreError",
        "a view stands where the table belongs; migration failed",
    ),
    "file-absent-parent-absent": ("StoreMissingError", "no folder is ever made on the way to a store"),
    "file-text": ("NotAStoreError", _TYPED),
    "file-text-short": ("NotAStoreError", _TYPED),
    "file-truncated-half": (
        "UnreadableStoreError",
        "a file shorter than it says is not to be opened (DECISIONS 18)",
    ),
    "file-truncated-header": (
        "UnreadableStoreError",
        "a file shorter than it says is not to be opened (DECISIONS 18)",
    ),
    "file-foreign-corrupt-page": ("StoreDamagedError", _TYPED),
    "file-directory": ("NotAStoreError", _TYPED),
    "file-hardlink-foreign": (
        "UnreadableStoreError",
        "a log is found by name, and there are two (DECISIONS 18)",
    ),
    "journal-shows-foreign": ("UnrecognizedStoreError", _SHAPE),
    "journal-half-foreign-uncommitted": ("UnrecognizedStoreError", _SHAPE),
    "journal-garbage": ("UnreadableStoreError", _DAMAGE),
    "journal-truncated": ("UnreadableStoreError", _DAMAGE),
    "wal-corrupt-frames": ("UnreadableStoreError", _DAMAGE),
    "wal-beside-delete-mode": ("UnrecognizedStoreError", f"read as SQLite reads it; {_SHAPE}"),
    "wal-empty-file-full-log": ("UnreadableStoreError", _DAMAGE),
    "url-file-uri-no-uri-flag": ("StoreMissingError", "no folder is ever made on the way to a store"),
    "url-file-uri-memory": ("LocationError", _LOCATION),
    "url-bare-file-uri": ("ForeignLineageError", _URI),
    "url-memory": ("LocationError", _LOCATION),
    "url-sqlite-memory": ("LocationError", _LOCATION),
    "url-sqlite-bare": ("LocationError", _LOCATION),
    "url-empty": ("LocationError", _LOCATION),
    "url-schemeless-credentials": ("LocationError", _LOCATION),
    "url-unknown-scheme": ("LocationError", _LOCATION),
    "url-nul-byte": ("LocationError", _LOCATION),
    "url-name-with-question-mark": ("ForeignLineageError", "a path stays a path; another file was created"),
    "url-name-with-percent": ("ForeignLineageError", "a path stays a path; another file was opened"),
    "lock-immediate-native": ("opened", _LATER),
    "perm-file-000-foreign": ("StorePermissionError", _TYPED),
    "perm-file-444-native": ("opened", _LATER),
    "perm-dir-555-native": ("opened", _LATER),
    "perm-dir-000": ("StorePermissionError", _TYPED),
}

if SQLALCHEMY < (2, 1):  # it takes %-escapes in a URL as they are: there is no such file yet
    DEVIATIONS["url-percent-in-plain"] = ("opened", "what SQLAlchemy 2.0 opens, whose line is installed")

HOLD = {
    "EXCLUSIVE": ("BEGIN EXCLUSIVE",),
    "IMMEDIATE": ("BEGIN IMMEDIATE",),
    "WAL-EXCLUSIVE": (
        "PRAGMA wal_autocheckpoint=0",
        "PRAGMA locking_mode=EXCLUSIVE",
        "UPDATE schema_meta SET value='acme-desk' WHERE key='lineage'",
    ),
}


def expected(name: str) -> str:
    return DEVIATIONS[name][0] if name in DEVIATIONS else ORACLE[name]


@pytest.fixture(scope="module")
def crafted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory in which each case is built once, by the first test that asks; copied from there."""
    folder = tmp_path_factory.mktemp("crafted")
    yield folder
    forget_modes(folder)


def built(crafted: Path, case: Crafted, tmp_path: Path) -> Path:
    """A fresh copy of a case."""
    original = crafted / case.name
    if case.as_user:  # what may not be read cannot be copied
        folder = tmp_path / case.name
        folder.mkdir()
        case.build(folder)
        return folder
    if not original.exists():
        original.mkdir()
        case.build(original)
    if case.name == "file-hardlink-foreign":
        folder = tmp_path / case.name
        folder.mkdir()
        case.build(folder)
        return folder
    return copy_of(original, tmp_path / case.name)


def verdict(report: LineageReport) -> str:
    return "opened" if report.native.opens else type(report.native.refusal).__name__


def examined(case: Crafted, folder: Path) -> str:
    try:
        return verdict(examine(locate(case.spelled(folder)), surroundings=False))
    except StoreError as error:
        return type(error).__name__


def test_every_case_of_the_oracle_is_crafted() -> None:
    assert sorted(CASES) == sorted(ORACLE)
    assert len(ORACLE) == 156


def test_a_deviation_is_one_and_says_why() -> None:
    for name, (ours, why) in DEVIATIONS.items():
        assert ours != ORACLE[name], name
        assert len(why) > 20, name


@pytest.mark.adr("0128-D7-28", "0128-D7-43")
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.as_user])
def test_the_verdict_is_the_oracles_and_nothing_changes(
    name: str, crafted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]
    folder = built(crafted, case, tmp_path)
    monkeypatch.chdir(folder)
    held = writer(folder / "store.db", *HOLD[case.hold]) if case.hold else nullcontext()
    with held:
        before = state_of(folder)
        assert examined(case, folder) == expected(name)
        assert state_of(folder) == before


@pytest.mark.skipif(not hasattr(__import__("os"), "geteuid"), reason="rights as POSIX has them")
def test_where_rights_count_the_verdicts_are_the_oracles_too(tmp_path: Path) -> None:
    cases = [case for case in CASES.values() if case.as_user]
    folders = []
    for case in cases:
        folder = tmp_path / case.name
        folder.mkdir()
        case.build(folder)
        folders.append(folder)
    before = [state_of(folder) for folder in folders]
    try:
        stores = [(tmp_path, str(folder / case.open)) for case, folder in zip(cases, folders, strict=True)]
        answers = examine_elsewhere(stores, as_user=True)
        assert [state_of(folder) for folder in folders] == before
    finally:
        forget_modes(tmp_path)
    for case, answer in zip(cases, answers, strict=True):
        assert answer["native"] == expected(case.name), (case.name, answer)


@pytest.mark.adr("0128-D7-44")
@pytest.mark.parametrize(
    "statements",
    [
        ("PRAGMA user_version",),
        ("PRAGMA wal_autocheckpoint=0", "BEGIN IMMEDIATE", "CREATE TABLE pending (a)"),
    ],
    ids=["reading", "writing"],
)
@pytest.mark.parametrize(
    "name",
    [
        "lineage-lionagi",
        "lineage-other",
        "version-higher-no-lineage",
        "meta-absent-foreign-table",
        "tables-unknown-no-lineage-sessions",
        "file-symlink-foreign",
        "journal-hides-foreign",
        "journal-half-foreign-uncommitted",
        "wal-foreign-only-in-log-shm",
        "wal-foreign-only-in-log-noshm",
        "wal-file-foreign-log-lionagi",
        "wal-garbage-shm",
        "wal-zero-length",
    ],
)
def test_another_process_that_has_it_open_changes_neither_verdict_nor_bytes(
    name: str, statements: tuple[str, ...], crafted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = built(crafted, CASES[name], tmp_path)
    monkeypatch.chdir(folder)
    with writer(folder / "store.db") as other:
        for statement in statements:
            other.do(statement)
        before = state_of(folder)
        assert examined(CASES[name], folder) == expected(name)
        assert state_of(folder) == before
        assert isinstance(other, Writer) and other.ask("PRAGMA user_version").startswith("ok")
