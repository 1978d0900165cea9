"""The options commands share: which store, in which form the answer, how much of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

__all__ = ["DEFAULT_LIMIT", "Listing", "StoreName", "json_option", "listing_options", "store_argument"]

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_LIMIT = 500


@dataclass(frozen=True, slots=True)
class Listing:
    """How a list is wanted. `limit` None: all of it."""

    form: str = "text"  # text, json, jsonl, csv, markdown
    limit: int | None = DEFAULT_LIMIT
    after: str | None = None

    @classmethod
    def take(cls, given: dict[str, Any]) -> Listing:
        """Takes its options out of a command's parameters."""
        limit = given.pop("limit")
        return cls(given.pop("form"), limit or None, given.pop("after"))


class StoreName(click.ParamType):  # type: ignore[type-arg]
    """A path or a URL, exactly as it was given; completed as a file."""

    name = "store"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


def store_argument(*, required: bool) -> Callable[[F], F]:
    """STORE; where it is not required, nothing means the environment's store or the default one."""
    return click.argument(
        "store", type=StoreName(), required=required, metavar="STORE" if required else "[STORE]"
    )


def json_option(function: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(function)


def listing_options(function: F) -> F:
    """--json, --jsonl, --csv, --markdown, --limit and --after."""
    options = (
        click.option("--json", "form", flag_value="json", help="Print one JSON object."),
        click.option("--jsonl", "form", flag_value="jsonl", help="Print a JSON object a row."),
        click.option("--csv", "form", flag_value="csv", help="Print CSV."),
        click.option("--markdown", "form", flag_value="markdown", help="Print a Markdown table."),
        click.option("--text", "form", flag_value="text", default="text", help="Print columns (default)."),
        click.option(
            "--limit",
            type=click.IntRange(min=0),
            default=DEFAULT_LIMIT,
            show_default=True,
            help="At most so many rows; 0 for all.",
        ),
        click.option("--after", metavar="CURSOR", help="Go on behind the `next` of an earlier answer."),
    )
    for option in reversed(options):
        function = option(function)
    return function
