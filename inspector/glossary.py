"""The words of the field, each in a sentence; help shows those a place uses."""

from __future__ import annotations

__all__ = ["WORDS"]

WORDS: dict[str, str] = {
    "run": "One session of an agent or a flow: a row of `sessions`, with its status, branches and messages.",
    "session": "What a run is called in the store.",
    "branch": "One line of conversation within a run; each has a progression of its own.",
    "progression": "The order of a conversation: a list of message ids. It may name one twice, "
    "or one that is not there.",
    "message": "One entry somebody sent: an instruction, an answer, a tool call, a tool's result.",
    "signal": "A note a run sent while it worked, in its own order.",
    "transition": "One change of a status: from what, to what, when, who and why.",
    "artifact": "Something a run or an invocation produced and recorded, a file or a value.",
    "invocation": "One call of a skill or a playbook; it may have started several runs.",
    "contract": "The files a run was expected to produce; the verification says what was found.",
    "definition": "A stored text of a role, a skill or a playbook, in versions.",
    "table": "Rows of one kind, with the same columns; a view is one that is worked out when it is read.",
    "link": "A foreign key: a value that names a row of another table. What it names need not be there.",
    "lineage": "The application that manages a store: its schema is nobody else's to change.",
    "profile": "A named document: what a store must be for runs to be written into it, and what is written.",
    "closure": "The tables the operations of a profile depend on, with all that touches them.",
    "owner": "The principal a row belongs to; a profile may say in which column that is written.",
    "live": "Read in place, in rollback format: what another program commits is seen at the next read.",
    "live log": "Read in place beside the store's log, through the log's index, which is never written.",
    "settled": "A store at rest, read as a file that does not change; it is checked that it did not.",
    "copy": "Read from a private copy, because reading in place would have left a trace or needed a repair.",
    "kernel-held": "The operating system keeps the reading threads from writing, whatever they try.",
    "first part": "Only the first rows are shown: no key leads to the later ones quickly.",
    "change token": "Size, times and counters of the store's files; another one means somebody committed.",
    "follow": "Reading again when the change token moved. No timer ever runs a query.",
}
