"""The run the pictures show: can the night ferry sail on Thursday? Written by hand, told in order."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

__all__ = ["CHECKS", "MAIN", "NOTICE", "TITLE", "told"]

TITLE = "Can the night ferry sail on Thursday?"

# (seconds after the one before, kind, content): system, user, say, call, result.
Step = tuple[float, str, Any]


def _call(after: float, function: str, **arguments: Any) -> Step:
    return after, "call", (function, arguments)


def _result(after: float, function: str, output: Any, **arguments: Any) -> Step:
    return after, "result", (function, arguments, output)


_TIDES = [
    {"time": "00:52", "height_m": 1.31, "kind": "low"},
    {"time": "06:58", "height_m": 6.87, "kind": "high"},
    {"time": "13:11", "height_m": 1.18, "kind": "low"},
    {"time": "19:20", "height_m": 7.02, "kind": "high"},
]
_WIND = [
    {"time": f"{hour:02d}:00", "from": "SW", "mean_kn": mean, "gust_kn": gust}
    for hour, mean, gust in (
        (18, 19, 27),
        (19, 21, 30),
        (20, 22, 33),
        (21, 24, 36),
        (22, 20, 29),
        (23, 16, 22),
    )
]

MAIN: tuple[Step, ...] = (
    (0, "system", "You plan passages for the night ferry. Depth under keel comes first, then wind, then the "
                  "timetable. Say what you do not know."),
    (4, "user", ("Can the *Halcyon* sail the night passage on Thursday with 38 cars? Departure is set for 20:15, "
                 "draught will be 3.4 m aft. The harbour office wants a yes or a no by noon, and the reason in "
                 "two sentences.",
                 [{"file": "timetable/winter.toml", "lines": [12, 40]},
                  {"boat": "Halcyon", "length_m": 61.5, "cars": 42, "draught_m": {"fore": 3.1, "aft": 3.4}}])),
    (9, "say", "Three things decide this, in this order:\n\n"
               "1. **Depth over the bar** at departure, with the 0.5 m margin of the standing order.\n"
               "2. **Wind** at the headland: above 34 kn in gusts the ramp may not be lowered.\n"
               "3. **The berth** on the other side.\n\n"
               "I begin with the tide."),
    _call(3, "lookup_tide", port="Sable Point", day="<thursday>", datum="LAT"),
    _result(2, "lookup_tide", {"station": "north mole", "rows": _TIDES, "surge_m": 0.12},
            port="Sable Point", day="<thursday>", datum="LAT"),
    (7, "say", "High water is at **19:20** with 7.02 m. The bar lies 2.6 m above datum, so at 20:15 there are "
               "about 3.9 m over it, and 0.12 m of surge on top. Under the keel that leaves **0.6 m**: enough, "
               "but it shrinks by a centimetre a minute."),
    _call(2, "forecast_wind", place="Gull Head", day="<thursday>", hours=[18, 23]),
    _result(31, "forecast_wind", {"error": "upstream timed out after 30 s", "retry": True},
            place="Gull Head", day="<thursday>", hours=[18, 23]),
    (3, "say", "The forecast did not answer. Once more, before I say anything about wind."),
    _call(1, "forecast_wind", place="Gull Head", day="<thursday>", hours=[18, 23]),
    _result(4, "forecast_wind", {"model": "coastal-2km", "issued": "<today>T06:00Z", "rows": _WIND},
            place="Gull Head", day="<thursday>", hours=[18, 23]),
    (11, "say", "| time | mean | gust | ramp |\n| --- | ---: | ---: | --- |\n"
                "| 19:00 | 21 kn | 30 kn | open |\n| 20:00 | 22 kn | 33 kn | open, barely |\n"
                "| 21:00 | 24 kn | **36 kn** | closed |\n| 22:00 | 20 kn | 29 kn | open |\n\n"
                "Loading has to be finished before 20:45. At 20:15 the ramp is open, with one knot to spare."),
    (1260, "user", ("One knot is not much. What if we sail half an hour earlier?", [])),
    (8, "say", "At 19:45 there are 4.3 m over the bar: **1.0 m** under the keel instead of 0.6. Gusts stay below "
               "33 kn until 20:00. What I do not know is whether the cars can be there in time. I ask the terminal."),
    _call(2, "terminal_status", terminal="Sable Point", sailing="<thursday>/night"),
    _result(3, "terminal_status", {"booked": {"cars": 38, "foot": 61}, "earliest_loading": "18:50",
                                   "minutes_a_car": 1.1, "crew": ["Bo", "Ines", "Kaede", "Tomasz"]},
            terminal="Sable Point", sailing="<thursday>/night"),
    (6, "say", "Loading from 18:50 takes 42 minutes for 38 cars. 19:45 holds with 13 minutes in hand."),
    _call(2, "list_berths", port="Llanfair Quay", date="<thursday>", free_only=True),
    _result(2, "list_berths", {"rows": [{"berth": 3, "free_from": "22:10", "length_m": 70},
                                        {"berth": 5, "free_from": "23:45", "length_m": 64}]},
            port="Llanfair Quay", date="<thursday>", free_only=True),
    (5, "say", "Berth 3 is free from 22:10. Sailing at 19:45 we are there at 22:25. Nothing speaks against it."),
    (14, "user", ("Good. Write the notice for the passengers, English and Japanese. The school from Ise is on "
                  "board.", [])),
    (13, "say", "**The night ferry on Thursday, <long>, leaves at 19:45 instead of 20:15.**\n"
                "Please be at the terminal by 19:15. Cars load from 18:50.\n\n"
                "**<ja>の夜行フェリーは、20時15分ではなく19時45分に出航します。**\n"
                "19時15分までにターミナルへお越しください。お車の積み込みは18時50分からです。"),
    _call(2, "publish_notice", number="118/26", languages=["en", "ja"], channels=["board", "radio"], draft=False),
    _result(2, "publish_notice", {"number": "118/26", "published": True, "at": "<today>T09:41:12Z"},
            number="118/26", languages=["en", "ja"], channels=["board", "radio"], draft=False),
    (6, "say", "**Yes, at 19:45.** Over the bar there is a metre under the keel, and the ramp can be lowered until "
               "20:00; half an hour later there would have been neither to spare. The notice is out in two "
               "languages."),
)  # fmt: skip

CHECKS: tuple[Step, ...] = (
    (0, "system", "You check another agent's figures. Recalculate; do not reuse."),
    (3, "user", ("Recalculate the depth over the bar at 19:45 and 20:15 from the tide table alone.", [])),
    _call(4, "tide_curve", station="north mole", date="<thursday>", times=["19:45", "20:15"]),
    _result(2, "tide_curve", {"19:45": 6.91, "20:15": 6.48, "method": "twelfths", "datum": "LAT"},
            station="north mole", date="<thursday>", times=["19:45", "20:15"]),
    (5, "say", "19:45: 6.91 − 2.60 = **4.31 m**. 20:15: 6.48 − 2.60 = **3.88 m**. Both agree with the passage plan "
               "to the centimetre."),
)  # fmt: skip

NOTICE: tuple[Step, ...] = (
    (0, "system", "You proofread notices. Numbers and times first, then the words."),
    (2, "user", ("Proofread notice 118/26.", [])),
    (9, "say", "Times agree in both texts. In the Japanese text the weekday is right (木). One suggestion: say "
               "where the terminal is, for guests who have never been here."),
)  # fmt: skip


def told(steps: tuple[Step, ...], today: date) -> list[Step]:
    """The steps with the Thursday after `today` in them."""
    thursday = today + timedelta(days=(3 - today.weekday()) % 7 or 7)
    words = {
        "<thursday>": thursday.isoformat(),
        "<today>": today.isoformat(),
        "<long>": f"{thursday.day} {thursday:%B}",
        "<ja>": f"{thursday.month}月{thursday.day}日(木)",
    }

    def fill(value: Any) -> Any:
        match value:
            case str():
                for word, said in words.items():
                    value = value.replace(word, said)
                return value
            case dict():
                return {name: fill(inner) for name, inner in value.items()}
            case list() | tuple():
                return type(value)(fill(inner) for inner in value)
            case _:
                return value

    return [fill(step) for step in steps]
