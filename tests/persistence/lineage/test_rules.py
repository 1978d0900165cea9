"""Each rule by itself: its question, its answer, and what it refuses."""

from __future__ import annotations

import re
from typing import Any

import pytest

from persistence import errors
from persistence.errors import (
    ForeignLineageError,
    LineageRefusal,
    SchemaTooNewError,
    StateCompatibilityRefused,
    UnreadableStoreError,
    UnrecognizedStoreError,
)
from persistence.lineage import rules
from persistence.lineage.compatibility import COMPATIBILITY, names_an_application
from persistence.lineage.remedies import REMEDIES, remedy
from persistence.lineage.rows import MetaColumn, MetaKind, Seen
from persistence.lineage.rules import NATIVE, SERVER, Answer, Case, Damage, ask
from persistence.schema.known import TABLES, columns_of, since

PAIR = (MetaColumn("key", key=1), MetaColumn("value"))


def columns(table: str, release: str | None = None) -> tuple[MetaColumn, ...]:
    if table == "schema_meta":
        return PAIR
    first = since(table)
    assert first is not None
    return tuple(MetaColumn(name) for name in sorted(columns_of(table, release or first)))


def seen(**given: Any) -> Seen:
    """What a complete store of this lineage shows, but for what is given."""
    tables = given.pop("tables", TABLES)
    whole = Seen(
        tables=tables,
        meta=MetaKind.TABLE if "schema_meta" in tables else MetaKind.ABSENT,
        meta_columns=PAIR if "schema_meta" in tables else (),
        lineage=("lionagi",),
        version=("4",),
        columns={name: columns(name) for name in tables if name in TABLES},
    )
    return whole._replace(**given)


def case(*damage: Damage, **given: Any) -> Case:
    return Case("~/state.db", seen(**given), damage)


def decided(**given: Any) -> Answer:
    return ask(case(**given))[-1].answer


def refusal(kind: type[LineageRefusal], answer: Answer) -> LineageRefusal:
    assert type(answer.refusal) is kind
    return answer.refusal


# -- what lies beside ---------------------------------------------------------------------------------


def test_damage_refuses_whatever_the_rows_say() -> None:
    for lineage in ((), ("lionagi",), ("acme-desk",)):
        found = ask(case(Damage("log-header", "the header of x-wal is not valid"), lineage=lineage))
        refused = refusal(UnreadableStoreError, found[-1].answer)
        assert [asked.rule.name for asked in found] == ["parts-agree"]
        assert refused.code == "log-header"
        assert refused.observed == "the header of x-wal is not valid"


def test_a_second_name_has_its_own_code_and_words() -> None:
    refused = refusal(
        UnreadableStoreError, ask(case(Damage("second-name", "the file has 2 names")))[-1].answer
    )
    assert refused.code == "second-name"
    assert "second name" in refused.message


@pytest.mark.adr("0128-D7-66")
def test_a_file_that_cannot_be_read_decides_nothing() -> None:
    found = ask(Case("x", None))
    assert found[-1].rule.name == "rows-read"
    assert found[-1].answer.refusal is None
    assert found[-1].answer.settles


# -- whose it is --------------------------------------------------------------------------------------


@pytest.mark.adr("0128-D7-01")
def test_the_lineage_row_makes_it_this_lineages_own() -> None:
    assert decided().refusal is None
    assert rules.lineage_names(case()).words == "this lineage: 'lionagi'"


@pytest.mark.parametrize(
    "value", ["acme-desk", "", "   ", "LionAGI", "lionagi ", "x" * 5000, b"lionagi", 1, 1.5]
)
def test_any_other_value_is_another_application_and_is_shown_exactly(value: Any) -> None:
    refused = refusal(ForeignLineageError, decided(lineage=(value,)))
    assert refused.lineage == value
    assert repr(value) in (refused.observed or "")
    assert refused.rule == "lineage-names"


@pytest.mark.parametrize(
    "values", [("acme-desk", "lionagi"), ("lionagi", "acme-desk"), ("lionagi", b"lionagi"), ("a", "b")]
)
def test_two_rows_that_are_not_both_lionagi_are_anothers(values: tuple[Any, ...]) -> None:
    refused = refusal(ForeignLineageError, decided(lineage=values))
    assert refused.lineage == values


def test_two_rows_that_are_both_lionagi_are_no_releases() -> None:
    refused = refusal(UnrecognizedStoreError, decided(lineage=("lionagi", "lionagi")))
    assert refused.code == "lineage-twice"


@pytest.mark.adr("0128-D7-20")
@pytest.mark.parametrize(
    "names",
    [
        (MetaColumn("name"), MetaColumn("val")),
        (MetaColumn("KEY", key=1), MetaColumn("VALUE")),
        (MetaColumn("key", key=1), MetaColumn("value", generated=True)),
        (MetaColumn("key", key=1),),
    ],
)
def test_without_key_and_value_columns_nothing_says_whose_it_is(names: tuple[MetaColumn, ...]) -> None:
    refused = refusal(UnrecognizedStoreError, decided(meta_columns=names, lineage=(), version=()))
    assert refused.code == "meta-columns"
    assert all(name.name in (refused.observed or "") for name in names)


@pytest.mark.parametrize("kind", [MetaKind.VIEW, MetaKind.VIRTUAL, MetaKind.OTHER_SPELLING])
def test_what_is_no_table_under_that_name_is_refused(kind: str) -> None:
    assert refusal(UnrecognizedStoreError, decided(meta=kind)).code == "meta-odd"


@pytest.mark.adr("0128-D7-21")
def test_a_store_without_a_table_is_new() -> None:
    for views in ((), ("mine",)):
        found = ask(case(tables=(), views=views, lineage=(), version=(), columns={}))
        assert found[-1].rule.name == "is-new"
        assert found[-1].answer.refusal is None
        assert found[-1].answer.settles


def test_a_view_where_a_table_belongs_is_not_new() -> None:
    given = {"tables": (), "views": ("sessions",), "lineage": (), "version": (), "columns": {}}
    refused = refusal(UnrecognizedStoreError, decided(**given))
    assert "sessions" in refused.message


# -- its version --------------------------------------------------------------------------------------


@pytest.mark.adr("0128-D7-10", "0128-D7-16")
@pytest.mark.parametrize("lineage", [("lionagi",), ()])
@pytest.mark.parametrize("version", ["5", "99", "9" * 30])
def test_a_version_above_ours_is_too_new(lineage: tuple[str, ...], version: str) -> None:
    refused = refusal(SchemaTooNewError, decided(lineage=lineage, version=(version,)))
    assert refused.version == version
    assert "intact" in refused.message and "intact" in (refused.remedy or "")
    assert "lionagi" in (refused.remedy or "")


@pytest.mark.parametrize("version", ["+5", "1_0", "\u0665", " 5", "5.0", b"5", 5, "0x10"])
def test_beside_the_lineage_row_any_spelling_of_a_higher_one_is_too_new(version: Any) -> None:
    refusal(SchemaTooNewError, decided(version=(version,)))


@pytest.mark.adr("0128-D7-11", "0128-D7-12", "0128-D7-06", "0128-D7-07")
@pytest.mark.parametrize(
    "version", [(), ("0",), ("004",), (" 4 ",), ("",), ("four",), ("4.0",), ("-1",), (b"4",), (4,), ("4\n",)]
)
def test_beside_the_lineage_row_anything_else_is_missing_and_stamped(version: tuple[Any, ...]) -> None:
    found = ask(case(version=version))
    assert found[-1].answer.refusal is None
    notices = [asked.answer.notice for asked in found if asked.answer.notice]
    assert len(notices) == 1 and "stamps 4" in notices[0]


@pytest.mark.adr("0128-D7-17", "0128-D7-18", "0128-D7-07")
@pytest.mark.parametrize(
    "version",
    [(), ("0",), ("004",), (" 4 ",), ("",), ("four",), ("4.0",), ("-1",), ("+5",), (b"4",), (3,), (3.0,)],
)
def test_without_it_what_no_release_writes_is_unrecognized(version: tuple[Any, ...]) -> None:
    refused = refusal(UnrecognizedStoreError, decided(lineage=(), version=version))
    assert refused.code == ("version-missing" if not version else "version-odd")


@pytest.mark.adr("0128-D7-13", "0128-D7-08")
@pytest.mark.parametrize(("version", "words"), [("1", "lower"), ("3", "lower"), ("4", "equal")])
def test_without_it_a_releases_version_and_sessions_are_adopted(version: str, words: str) -> None:
    found = ask(case(lineage=(), version=(version,), tables=(*TABLES, "ledger")))
    assert found[-1].answer.refusal is None
    answers = {asked.rule.name: asked.answer.words for asked in found}
    assert answers["version-is-a-releases"] == f"yes: {words}, '{version}'"
    assert "ledger" in answers["tables-are-known"]


def test_two_version_rows_are_no_releases() -> None:
    assert refusal(UnrecognizedStoreError, decided(version=("4", "3"))).code == "version-odd"
    refusal(SchemaTooNewError, decided(version=("4", "9")))


@pytest.mark.adr("0128-A0-04", "0128-D7-75")
def test_lineage_is_asked_before_version() -> None:
    for order in (NATIVE, SERVER, rules.CONNECTION):
        names = [rule.name for rule in order]
        assert names.index("lineage-names") < names.index("version-not-above")
        refused = ask(case(lineage=("acme-desk",), version=("99",)), order)[-1].answer
        assert refusal(ForeignLineageError, refused).version == "99"


# -- its tables ---------------------------------------------------------------------------------------


@pytest.mark.adr("0128-D7-19")
def test_a_version_and_an_unknown_table_without_sessions_is_unrecognized() -> None:
    tables = ("schema_meta", "progressions", "ledger")
    refused = refusal(UnrecognizedStoreError, decided(lineage=(), version=("3",), tables=tables))
    assert refused.code == "unknown-tables"
    assert "ledger" in (refused.observed or "")


@pytest.mark.adr("0128-D7-15")
def test_a_first_open_that_stopped_before_sessions_is_adopted() -> None:
    given = {
        "lineage": (),
        "version": ("3",),
        "tables": ("schema_meta", "progressions", "studio_operator_turns"),
    }
    assert decided(**given).refusal is None


@pytest.mark.adr("0128-D7-22")
@pytest.mark.parametrize(
    "tables", [("approvals", "approval_evidence"), ("studio_operator_views",), ("sessions",)]
)
def test_without_schema_meta_only_known_tables_are_adopted(tables: tuple[str, ...]) -> None:
    assert decided(lineage=(), version=(), tables=tables).refusal is None


@pytest.mark.adr("0128-D7-23")
@pytest.mark.parametrize("tables", [("ledger",), (*TABLES[5:8], "ledger"), ("sqlitex_data",)])
def test_without_schema_meta_any_other_table_is_unrecognized(tables: tuple[str, ...]) -> None:
    refused = refusal(UnrecognizedStoreError, decided(lineage=(), version=(), tables=tables))
    assert refused.code == "unknown-tables"
    assert "schema_meta" in refused.message


def test_beside_the_lineage_row_unknown_tables_do_not_matter() -> None:
    assert decided(tables=(*TABLES, "ledger")).refusal is None


# -- their shape --------------------------------------------------------------------------------------


@pytest.mark.adr("0128-D7-03", "0128-D7-04", "0128-D7-26")
@pytest.mark.parametrize("lineage", [(), ("lionagi",)])
def test_a_table_that_only_shares_a_name_is_not_adopted(lineage: tuple[str, ...]) -> None:
    odd = {"sessions": (MetaColumn("sid", key=1), MetaColumn("cookie"))}
    refused = refusal(
        UnrecognizedStoreError,
        decided(lineage=lineage, columns={name: columns(name) for name in TABLES} | odd),
    )
    assert refused.code == "foreign-shape"
    assert "sessions" in refused.message
    assert "sessions.cookie: is there" in (refused.observed or "")


def test_one_column_more_or_less_than_any_release_had_is_enough() -> None:
    whole = {name: columns(name, "0.36.0") for name in TABLES}
    assert decided(columns=whole).refusal is None
    extra = whole | {"messages": (*whole["messages"], MetaColumn("tenant"))}
    assert "messages.tenant" in (refusal(UnrecognizedStoreError, decided(columns=extra)).expected or "")
    short = whole | {"branches": tuple(c for c in whole["branches"] if c.name != "progression_id")}
    assert "branches.progression_id" in (
        refusal(UnrecognizedStoreError, decided(columns=short)).expected or ""
    )
    computed = whole | {"teams": tuple(c._replace(generated=c.name == "name") for c in whole["teams"])}
    assert "teams.name" in (refusal(UnrecognizedStoreError, decided(columns=computed)).expected or "")


def test_schema_metas_key_must_be_its_key() -> None:
    loose = (MetaColumn("key"), MetaColumn("value"))
    refused = refusal(UnrecognizedStoreError, decided(meta_columns=loose))
    assert "schema_meta.key" in (refused.expected or "")


def test_a_virtual_table_or_view_in_a_tables_place_is_refused() -> None:
    refusal(UnrecognizedStoreError, decided(virtual=frozenset(["messages"])))
    refusal(
        UnrecognizedStoreError, decided(views=("plays",), tables=tuple(t for t in TABLES if t != "plays"))
    )


# -- compatibility ------------------------------------------------------------------------------------


@pytest.mark.adr("0128-D7-37", "0128-D7-38")
@pytest.mark.parametrize(
    ("lineage", "code"),
    [
        ((), "compatibility-no-lineage"),
        (("lionagi",), "compatibility-own"),
        (("",), "compatibility-names-nobody"),
        (("  ",), "compatibility-names-nobody"),
        ((b"acme",), "compatibility-names-nobody"),
        ((7,), "compatibility-names-nobody"),
        (("acme-desk", "acme-desk"), "compatibility-names-nobody"),
        (("acme-desk", "lionagi"), "compatibility-names-nobody"),
    ],
)
def test_only_one_row_that_names_another_application_can_be_admitted(
    lineage: tuple[Any, ...], code: str
) -> None:
    answer = ask(case(lineage=lineage), COMPATIBILITY)[-1].answer
    refused = refusal(StateCompatibilityRefused, answer)
    assert refused.code == code
    assert refused.committed == ()


def test_a_row_that_names_another_is_left_to_a_profile() -> None:
    answer = names_an_application(case(lineage=("acme-desk",), version=("99",)))
    assert answer.refusal is None
    assert "acme-desk" in answer.words


# -- the whole ----------------------------------------------------------------------------------------


def test_every_rule_has_a_name_a_question_and_a_source() -> None:
    names = [rule.name for rule in (*NATIVE, *COMPATIBILITY)]
    assert len(set(NATIVE)) == len(NATIVE) and len({rule.name for rule in NATIVE}) == len(NATIVE)
    for rule in (*NATIVE, *COMPATIBILITY):
        assert rule.question.endswith("?")
        assert rule.source.startswith("ADR-0128")
        assert rule.ask.__doc__
    assert {"lineage-names", "version-not-above", "is-new"} <= set(names)


_HARMFUL = re.compile(
    r"\b(delet|remov|eras|wip|drop|purg|trash|discard|unlink|truncat|reset|rebuild|recreat|reinitiali|"
    r"overwrit|format|reinstall|start over|from scratch|rm)\w*",
    re.IGNORECASE,
)


def _texts() -> list[tuple[str, str]]:
    """Every remedy, and every sentence a refusal of the rules is made of, found by making them all."""
    found = list(REMEDIES.items())
    values: list[dict[str, Any]] = [
        {"lineage": ("acme-desk",)},
        {"lineage": ("lionagi", "lionagi")},
        {"lineage": ("a", "b")},
        {"version": ("9",)},
        {"lineage": (), "version": ()},
        {"lineage": (), "version": ("x",)},
        {"version": ("1", "2")},
        {"meta": MetaKind.VIEW},
        {"meta_columns": ()},
        {"lineage": (), "tables": (*TABLES[:1], "ledger"), "version": ("3",)},
        {"columns": {"sessions": ()}},
    ]
    for given in values:
        for order in (NATIVE, COMPATIBILITY):
            refused = ask(case(**given), order)[-1].answer.refusal
            if refused is not None:
                found.append((refused.code, f"{refused.message} {refused.remedy}"))
    for code in REMEDIES:
        refused = ask(case(Damage(code, "x")))[-1].answer.refusal
        assert refused is not None
        found.append((code, f"{refused.message} {refused.remedy}"))
    return found


def test_no_refusal_advises_anything_destructive() -> None:
    texts = _texts()
    assert len(texts) > 60
    for code, text in texts:
        assert not _HARMFUL.search(text), (code, text)
        assert text[0].isupper() and text.rstrip().endswith("."), (code, text)


def test_a_code_without_a_remedy_of_its_own_still_has_one() -> None:
    assert remedy("no-such-code") == REMEDIES["unreadable-store"]


def test_too_new_says_that_the_store_is_intact_and_which_program_writes_it() -> None:
    assert "intact" in REMEDIES["schema-too-new"]
    assert "lionagi" in REMEDIES["schema-too-new"]


@pytest.mark.adr("0128-D7-35")
def test_the_refusals_are_exported_and_carry_what_was_seen() -> None:
    import persistence

    for name in (
        "ForeignLineageError",
        "UnrecognizedStoreError",
        "UnreadableStoreError",
        "SchemaTooNewError",
    ):
        assert getattr(persistence, name) is getattr(errors, name)
        kind = getattr(errors, name)
        error = kind("m", where="w", rule="r", lineage="a", version="9", observed="o", remedy="d")
        said = error.as_dict()
        assert said["type"] == name
        assert (said["where"], said["rule"], said["lineage"], said["version"]) == ("w", "r", "a", "9")
        assert (said["observed"], said["remedy"]) == ("o", "d")
