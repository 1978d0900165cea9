"""The filter line of the journal: `action:record outcome:refused owner:kim since:2d words to find`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from inspector.actions.journal import EVENTS, Entry
from inspector.run_query import parse as parse_times

__all__ = ["FIELDS", "JournalQuery", "completion", "parse"]

FIELDS = ("action", "outcome", "store", "lineage", "profile", "owner", "run", "code", "since", "until")

_TOKEN = re.compile(r'(?:([A-Za-z_]+):)?(?:"([^"]*)"?|(\S+))')


@dataclass(frozen=True, slots=True)
class JournalQuery:
    """What narrows the journal; all that is given must hold. A field's value is looked for at its beginning,
    a store's and a word anywhere in it, in either case. `problems` are sentences about what is not used."""

    fields: tuple[tuple[str, str], ...] = ()
    words: tuple[str, ...] = ()
    since: float | None = None
    until: float | None = None
    problems: tuple[str, ...] = ()

    @property
    def narrows(self) -> bool:
        return bool(self.fields or self.words) or self.since is not None or self.until is not None

    def takes(self, entry: Entry) -> bool:
        """Whether an entry is among those asked for."""
        if self.since is not None and entry.when < self.since:
            return False
        if self.until is not None and entry.when >= self.until:
            return False
        if not all(_has(entry, name, value) for name, value in self.fields):
            return False
        said = _said(entry) if self.words else ""
        return all(word.casefold() in said for word in self.words)


def _value(entry: Entry, name: str) -> str:
    match name:
        case "outcome":
            return entry.event
        case "code":
            return str((entry.refusal or {}).get("code") or "")
        case _:
            return str(getattr(entry, name) or "")


def _has(entry: Entry, name: str, value: str) -> bool:
    found, wanted = _value(entry, name).casefold(), value.casefold()
    return wanted in found if name == "store" else found.startswith(wanted)


def _said(entry: Entry) -> str:
    refusal = entry.refusal or {}
    parts = [_value(entry, name) for name in FIELDS[:-2]]
    parts += [entry.source or "", entry.note or "", str(refusal.get("message") or "")]
    parts += [phase.name for phase in entry.committed]
    return "\n".join(parts).casefold()


def parse(line: str) -> JournalQuery:
    """What a filter line means. Never raises."""
    named: list[tuple[str, str]] = []
    words: list[str] = []
    problems: list[str] = []
    times: list[str] = []
    for field, quoted, plain in _TOKEN.findall(line):
        name, value = field.lower(), quoted or plain
        if not field:
            bare = value[:-1].lower() if value.endswith(":") else ""
            if bare not in FIELDS:  # a field that is still being typed does not narrow
                words.append(value)
        elif name in ("since", "until"):
            times.append(f"{name}:{value}")
        elif name in FIELDS:
            if name == "outcome" and not any(event.startswith(value.lower()) for event in EVENTS):
                problems.append(f"outcome:{value} is none; {', '.join(EVENTS)} are")
            elif value:
                named.append((name, value))
        elif close := get_close_matches(name, FIELDS, n=1, cutoff=0.75):
            problems.append(f"there is no field {field}; is {close[0]} meant?")
        else:
            words.append(f"{field}:{value}")
    moments = parse_times(" ".join(times))
    return JournalQuery(
        tuple(named), tuple(words), moments.since, moments.until, (*problems, *moments.problems)
    )


def completion(line: str) -> str | None:
    """The line with its last word completed to a field or an outcome; None: nothing to say."""
    start = line.rfind(" ") + 1
    field, colon, value = line[start:].partition(":")
    if not colon:
        name = next((name for name in FIELDS if len(field) > 1 and name.startswith(field.lower())), None)
        return f"{line[:start]}{name}:" if name is not None else None
    if field.lower() == "outcome":
        event = next((event for event in EVENTS if event.startswith(value.lower()) and event != value), None)
        return f"{line[:start]}outcome:{event}" if event is not None else None
    return None
