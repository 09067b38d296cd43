"""
Exceptions of the package: misuse is an error, not converging is an answer.

Every message names the thing, the value found and what is allowed; the data stays on the
exception as attributes.

"""

from collections.abc import Iterable


class FabrikError(Exception):
    """Base class of every exception raised on purpose by fabrik_ros."""


class UrdfError(FabrikError):
    """The robot description cannot be used."""


class ChainError(FabrikError):
    """No usable chain leads from the base link to the tip link."""


class LinkNotFoundError(ChainError):
    """A link was asked for that the model does not have."""

    def __init__(self, name: str, available: Iterable[str]) -> None:
        self.name = name
        self.available = tuple(available)
        super().__init__(f"no link named '{name}'; the model has: {', '.join(self.available)}")


class AmbiguousChainError(ChainError):
    """Base or tip were left out and more than one chain would make sense."""

    def __init__(self, message: str, candidates: Iterable[tuple[str, str]]) -> None:
        self.candidates = tuple(candidates)
        lines = [f"  base_link: '{base}', tip_link: '{tip}'" for base, tip in self.candidates]
        super().__init__('\n'.join([message, *lines]))


class JointValueError(FabrikError):
    """Joint values of the wrong number, or not finite."""


class TargetError(FabrikError):
    """The target is not a pose."""


class CollisionError(FabrikError):
    """Collisions cannot be looked for: coal is missing, or there is no geometry."""
