"""What holds a compatibility connection: statements, rows, actions, the transaction (ADR-0128 D3)."""
