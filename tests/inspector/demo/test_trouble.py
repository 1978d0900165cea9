"""The gallery's stores whose lineage is a question: each says what its card promises, and by which fact."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.demo.gallery import CARDS
from persistence.lineage import LineageReport, examine
from persistence.location import locate
from tests.gallery import copied_gallery


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_gallery(tmp_path_factory, tmp_path_factory.mktemp("gallery") / "stores")


def report(folder: Path, name: str) -> LineageReport:
    card = next(card for card in CARDS if card.name == name)
    return examine(locate(str(folder / card.file)))


@pytest.mark.parametrize(
    ("name", "refusal", "code", "compatibility"),
    [
        ("harbour", None, None, False),
        ("night-watch", None, None, False),
        ("stars", "UnrecognizedStoreError", "unknown-tables", False),
        ("customs", "ForeignLineageError", "foreign-lineage", None),
        ("tomorrow", "SchemaTooNewError", "schema-too-new", False),
        ("ticket-shop", "UnrecognizedStoreError", "foreign-shape", False),
        ("power-cut", "ForeignLineageError", "foreign-lineage", None),
        ("takeover", None, None, False),
        ("pilots-log", "ForeignLineageError", "foreign-lineage", None),
        ("wet-logbook", "UnreadableStoreError", "log-header", False),
    ],
)
def test_what_each_open_would_do(
    folder: Path, name: str, refusal: str | None, code: str | None, compatibility: bool | None
) -> None:
    found = report(folder, name)
    assert found.read_only.opens is True, found.read_only.why
    assert (type(found.native.refusal).__name__ if found.native.refusal else None) == refusal
    assert (found.native.refusal.code if found.native.refusal else None) == code
    assert found.native.opens is (refusal is None) and found.compatibility.opens is compatibility


@pytest.mark.parametrize(
    ("name", "alone", "decides", "route"),
    [
        ("power-cut", (), ("customs-desk",), "copy"),
        ("takeover", ("customs-desk",), ("lionagi",), "copy"),
        ("pilots-log", (), ("customs-desk",), "live log"),
    ],
)
def test_the_file_alone_says_something_else(
    folder: Path, name: str, alone: tuple[str, ...], decides: tuple[str, ...], route: str
) -> None:
    """What lies beside it decides; the file's own row was never committed, or not yet written there."""
    found = report(folder, name)
    assert found.file_rows is not None and found.file_rows.lineage == alone
    assert found.seen is not None and found.seen.lineage == decides
    assert found.read_only.route == route


def test_there_is_a_card_for_every_kind_the_issue_names() -> None:
    assert {card.name for card in CARDS} >= {
        "stars", "customs", "tomorrow", "ticket-shop", "power-cut", "takeover", "pilots-log", "wet-logbook",
    }  # fmt: skip
