"""What was recorded of a session's expected files beside what is seen of them now, file by file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inspector import formats, safe
from persistence.records import Cell, Column, Row, Unreadable

if TYPE_CHECKING:
    from persistence.reading.verification import Verification

__all__ = ["COLUMNS", "OBSERVATION", "ComparedFile", "compared_files", "recorded_words", "rows_of"]

OBSERVATION = "an observation, not evidence"

COLUMNS: tuple[Column, ...] = (
    Column("path", "contract", "text"),
    Column("required", "required", "text"),
    Column("recorded", "recorded", "text"),
    Column("now", "now", "text"),
    Column("changed", "changed since", "text"),
    Column("id", "id", "text"),
)


@dataclass(frozen=True, slots=True)
class ComparedFile:
    """One expected file. `recorded` and `now` are words; sizes in bytes where a file was there."""

    id: str
    path: str
    required: bool
    recorded: str
    now: str
    recorded_size: int | None
    now_size: int | None
    changed: str | None


def compared_files(found: Verification) -> list[ComparedFile]:
    """The expected files in the contract's order, then those that only the record names."""
    produced, missing = _recorded(found.recorded)
    seen = {one.entry["id"]: one for one in found.now.entries} if found.now is not None else {}
    out: list[ComparedFile] = []
    expected = _items(found.contract.get("expected")) if isinstance(found.contract, Mapping) else []
    known: set[str] = set()
    for entry in [*expected, *missing.values(), *produced.values()]:
        name = str(entry.get("id"))
        if name in known:
            continue
        known.add(name)
        was = "present" if name in produced else "missing" if name in missing else "not recorded"
        size = produced.get(name, {}).get("size")
        one = seen.get(name)
        now, now_size = "not looked at", None
        if one is not None:
            now_size = one.seen.size if one.present else None
            now = "present" if one.present else _absent(one.seen.state, one.seen.why)
        out.append(
            ComparedFile(
                name,
                str(entry.get("path")),
                entry.get("required") is not False,
                was,
                now,
                size if isinstance(size, int) else None,
                now_size,
                _changed(was, now, size, now_size),
            )
        )
    return out


def _absent(state: str, why: str | None) -> str:
    return "missing" if state == "missing" else f"does not count: {why or state}"


def _changed(was: str, now: str, size: Any, now_size: int | None) -> str | None:
    if was == "not recorded" or now == "not looked at":
        return None
    if was == "present" and now != "present":
        return "gone"
    if was != "present" and now == "present":
        return "came"
    if was == now == "present" and isinstance(size, int) and size != now_size:
        return f"{size:,} B before"
    return None


def _recorded(value: Any) -> tuple[dict[str, Mapping[str, Any]], dict[str, Mapping[str, Any]]]:
    """Of a recorded verification: the files that were there, and those that were not, by id."""
    if not isinstance(value, Mapping):
        return {}, {}
    missing = [*_items(value.get("missing_required")), *_items(value.get("missing_optional"))]
    produced = _items(value.get("produced"))
    return {str(one.get("id")): one for one in produced}, {str(one.get("id")): one for one in missing}


def _items(value: Any) -> Sequence[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def rows_of(files: Sequence[ComparedFile]) -> tuple[Row, ...]:
    return tuple(
        Row(
            (file.id,),
            (
                file.path,
                "required" if file.required else "optional",
                _with_size(file.recorded, file.recorded_size),
                _with_size(file.now, file.now_size),
                file.changed,
                file.id,
            ),
        )
        for file in files
    )


def _with_size(word: str, size: int | None) -> Cell:
    return word if size is None else f"{word}, {size:,} B"


def recorded_words(found: Verification) -> Iterator[tuple[str, str, Any]]:
    """(which, status, when) of the recorded verification and of the one made now, as far as there is one."""
    if isinstance(found.recorded, Unreadable):
        yield "recorded", f"not readable: {found.recorded.why}", None
    elif isinstance(found.recorded, Mapping):
        yield "recorded", safe.text(found.recorded.get("status"), limit=60), found.recorded.get("checked_at")
    else:
        yield "recorded", "never", None
    if found.now is not None:
        yield "now", found.now.result["status"], found.now.checked_at
    else:
        yield "now", f"not looked at: {safe.text(found.why or '')}", None


def summary(found: Verification) -> str:
    """Both verifications in one line of text, for a command."""
    parts = [
        f"{which} {status}" + (f" ({formats.exact_time(at)})" if at is not None else "")
        for which, status, at in recorded_words(found)
    ]
    return "; ".join(parts)
