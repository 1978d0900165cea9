"""`store-inspector explain CODE`: the page of a refusal, as the application shows it."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from inspector.cli.options import json_option


class _Code(click.ParamType):  # type: ignore[type-arg]
    """A refusal's code; completed from the pages there are."""

    name = "code"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from inspector.reports.explanations import codes

        return [CompletionItem(code) for code in codes() if code.startswith(incomplete)]


@click.command("explain")
@click.argument("code", type=_Code(), required=False, metavar="[CODE]")
@json_option
def command(code: str | None, as_json: bool) -> int:
    """Explain a refusal: what it means, why there is such a rule, what to do and what not.

    CODE is the word in brackets behind a refusal, or the name of its type. Without CODE all are listed.

    \b
    Examples:
      store-inspector explain foreign-lineage
      store-inspector explain SchemaTooNewError
      store-inspector explain --json
    """
    from inspector.cli.output import write
    from inspector.reports import shapes
    from inspector.reports.explanations import page, page_lines, page_shape

    if code is None:
        _list(as_json)
        return 0
    found = page(code)
    if found is None:
        raise click.BadParameter(_unknown(code), param_hint="CODE")
    if as_json:
        write(f"{shapes.document(page=page_shape(found))}\n")
    else:
        write("".join(f"{line}\n" for line in page_lines(found)))
    return 0


def _list(as_json: bool) -> None:
    from inspector import safe
    from inspector.cli.output import write
    from inspector.reports import shapes
    from inspector.reports.explanations import codes, page, page_shape

    pages = [found for code in codes() if (found := page(code)) is not None]
    if as_json:
        rows = [page_shape(each) for each in pages]
        write(f"{shapes.document(rows=rows, next=None, complete=True)}\n")
        return
    topic, wide = "", max(len(each.code) for each in pages)
    for each in pages:
        if each.topic != topic:
            write(f"{'' if not topic else chr(10)}{each.topic}\n")
            topic = each.topic
        write(f"  {safe.fit(each.code, wide)}  {each.title}\n")


def _unknown(code: str) -> str:
    from inspector import safe
    from inspector.reports.explanations import similar

    near = similar(code)
    meant = f"; did you mean {', '.join(near)}?" if near else ""
    return f"there is no page for {safe.text(code, limit=60)!r}{meant} (without CODE all are listed)"
