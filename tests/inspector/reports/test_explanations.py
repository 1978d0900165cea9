"""The refusal pages: there is one for every code this program can say, and none gives harmful advice."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector import safe
from inspector.reports.explanations import codes, page, page_lines, page_shape, similar
from persistence import errors
from persistence.lineage.remedies import REMEDIES
from persistence.profiles.codes import CODES

ROOT = Path(__file__).resolve().parents[3]
FIRST = {"Notice", "Damage"}
SECOND = {"_damaged", "_refused"}


def said_codes(path: Path) -> Iterator[str]:
    """Every code that a file's text gives to an error, a damage or a notice."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            candidates = [word.value for word in node.keywords if word.arg == "code"]
            candidates += node.args[:1] if name in FIRST else node.args[1:2] if name in SECOND else []
            for value in candidates:
                yield from constants(value)
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named = [target.id for target in targets if isinstance(target, ast.Name)]
            if "default_code" in named and node.value is not None:
                yield from constants(node.value)


def constants(node: ast.expr) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def every_code() -> set[str]:
    found = set(REMEDIES) | set(CODES)
    for room in ("persistence", "inspector"):
        for path in (ROOT / room).rglob("*.py"):
            found |= set(said_codes(path))
    # Where a notice tells of the location itself, not of a code.
    return {code for code in found if re.fullmatch(r"[a-z]+(-[a-z]+)*", code)} - {"location"}


def test_every_code_has_a_page() -> None:
    found = every_code()
    assert {"foreign-lineage", "log-broken", "version-missing", "second-name", "no-such-store"} <= found
    assert found - set(codes()) == set()


def test_every_page_has_a_code() -> None:
    """A page nobody can be led to is a page nobody keeps true."""
    assert set(codes()) - every_code() == set()


@pytest.mark.parametrize("kind", [name for name in errors.__all__ if name != "LineageRefusal"])
def test_an_error_is_found_by_the_name_of_its_type(kind: str) -> None:
    found = page(kind)
    assert found is not None and found.code == getattr(errors, kind).default_code


HARMFUL = re.compile(
    r"\b(delet|remov|drop|rebuild|recreat|overwrit|truncat|discard|eras|wip|reset|vacuum|reinstall|unlink|"
    r"rm |mv |chmod|take away|throw away|get rid|start over|start afresh|--force)",
    re.IGNORECASE,
)


@pytest.mark.parametrize("code", codes())
def test_no_page_advises_anything_destructive(code: str) -> None:
    found = page(code)
    assert found is not None
    assert not HARMFUL.search(found.do), found.do
    assert found.avoid.startswith(("Do not ", "Nothing")), found.avoid


@pytest.mark.parametrize("code", codes())
def test_a_page_is_whole(code: str) -> None:
    found = page(code)
    assert found is not None
    for heading, text in found.parts():
        assert text.strip() == text and text.endswith(".") and len(text) > 3, (heading, text)
    assert not found.title.endswith(".") and len(found.title) < 72
    assert set(page_shape(found)) == {
        "code", "kind", "topic", "title", "means", "why", "did", "do", "not",
    }  # fmt: skip


@pytest.mark.parametrize("code", codes())
def test_a_page_fits_a_terminal(code: str) -> None:
    found = page(code)
    assert found is not None
    lines = list(page_lines(found))
    assert max(map(safe.width, lines)) <= 96 and len(lines) < 40
    assert found.title in lines[0] and code in lines[0]


def test_too_new_says_that_the_store_is_intact_and_who_writes_it() -> None:
    found = page("schema-too-new")
    assert found is not None and "intact" in found.means and "release" in found.do


def test_what_was_meant_is_offered() -> None:
    assert "foreign-lineage" in similar("lineage")
    assert "schema-too-new" in similar("schema-too-knew")
    assert page("nothing-of-the-kind") is None and page("NoSuchError") is None and page("") is None
