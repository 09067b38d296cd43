"""Where the view has an arm from: what it is told, and what it may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import math
from typing import Protocol

import numpy as np

from ..collision import Obstacle
from ..model.robot import Robot
from ..transforms import Array

TIMEOUT = 1.0
"""Data that are older count for nothing: the source is gone [s]."""


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
    nearest_distance: float = math.nan
    """From the nearest two things that may collide [m]; NaN: unknown."""
    nearest_links: str = ''
    """Names of these two."""
    path: Array = field(default_factory=lambda: np.empty((0, 3)))
    """The path ahead: points of the tip in the base frame, shape (m, 3) [m]."""
    obstacles: tuple[Obstacle, ...] = ()
    """What stands around, in the frame of the root link."""
    T_tip_tool: Array = field(default_factory=lambda: np.eye(4))
    """The tool, which goes to targets, in the frame of the tip link, shape (4, 4)."""

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


class Source(Protocol):
    """An arm to look at and to move."""

    @property
    def name(self) -> str:
        """What to call it where it says nothing."""

    def snapshot(self) -> Snapshot:
        """Say what is known now."""

    def send_target(self, T_base_tip: Array) -> None:
        """Ask the tip to go to a pose, shape (4, 4)."""

    def send_joints(self, values: Mapping[str, float]) -> None:
        """Ask joints to go to values, by name [rad or m]."""

    def close(self) -> None:
        """End what runs in the background."""
