"""How times, sizes, counts and ids are written; the same on the screen and the command line.

Times are seconds since 1970 (UTC). Nothing here raises, whatever a store holds: a time no calendar has
is said to be one (`before 1970`, `after the year 9999`, `not a time`). The clock and the time zone can be
set, so that pictures and tests repeat.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from typing import Final

__all__ = [
    "at_time",
    "clock",
    "count",
    "day",
    "duration",
    "exact_time",
    "moment",
    "money",
    "now",
    "percent",
    "relative_time",
    "set_clock",
    "several",
    "short_id",
    "size",
]

MINUTE: Final = 60
HOUR: Final = 3600
DAY: Final = 86_400
CALENDAR_END: Final = 253_402_300_799.0  # the last second of 9999
NOT_A_TIME: Final = "not a time"

_clock: Callable[[], float] = time.time
_zone: tzinfo | None = None  # None: the machine's own


def now() -> float:
    """The time, in seconds since 1970; what a test or a picture set, otherwise the machine's."""
    return _clock()


def set_clock(clock: Callable[[], float] | None = None, zone: tzinfo | None = None) -> None:
    """Replaces the clock and the time zone for the whole program; no arguments: the machine's again."""
    global _clock, _zone
    _clock, _zone = clock or time.time, zone


@contextmanager
def at_time(seconds: float, zone: tzinfo = UTC) -> Iterator[None]:
    """Everything inside happens at this time, in this zone."""
    before = _clock, _zone
    set_clock(lambda: seconds, zone)
    try:
        yield
    finally:
        set_clock(*before)


def moment(value: object) -> float | None:
    """Seconds since 1970 that a stored value means: a number, or a text in ISO form; None: it is no time.

    A text without a zone is taken as UTC, which is how stores write it. NaN is no time, infinity is one.
    """
    match value:
        case bool() | None:
            return None
        case int() | float():
            try:
                seconds = float(value)
            except OverflowError:
                return math.inf if value > 0 else -math.inf
            return None if math.isnan(seconds) else seconds
        case datetime():
            return _seconds(value)
        case str() if 8 <= len(value) <= 40 and value[:4].isdigit():
            try:
                return _seconds(datetime.fromisoformat(value))
            except ValueError:
                return None
        case _:
            return None


def relative_time(value: object) -> str:
    """How long ago, in at most 11 cells: `now`, `12 s ago`, `3 h ago`, `in 5 min`, from 30 days on a date."""
    seconds = moment(value)
    if seconds is None:
        return NOT_A_TIME
    unplaced = _off_the_calendar(seconds)
    if unplaced:
        return unplaced
    ago = now() - seconds
    apart = abs(ago)
    if apart < 1:
        return "now"
    if apart < MINUTE:
        span = f"{int(apart)} s"
    elif apart < HOUR:
        span = f"{int(apart // MINUTE)} min"
    elif apart < DAY:
        span = f"{int(apart // HOUR)} h"
    elif apart < 30 * DAY:
        span = f"{int(apart // DAY)} d"
    else:
        return day(seconds)
    return f"{span} ago" if ago > 0 else f"in {span}"


def exact_time(value: object, *, zone: bool = True) -> str:
    """Year to millisecond with the zone, `2026-03-04 05:06:07.250 +00:00`; a whole second has no fraction."""
    seconds = moment(value)
    if seconds is None:
        return NOT_A_TIME
    unplaced = _off_the_calendar(seconds)
    if unplaced:
        return f"{unplaced} ({seconds!r})"
    when = _local(seconds)
    fraction = f".{when.microsecond // 1000:03d}" if when.microsecond >= 1000 else ""
    offset = when.strftime("%z")
    return f"{when:%Y-%m-%d %H:%M:%S}{fraction}" + (f" {offset[:3]}:{offset[3:5]}" if zone and offset else "")


def clock(value: object) -> str:
    """The time of day, `12:03:11`."""
    seconds = moment(value)
    if seconds is None:
        return NOT_A_TIME
    return _off_the_calendar(seconds) or f"{_local(seconds):%H:%M:%S}"


def day(value: object) -> str:
    """The day, `2026-03-04`."""
    seconds = moment(value)
    if seconds is None:
        return NOT_A_TIME
    return _off_the_calendar(seconds) or f"{_local(seconds):%Y-%m-%d}"


def duration(seconds: object) -> str:
    """A span in its two largest units: `480 ms`, `12.5 s`, `2 min 05 s`, `2 h 12 m`, `3 d 4 h`."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds != seconds:
        return "not a duration"
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds >= 36_525 * DAY:
        return "over 100 years"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE:02d} s"
    if whole < DAY:
        return f"{whole // HOUR} h {whole % HOUR // MINUTE:02d} min"
    return f"{whole // DAY} d {whole % DAY // HOUR} h"


def size(octets: object) -> str:
    """Bytes in decimal units with three figures: `512 B`, `9.1 kB`, `743 MB`."""
    if isinstance(octets, bool) or not isinstance(octets, int | float) or octets != octets:
        return "not a size"
    if octets < 0:
        return f"-{size(-octets)}"
    if octets < 1000:
        return f"{octets:.0f} B"
    amount = float(octets) if octets < 1e30 else 1e30
    for unit in ("kB", "MB", "GB", "TB", "PB"):
        amount /= 1000
        if amount < 9.95:
            return f"{amount:.1f} {unit}"
        if amount < 999.5:
            return f"{amount:.0f} {unit}"
    return f"{amount:,.0f} PB"


def count(number: int, *, complete: bool = True) -> str:
    """A number of things, `1,000,000`; `10,000+` when there are at least that many."""
    try:
        return f"{number:,}" if complete else f"{number:,}+"
    except ValueError:  # more digits than Python writes
        return "a huge number" if number > 0 else "a huge negative number"


def several(number: int, one: str, many: str | None = None, *, complete: bool = True) -> str:
    """A number with its noun: `1 row`, `12 rows`, `10,000+ rows`."""
    noun = one if number == 1 and complete else many or f"{one}s"
    return f"{count(number, complete=complete)} {noun}"


def percent(part: float, whole: float) -> str:
    """A share, `40 %`; below one per cent and just below all it does not round to 0 and 100."""
    if not whole or part != part or whole != whole:
        return "0 %"
    share = 100 * part / whole
    if 0 < share < 1:
        return "< 1 %"
    if 99 < share < 100:
        return "99 %"
    return f"{share:.0f} %"


def money(amount: object) -> str:
    """A cost in dollars as stores keep it, `$0.0123`, `$12.50`."""
    if isinstance(amount, bool) or not isinstance(amount, int | float) or amount != amount:
        return "not a cost"
    if abs(amount) >= 1e15:
        return f"${amount:.3g}"
    return f"${amount:,.4f}" if 0 < abs(amount) < 1 else f"${amount:,.2f}"


def short_id(value: str, cells: int = 12) -> str:
    """An id shortened in the middle, `0f3c21…9ab4`; both ends are what people compare.

    `value` must have passed `inspector.safe` or be cut by it afterwards; whole when it fits.
    """
    if len(value) <= cells:
        return value
    if cells < 5:
        return f"{value[: max(0, cells - 1)]}…"[: max(0, cells)]
    tail = (cells - 1) // 3
    return f"{value[: cells - 1 - tail]}…{value[-tail:]}"


def _seconds(when: datetime) -> float:
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return (when - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()


def _off_the_calendar(seconds: float) -> str:
    if seconds < 0:
        return "before 1970"
    if seconds >= CALENDAR_END:
        return "after 9999"
    return ""


def _local(seconds: float) -> datetime:
    """In the set zone; at the calendar's very edge, where a zone would step over it, in UTC."""
    when = datetime.fromtimestamp(seconds, UTC)  # only ever from 1970 to 9999, where all systems agree
    try:
        return when.astimezone(_zone)
    except (OverflowError, OSError, ValueError):
        return when
