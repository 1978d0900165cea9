"""The invented harbour the demo tells of: who works there, at what, with which words."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["AGENTS", "BOATS", "JOBS", "MODELS", "PEOPLE", "PROJECTS", "Job"]

PEOPLE = ("ines", "tomasz", "kaede", "oluwaseun")

MODELS = (
    ("polaris-2", "meridian", 3.1),  # name, provider, dollars a million output tokens
    ("polaris-2-mini", "meridian", 0.6),
    ("sextant-large", "halyard", 9.0),
)

PROJECTS = {
    "tide-board": ("git_remote", "https://example.invalid/sable-point/tide-board"),
    "night-ferry": ("git_remote", "https://example.invalid/sable-point/night-ferry"),
    "observatory": ("cwd_dir", None),
    "lighthouse": ("manual", None),
    "お知らせ": ("cwd_dir", None),
}

AGENTS = {
    "tidekeeper": (
        "You keep the tide board of Sable Point. Read the gauge, compare it with the almanac, and write the "
        "board so that a skipper can read it in the rain. Never round a height in the ferry's favour."
    ),
    "pilot": (
        "You plan passages for the night ferry. Depth under keel comes first, then wind, then the timetable. "
        "Say what you do not know."
    ),
    "stargazer": (
        "You are the observatory's assistant. Times are UTC, angles in degrees. When the sky is closed, say so "
        "and propose the next clear window."
    ),
    "lookout": "You watch the lamp, the fog signal and the buoys. Report what changed, not what stayed.",
    "scribe": "You write notices to mariners in plain words, then translate them. Keep numbers and units exact.",
    "berthmaster": "You give every boat a berth it fits into. A berth promised is a berth kept.",
}


@dataclass(frozen=True, slots=True)
class Job:
    """One kind of run: its name and words are filled with `{day}`, `{n}`, `{boat}` and the like."""

    agent: str
    project: str | None
    name: str
    asks: str
    plans: str
    tool: str
    arguments: dict[str, object]
    says: tuple[str, ...]
    closes: str
    kind: str = "agent"
    weight: int = 4
    tags: tuple[str, ...] = field(default=())


JOBS: tuple[Job, ...] = (
    Job(
        "tidekeeper",
        "tide-board",
        "Tide board, {day}",
        "Write the tide board for {day}. The gauge at the north mole reads again since Tuesday.",
        "I read the gauge first, then the almanac, and only then write. If they differ by more than 0.15 m I ask.",
        "lookup_tide",
        {"port": "Sable Point", "day": "{date}", "datum": "LAT"},
        (
            "High water {t1} at **{h1} m**, low water {t2} at **{h2} m**.",
            "The gauge runs {d} m above the almanac; the wind has stood in the bay since noon.",
            "Written to the board. I rounded down, as the rule says.",
        ),
        "The board for {day} is up: two high waters, two low, and a note about the swell at the bar.",
        kind="play",
        weight=9,
        tags=("nightly",),
    ),
    Job(
        "pilot",
        "night-ferry",
        "Night ferry passage {day}",
        "Can the {boat} sail the night passage on {day} with {n} cars? Draught is {h2} m.",
        "Depth over the bar, wind at the headland, then the berth on the other side, in this order.",
        "passage_window",
        {"boat": "{boat}", "date": "{date}", "draught_m": 3.4, "margin_m": 0.5},
        (
            "Over the bar there are {h1} m at {t1}: the window is open for {n} minutes.",
            "Wind south-west {w} kn, gusting. Within limits, not comfortable.",
            "Berth 3 is free from {t2}; the pontoon crew has been told.",
        ),
        "Sail at {t1}. If the gusts pass 34 kn before departure, wait for the next window.",
        weight=6,
    ),
    Job(
        "stargazer",
        "observatory",
        "Observing plan, night of {day}",
        "Plan the night of {day}: two hours on the comet, the rest on the variable stars on the list.",
        "I check the cloud forecast, then altitude against the lighthouse beam, then the moon.",
        "ephemeris",
        {"target": "C/2026 K2", "night": "{date}", "site": {"lat": 51.62, "lon": -4.98}},
        (
            "The comet stands at {a}° at {t1}; the beam of the lighthouse does not reach that high.",
            "Cloud cover falls below 20 % after {t2}.",
            "The moon is {p} % lit and sets before the window opens.",
        ),
        "Comet from {t1}, then R CrB, then flats at dawn. Dome crew: {n} frames.",
        weight=6,
    ),
    Job(
        "lookout",
        "lighthouse",
        "Lamp and fog signal, week {n}",
        "Go through the lamp log of week {n} and tell me what changed.",
        "I compare each night's character with the light list and list the differences only.",
        "read_log",
        {"log": "lamp", "week": "{n}", "fields": ["character", "intensity", "faults"]},
        (
            "Character held at Fl(2) 10s on every night.",
            "One fault: the standby lamp took over for {n} seconds on {day}.",
            "The fog signal sounded {n} times, always within the limits of visibility.",
        ),
        "Nothing to repair. The standby lamp should be seen to before winter.",
        weight=4,
    ),
    Job(
        "scribe",
        "お知らせ",
        "Notice to mariners {n}/26",
        "Write notice {n}/26 about the dredger off the west mole and translate it into Portuguese and Japanese.",
        "First the plain text, then the translations, numbers untouched.",
        "publish_notice",
        {"number": "{n}/26", "languages": ["en", "pt", "ja"], "draft": True},
        (
            "A dredger works off the west mole from {day}; keep {n} m clear.",
            "Uma draga trabalha ao largo do molhe oeste a partir de {day}; manter {n} m de distância.",
            "西防波堤沖で浚渫船が作業中です。{n} m 以上離れて航行してください。",
        ),
        "The notice is published in three languages; the radio office reads it at {t1}.",
        weight=3,
        tags=("notice",),
    ),
    Job(
        "berthmaster",
        "tide-board",
        "Berth plan, {day}",
        "Plan the berths for {day}: {n} visitors have announced themselves, the {boat} stays two nights.",
        "Longest boats first, then draught against low water, then who arrived before.",
        "list_berths",
        {"pier": "east", "date": "{date}", "free_only": True},
        (
            "East pier has {n} metres free after {t1}.",
            "The {boat} cannot lie inside: {h2} m at low water is too little.",
            "Everyone has a berth; two boats raft up until Thursday.",
        ),
        "The plan holds for {day}. The {boat} lies outside, bow to the west.",
        weight=5,
    ),
    Job(
        "stargazer",
        "observatory",
        "Meteor count, {day}",
        "Count the meteors on the all-sky frames of {day} and give the hourly rate.",
        "Frames in parallel, then one list without doubles.",
        "count_trails",
        {"camera": "allsky-2", "night": "{date}", "threshold": 0.62},
        (
            "{n} trails after the doubles are gone.",
            "The radiant fits; four trails do not belong to the shower.",
            "Corrected for cloud the hourly rate is {n}.",
        ),
        "{n} meteors, limiting magnitude 5.8. The table is in the artifact.",
        kind="fanout",
        weight=4,
    ),
    Job(
        "lookout",
        "lighthouse",
        "Buoy round {day}",
        "Plan the buoy round of {day}; the launch needs to be back before {t2}.",
        "Shortest way against the stream, the red ones first.",
        "route_buoys",
        {"start": "slipway", "boat": "{boat}", "return_by": "{date}T18:00Z"},
        (
            "Eleven buoys, {n} minutes at seven knots.",
            "Buoy 7 has drifted {n} m; it goes on the list for the tender.",
            "The way back runs with the stream.",
        ),
        "The round fits before {t2}. Buoy 7 first, while it is slack.",
        kind="flow",
        weight=3,
    ),
    Job(
        "scribe",
        None,
        "Almanac page, {day}",
        "Typeset the almanac page for {day}: tides, sun, moon, and one sentence about the sky.",
        "Numbers from the tide board, the sentence from the observatory.",
        "render_page",
        {"page": "{date}", "paper": "A5", "tables": ["tide", "sun", "moon"]},
        (
            "Sunrise {t1}, sunset {t2}.",
            "The sentence: *Venus keeps the harbour lamp company.*",
            "One page, no widows, and the table is aligned on the point.",
        ),
        "The page is set and lies with the printer.",
        kind="engine",
        weight=3,
    ),
)
BOATS = ("Halcyon", "Marta K", "Nordstjernen", "Pequeña Aurora", "Tern", "海鳥丸")
