"""The schema, as it is today and as its two predecessors were: one statement a table, by name.

Schema 5 had no owners: a run had somebody who took it on the desk. Schema 6 gave every row its owner.
Schema 7 tied a branch to a session of the same owner, and gave the desk its flags and notes.
"""

from __future__ import annotations

__all__ = ["AFTER", "OWNED", "TABLES"]

OWNED = (
    "progressions", "messages", "invocations", "sessions", "branches", "session_signals",
    "status_transitions", "admin_events",
)  # fmt: skip
"""The tables whose rows have an owner, since schema 6."""

_OWNER = "owner_id TEXT NOT NULL DEFAULT 'acme-system' REFERENCES principals(id)"

_META = "CREATE TABLE schema_meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)"

_TYPES = "CREATE TABLE message_types (type_id INTEGER NOT NULL PRIMARY KEY, lion_class TEXT NOT NULL UNIQUE)"

_PRINCIPALS = """CREATE TABLE principals (
  id           TEXT NOT NULL PRIMARY KEY,
  display_name TEXT NOT NULL,
  kind         TEXT NOT NULL DEFAULT 'person' CHECK (kind IN ('person', 'service')),
  created_at   REAL NOT NULL
)"""

_PROGRESSIONS = f"""CREATE TABLE progressions (
  id         TEXT NOT NULL PRIMARY KEY,
  created_at REAL NOT NULL,
  collection TEXT NOT NULL DEFAULT '[]',
  {_OWNER}
)"""

_MESSAGES = f"""CREATE TABLE messages (
  id            TEXT NOT NULL PRIMARY KEY,
  created_at    REAL NOT NULL,
  node_metadata JSON,
  content       JSON NOT NULL,
  embedding     BLOB,
  sender        TEXT,
  recipient     TEXT,
  channel       TEXT,
  role          TEXT NOT NULL,
  lion_class    INTEGER NOT NULL REFERENCES message_types(type_id),
  desk_flags    INTEGER NOT NULL DEFAULT 0,
  {_OWNER}
)"""

_INVOCATIONS = f"""CREATE TABLE invocations (
  id                    TEXT NOT NULL PRIMARY KEY,
  skill                 TEXT NOT NULL,
  plugin                TEXT,
  prompt                TEXT,
  started_at            REAL NOT NULL,
  ended_at              REAL,
  status                TEXT NOT NULL DEFAULT 'running',
  session_count         INTEGER NOT NULL DEFAULT 0,
  created_at            REAL NOT NULL,
  updated_at            REAL NOT NULL,
  node_metadata         JSON,
  status_reason_code    TEXT,
  status_reason_summary TEXT,
  status_evidence_refs  JSON,
  {_OWNER}
)"""

_SESSIONS = f"""CREATE TABLE sessions (
  id                         TEXT NOT NULL PRIMARY KEY,
  cc_session_id              TEXT,
  run_id                     TEXT,
  created_at                 REAL NOT NULL,
  node_metadata              JSON,
  name                       TEXT,
  user_label                 TEXT,
  "user"                     TEXT,
  progression_id             TEXT NOT NULL REFERENCES progressions(id),
  first_msg_id               TEXT REFERENCES messages(id),
  last_msg_id                TEXT REFERENCES messages(id),
  updated_at                 REAL NOT NULL,
  playbook_name              TEXT,
  agent_name                 TEXT,
  invocation_kind            TEXT,
  show_topic                 TEXT,
  show_play_name             TEXT,
  artifacts_path             TEXT,
  source_kind                TEXT DEFAULT 'live' CHECK (source_kind IS NULL OR source_kind IN ('live', 'imported_fs', 'desk')),
  status                     TEXT,
  started_at                 REAL,
  ended_at                   REAL,
  ended_at_is_approximate    INTEGER NOT NULL DEFAULT 0,
  last_message_at            REAL,
  current_phase              TEXT,
  invocation_id              TEXT REFERENCES invocations(id),
  model                      TEXT,
  provider                   TEXT,
  effort                     TEXT,
  agent_hash                 TEXT,
  project                    TEXT,
  project_source             TEXT,
  status_reason_code         TEXT,
  status_reason_summary      TEXT,
  status_evidence_refs       JSON,
  artifact_contract_json     JSON,
  artifact_verification_json JSON,
  input_tokens               INTEGER,
  output_tokens              INTEGER,
  total_cost_usd             REAL,
  num_turns                  INTEGER,
  duration_ms                REAL,
  desk_pinned                INTEGER NOT NULL DEFAULT 0,
  desk_note                  TEXT,
  {_OWNER},
  UNIQUE (id, owner_id)
)"""

_BRANCHES = f"""CREATE TABLE branches (
  id             TEXT NOT NULL PRIMARY KEY,
  created_at     REAL NOT NULL,
  node_metadata  JSON,
  "user"         TEXT,
  name           TEXT,
  session_id     TEXT NOT NULL,
  progression_id TEXT NOT NULL REFERENCES progressions(id),
  system_msg_id  TEXT REFERENCES messages(id),
  model          TEXT,
  provider       TEXT,
  agent_name     TEXT,
  status         TEXT,
  started_at     REAL,
  ended_at       REAL,
  {_OWNER},
  FOREIGN KEY (session_id, owner_id) REFERENCES sessions(id, owner_id) ON DELETE CASCADE
)"""

_SIGNALS = f"""CREATE TABLE session_signals (
  id         TEXT NOT NULL PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  seq        INTEGER NOT NULL,
  kind       TEXT NOT NULL,
  op_id      TEXT NOT NULL DEFAULT '',
  ts         REAL NOT NULL,
  payload    JSON NOT NULL DEFAULT '{{}}',
  {_OWNER},
  UNIQUE (session_id, seq)
)"""

_TRANSITIONS = f"""CREATE TABLE status_transitions (
  id              TEXT NOT NULL PRIMARY KEY,
  entity_type     TEXT NOT NULL,
  entity_id       TEXT NOT NULL,
  previous_status TEXT,
  status          TEXT NOT NULL,
  reason_code     TEXT NOT NULL,
  reason_summary  TEXT,
  evidence_refs   JSON,
  source          TEXT NOT NULL,
  actor           TEXT,
  created_at      REAL NOT NULL,
  metadata        JSON,
  {_OWNER}
)"""

_EVENTS = f"""CREATE TABLE admin_events (
  id         TEXT NOT NULL PRIMARY KEY,
  created_at REAL NOT NULL,
  action     TEXT NOT NULL,
  target_id  TEXT,
  details    JSON NOT NULL,
  actor      TEXT NOT NULL DEFAULT 'admin',
  {_OWNER}
)"""

_TICKETS = """CREATE TABLE tickets (
  id         INTEGER PRIMARY KEY,
  subject    TEXT NOT NULL,
  session_id TEXT REFERENCES sessions(id) ON DELETE SET NULL,
  opened_by  TEXT NOT NULL REFERENCES principals(id)
)"""

_NOTES = """CREATE TABLE ticket_notes (
  id        INTEGER PRIMARY KEY,
  ticket_id INTEGER NOT NULL REFERENCES tickets(id),
  body      TEXT NOT NULL,
  edits     INTEGER NOT NULL DEFAULT 0
)"""

_TODAY = {
    "schema_meta": _META, "principals": _PRINCIPALS, "message_types": _TYPES, "progressions": _PROGRESSIONS,
    "messages": _MESSAGES, "invocations": _INVOCATIONS, "sessions": _SESSIONS, "branches": _BRANCHES,
    "session_signals": _SIGNALS, "status_transitions": _TRANSITIONS, "admin_events": _EVENTS,
    "tickets": _TICKETS, "ticket_notes": _NOTES,
}  # fmt: skip


def _without(statement: str, *parts: str) -> str:
    for part in parts:
        if part not in statement:
            raise AssertionError(part)
        statement = statement.replace(part, "", 1)
    return statement


_SIX = {
    **_TODAY,
    "principals": """CREATE TABLE principals (
  id           TEXT NOT NULL PRIMARY KEY,
  display_name TEXT NOT NULL,
  created_at   REAL NOT NULL
)""",
    "messages": _without(_MESSAGES, "  desk_flags    INTEGER NOT NULL DEFAULT 0,\n"),
    "sessions": _without(
        _SESSIONS, ",\n  UNIQUE (id, owner_id)", "  desk_note                  TEXT,\n", ", 'desk'"
    ),
    "branches": _without(
        _BRANCHES, ",\n  FOREIGN KEY (session_id, owner_id) REFERENCES sessions(id, owner_id) ON DELETE CASCADE"
    ).replace("session_id     TEXT NOT NULL,", "session_id     TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,"),
    "ticket_notes": _without(_NOTES, ",\n  edits     INTEGER NOT NULL DEFAULT 0"),
}  # fmt: skip

_FIVE = {
    "schema_meta": _META,
    "desk_people": _SIX["principals"].replace("principals", "desk_people"),
    "message_types": _TYPES,
    **{name: _without(_SIX[name], f",\n  {_OWNER}") for name in OWNED if name != "sessions"},
    "sessions": _SIX["sessions"].replace(_OWNER, "taken_by                   TEXT REFERENCES desk_people(id)"),
    "tickets": """CREATE TABLE tickets (
  id        INTEGER PRIMARY KEY,
  subject   TEXT NOT NULL,
  opened_by TEXT NOT NULL REFERENCES desk_people(id)
)""",
    "ticket_notes": _SIX["ticket_notes"],
}  # fmt: skip

TABLES: dict[int, dict[str, str]] = {5: _FIVE, 6: _SIX, 7: _TODAY}
"""The tables of each schema, in the order they are created in."""

_VIEW = "CREATE VIEW open_tickets AS SELECT id, subject FROM tickets"

AFTER: dict[int, tuple[str, ...]] = {
    5: (_VIEW,),
    6: (_VIEW, "CREATE INDEX sessions_by_owner ON sessions (owner_id, updated_at)"),
    7: (
        "CREATE UNIQUE INDEX one_live_cc_session ON sessions (cc_session_id)"
        " WHERE cc_session_id IS NOT NULL AND source_kind = 'live'",
        "CREATE INDEX sessions_by_owner ON sessions (owner_id, updated_at)",
        "CREATE TRIGGER ticket_notes_count AFTER UPDATE OF body ON ticket_notes"
        " BEGIN UPDATE ticket_notes SET edits = edits + 1 WHERE id = NEW.id; END",
        _VIEW,
    ),
}
"""The indexes, triggers and views of each schema, created after its tables."""
