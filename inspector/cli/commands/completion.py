"""`store-inspector completion SHELL`: the script that completes commands, options and stores."""

from __future__ import annotations

import click

_LINES = {
    "bash": 'eval "$(store-inspector completion bash)"          # in ~/.bashrc',
    "zsh": 'eval "$(store-inspector completion zsh)"           # in ~/.zshrc, after compinit',
    "fish": "store-inspector completion fish | source          # in ~/.config/fish/config.fish",
}


@click.command(
    "completion",
    help="Print the completion script for a shell.\n\n\b\nTo use it:\n  " + "\n  ".join(_LINES.values()),
)
@click.argument("shell", type=click.Choice(list(_LINES)))
def command(shell: str) -> None:
    from click.shell_completion import get_completion_class

    from inspector.cli.listing import write
    from inspector.cli.program import COMPLETE_VARIABLE, program

    kind = get_completion_class(shell)
    assert kind is not None
    complete = kind(program, {}, "store-inspector", COMPLETE_VARIABLE)
    write(f"{complete.source_template % complete.source_vars()}\n")
