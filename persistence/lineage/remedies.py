"""What a person can do about each refusal, in plain words. None advises deleting or rebuilding anything."""

from __future__ import annotations

from persistence.schema.known import SCHEMA_VERSION, VERSION_SINCE

__all__ = ["REMEDIES", "remedy"]

_OWNER = (
    "Let the program that owns the store open it once, so that it finishes or undoes what was interrupted; "
    "then ask again. Until then read it here, read-only."
)
_NEWEST = max(VERSION_SINCE, key=lambda release: VERSION_SINCE[release])

REMEDIES: dict[str, str] = {
    "foreign-lineage": (
        "Write to it with the application its lineage row names, or through a compatibility profile"
        " made for that application. Reading it here, read-only, is always possible."
    ),
    "schema-too-new": (
        "The store is intact and nothing in it was changed. Write to it with the lionagi release "
        f"that made this schema, or a later one (version {SCHEMA_VERSION} is that of {_NEWEST} and "
        "later); this program still reads it."
    ),
    "unrecognized-store": (
        "Find out which program made the store and use that one to write to it; here it can be read."
    ),
    "meta-odd": (
        "Find out which program made this schema_meta and use that one to write to the store; here "
        "it can be read."
    ),
    "meta-columns": (
        "Find out which program made this schema_meta and use that one to write to the store; here "
        "it can be read."
    ),
    "lineage-twice": (
        "Ask the people who run the store how the second row came about; only they can say which is"
        " right. Here it can be read."
    ),
    "version-missing": (
        "If this is a lionagi store whose version row was lost, the people who run it know which "
        "release wrote it last; a backup from before may still have the row. Here it can be read."
    ),
    "version-odd": (
        "If this is a lionagi store whose version row was changed, the people who run it know which"
        " release wrote it last; a backup from before may have the row as it was. Here it can be "
        "read."
    ),
    "unknown-tables": (
        "Use the application that made these tables to write to the store. If it is a lionagi store"
        " that shares its file with another program, keep the two in files of their own. Here it "
        "can be read."
    ),
    "foreign-shape": (
        "Use the application that made this table to write to the store, and give lionagi a file of"
        " its own (LIONAGI_STATE_DB_URL). Here it can be read."
    ),
    "second-name": (
        "Find the file's other names (`find -samefile`) and have the people who run the store "
        "settle on one of them. A copy of the file, made while no program has it open, has one name"
        " and can be worked on."
    ),
    "unreadable-store": _OWNER,
    "log-header": _OWNER,
    "log-broken": _OWNER,
    "journal-short": _OWNER,
    "journal-broken": _OWNER,
    "journal-odd": _OWNER,
    "empty-beside": (
        "Keep the file and what lies beside it as they are. Find out what emptied the file: the log"
        " or journal may hold what was in it, and a backup the rest. The program that owns the "
        "store can say more."
    ),
    "no-header": (
        "Keep the file and what lies beside it as they are. The program that owns the store, or a "
        "backup, can say what the file held."
    ),
    "file-short": (
        "Keep the file as it is. It is shorter than it says: a copy of it may be complete where "
        "this one was cut off (look for the backups beside it)."
    ),
    "odd-sidecar": (
        "Find out what put something other than a file where SQLite keeps its log or journal, and "
        "move it to another place. Then ask again."
    ),
    "long-path": (
        "SQLite opens no path of more than 512 bytes. The people who run the store can keep it under a "
        "shorter one; here it can be read."
    ),
    "no-permission": (
        "Ask the owner of the files for the right to read all of them, those beside the store "
        "included, or run as that user."
    ),
    "io-error": ("The store was not touched. Look at the device and the system's log, then ask again."),
    "too-many-files": "Raise the limit of open files (ulimit -n) and ask again.",
    "no-room": ("Make room in the temporary directory, or set TMPDIR to one with more, and ask again."),
    "no-copy": "Set TMPDIR to a directory this user can write, and ask again.",
    "store-moving": (
        "Ask again when the program that writes the store is less busy. Nothing is wrong with it."
    ),
    "busy": "Ask again in a moment. Nothing is wrong with the store.",
    "damaged": ("Keep the file as it is and make a copy before any repair; a backup beside it may be whole."),
    "compatibility-own": "Open it natively: it is this lineage's own store.",
    "compatibility-no-lineage": (
        "A store is admitted by the lineage row its application writes when it creates it. If "
        "another application manages this store, a release of it that writes the row makes it "
        "admissible."
    ),
    "compatibility-names-nobody": (
        "A profile is bound to the application the lineage row names, as text. The people who run "
        "the store can say whose it is."
    ),
    "compatibility-server": "Compatibility mode is for SQLite stores: read the database here, read-only.",
    "held-here": "Close the other handle of this process first.",
}


def remedy(code: str) -> str:
    """The remedy for a code; a general one when it has none of its own."""
    return REMEDIES.get(code, _OWNER)
