"""The gated actions (DESIGN 6): plans of what is written, their preview, the gate, and the journal."""
