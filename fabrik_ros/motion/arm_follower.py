"""
An arm that goes to targets, for programs without ROS: what the node does, step by step.

`Follower` has the rules, `Motion` the limits; here they are put together from options with the
names of the node's parameters, and one step takes a target and what was measured, and returns what
to send.

"""

from __future__ import annotations

from collections.abc import Mapping
import math
from numbers import Integral

import numpy as np
import numpy.typing as npt

from ..collision import CheckedPairs, CollisionGuard, Scene, WorldCollision
from ..errors import (
    check_kind,
    check_number,
    CollisionError,
    did_you_mean,
    is_number,
    JointValueError,
    listed,
    RefusedError,
    shown,
)
from ..model.arm_checks import check_arm
from ..model.chain import Chain
from ..model.mechanism import Mechanism
from ..model.robot import Robot
from ..model.tree import Tree
from ..planning.planner_setup import PlannerSetup
from ..programs.joint_values import configuration_named, with_values
from ..programs.program import Program
from ..reasons import Reason, ReasonKind
from ..solver.tree_solver import TipOptions
from ..transforms import Array
from .choosing.motion import Motion
from .follower_options import FollowerOptions, longest_gap, LOOKING_SHARE
from .following.arm_state import State
from .following.follower import Follower
from .following.following_rules import configuration_of
from .following.measured_joints import MeasuredJoints
from .target_checks import check_values, checked_poses

HOME = 'home'
"""Name of `home_configuration` among the configurations."""
UNKNOWN = Reason(
    ReasonKind.STATE_MISSING,
    'nothing was measured yet: give `measured`, or the option wait_for_state=False',
)

Target = npt.ArrayLike | Mapping[str, float] | str | Program
"""A pose, joint values by name, the name of a configuration, or a program of moves."""


class ArmFollower:
    """
    Follows targets with one arm, or arms that share a body, within all limits.

    Call `step` at a steady rate, and send what it returns. It behaves as the node does: an arm
    sets out once its whole path is known to be free, a stop stays a stop, and `state` and `reason`
    say what it does and why not. Time is the sum of the given `dt`; the clock only bounds the path
    search.

    Parameters
    ----------
    arm : Robot, Chain or Tree
        What moves; of a robot its only arm, as `Robot.chain` finds it.
    options : FollowerOptions, optional
        How it moves.
    robot : Robot, optional
        The robot that a chain or tree belongs to. The arm stops in front of collisions only if
        it is given, or `scene` knows all distances, and coal is installed. Finding out which
        links can collide takes a second.
    scene : Scene or WorldCollision, optional
        The obstacles; needs the robot. Or what knows all distances already, as a
        `WorldCollision`.
    tips : mapping, optional
        What is asked of the tips of a tree, `TipOptions` by tip link.
    configurations : mapping, optional
        Joint values, shape (n,), by names that targets may have [rad or m]. 'home' stands for
        `home_configuration`.
    other_joints : mapping, optional
        Values of joints outside the arm by name, as those of a gripper [rad or m]; see
        `set_other_joints`.
    looking_time : float, optional
        Longest path search in a step [s]; left out, 40 % of its `dt`. The arm rests
        meanwhile, or follows its line. `math.inf` looks to the end within one step, so that the
        same steps give the same commands; that may take a second.

    Attributes
    ----------
    refusal : Reason or None
        Why the target of the last step was refused; None where it was not.

    Raises
    ------
    TypeError
        If the arm is something else, as the path of a robot; says how to get one.
    ValueError
        If an option makes no sense; names it.
    FabrikError
        If something does not suit the arm, or is not installed; says what.

    Examples
    --------
    >>> from fabrik_ros import ArmFollower, example_arm, load_urdf, State
    >>> arm = load_urdf(example_arm('planar_two_link')).chain()
    >>> follower = ArmFollower(arm, FollowerOptions(mode='position'))
    >>> q = follower.step({'shoulder': 0.4}, 0.01, measured=[0.0, 1.0])
    >>> while follower.state is not State.REACHED:  # an arm that follows exactly
    ...     q = follower.step(None, 0.01, measured=q)
    >>> q.round(6)
    array([0.4, 1. ])

    """

    def __init__(
        self,
        arm: Robot | Mechanism,
        options: FollowerOptions | None = None,
        *,
        robot: Robot | None = None,
        scene: Scene | CheckedPairs | None = None,
        tips: Mapping[str, TipOptions] | None = None,
        configurations: Mapping[str, npt.ArrayLike] | None = None,
        other_joints: Mapping[str, float] | None = None,
        looking_time: float | None = None,
    ) -> None:
        check_arm(arm, 'arm', Robot, Chain, Tree)
        self.options = options = FollowerOptions() if options is None else options
        check_kind('options', options, FollowerOptions)
        options.check()
        if isinstance(arm, Robot):
            robot, arm = arm, arm.chain()
        self.arm: Mechanism = arm
        self._configurations = _configurations(arm, options, configurations or {})
        if looking_time is not None and not (is_number(looking_time) and looking_time > 0.0):
            raise ValueError(f'looking_time must be positive, got {looking_time!r}')
        self._looking_time = looking_time
        self._world, self._why_no_world = _world(arm, options, robot, scene)
        self.set_other_joints(other_joints or {})
        self._guard = None if self._world is None else CollisionGuard(self._world)
        limits, jerk = options.limits_for(arm), options.jerk_filter_for(arm)
        self._motion = Motion(arm, limits, options.solver, options.motion, tips, self._guard, jerk)
        self._motion.warm_up()
        self._measured = MeasuredJoints()
        self._follower = Follower(arm, self._motion, options.rules, self._measured)
        self._follower.looks_in_ticks = looking_time == math.inf
        self._now = 0.0
        self._is_placed = False
        """Whether the arm was measured before it was first sent somewhere."""
        self._away_since = math.inf
        """Time since which a resting arm is away from its last command [s]; inf: it is not."""
        self._moved_to: Array | None = None
        """Measured values that such an arm holds, shape (n,) [rad or m]; None before."""
        self._sent: Array | None = None
        """Joint values that the last step returned, shape (n,) [rad or m]; None before."""
        self.refusal: Reason | None = None

    def __repr__(self) -> str:
        return f'ArmFollower({self.arm!r}, {self.options!r}): {self.state.name}'

    # -- one step

    def step(
        self, target: Target | None, dt: float, measured: npt.ArrayLike | None = None
    ) -> Array:
        """
        Move on by one step, and return the joint values to send now.

        A target is refused while the arm is held, still stopping or without fresh state, or if it
        is too far away; `refusal` says why, and the step goes on without it. An invalid target
        raises, and the step is not taken: call again with None to go on.

        Parameters
        ----------
        target : array-like, mapping, str, Program or None
            Where to go: a pose T_base_tip, shape (4, 4); poses of the k tips of a tree, shape
            (k, 4, 4), NaN for tips without a new one; joint values by the names of joints; the
            name of a configuration. None goes on with the last one. An equal one again is a
            repeat: it counts for `target_timeout` alone. A program of moves is given once: again
            it begins anew.
        dt : float
            Time since the step before [s]. After a pause of more than 0.1 s (or three periods) the
            arm counts as at rest.
        measured : array-like, shape (n,), optional
            Where the joints are [rad or m]. None, or NaN for some of them, where nothing was
            read: the last values count until they are older than `state_timeout`; then the arm
            stops. With the option wait_for_state=False the arm then counts as at its last command.

        Returns
        -------
        array, shape (n,)
            Joint values [rad or m]. At rest the values the arm holds. If it was moved away by more
            than `resync_tolerance`: after 0.2 s the measured values.

        Raises
        ------
        ValueError
            If `dt` is no number, or not positive.
        TargetError
            If the target is no pose, no configuration, or no value that a joint can have.
        JointValueError
            If what was measured has another shape, or is no array of numbers.
        RefusedError
            If nothing was measured yet: there are no values to send.

        """
        if not (is_number(dt) and 0.0 < dt < math.inf):
            raise ValueError(f'dt must be positive and finite, got {dt!r}')
        dt = float(dt)  # kernels are built for that
        now = self._now + dt
        self._take_measured(measured, now)
        if not self._is_placed and self.options.wait_for_state:
            self._now = now
            raise RefusedError(UNKNOWN)
        self.refusal = None if target is None else self._take(target, now)
        self._now = now
        period = 1.0 / self.options.command_rate
        if not self._follower.looks_in_ticks:
            longest = self._looking_time or LOOKING_SHARE * min(dt, period)
            self._follower.look(now, dt, longest)
        if dt > longest_gap(period):
            self._motion.halt()
            dt = period
        command = self._follower.tick(now, dt)
        if command is None:
            q = self._held(now, dt)
        else:
            q, self._away_since, self._moved_to = command.q, math.inf, None
        self._sent = np.array(q)
        return np.array(q)

    def _take_measured(self, measured: npt.ArrayLike | None, now: float) -> None:
        """Take note of what was measured; the first whole state is where the arm stands."""
        if measured is None:
            return
        names = self.arm.joint_names
        try:
            q = np.array(measured, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise JointValueError(f'measured is no array of numbers: {error}') from error
        if q.shape != (len(names),):
            raise JointValueError(
                f'measured has shape {q.shape}, expected ({len(names)},): one value for each of '
                f'{listed(names)}'
            )
        self._measured.update(names, q.tolist(), now)
        follower = self._follower
        may_be_placed = not (self._is_placed or follower.is_engaged)
        if may_be_placed and follower.observer.is_measured(now):
            self._is_placed = True
            self._measured.confirm(names)
            self._motion.reset(follower.observer.q)

    def _take(self, target: Target, now: float) -> Reason | None:
        """Hand over a target; return why it is refused."""
        try:
            self._accept(target, now)
        except RefusedError as error:
            return error.reason
        return None

    def _accept(self, target: Target, now: float) -> None:
        if isinstance(target, Program):
            self._follower.go_through(with_values(target, self._configurations), now)
            return
        if isinstance(target, str):
            q = configuration_named(self._configurations, target)
            target = dict(zip(self.arm.joint_names, q.tolist(), strict=True))
        if isinstance(target, Mapping):
            check_values(self.arm, target)
            values = {name: float(value) for name, value in target.items()}
            self._follower.go_to_joints(values, now)
            return
        poses = list(checked_poses(self.arm.tip_links, target))
        for tip, T_base_tip in poses:  # of several, all are taken or none
            self._follower.check(T_base_tip, tip)
        for tip, T_base_tip in poses:
            self._follower.accept(T_base_tip, now, tip)

    def _held(self, now: float, dt: float) -> Array:
        """Joint values, shape (n,), of a resting arm; measured ones if it was moved away."""
        q, observer = self._motion.command[0], self._follower.observer
        self._motion.rest(dt)
        if self._follower.has_provisional_start and self._sent is not None:
            return self._sent
        held, is_measured = self._moved_to, observer.is_measured(now)
        if held is None and (not is_measured or observer.does_not_follow(q) is None):
            self._away_since = math.inf
            if self._follower.was_moved and observer.doubt(now) is None:
                observer.forget_commands()
            else:
                observer.remember(now, q)
            return q
        self._away_since = min(self._away_since, now)
        is_certain = observer.why_contradicted(now) is None and observer.doubt(now) is None
        is_settled = is_certain and now - self._away_since >= observer.restart_pause
        if is_settled and observer.is_seen(now):  # blind, it stays
            measured = observer.near_command(observer.q, q)
            # It holds where it was let go: an arm that sags does not sink for ever.
            if held is None or np.max(np.abs(measured - held)) > observer.rules.resync_tolerance:
                self._moved_to = held = measured
        return q if held is None else held

    # -- what it is asked for besides

    def hold(self) -> None:
        """Slow down, and refuse all targets until `resume`."""
        self._follower.hold_when_told()

    def resume(self) -> None:
        """
        Take targets again, after `hold` or a fault.

        Targets that come at every step are a stream: they have to pause for a second first.

        Raises
        ------
        RefusedError
            If what was wrong is still wrong, or the arm is still stopping.

        """
        self._follower.resume(self._now)

    def home(self) -> None:
        """
        Set out for `home_configuration`.

        Raises
        ------
        RefusedError
            If there is none, or the arm cannot set out now; says why.

        """
        self._follower.go_home(self._now)

    def execute(self) -> None:
        """
        Take the path that waits to be confirmed: see the options `confirm` and `max_detour`.

        Raises
        ------
        RefusedError
            If there is none, or the arm cannot set out now; says why.

        """
        self._follower.execute(self._now)

    def jog(self, twist: npt.ArrayLike, *, tip: int = 0, in_tip: bool = False) -> None:
        """
        Move a tip at a velocity from now on; repeat it at least every `jog_timeout`.

        That ends all targets. In front of limits and singular places the arm rests and says why.

        Parameters
        ----------
        twist : array-like, shape (6,)
            Linear and angular velocity [m/s, rad/s], shortened to what the tip may have. Zeros end
            the jog: the tip brakes to rest.
        tip : int
            Number of the tip.
        in_tip : bool
            Whether the velocity is in the frame of the tip instead of the base.

        Raises
        ------
        ValueError
            If the twist has another shape, or there is no such tip.
        RefusedError
            If it is not finite, or the arm cannot set out now; says why.

        """
        try:
            velocity = np.array(twist, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f'a jog must be six numbers: {error}') from error
        if velocity.shape != (6,):
            raise ValueError(f'a jog must be six numbers, got shape {velocity.shape}')
        if not (isinstance(tip, Integral) and 0 <= tip < len(self.arm.tip_links)):
            raise ValueError(
                f'there are {len(self.arm.tip_links)} tips, from 0 on; got tip {tip!r}'
            )
        self._follower.jog(velocity, self._now, tip, in_tip)

    def scale_speed(self, share: float) -> None:
        """Go at another share of all speeds than `speed_scaling`, 0 to 1 [1]; 0 pauses."""
        check_number('share', share)
        if not 0.0 <= share <= 1.0:
            raise ValueError(f'share must be in [0, 1], got {share}')
        self._motion.scale_speed(float(share))

    def set_scene(self, scene: Scene) -> None:
        """
        Keep clear of other obstacles from now on; an arm that would hit one stops.

        Raises
        ------
        TypeError
            If it is no scene.
        CollisionError
            If an obstacle makes no sense, or the follower was made without a scene.

        """
        check_kind('scene', scene, Scene)
        world, guard = self._world, self._guard
        if guard is None or not isinstance(world, WorldCollision):
            raise CollisionError(
                f'other obstacles need a scene from the beginning, Scene() at least; collision '
                f'checking is {self.collision_checking}'
            )
        guard.change_world(world.set_scene(scene), self._motion.command[0])
        self._follower.change_world(self._now, is_near=True)

    def set_other_joints(self, values: Mapping[str, float]) -> None:
        """
        Take the values of joints outside the arm, as those of a gripper, as often as they change.

        Collisions are looked for with these. A joint that counts and of which nothing was told is
        assumed at 0, or at the limit next to it; `collision_checking` names it.

        Parameters
        ----------
        values : mapping
            By the names of joints [rad or m]: those of the arm are left out, NaN changes nothing.

        Raises
        ------
        JointValueError
            If the robot has no such joint, or a value is no number.

        """
        world = self._world
        if world is None:
            return
        known = {*world.frames.names, *(joint.name for joint in world.frames.moving)}
        for name, value in values.items():
            if name not in known:
                raise JointValueError(f"no joint '{shown(name)}' moves{did_you_mean(name, known)}")
            if not is_number(value):
                found = shown(repr(value))
                raise JointValueError(f"joint '{shown(name)}' must stand at a number, got {found}")
        world.set_other_joints(values)

    # -- what it says

    @property
    def collision_checking(self) -> str:
        """Whether the arm stops in front of collisions, and why not; what is assumed there."""
        return self._why_no_world if self._world is None else self._world.checking

    @property
    def warnings(self) -> tuple[str, ...]:
        """What limits in the robot description make of the options, or cannot."""
        return self.options.warnings_for(self.arm)

    @property
    def state(self) -> State:
        """State of the arm, in the words of the status."""
        return self._follower.state(self._now)[0]

    @property
    def reason(self) -> Reason | None:
        """The reason for the state; `kind` is a stable code, `text` is for people."""
        return self._follower.state(self._now)[1]

    @property
    def at_target(self) -> bool:
        """Whether the arm has arrived at its target."""
        return self.state is State.REACHED

    @property
    def is_measured(self) -> bool:
        """Whether the state is said of the measured arm; else of the values that were sent."""
        return self._follower.observer.is_measured(self._now)

    @property
    def is_at_rest(self) -> bool:
        """Whether the last values do not move."""
        return self._follower.is_at_rest

    @property
    def velocity(self) -> Array:
        """Velocity of the last values, shape (n,) [rad/s or m/s]."""
        return np.array(self._motion.command[1])

    @property
    def planned_path(self) -> Array:
        """Poses of the k tips along the path found last, shape (m, k, 4, 4); none: m is 0."""
        found = self._motion.found
        preview = None if found is None else found.preview
        return np.empty((0, len(self.arm.tip_links), 4, 4)) if preview is None else preview.tips

    @property
    def planned_times(self) -> Array:
        """Times at which the tips are at these poses, about, from 0 on, shape (m,) [s]."""
        found = self._motion.found
        preview = None if found is None else found.preview
        return np.empty(0) if preview is None else preview.times

    @property
    def proposed_motion(self) -> tuple[Array, Array]:
        """
        Times, shape (m,) [s], and joint values then, shape (m, n), on the path that is proposed.

        The times are about those that the arm will take, from rest to rest; none: m is 0.

        """
        return self._motion.proposed_motion

    @property
    def solve_time(self) -> float:
        """Time that the search for the configuration at the last target took [s]."""
        return self._motion.resolving_time


def _configurations(
    arm: Mechanism, options: FollowerOptions, given: Mapping[str, npt.ArrayLike]
) -> dict[str, Array]:
    """Joint values, shape (n,), by their names, home included; checked."""
    home = {HOME: options.home_configuration} if options.home_configuration else {}
    lists = {name: np.array(q, dtype=np.float64).tolist() for name, q in {**home, **given}.items()}
    if options.posture:
        configuration_of(arm, options.posture, 'posture')
    return {name: configuration_of(arm, q, f"configuration '{name}'") for name, q in lists.items()}


def _world(
    arm: Mechanism,
    options: FollowerOptions,
    robot: Robot | None,
    scene: Scene | CheckedPairs | None,
) -> tuple[CheckedPairs | None, str]:
    """Make what knows distances, if possible; else say why collisions are not checked."""
    if scene is not None:
        check_kind('scene', scene, Scene, CheckedPairs)
    if isinstance(scene, CheckedPairs):
        return scene, ''
    wants_links = options.self_collision != 'never'
    if robot is None:
        if scene is not None or options.self_collision == 'require':
            raise CollisionError('collisions need the robot, not its chain alone: give `robot`')
        return None, 'off: the robot is not known, only its chain'
    if scene is None and not wants_links:
        return None, "off: self_collision is 'never', and there is no scene"
    setup = PlannerSetup(
        robot,
        arm,
        mesh_paths=options.mesh_paths,
        allowed_collisions=options.allowed_collisions,
        clearance=options.collision_clearance,
        obstacle_clearance=options.obstacle_clearance,
        checks_links=wants_links,
        requires_shapes=options.self_collision == 'require',
    )
    is_required = scene is not None or options.self_collision == 'require'
    world, why = setup.world_or_reason(scene or Scene(), is_required)
    return world, f'off: {why}'
