"""The filter line of Runs: `status:failed agent:planner since:2d words to find`, and what it means.

Everything typed so far means something: a field that is still empty does not narrow, a value that cannot
be read is told and left out, everything else is text to find. Quotes keep blanks together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from inspector import formats

if TYPE_CHECKING:
    from persistence.records import RunFilter

__all__ = ["FIELDS", "RunQuery", "completion", "parse"]

FIELDS = ("status", "agent", "project", "model", "since", "until")

_TOKEN = re.compile(r'(?:(?P<field>[A-Za-z_]+):)?(?:"(?P<quoted>[^"]*)"?|(?P<plain>[^\s"]\S*))|(?P<lone>\S)')
_SPAN = re.compile(r"^(\d+(?:\.\d+)?)\s*(s|sec|min|m|h|d|w|mon|y)$")
_SECONDS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SECONDS |= {"mon": 30 * 86_400, "y": 365 * 86_400}
_STATUSES = {"empty": "completed_empty", "timeout": "timed_out", "timed-out": "timed_out", "none": None}


@dataclass(frozen=True, slots=True)
class RunQuery:
    """What a filter line asks for. `problems` are sentences about what in it cannot be used."""

    statuses: tuple[str | None, ...] = ()
    agent: str | None = None
    project: str | None = None
    model: str | None = None
    since: float | None = None
    until: float | None = None
    text: str | None = None
    problems: tuple[str, ...] = ()

    @property
    def narrows(self) -> bool:
        return bool(self.statuses) or any(
            value is not None
            for value in (self.agent, self.project, self.model, self.since, self.until, self.text)
        )

    def filter(self, choices: Mapping[str, Sequence[str]] | None = None) -> RunFilter | None:
        """As the store is asked; None when nothing narrows. With `choices` (what the store has, by field) a
        value that is none of them stands for those that begin with it: somebody is still typing."""
        if not self.narrows:
            return None
        from persistence.records import RunFilter

        known = choices or {}
        return RunFilter(
            statuses=_begun(self.statuses, known.get("status", ())),
            agent=_begins(self.agent, known.get("agent", ())),
            project=_begins(self.project, known.get("project", ())),
            model=_begins(self.model, known.get("model", ())),
            since=self.since,
            until=self.until,
            text=self.text,
        )


def _begins(value: str | None, known: Sequence[str]) -> str | None:
    return value if value is None or not known or "*" in value or value in known else f"{value}*"


def _begun(statuses: tuple[str | None, ...], known: Sequence[str]) -> tuple[str | None, ...]:
    out: list[str | None] = []
    for status in statuses:
        more: list[str] = []
        if status is not None and status not in known:
            more = [each for each in known if each.startswith(status)]
        out += more or [status]
    return tuple(dict.fromkeys(out))


def parse(line: str) -> RunQuery:
    """What a filter line means. Never raises."""
    found: dict[str, list[str]] = {}
    words: list[str] = []
    problems: list[str] = []
    for match in _TOKEN.finditer(line):
        field, value = match["field"], match["quoted"] if match["quoted"] is not None else match["plain"]
        if match["lone"] is not None:
            words.append(match["lone"])
        elif field is None:
            token = value or ""
            name, colon, rest = token.partition(":")
            if match["plain"] is not None and colon and not rest and name.lower() in FIELDS:
                continue  # a field that is still being typed
            words.append(token)
        elif field.lower() in FIELDS:
            if value:
                found.setdefault(field.lower(), []).append(value)
        else:
            meant = _meant(field)
            if meant is None:
                words.append(f"{field}:{value or ''}")
            else:
                problems.append(f"there is no field {field}; is {meant} meant?")
    times: dict[str, float | None] = {}
    for name in ("since", "until"):
        times[name] = None
        for value in found.get(name, ()):
            moment = _moment(value)
            if moment is None:
                problems.append(f"{name}:{value} is no time; 2d, 3h and 2026-03-04 are")
            else:
                times[name] = moment
    problems.extend(
        f"only one {name} at a time; the last one counts"
        for name in ("agent", "project", "model")
        if len(found.get(name, ())) > 1
    )
    return RunQuery(
        statuses=tuple(
            _status(word) for value in found.get("status", ()) for word in value.split(",") if word
        ),
        agent=found.get("agent", [None])[-1],
        project=found.get("project", [None])[-1],
        model=found.get("model", [None])[-1],
        since=times["since"],
        until=times["until"],
        text=" ".join(words) or None,
        problems=tuple(problems),
    )


def completion(line: str, choices: Mapping[str, Sequence[str]]) -> str | None:
    """The line with its last word completed to a field, or to a value the store has; None: nothing to say."""
    start = max(line.rfind(" ") + 1, 0)
    last = line[start:]
    if not last or '"' in last[:-1].replace(':"', ":"):
        return None
    field, colon, value = last.partition(":")
    if not colon:
        name = next((name for name in FIELDS if name.startswith(last.lower()) and name != last), None)
        return f"{line[:start]}{name}:" if name is not None and len(last) >= 2 else None
    known = choices.get(field.lower(), ())
    done, comma, typed = value.rpartition(",") if field.lower() == "status" else ("", "", value)
    typed = typed.lstrip('"')
    for choice in known:
        if choice.lower().startswith(typed.lower()) and choice.lower() != typed.lower():
            shown = f'"{choice}"' if " " in choice else choice
            return f"{line[:start]}{field}:{done}{comma}{shown}"
    return None


def _meant(field: str) -> str | None:
    import difflib

    close = difflib.get_close_matches(field.lower(), FIELDS, n=1, cutoff=0.75)
    return close[0] if close else None


def _status(word: str) -> str | None:
    word = word.lower()
    return _STATUSES[word] if word in _STATUSES else word.replace(" ", "_")


def _moment(value: str) -> float | None:
    now = formats.now()
    if (span := _SPAN.match(value.lower())) is not None:
        return now - float(span[1]) * _SECONDS[span[2]]
    days = {"today": 0, "yesterday": 1}.get(value.lower())
    if days is not None:
        midnight = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return (midnight - timedelta(days=days)).timestamp()
    return formats.moment(value)
