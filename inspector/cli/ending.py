"""How a command ends: its answer, or one refusal in the same shape, and the exit code of either."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from persistence.errors import StoreError

__all__ = ["guarded"]

INTERRUPTED = 130


def guarded(arguments: Sequence[str]) -> int:
    """Runs the program with these arguments; whatever happens becomes an exit code, never a traceback."""
    as_json = "--json" in arguments[: _end_of_options(arguments)]
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        status = _run(arguments, as_json)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _point_stdout_at_nothing()
        return 0  # whoever read us had enough
    return status


def _end_of_options(arguments: Sequence[str]) -> int:
    return arguments.index("--") if "--" in arguments else len(arguments)


def _run(arguments: Sequence[str], as_json: bool) -> int:
    if list(arguments[:1]) == ["doctor"]:
        from inspector.cli.examined import plain, tell

        asked = plain(arguments[1:])
        if asked is not None:
            try:
                return tell(asked)
            except BrokenPipeError:
                raise
            except Exception as error:
                return _failed(error, as_json)
    return _parsed(arguments, as_json)


def _parsed(arguments: Sequence[str], as_json: bool) -> int:
    import click

    from inspector.cli.program import COMPLETE_VARIABLE, program

    try:
        result = program.main(
            list(arguments),
            prog_name="store-inspector",
            standalone_mode=False,
            complete_var=COMPLETE_VARIABLE,
        )
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        return _usage(error, as_json)
    except BrokenPipeError:
        raise
    except SystemExit:  # what click makes of a broken pipe
        raise BrokenPipeError from None
    except Exception as error:
        return _failed(error, as_json)


def _failed(error: Exception, as_json: bool) -> int:
    from inspector.cli.answered import Answered, HalfWay

    if isinstance(error, Answered):
        error, as_json = error.error, False
    half_way = isinstance(error, HalfWay)
    if isinstance(error, HalfWay):
        error = error.error
    return _refused(error, as_json) if isinstance(error, StoreError) else _our_fault(error, as_json, half_way)


def _usage(error: Any, as_json: bool) -> int:
    from inspector import safe

    message = error.format_message()
    if as_json:
        _print_refusal(StoreError(message, code="usage").as_dict() | {"type": "UsageError"})
    _say(f"store-inspector: {safe.text(message)}")
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "store-inspector"
    _say(f"Try: {safe.text(path)} --help")
    return int(error.exit_code)


def _refused(error: StoreError, as_json: bool) -> int:
    if as_json:
        _print_refusal(error.as_dict())
    from inspector.reports.refusals import refusal_lines

    _say("\n".join(refusal_lines(error)))
    return error.exit_status


def _our_fault(error: Exception, as_json: bool, half_way: bool = False) -> int:
    from inspector import safe
    from inspector.cli.answered import place_of, refusal_of

    if os.environ.get("STORE_INSPECTOR_TRACEBACK"):
        import traceback

        traceback.print_exception(error)
    if as_json:
        _print_refusal(refusal_of(error))
    what = f"{type(error).__name__} at {place_of(error)}"
    store = "which holds what is told above" if half_way else "which is as it was"
    _say(
        f"store-inspector: this is our fault, not the store's, {store}: {safe.text(what)}. "
        "To report it, send what the same command prints with STORE_INSPECTOR_TRACEBACK=1."
    )
    return 1


def _print_refusal(refusal: dict[str, Any]) -> None:
    from inspector.reports.shapes import document

    _print(document(refusal=refusal))


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _say(text: str) -> None:
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr)  # noqa: T201


def _point_stdout_at_nothing() -> None:
    # Python flushes stdout once more at exit; there must be somebody to take it.
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
