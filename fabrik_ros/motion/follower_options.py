"""Options of an arm's motion: what the node has as parameters, in Python without ROS."""

from dataclasses import dataclass
from functools import cached_property
import math

import numpy as np

from ..errors import check_number, MotionError, shown
from ..model.mechanism import Mechanism
from ..solver.options import shown_options, SolverOptions
from ..transforms import Array
from .choosing.goal import MotionOptions
from .following.following_rules import FollowingRules
from .limits.jerk_filter import JerkFilter
from .limits.jerk_paths import has_ruckig
from .limits.limits import MotionLimits

LONGEST_STOP = 0.5
"""The time in which a joint at full velocity must be able to stop [s]."""
LONGEST_SMOOTHING = 0.5
"""The time in which the jerk limit must allow full acceleration [s]."""
LOOKING_SHARE = 0.4
"""Share of the time between commands in which paths may be looked for [1]."""
LONGEST_GAP = 0.1
"""Longest gap between two commands of one stream [s]."""
LONGEST_GAP_PERIODS = 3
"""Longest gap at low rates [periods]."""
CHOICES = {
    'path': ('auto', 'line', 'joint'),
    'confirm': ('never', 'leaving_line', 'always'),
    'on_unreachable': ('approach', 'hold'),
    'on_blocked': ('hold', 'replan'),
    'idle_tips': ('keep', 'free'),
    'self_collision': ('auto', 'require', 'never'),
}
"""Choices of the options that are words."""
CONFIGURATIONS = ('home_configuration', 'start_configuration', 'posture')
POSITIVE = (
    'max_tip_speed',
    'max_tip_rotation',
    'max_tip_acceleration',
    'max_joint_velocity_fraction',
    'max_joint_velocity',
    'max_joint_acceleration',
    'command_rate',
    'state_timeout',
    'resync_tolerance',
    'arrival_tolerance_position',
    'arrival_tolerance_orientation',
    'jog_timeout',
)
NOT_NEGATIVE = (
    'max_joint_jerk',
    'limit_margin',
    'target_timeout',
    'stream_timeout',
    'max_detour',
    'dodge_distance',
    'collision_clearance',
    'obstacle_clearance',
)
SHARES = ('speed_scaling', 'max_joint_velocity_fraction')


def longest_gap(period: float) -> float:
    """Longest gap between two commands, `period` apart, before the arm counts as at rest [s]."""
    return max(LONGEST_GAP, LONGEST_GAP_PERIODS * period)


@dataclass(frozen=True)
class FollowerOptions:
    """
    Options of an arm's motion.

    The parameters of the node have the same names, and take their defaults from here.
    `config/fabrik.yaml` says in full what each one means, and what suits which arm.

    Parameters
    ----------
    mode : str
        Part of the target to meet: 'pose', 'axis' (position and one tool axis), 'position', or
        'auto': pose with six joints or more; with fewer the position exactly, and the orientation
        too where that can be, else the best there is: of all branches for a target that comes
        alone, of the branch the arm is on in a stream. How far it is off is in the reason.
    axis : tuple of floats
        Tool axis for mode 'axis', in the tip frame; any length but zero.
    method : str
        What FABRIK moves: 'articulated': joints; 'points': joint centres.
    polish : str
        'auto': a few damped least-squares steps finish a solution; 'never': FABRIK alone.
    position_tolerance : float
        Accepted position error [m].
    orientation_tolerance : float
        Accepted orientation error [rad].
    solve_budget : float
        Longest search from scratch [s].
    posture : tuple of floats
        Joint values that an arm with joints to spare tends to [rad or m]; empty: none.
    path : str
        'auto': the line where that goes through, else a path in joint space; 'line': straight for
        the tool; 'joint': straight in joint space.
    max_detour : float
        A path on which a joint turns this much farther than directly waits for `execute` [rad].
    confirm : str
        Which paths wait for `execute`: 'never' any, those 'leaving_line', or 'always'.
    path_tolerance_position : float
        How far the tool may leave the line at singularities [m]; -1: 0.005 with path 'auto'.
    path_tolerance_orientation : float
        How far its orientation may leave it there [rad]; -1: 0.0873 with path 'auto'.
    dodge_distance : float
        Distance beyond `obstacle_clearance` that links seek from obstacles by the self-motion of
        arms with more than six joints, in streams and jogs [m]; 0: they keep still.
    dodge_at_rest : bool
        Whether they get out of the way at the target as well, a second after that was announced.
    on_unreachable : str
        'approach' targets out of reach as near as possible, or 'hold'; also those in collision.
    command_rate : float
        Commands per second [Hz].
    max_tip_speed : float
        Speed of tips and joint centres, on every path [m/s].
    max_tip_rotation : float
        Turning speed of tips, on every path [rad/s].
    max_tip_acceleration : float
        Acceleration of tips on a line [m/s^2].
    speed_scaling : float
        Share of all speeds to go at; 0 pauses [1].
    max_joint_velocity_fraction : float
        Share of each joint's velocity in the URDF that may be used [1].
    max_joint_velocity : float
        Velocity of every joint, whatever the URDF says [rad/s or m/s].
    max_joint_acceleration : float
        Acceleration of every joint [rad/s^2 or m/s^2]; a lower one in the URDF counts.
    max_joint_jerk : float
        Jerk of every joint [rad/s^3 or m/s^3]; 0: only as the URDF limits it; needs ruckig (extra
        `motion`).
    self_collision : str
        Stop in front of collisions of the arm with itself: 'auto': where coal is installed and the
        URDF has collision geometry; 'require': refuse to begin without them; 'never'.
    collision_clearance : float
        Distance that links keep from each other [m].
    obstacle_clearance : float
        Distance that links keep from obstacles [m].
    allowed_collisions : tuple of (str, str)
        Pairs of links that may touch, besides neighbours and pairs that nearly always touch.
    mesh_paths : tuple of str
        Folders with meshes, besides packages of ROS; `name=folder` is that of a package.
    on_blocked : str
        After an obstacle blocked the path: 'hold' until `resume`, or 'replan'.
    wait_for_state : bool
        Move only from a measured state.
    start_configuration : tuple of floats
        Where the arm is when nothing is measured [rad or m]; empty: mid limits.
    home_configuration : tuple of floats
        Where `home` takes the arm [rad or m]; empty: nowhere.
    state_timeout : float
        Age at which a measured value is lost, and the arm stops [s].
    resync_tolerance : float
        Greatest gap between commands and the measured state [rad or m].
    arrival_tolerance_position : float
        The arm is at its target where the measured tips are this near their commands [m].
    arrival_tolerance_orientation : float
        The same for their orientation [rad].
    limit_margin : float
        A start outside a limit by up to this may move inwards [rad or m].
    target_timeout : float
        Stop without a target for this long [s]; 0: never.
    jog_timeout : float
        A jog not repeated for this long ends [s].
    stream_timeout : float
        A different target within this time of the one before belongs to a stream [s].
    idle_tips : str
        What a tip without a target does while others move: 'keep' its pose, or be 'free'.

    Examples
    --------
    >>> FollowerOptions(max_tip_speed=0.1, path='line').max_joint_velocity
    1.5

    """

    mode: str = 'auto'
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)
    method: str = 'articulated'
    polish: str = 'auto'
    position_tolerance: float = 1e-5
    orientation_tolerance: float = 1e-4
    solve_budget: float = 0.02
    posture: tuple[float, ...] = ()

    path: str = 'auto'
    max_detour: float = 3.1416
    confirm: str = 'never'
    path_tolerance_position: float = -1.0
    path_tolerance_orientation: float = -1.0
    dodge_distance: float = 0.1
    dodge_at_rest: bool = FollowingRules.dodge_at_rest
    on_unreachable: str = 'approach'

    command_rate: float = 100.0

    max_tip_speed: float = 0.25
    max_tip_rotation: float = 1.0
    max_tip_acceleration: float = 1.5
    speed_scaling: float = 1.0
    max_joint_velocity_fraction: float = 1.0
    max_joint_velocity: float = 1.5
    max_joint_acceleration: float = 5.0
    max_joint_jerk: float = 0.0

    self_collision: str = 'auto'
    collision_clearance: float = 0.002
    obstacle_clearance: float = 0.02
    allowed_collisions: tuple[tuple[str, str], ...] = ()
    mesh_paths: tuple[str, ...] = ()
    on_blocked: str = 'hold'

    wait_for_state: bool = FollowingRules.wait_for_state
    start_configuration: tuple[float, ...] = FollowingRules.start_configuration
    home_configuration: tuple[float, ...] = FollowingRules.home_configuration
    state_timeout: float = FollowingRules.state_timeout
    resync_tolerance: float = FollowingRules.resync_tolerance
    arrival_tolerance_position: float = FollowingRules.arrival_tolerance_position
    arrival_tolerance_orientation: float = FollowingRules.arrival_tolerance_orientation
    limit_margin: float = FollowingRules.limit_margin
    target_timeout: float = FollowingRules.target_timeout
    jog_timeout: float = FollowingRules.jog_timeout
    stream_timeout: float = FollowingRules.stream_timeout
    idle_tips: str = FollowingRules.idle_tips

    def __post_init__(self) -> None:
        for name in CONFIGURATIONS:
            given = getattr(self, name)
            values = np.array(() if given is None else given)
            if values.ndim != 1:
                raise TypeError(f'{name} must be a list of joint values, got {shown(repr(given))}')
            object.__setattr__(self, name, tuple(values.tolist()))

    def __repr__(self) -> str:
        return shown_options(self)

    # -- what the solver and the motion take of them

    @cached_property
    def solver(self) -> SolverOptions:
        """Options of the solver."""
        x, y, z = self.axis
        return SolverOptions(
            mode=self.mode,
            axis=(x, y, z),
            position_tolerance=self.position_tolerance,
            orientation_tolerance=self.orientation_tolerance,
            polish=self.polish,
            method=self.method,
            budget=self.solve_budget,
            posture=self.posture or None,
        )

    @cached_property
    def motion(self) -> MotionOptions:
        """Options of the motion."""
        return MotionOptions(
            path=self.path,
            max_detour=self.max_detour,
            confirm=self.confirm,
            path_tolerance_position=self.path_tolerance_position,
            path_tolerance_orientation=self.path_tolerance_orientation,
            dodge_distance=self.dodge_distance,
            approach_unreachable=self.on_unreachable == 'approach',
        )

    @cached_property
    def rules(self) -> FollowingRules:
        """Rules of when the arm starts and stops."""
        return FollowingRules(
            wait_for_state=self.wait_for_state,
            start_configuration=self.start_configuration,
            home_configuration=self.home_configuration,
            state_timeout=self.state_timeout,
            target_timeout=self.target_timeout,
            jog_timeout=self.jog_timeout,
            resync_tolerance=self.resync_tolerance,
            arrival_tolerance_position=self.arrival_tolerance_position,
            arrival_tolerance_orientation=self.arrival_tolerance_orientation,
            limit_margin=self.limit_margin,
            stream_timeout=self.stream_timeout,
            idle_tips=self.idle_tips,
            on_blocked=self.on_blocked,
            dodge_at_rest=self.dodge_at_rest,
        )

    def jerk_filter_for(self, arm: Mechanism) -> JerkFilter | None:
        """
        Make what limits the jerk of an arm; None where no limit is set.

        Nor where ruckig is not installed and only the robot description sets one.

        Raises
        ------
        MotionError
            If `max_joint_jerk` is set and ruckig is not installed.

        """
        jerk = np.minimum(arm.jerk, self.max_joint_jerk or math.inf)
        if np.all(np.isinf(jerk)):
            return None
        try:
            return JerkFilter(jerk, 1.0 / self.command_rate, arm.lower, arm.upper)
        except MotionError:
            if self.max_joint_jerk > 0.0:
                raise
            return None

    def limits_for(self, arm: Mechanism) -> MotionLimits:
        """
        Return the limits of the motion of an arm.

        Where the robot description has limits of acceleration or jerk that are too low for the
        velocity, this is lowered: see `warnings_for`.
        """
        velocity, acceleration = self._asked_rates(arm)
        soft = np.minimum(acceleration, LONGEST_SMOOTHING * arm.jerk)
        stoppable = np.minimum(velocity, LONGEST_STOP * soft)
        return MotionLimits(
            self.max_tip_speed,
            self.max_tip_rotation,
            self.max_tip_acceleration,
            np.where(soft < self.max_joint_acceleration, stoppable, velocity),
            soft,
            self.speed_scaling,
        )

    def _asked_rates(self, arm: Mechanism) -> tuple[Array, Array]:
        """Return the limits of velocity and acceleration, each by itself, shape (n,)."""
        velocity = self.max_joint_velocity_fraction * arm.velocity
        return (
            np.minimum(velocity, self.max_joint_velocity),
            np.minimum(arm.acceleration, self.max_joint_acceleration),
        )

    def warnings_for(self, arm: Mechanism) -> tuple[str, ...]:
        """Say what the limits in the robot description make of the options, or cannot."""
        velocity, acceleration = self._asked_rates(arm)
        limits, found = self.limits_for(arm), []
        softer = _lowered(arm, acceleration, limits.joint_acceleration)
        if softer:
            found.append(
                f'accelerations are lowered, as the jerk in the robot description has to allow '
                f'them within {LONGEST_SMOOTHING:g} s: {softer}'
            )
        slower = _lowered(arm, velocity, limits.joint_velocity)
        if slower:
            found.append(
                f'velocities are lowered, as the acceleration in the robot description has to '
                f'stop them within {LONGEST_STOP:g} s: {slower}'
            )
        if not np.all(np.isinf(arm.jerk)) and not has_ruckig():
            found.append(
                'the jerk in the robot description is not kept, as ruckig is not installed: '
                "pip install 'fabrik_ros[motion]', or pip install ruckig"
            )
        return tuple(found)

    # -- whether they make sense

    def check(self) -> None:
        """
        Look whether the options make sense, alone and together.

        Raises
        ------
        ValueError, TypeError
            If not; names the one at fault, its value and what is allowed.

        """
        for name, words in CHOICES.items():
            if getattr(self, name) not in words:
                raise ValueError(
                    f'{name} must be one of {", ".join(words)}; got {getattr(self, name)!r}'
                )
        for name in ('path_tolerance_position', 'path_tolerance_orientation'):
            check_number(name, getattr(self, name))
        for name in (*POSITIVE, *NOT_NEGATIVE, *SHARES):
            check_number(name, getattr(self, name))
            value, least = getattr(self, name), 'positive' if name in POSITIVE else 'at least 0'
            if not (0.0 < value < math.inf or (value == 0.0 and name not in POSITIVE)):
                raise ValueError(f'{name} must be finite and {least}, got {value}')
            if name in SHARES and value > 1.0:
                raise ValueError(f'{name} must be at most 1, got {value}')
        for pair in self.allowed_collisions:
            if isinstance(pair, str) or len(pair) != 2:
                raise ValueError(
                    f'allowed_collisions must hold pairs of names of links, got {pair!r}'
                )
        fault = self.why_no_stop or self.why_no_smoothing
        if fault:
            raise ValueError(fault)

    @property
    def why_no_stop(self) -> str:
        """Return why a joint could not stop in time; '' where it can."""
        velocity, acceleration = self.max_joint_velocity, self.max_joint_acceleration
        longest = velocity / acceleration
        if longest <= LONGEST_STOP:
            return ''
        return (
            f'a joint at max_joint_velocity {velocity:g} would need {longest:.2f} s to stop with '
            f'max_joint_acceleration {acceleration:g}; at most {LONGEST_STOP:g} s is allowed'
        )

    @property
    def why_no_smoothing(self) -> str:
        """Return why the limit of the jerk is too low; '' where it is not."""
        jerk, acceleration = self.max_joint_jerk, self.max_joint_acceleration
        if jerk == 0.0 or acceleration <= LONGEST_SMOOTHING * jerk:
            return ''
        return (
            f'a joint would need {acceleration / jerk:.2f} s to get from no acceleration to '
            f'max_joint_acceleration {acceleration:g} with max_joint_jerk {jerk:g}; at most '
            f'{LONGEST_SMOOTHING:g} s is allowed'
        )


def _lowered(arm: Mechanism, asked: Array, kept: Array) -> str:
    """Name the joints that keep less than was asked, and both numbers; '' where none does."""
    return ', '.join(
        f"'{shown(name)}' from {before:.4g} to {after:.4g}"
        for name, before, after in zip(arm.joint_names, asked, kept, strict=True)
        if after < before
    )
