"""`stars.sqlite`: no state store at all. Tables, a view, links, blobs, all of somebody's own."""

from __future__ import annotations

import math
import random
import sqlite3
import struct
from pathlib import Path

__all__ = ["build"]

_SCHEMA = """
CREATE TABLE constellations (code TEXT PRIMARY KEY, name TEXT NOT NULL, area REAL) WITHOUT ROWID;
CREATE TABLE stars (
  id INTEGER PRIMARY KEY,
  name TEXT,
  constellation TEXT NOT NULL REFERENCES constellations (code),
  ra_deg REAL NOT NULL CHECK (ra_deg >= 0 AND ra_deg < 360),
  dec_deg REAL NOT NULL CHECK (dec_deg BETWEEN -90 AND 90),
  magnitude REAL,
  spectrum TEXT
);
CREATE INDEX stars_by_brightness ON stars (magnitude) WHERE magnitude IS NOT NULL;
CREATE TABLE observations (
  id INTEGER PRIMARY KEY,
  star INTEGER NOT NULL REFERENCES stars (id) ON DELETE CASCADE,
  night TEXT NOT NULL,
  magnitude NUMERIC,
  frame BLOB,
  note TEXT,
  UNIQUE (star, night)
);
CREATE VIEW brightest AS
  SELECT s.name, c.name AS constellation, s.magnitude
  FROM stars s JOIN constellations c ON c.code = s.constellation
  WHERE s.magnitude < 2 ORDER BY s.magnitude;
"""
_CONSTELLATIONS = (("Lyr", "Lyra", 286.5), ("Cyg", "Cygnus", 804.0), ("Aql", "Aquila", 652.5),
                   ("Ori", "Orion", 594.1), ("CrB", "Corona Borealis", 178.7), ("UMa", "Ursa Major", 1279.7))  # fmt: skip
_NAMED = (
    ("Vega", "Lyr", 279.23, 38.78, 0.03, "A0V"), ("Deneb", "Cyg", 310.36, 45.28, 1.25, "A2Ia"),
    ("Altair", "Aql", 297.70, 8.87, 0.76, "A7V"), ("Betelgeuse", "Ori", 88.79, 7.41, 0.42, "M1Ia"),
    ("Rigel", "Ori", 78.63, -8.20, 0.13, "B8Ia"), ("Alphecca", "CrB", 233.67, 26.71, 2.23, "A0V"),
    ("R CrB", "CrB", 237.14, 28.16, 5.71, "G0Iab"), ("Dubhe", "UMa", 165.93, 61.75, 1.79, "K0III"),
)  # fmt: skip


def build(path: Path, files: Path, clock: float) -> dict[str, int]:
    """Writes the file; counts of what is in it."""
    chance = random.Random(88)
    connection = sqlite3.connect(path)
    try:
        connection.executescript(_SCHEMA)
        connection.executemany("INSERT INTO constellations VALUES (?, ?, ?)", _CONSTELLATIONS)
        stars: list[tuple[object, ...]] = [(number, *row) for number, row in enumerate(_NAMED, 1)]
        for number in range(len(stars) + 1, 2001):
            height = math.degrees(math.asin(chance.uniform(-1, 1)))
            magnitude = None if chance.random() < 0.02 else round(chance.uniform(2.5, 9.5), 2)
            stars.append((number, None, chance.choice(_CONSTELLATIONS)[0], round(chance.uniform(0, 359.99), 4),
                          round(height, 4), magnitude, chance.choice("BAFGKM") + str(chance.randrange(10))))  # fmt: skip
        connection.executemany("INSERT INTO stars VALUES (?, ?, ?, ?, ?, ?, ?)", stars)
        seen = []
        for night in range(40):
            fading = 5.7 + 4.1 * max(0.0, math.sin(night / 12))
            frame = b"SPF1" + struct.pack(f">{64}H", *(chance.randrange(65_536) for _ in range(64)))
            note = "clouds from 02:00" if night % 9 == 4 else None
            seen.append((7, f"night-{night:03d}", round(fading, 2), frame, note))
        connection.executemany(
            "INSERT INTO observations (star, night, magnitude, frame, note) VALUES (?, ?, ?, ?, ?)", seen
        )
        connection.commit()
    finally:
        connection.close()
    return {"stars": len(stars), "observations": len(seen)}
