"""The native writer: a store of this lineage, its schema applied, every operation of ADR-0055's facade."""
