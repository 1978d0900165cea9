"""A store for the Tables place: links of every sort, odd names, views, virtual tables, dead ends."""

from __future__ import annotations

import sqlite3
from pathlib import Path

EVIL = 'odd "name" [b]x[/b] \x1b[31m'


def linked_store(path: Path) -> Path:
    """Boats and voyages: 300 voyages, a composite key, a key of bytes, links to nothing, a long text."""
    with sqlite3.connect(path) as connection:
        connection.executescript(
            """
            create table boats (id text primary key, name text not null, built integer, note text);
            create table ports (country text, code text, name text, primary key (country, code))
              without rowid;
            create table marks (mark blob primary key, said text);
            create table voyages (
              id integer primary key,
              boat_id text references boats (id) on delete cascade,
              country text, code text, mark blob references marks (mark),
              log text, begun real check (begun >= 0),
              foreign key (country, code) references ports (country, code)
            );
            create index voyages_by_boat on voyages (boat_id, begun desc) where boat_id is not null;
            create unique index boats_by_name on boats (lower(name));
            create view long_voyages as select * from voyages where length(log) > 100;
            create trigger no_more before delete on boats begin select raise(abort, 'no'); end;
            create virtual table words using fts5 (word);
            create table empty_one (id integer primary key, boat_id text references boats);
            create table lost (id integer primary key, gone_id text references nowhere (id));
            """
        )
        connection.execute(f'create table "{EVIL.replace(chr(34), chr(34) * 2)}" (a, "b [/red]" text)')
        connection.execute(
            f'insert into "{EVIL.replace(chr(34), chr(34) * 2)}" values (?, ?)', ("[@click=app.quit]", "\x07")
        )
        connection.executemany(
            "insert into boats values (?, ?, ?, ?)",
            [
                (f"boat-{at}", f"Boat {at}", 1900 + at, '{"crew": [1, 2]}' if at == 1 else None)
                for at in range(40)
            ],
        )
        connection.execute("insert into ports values ('no', 'bgo', 'Bergen')")
        connection.execute("insert into marks values (x'00ff', 'seen')")
        connection.executemany(
            "insert into voyages values (?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    at,
                    f"boat-{at % 40}" if at != 7 else "boat-none",
                    "no",
                    "bgo",
                    b"\x00\xff",
                    "x" * 3_000_000 if at == 5 else f"day {at}",
                    float(at),
                )
                for at in range(300)
            ],
        )
        connection.execute("insert into lost values (1, 'x')")
    connection.close()
    return path
