"""Programs of moves, as people write them: segments, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, InitVar
import math

import numpy as np
import numpy.typing as npt

from ..errors import ProgramError
from ..transforms import Array, as_pose

SHARES = ('share', 'acceleration')


@dataclass(frozen=True, kw_only=True, eq=False)
class Segment:
    """
    One segment of a program.

    Parameters
    ----------
    speed : float, optional
        Speed of the tip [m/s], which is kept where the arm can; None: the greatest one.
    rotation : float, optional
        Greatest speed at which the tip turns [rad/s]; None: the greatest one.
    share : float
        Share of the greatest speeds of tip and joints, where no `speed` is given [1].
    acceleration : float
        Share of the greatest accelerations, above 0 to 1; up to the next stop the least one
        counts.
    blend : float
        Distance from the end within which the arm may leave the segment for the next one, so that
        it need not stop [m]. 0: it stops exactly there.
    duration : float, optional
        How long it takes, starts and stops included, where the arm can [s]; instead of speeds.

    """

    speed: float | None = None
    rotation: float | None = None
    share: float = 1.0
    acceleration: float = 1.0
    blend: float = 0.0
    duration: float | None = None

    def __post_init__(self) -> None:
        for name in ('speed', 'rotation', 'duration'):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < math.inf:
                self._refuse(f'{name} must be positive, got {value}')
        for name in SHARES:
            value = getattr(self, name)
            if not 0.0 < value <= 1.0:
                self._refuse(f'{name} must be above 0 and at most 1, got {value}')
        if not 0.0 <= self.blend < math.inf:
            self._refuse(f'blend must be 0 or more, got {self.blend}')
        has_speed = self.speed is not None or self.rotation is not None or self.share < 1.0
        if self.duration is not None and has_speed:
            self._refuse('a duration, and a speed besides: one of them says how fast')

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return type(self).__name__.lower()

    def _refuse(self, text: str) -> None:
        raise ProgramError(f'{self.name}: {text}')

    def _take_pose(self, name: str) -> None:
        """Make an array of a field that is a pose."""
        object.__setattr__(self, name, as_pose(self._numbers(name)))

    def _numbers(self, name: str) -> Array:
        try:
            return np.array(getattr(self, name), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ProgramError(f'{self.name}: {name} is no array of numbers: {error}') from error


@dataclass(frozen=True, eq=False)
class Line(Segment):
    """
    A straight line of the tip, which turns evenly on it.

    Parameters
    ----------
    pose : array-like, shape (4, 4)
        T_base_tip at its end.
    **settings
        Those of `Segment`.

    """

    pose: npt.ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take_pose('pose')


@dataclass(frozen=True, eq=False)
class Arc(Segment):
    """
    An arc of a circle, on which the tip turns evenly.

    Parameters
    ----------
    via : array-like, shape (3,) or (4, 4)
        A point that it goes through [m]; of a pose only the position counts.
    pose : array-like, shape (4, 4)
        T_base_tip at its end. With an `angle` its position only tells the circle.
    angle : float, optional
        How far it goes round, beyond `pose` where that is farther [rad]: 2 pi is a full circle.
    **settings
        Those of `Segment`.

    """

    via: npt.ArrayLike
    pose: npt.ArrayLike
    angle: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        via = self._numbers('via')
        via = via[:3, 3] if via.shape == (4, 4) else via
        if via.shape != (3,) or not np.isfinite(via).all():
            self._refuse(f'via must be three finite numbers or a pose, got {via}')
        object.__setattr__(self, 'via', via)
        self._take_pose('pose')
        if self.angle is not None and not 0.0 < self.angle < math.inf:
            self._refuse(f'angle must be positive, got {self.angle}')


@dataclass(frozen=True, eq=False)
class Move(Segment):
    """
    A move to a pose by any free way, with a configuration that suits what follows.

    Parameters
    ----------
    pose : array-like, shape (4, 4)
        T_base_tip at its end.
    **settings
        Those of `Segment`.

    """

    pose: npt.ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take_pose('pose')


@dataclass(frozen=True, eq=False)
class Joints(Segment):
    """
    A move to joint values: straight in joint space, or round what is in the way.

    Parameters
    ----------
    values : str, mapping or array-like, shape (n,)
        The name of a configuration, values of some joints by name, or all of them [rad or m].
    **settings
        Those of `Segment`.

    """

    values: str | Mapping[str, float] | npt.ArrayLike


@dataclass(frozen=True, eq=False)
class Pause(Segment):
    """
    A pause at rest.

    Parameters
    ----------
    seconds : float
        How long [s].

    """

    seconds: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 <= self.seconds < math.inf:
            self._refuse(f'seconds must be 0 or more, got {self.seconds}')


@dataclass(frozen=True, eq=False)
class Program:
    """
    Segments, one after the other; numbered from 1 on in messages.

    Parameters
    ----------
    segments : iterable of Segment
        At least one.

    Attributes
    ----------
    steps : tuple of Segment
        The segments.

    Raises
    ------
    ProgramError
        If there is none, or one is something else.

    """

    segments: InitVar[Iterable[Segment]]
    steps: tuple[Segment, ...] = field(init=False)

    def __post_init__(self, segments: Iterable[Segment]) -> None:
        steps = tuple(segments)
        if not steps:
            raise ProgramError('a program has no segments')
        for number, segment in enumerate(steps, start=1):
            if not isinstance(segment, Segment) or type(segment) is Segment:
                raise ProgramError(
                    f'segment {number} must be a Line, Arc, Move, Joints or Pause, got '
                    f'{type(segment).__name__}'
                )
        object.__setattr__(self, 'steps', steps)

    def __len__(self) -> int:
        return len(self.steps)
