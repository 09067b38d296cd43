"""Declaration of one parameter; no ROS in here."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, cast, get_args, get_origin, get_type_hints, TypeVar

from ...errors import FabrikError

T = TypeVar('T')
Value = bool | float | str | list[float] | list[str]

TINY, HUGE = 1e-9, 1e9


class ParameterError(FabrikError):
    """Parameter values that make no sense, alone or together."""


@dataclass(frozen=True)
class Declaration:
    """Meaning of a parameter, and the values it may have."""

    meaning: str
    """Meaning: half a sentence with its unit, for the descriptor, the documents and the file."""
    notes: str
    """Notes: more sentences, for the file."""
    low: float
    high: float
    choices: tuple[str, ...]
    """Words that it may be; () where any text will do."""
    is_live: bool
    """Whether it can change while the node is configured."""


@dataclass(frozen=True)
class Spec(Declaration):
    """Declaration of one parameter, with its name, type and default."""

    name: str
    type: type
    """bool, float or str; of the entries where the parameter is a list."""
    default: Value

    @property
    def is_list(self) -> bool:
        """Whether the parameter holds a list."""
        return isinstance(self.default, list)

    @property
    def is_number(self) -> bool:
        """Whether the parameter holds one number."""
        return isinstance(self.default, float)

    @property
    def plain_meaning(self) -> str:
        """The meaning in ASCII, without marks."""
        return self.meaning.replace('`', '').replace('²', '^2').replace('³', '^3')


def parameter(
    default: T,
    meaning: str,
    notes: str = '',
    *,
    low: float = -HUGE,
    high: float = HUGE,
    choices: tuple[str, ...] = (),
    live: bool = True,
) -> T:
    """
    Declare a parameter as a field of a dataclass, with the name and the type of the field.

    Parameters
    ----------
    default : bool, float, str or tuple
        Its default.
    meaning, notes, low, high, choices, live
        See `Declaration`.

    """
    declaration = Declaration(meaning, notes, low, high, choices, live)
    return field(default=default, metadata={'declaration': declaration})


def specs_of(section: type) -> Iterator[Spec]:
    """Yield the parameters that a dataclass declares."""
    types = get_type_hints(section)
    for item in fields(section):
        kind, default = types[item.name], item.default
        is_list = get_origin(kind) is tuple
        yield Spec(
            **vars(item.metadata['declaration']),
            name=item.name,
            type=get_args(kind)[0] if is_list else kind,
            default=list(cast(Any, default)) if is_list else cast(Any, default),
        )
