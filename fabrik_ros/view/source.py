"""Where the view has an arm from: what it is told, and what it may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
import math
from typing import NamedTuple, Protocol

import numpy as np

from ..model.robot import Robot
from ..motion.follower_options import FollowerOptions
from ..programs.program import Program
from ..transforms import Array
from .solid import Solid

TIMEOUT = 1.0
"""Data that are older count for nothing: the source is gone [s]."""


class Request(Enum):
    """What an arm can be asked besides targets; the values are the services of the node."""

    STOP = 'hold'
    RESUME = 'resume'
    HOME = 'home'
    EXECUTE = 'execute'


class Gap(NamedTuple):
    """Two things that may collide, nearest to each other of their kind."""

    distance: float = math.nan
    """[m]; NaN: unknown."""
    names: str = ''
    """Of the two."""
    clearance: float = math.nan
    """What they have to keep [m]."""


UNKNOWN = Gap()


class Gripping(NamedTuple):
    """A gripper."""

    width: float
    """Width between the fingers; NaN: unknown [m]."""
    narrowest: float
    widest: float
    """Least and greatest width [m]."""
    state: str
    """As in the status of the node."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What is known of an arm at one time."""

    time: float = -math.inf
    """When the newest data came, by `time.monotonic` [s]."""
    robot: Robot | None = None
    """None until a description came."""
    base_link: str = ''
    """Link in whose frame targets and paths are."""
    tip_link: str = ''
    """Link that carries what goes to targets."""
    measured: Mapping[str, float] = field(default_factory=dict)
    """Joint values by name [rad or m]."""
    commanded: Mapping[str, float] = field(default_factory=dict)
    """The same; empty where no command is known."""
    state: str = ''
    """Name of a `State`, or of the status of a solve."""
    reason: str = ''
    """Why; '' where that is plain."""
    refusal: str = ''
    """Why the last target was refused; '' where it was not."""
    solve_time: float = math.nan
    """How long the configuration at the target was looked for [s]; NaN: unknown."""
    to_obstacle: Gap = UNKNOWN
    """Between the arm and what stands around."""
    to_itself: Gap = UNKNOWN
    """Between two links."""
    path: Array = field(default_factory=lambda: np.empty((0, 3)))
    """The path ahead: points of the tip in the base frame, shape (m, 3) [m]."""
    path_speeds: Array = field(default_factory=lambda: np.empty(0))
    """Mean speeds of the tip between these at full speed, about, shape (m - 1,) [m/s]."""
    top_speed: float = math.nan
    """The greatest speed of the tip [m/s]; NaN: unknown."""
    solids: tuple[Solid, ...] = ()
    """What stands around, and what links carry."""
    T_tip_tool: Array = field(default_factory=lambda: np.eye(4))
    """The tool, which goes to targets, in the frame of the tip link, shape (4, 4)."""
    goal: str = ''
    """By which the sender of the target in force knows it again; '' where there is none."""
    waits_for_execute: bool = False
    """Whether a path is proposed, and waits for `Request.EXECUTE`."""
    planned: Mapping[str, float] = field(default_factory=dict)
    """Joint values by name on that path, as it is played now; empty where none is."""
    is_held: bool = False
    """Whether a stop is in force, until `Request.RESUME`."""
    answer: str = ''
    """What came of the last request, in a sentence."""
    speed: float = math.nan
    """Share of all speeds at which it goes [1]; NaN: unknown."""
    stream_timeout: float = FollowerOptions.stream_timeout
    """Targets within this time of each other are a stream [s]."""
    gripper: Gripping | None = None
    """None where there is none."""

    def is_of_same_arm(self, other: Snapshot) -> bool:
        """Whether poses of both mean the same."""
        return (
            self.robot is other.robot
            and self.base_link == other.base_link
            and self.tip_link == other.tip_link
            and np.array_equal(self.T_tip_tool, other.T_tip_tool)
        )

    def is_fresh(self, now: float) -> bool:
        """Whether the source lives at a time of `time.monotonic` [s]."""
        return self.robot is not None and now - self.time <= TIMEOUT


class Choices(Protocol):
    """How an arm moves, in words that can be chosen, and places that have names."""

    @property
    def words(self) -> Mapping[str, tuple[str, ...]]:
        """What there is to choose from, by what it is."""

    @property
    def present(self) -> Mapping[str, str]:
        """What is chosen now; without what cannot be chosen, or is not known."""

    @property
    def configurations(self) -> tuple[str, ...]:
        """Names of the places, without home."""

    def choose(self, name: str, word: str) -> None:
        """Choose a word."""

    def go_to(self, configuration: str) -> None:
        """Ask all joints to go to a place."""


class Source(Protocol):
    """An arm to look at and to move."""

    @property
    def name(self) -> str:
        """What to call it where it says nothing."""

    @property
    def requests(self) -> frozenset[Request]:
        """What it can be asked at all."""

    @property
    def has_speed(self) -> bool:
        """Whether it goes at a speed that can be set."""

    @property
    def has_programs(self) -> bool:
        """Whether it goes through programs of moves."""

    @property
    def choices(self) -> Choices | None:
        """What can be chosen; None for nothing."""

    def snapshot(self) -> Snapshot:
        """Say what is known now."""

    def send_target(self, T_base_tip: Array) -> str:
        """Ask the tip to go to a pose, shape (4, 4); return by which `goal` it is known again."""

    def send_joints(self, values: Mapping[str, float]) -> None:
        """Ask joints to go to values, by name [rad or m]."""

    def send_width(self, width: float) -> None:
        """Ask the gripper for a width [m]; without one that changes nothing."""

    def send_program(self, program: Program) -> None:
        """Ask the tip to go through a program of moves."""

    def ask(self, request: Request) -> None:
        """Ask for something else; the answer comes in a snapshot."""

    def set_speed(self, share: float) -> None:
        """Go at a share of all speeds, 0 to 1 [1]; 0 pauses."""

    def close(self) -> None:
        """End what runs in the background."""
