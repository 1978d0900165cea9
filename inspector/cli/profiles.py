"""What commands about compatibility profiles share: their options, completed by name, and the choice.

A profile is the one a flag or the configuration names (DECISIONS 6); nothing here picks one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from persistence.profiles.records import Profile

__all__ = ["Chosen", "OperationName", "ProfileName", "choose", "profile_options"]

F = TypeVar("F", bound=Callable[..., Any])


class ProfileName(click.ParamType):  # type: ignore[type-arg]
    """A profile by name, name@version or path; completed from the names that are found, and as a file."""

    name = "profile"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from persistence.profiles.catalogue import entries

        known = [one.name for one in entries() if one.name is not None]
        found = [CompletionItem(name) for name in dict.fromkeys(known) if name.startswith(incomplete)]
        return [*found, CompletionItem(incomplete, type="file")]


class OperationName(click.ParamType):  # type: ignore[type-arg]
    """An operation of the manifest; completed, and never judged here: the profile does that."""

    name = "operation"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from persistence.profiles.needs import NEEDS

        return [CompletionItem(name) for name in NEEDS if name.startswith(incomplete)]


def profile_options(function: F) -> F:
    """--profile and --owner; without them the configuration says."""
    options = (
        click.option(
            "--profile",
            type=ProfileName(),
            metavar="NAME",
            help="The compatibility profile: its name, name@version or path.",
        ),
        click.option("--owner", metavar="ID", help="The principal whose rows would be written."),
    )
    for option in reversed(options):
        function = option(function)
    return function


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a flag or the configuration chose."""

    profile: Profile | None
    owner: str | None


def choose(profile: str | None, owner: str | None) -> Chosen:
    """The profile and owner of the flags, else of the configuration. Raises ProfileError.

    An owner that only the configuration names is for profiles that have owners.
    """
    from inspector import settings
    from persistence.profiles.catalogue import load_profile

    configured = settings.load()
    name = configured.profile if profile is None else profile
    if name is None:
        return Chosen(None, owner)
    loaded = load_profile(name)
    if owner is None and loaded.owner is not None:
        owner = configured.owner
    return Chosen(loaded, owner)
