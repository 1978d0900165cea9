"""The refusal pages: for every code of a refusal or a standing notice, what it means and what to do.

The texts are data, in the TOML files beside this one; the command line and the application show the same
page. Loaded when the first page is asked for.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from inspector.reports.wrapped import wrapped

__all__ = ["PARTS", "Page", "codes", "page", "page_lines", "page_shape", "similar", "title_of"]

PARTS: tuple[tuple[str, str], ...] = (
    ("means", "what it means"),
    ("why", "why there is such a rule"),
    ("did", "how people got here"),
    ("do", "what to do"),
    ("avoid", "what not to do"),
)
"""The parts of a page in order: the field, and the words above it."""


@dataclass(frozen=True, slots=True)
class Page:
    """One code's page. `topic` is the group it stands in; a notice is told of a store that opens."""

    code: str
    topic: str
    title: str
    means: str
    why: str
    did: str
    do: str
    avoid: str
    kind: Literal["refusal", "notice"] = "refusal"

    def parts(self) -> Iterator[tuple[str, str]]:
        """(heading, text) of each part."""
        for name, heading in PARTS:
            yield heading, getattr(self, name)


TOPICS = {
    "lineage": "whose store it is",
    "parts": "the file, and what lies beside it",
    "admission": "whether a store is admitted: what was asked, and whose it is",
    "structure": "whether a store is admitted: its tables",
    "profiles": "profiles themselves",
    "proving": "proving a profile",
    "files": "the file, its device, and private copies",
    "reading": "reading",
    "server": "the way to a server",
    "writing": "writing",
    "operations": "recording a run into a managed store",
    "guard": "what holds the connection to a managed store",
    "actions": "the gate, and recording or copying a run",
    "program": "this program",
}
"""The files of pages, in the order they are listed."""


@cache
def _pages() -> dict[str, Page]:
    found = {}
    for topic, words in TOPICS.items():
        text = (files(__package__) / f"{topic}.toml").read_text("utf-8")
        for code, told in tomllib.loads(text).items():
            found[code] = Page(code, words, avoid=told.pop("not"), **told)
    return found


def codes() -> tuple[str, ...]:
    """Every code that has a page, topic by topic."""
    return tuple(_pages())


def page(word: str) -> Page | None:
    """The page of a code, or of an error by the name of its type (`ForeignLineageError`)."""
    found = _pages().get(word)
    if found is None and word.endswith(("Error", "Refused")):
        from persistence import errors

        kind = getattr(errors, word, None)
        if isinstance(kind, type) and issubclass(kind, errors.StoreError):
            found = _pages().get(kind.default_code)
    return found


def similar(word: str) -> tuple[str, ...]:
    """Codes that may have been meant."""
    from difflib import get_close_matches

    within = [code for code in codes() if word and word.lower() in code]
    return tuple(dict.fromkeys([*within, *get_close_matches(word.lower(), codes(), 3)]))[:4]


def title_of(code: str) -> str:
    """A code in plain words: its page's title."""
    told = page(code)
    return told.title if told is not None else code.replace("-", " ")


def page_shape(page: Page) -> dict[str, str]:
    """The page as JSON has it."""
    return {
        "code": page.code,
        "kind": page.kind,
        "topic": page.topic,
        "title": page.title,
        "means": page.means,
        "why": page.why,
        "did": page.did,
        "do": page.do,
        "not": page.avoid,
    }


def page_lines(page: Page) -> Iterator[str]:
    """The page as lines of plain text."""
    sign = "▲" if page.kind == "notice" else "✗"
    yield f"{sign} {page.title}  ({page.code})"
    for heading, text in page.parts():
        yield ""
        yield heading
        yield from wrapped(text)
