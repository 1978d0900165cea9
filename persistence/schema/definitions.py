"""What was authored: versioned definitions, engine and workflow definitions."""

from __future__ import annotations

from sqlalchemy import Table, UniqueConstraint

from persistence.schema.columns import index, integer, json, metadata, one_of, real, string

__all__ = ["definitions", "engine_defs", "workflow_defs"]

definitions = Table(
    "definitions",
    metadata,
    string("id", key=True),
    string("kind", required=True),
    string("name", required=True),
    string("path", required=True),
    string("content", required=True),
    integer("version", required=True),
    real("created_at", required=True),
    string("message"),
    UniqueConstraint("kind", "name", "version", name="idx_def_unique_version"),
    one_of("ck_definitions_kind", "kind", "agent", "playbook", "skill"),
    index("idx_def_kind_name", "kind", "name", "version"),
)

engine_defs = Table(
    "engine_defs",
    metadata,
    string("id", key=True),
    string("name", required=True, unique=True),
    string("kind", required=True),
    string("model"),
    integer("max_depth"),
    integer("max_agents"),
    json("options"),
    string("description"),
    real("created_at", required=True),
    real("updated_at", required=True),
    index("idx_engine_defs_kind", "kind"),
    index("idx_engine_defs_name", "name"),
    index("idx_engine_defs_updated", "updated_at"),
)

workflow_defs = Table(
    "workflow_defs",
    metadata,
    string("id", key=True),
    string("name", required=True, unique=True),
    string("description"),
    json("spec_json"),
    real("created_at", required=True),
    real("updated_at", required=True),
    index("idx_workflow_defs_name", "name"),
    index("idx_workflow_defs_updated", "updated_at"),
)
