"""`python -m inspector` and the `store-inspector` command."""

from __future__ import annotations


def main() -> None:
    from inspector.cli import main as run

    run()


if __name__ == "__main__":
    main()
