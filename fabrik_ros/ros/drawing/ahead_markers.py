"""Markers of what is ahead of an arm: the arm at its goal, and the paths of its tips there."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
import time

import numpy as np
from visualization_msgs.msg import Marker

from ...collision import MeshFinder
from ...motion.following.arm_state import State
from ...motion.following.follower import Follower
from ...motion.paths.pace import piece_speeds
from ...reasons import ReasonKind
from ...transforms import Array
from ..arm.configured_arm import ConfiguredArm
from ..arm.node_state import Standing
from ..messages.marker_shapes import drawn_reach, Pen
from ..messages.palette import SPEEDS
from ..messages.speed_ramp import steps_of
from .ghost import Ghost
from .markers import prefixes
from .path_ahead import PathAhead, tube
from .planned_motion import PlannedMotion

PATH_SHARE = 0.008
"""Width of a path as a share of the reach [1]."""
GOING = (State.LOOKING, State.PLANNING, State.MOVING)
"""States of an arm that is to come to a goal."""


@dataclass(frozen=True)
class Ahead:
    """Goal and paths ahead of an arm; nothing where the fields are empty."""

    q_ghost: Array = field(default_factory=lambda: np.empty(0))
    """Joint values at the goal, or on the way there that is played, shape (n,) [rad or m]."""
    others: Mapping[str, float] = field(default_factory=dict)
    """Values of joints outside the arm, by name [rad or m]."""
    links: Set[str] = frozenset()
    """Links that will be elsewhere."""
    colliding: Set[str] = frozenset()
    """Links that will be too near to something."""
    paths: tuple[Array, ...] = ()
    """Places of each tip on its path, shape (m, 3) [m]."""
    speeds: tuple[Array, ...] = ()
    """Mean speeds of each tip between these at full speed, shape (m - 1,) [m/s]."""
    top_speed: float = 0.0
    """The greatest of tips, likewise [m/s]."""

    @property
    def key(self) -> object:
        """Key that is the same as long as the picture is."""
        arrays = tuple(array.tobytes() for array in (self.q_ghost, *self.paths, *self.speeds))
        return (
            arrays,
            self.top_speed,
            tuple(self.others.items()),
            frozenset(self.links),
            self.colliding,
        )


class AheadMarkers:
    """
    Draws what is ahead of an arm.

    Parameters
    ----------
    arm : ConfiguredArm
        The arm, which is an attribute, too.
    mesh_paths : tuple of str
        Folders with meshes.

    """

    def __init__(self, arm: ConfiguredArm, mesh_paths: tuple[str, ...]) -> None:
        self.arm = arm
        self._ghost = Ghost(arm.robot, arm.chain, MeshFinder(mesh_paths))
        self._path = PathAhead()
        self._planned = PlannedMotion()
        self._links: Set[str] = frozenset()
        """Links that were elsewhere when it looked last."""
        self._measured: object = None
        """Key of all that `_colliding` depends on."""
        self._colliding: Set[str] = frozenset()

    def look(self, standing: Standing) -> Ahead:
        """Look what is ahead of an arm that stands so."""
        follower, q = self.arm.follower, self.arm.shown_configuration()
        q_goal = None if follower is None else follower.goal_configuration
        kind = None if standing.reason is None else standing.reason.kind
        is_held = standing.state is State.HOLDING
        is_going = standing.state in GOING or (is_held and kind is ReasonKind.AWAITS_EXECUTE)
        is_shown = is_going or (is_held and kind is ReasonKind.GOAL_IN_COLLISION)
        if follower is None or q is None or q_goal is None or not is_shown:
            self._links = frozenset()
            return Ahead()
        others = self._others()
        motion = follower.motion.proposed_motion
        played = self._planned.configuration(motion, time.monotonic())
        q_ghost = q_goal if played is None else played
        self._links = self._ghost.links_elsewhere(q, q_ghost, others, self._links)
        colliding = self._colliding_at(q_goal, others)
        paths, speeds = self._paths(follower, q) if is_going else ((), ())
        top = follower.motion.limits.tip_speed
        return Ahead(q_ghost, others, self._links, colliding, paths, speeds, top)

    def markers(self, ahead: Ahead, pen: Pen) -> Iterator[Marker]:
        """Draw it, in the base link."""
        if len(ahead.q_ghost) == 0:
            return
        yield from self._ghost.markers(
            pen, ahead.q_ghost, ahead.others, ahead.links, ahead.colliding
        )
        width = PATH_SHARE * drawn_reach(self.arm.chain)
        each = zip(prefixes(self.arm.chain), ahead.paths, ahead.speeds, strict=False)
        for prefix, points, speeds in each:
            if len(points) > 1:
                centres, pieces = tube(points, width)
                steps = steps_of(speeds[pieces], ahead.top_speed)
                colors = [SPEEDS[step] for step in steps.tolist()]
                yield pen.bead_chain(f'{prefix}path', centres, colors, width)

    def _colliding_at(self, q_goal: Array, others: Mapping[str, float]) -> Set[str]:
        """Name the links that are too near to something; measured again where that may differ."""
        depends_on = q_goal.tobytes(), tuple(others.items()), self.arm.watch.version
        if depends_on != self._measured:
            self._measured = depends_on
            self._colliding = self.arm.watch.colliding(q_goal)
        return self._colliding

    def _others(self) -> dict[str, float]:
        """Fresh values of joints outside the arm, by name [rad or m]."""
        ours = self.arm.chain.joint_names
        return {n: value for n, value in self.arm.fresh_values().items() if n not in ours}

    def _paths(self, follower: Follower, q: Array) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """Places on the paths still ahead, and speeds there; none where tips follow a stream."""
        found = follower.motion.found
        if found is None or found.preview is None or follower.motion.in_stream:
            return (), ()
        tips, times = found.preview.tips, found.preview.times
        passed = self._path.passed(tips, self.arm.chain.tip_poses(q))
        paths = tuple(tips[n:, number, :3, 3] for number, n in enumerate(passed))
        pieces = zip(paths, passed, strict=True)
        return paths, tuple(piece_speeds(path, times[n:]) for path, n in pieces)
