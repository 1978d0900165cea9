"""`store-inspector run STORE ID`: one run and its conversation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from inspector.cli.options import DEFAULT_LIMIT, store_argument

if TYPE_CHECKING:
    from persistence.reading.transcript import Transcript
    from persistence.records import RunDetail, TranscriptEntry, TranscriptPart
    from persistence.statedb import StateDB

HEAD = 2_000
PAGE = 100


@click.command("run")
@store_argument(required=True)
@click.argument("run", metavar="ID")
@click.option("--branch", metavar="NAME", help="The conversation of this branch (its id or name).")
@click.option("--json", "form", flag_value="json", help="Print one JSON object, contents as stored.")
@click.option("--markdown", "form", flag_value="markdown", help="Print the whole conversation as Markdown.")
@click.option("--text", "form", flag_value="text", default="text", help="Print it for reading (default).")
@click.option("--whole", is_flag=True, help="Do not shorten long messages (text).")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=DEFAULT_LIMIT,
    show_default=True,
    help="At most so many messages; 0 for all.",
)
@click.option("--after", type=click.IntRange(min=0), default=0, metavar="CURSOR", help="Go on behind `next`.")
def command(store: str, run: str, branch: str | None, form: str, whole: bool, limit: int, after: int) -> int:
    """Show one run: what it was, and its conversation in the order the store gives it.

    ID is the run's id, its run id, or the beginning of one.

    \b
    Examples:
      store-inspector run state.db 0f3c2a91
      store-inspector run state.db 0f3c2a91 --branch "second opinion" --whole
      store-inspector run state.db 0f3c2a91 --markdown > run.md
      store-inspector run state.db 0f3c2a91 --json --limit 0
    """
    from inspector.cli.running import with_store

    async def show(db: StateDB) -> int:
        detail = await _found(db, run)
        return await _show(db, detail, branch, form, HEAD if not whole else None, limit or None, after)

    return with_store(store, show)


async def _found(db: StateDB, text: str) -> RunDetail:
    from persistence.errors import StoreError

    found = await db.find_run(text)
    detail = await db.run(found) if found is not None else None
    if detail is None:
        raise StoreError(
            "There is no such run in this store.",
            code="no-such-run",
            where=db.location.display,
            observed=text,
            remedy="See which there are: store-inspector runs STORE.",
        )
    return detail


async def _show(
    db: StateDB,
    detail: RunDetail,
    wanted: str | None,
    form: str,
    head: int | None,
    limit: int | None,
    after: int,
) -> int:
    from inspector.cli.listing import write
    from inspector.reports.transcript import conversation_of, pieces

    chosen = conversation_of(detail, wanted)
    if chosen is None:
        raise _no_branch(db, detail, wanted or "")
    transcript = await db.transcript(chosen.progression_id) if chosen.progression_id is not None else None
    if form == "markdown" and transcript is not None:
        async for piece in pieces(detail, transcript, "markdown", branch=chosen.branch):
            write(piece)
        return 0
    if form == "json":
        await _as_json(db, detail, chosen, transcript, limit, after)
        return 0
    write("".join(f"{line}\n" for line in _header(detail, chosen.branch, transcript)))
    if transcript is not None:
        await _as_text(transcript, head, limit, after)
    return 0


def _no_branch(db: StateDB, detail: RunDetail, wanted: str) -> Exception:
    from inspector import safe
    from persistence.errors import StoreError

    names = ", ".join(f"{safe.cell(branch.name)} ({branch.id})" for branch in detail.branches[:10])
    return StoreError(
        "This run has no such branch.",
        code="no-such-branch",
        where=db.location.display,
        expected=names or "a run with branches",
        observed=wanted,
    )


async def _as_json(
    db: StateDB, detail: RunDetail, chosen: Any, transcript: Transcript | None, limit: int | None, after: int
) -> None:
    from inspector.cli.listing import write
    from inspector.reports import shapes
    from inspector.reports.transcript import message_object, progression_object, run_object

    top = {
        **shapes.head(),
        "store": shapes.store_shape(await db.facts(), detail.read),
        "run": run_object(detail),
        "branch": None if chosen.branch is None else chosen.branch.id,
        "progression": None if transcript is None else progression_object(transcript),
    }
    write(f'{shapes.dumps(top)[:-1]}, "rows": [')
    end, comma = after, "\n"
    if transcript is not None:
        end = transcript.length if limit is None else min(transcript.length, after + limit)
        for first in range(after, end, PAGE):
            count = min(PAGE, end - first)
            entries = await transcript.window(first, count, 0)
            rows = await transcript.stored(first, count)
            for entry, row in zip(entries, rows, strict=False):
                write(f"{comma}{message_object(entry, row)}")
                comma = ",\n"
    more = transcript is not None and end < transcript.length
    closing: dict[str, Any] = {"next": str(end) if more else None, "complete": not more}
    if more:
        closing["reason"] = f"limit {limit}"
    write(f"\n], {shapes.dumps(closing)[1:]}\n")


def _header(detail: RunDetail, branch: Any, transcript: Transcript | None) -> Iterator[str]:
    from inspector import formats, safe
    from inspector.reports.transcript import title_of
    from inspector.roles import status_sign

    status = detail.status if isinstance(detail.status, str) else None
    sign, word, _ = status_sign(status)
    row = detail.row
    parts = [f"{sign} {safe.text(word)}", title_of(detail)]
    parts += [f"agent {safe.text(row['agent_name'])}"] if isinstance(row.get("agent_name"), str) else []
    parts += [safe.text(row["model"])] if isinstance(row.get("model"), str) else []
    if detail.length is not None:
        parts.append(formats.duration(detail.length))
    if len(detail.branches) > 1:
        parts.append(f"{len(detail.branches)} branches")
    yield " · ".join(parts)
    yield f"run {safe.text(detail.id)}"
    if branch is not None and len(detail.branches) > 1:
        others = [safe.cell(other.name) for other in detail.branches if other.id != branch.id]
        yield f"branch {safe.cell(branch.name)}; also {', '.join(others[:8])}"
    if transcript is None:
        yield "no conversation: the run names no progression"
    elif transcript.state not in ("list", "empty"):
        yield f"▲ the conversation is not readable: {safe.text(transcript.why or transcript.state)}"
    elif transcript.length == 0:
        yield "the conversation is empty"


async def _as_text(transcript: Transcript, head: int | None, limit: int | None, after: int) -> None:
    from inspector import formats
    from inspector.cli.listing import say, write

    end = transcript.length if limit is None else min(transcript.length, after + limit)
    for first in range(after, end, PAGE):
        for entry in await transcript.window(first, min(PAGE, end - first), head or 1 << 30):
            shown = entry
            if head is None and entry.truncated:
                shown = await transcript.whole(entry.position) or entry
            write("".join(f"{line}\n" for line in _message(shown)))
    if end < transcript.length:
        rest = formats.count(transcript.length - end)
        say(f"{rest} messages more; --limit 0 for all, or --after {end}")


def _message(entry: TranscriptEntry) -> Iterator[str]:
    from inspector import formats, safe

    yield ""
    number = f"#{entry.position + 1}"
    if not entry.exists:
        why = "is named here and does not exist" if entry.problem is None else safe.text(entry.problem)
        yield f"▲ {number} {safe.text(entry.id)} {why}"
        return
    at = f"  {formats.exact_time(entry.created_at)}" if entry.created_at is not None else ""
    yield f"{number} {safe.text(entry.role or 'no role')}{at}"
    if entry.duplicate_of is not None:
        yield f"    ▲ the same message as #{entry.duplicate_of + 1}"
    if entry.out_of_order:
        yield "    ▲ older than the one before"
    if entry.problem is not None:
        yield f"    ▲ {safe.text(entry.problem)}"
    for part in entry.parts:
        yield from (f"    {line}".rstrip() for line in _part(part))
    if entry.truncated:
        yield f"    … {formats.size(entry.size)} in all; --whole shows the rest"


def _part(part: TranscriptPart) -> Iterator[str]:
    import json

    from inspector import safe

    if part.kind == "text":
        yield from safe.lines(part.text, limit=len(part.text) + 1).split("\n")
        return
    sign = {"call": "→ ", "result": "← "}.get(part.kind, "")
    name = safe.text(part.function if part.function is not None else part.name)
    value = part.value if isinstance(part.value, str) else json.dumps(part.value, ensure_ascii=False)
    first, *more = safe.lines(value, limit=len(value) + 1).split("\n")
    yield f"{sign}{name} {first}".strip()
    yield from more
