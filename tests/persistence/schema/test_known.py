"""What is known of the schema without SQLAlchemy agrees with the facts and with the metadata."""

from __future__ import annotations

import subprocess
import sys

import pytest

from persistence.schema import known, metadata
from tests.persistence.schema.facts import FACTS


def test_groups_are_the_contract_s() -> None:
    renamed = {"state/control": "control", "in 0.36.0 but in no ADR-0055 group": "beside"}
    expected = {renamed.get(group, group): tuple(names) for group, names in FACTS["table_groups"].items()}
    assert expected == known.GROUPS
    assert len(known.TABLES) == 32
    assert set(metadata.tables) == set(known.TABLES)
    assert list(known.OTHER_COMPONENT_TABLES) == FACTS["other_tables_a_lionagi_component_creates_in_the_file"]


@pytest.mark.parametrize("release", known.RELEASES)
def test_columns_by_release(release: str) -> None:
    facts = FACTS["columns_by_release"][release]
    for table in known.TABLES:
        assert known.columns_of(table, release) == frozenset(facts.get(table, ())), table


def test_metadata_has_every_column_the_newest_release_has() -> None:
    for table in known.TABLES:
        assert {column.name for column in metadata.tables[table].columns} == known.ever_had(table)


def test_since_names_the_first_release() -> None:
    assert known.since("sessions") == "0.26.0"
    assert known.since("sessions", "model") == "0.26.18"
    assert known.since("sessions", "owner") is None
    assert known.since("principals") is None
    with pytest.raises(ValueError, match="not in"):
        known.columns_of("sessions", "9.9.9")


def test_vocabularies() -> None:
    facts = FACTS["vocabularies"]
    assert {entity: sorted(words) for entity, words in known.STATUSES.items()} == facts["statuses_by_entity"]
    assert {entity: sorted(words) for entity, words in known.TERMINAL.items()} == facts["terminal_by_entity"]
    assert sorted(known.REASON_CODES) == facts["reason_codes"]
    assert list(known.STATUS_SOURCES) == facts["status_sources"]
    assert list(known.DEFINITION_KINDS) == facts["definition_kinds"]
    assert list(known.INVOCATION_KINDS) == facts["session_invocation_kinds"]
    assert list(known.SOURCE_KINDS) == facts["session_source_kinds"]
    assert str(known.SCHEMA_VERSION) == FACTS["schema_version"]


def test_knowing_the_schema_loads_no_sqlalchemy() -> None:
    code = "import sys, persistence.schema.known; sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
