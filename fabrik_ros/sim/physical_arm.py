"""A simulated arm with weight, friction and drives of limited strength: takes joint commands."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
import math
from pathlib import Path
import time
from typing import Any

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.time import Time
from rosgraph_msgs.msg import Clock as ClockMessage
from visualization_msgs.msg import MarkerArray

from ..collision import link_poses, load_scene, MeshFinder, Scene
from ..errors import FabrikError
from ..model.robot import Robot
from ..model.urdf import parse_urdf
from ..ros.clocks.qos import LATCHED
from ..transforms import Array
from .arm_node import Arm, ArmNode, run_arm
from .commands import finite_values
from .playout import Playouts
from .shown_targets import ShownTargets

ROUNDING = 1e-6
PARTS_PERIOD = 0.1
"""Time between two messages that tell where parts are [s]."""
NO_MUJOCO = (
    'MuJoCo is not installed: pip install mujoco (the extra `sim`); '
    'simulated_arm does without, and without physics'
)


class MissingMujocoError(FabrikError):
    """The physics cannot be simulated, as MuJoCo is not installed."""


class CommandedArm:
    """
    A physical arm that takes commands as they come from the network.

    Parameters
    ----------
    arm : PhysicalArm
        The arm.
    command_delay : float
        Time from the first command of a stream until it is reached [s]; see `Playouts`.
    view : View, optional
        Window to show it in.
    targets : callable, optional
        Tells the targets to show there: link, and pose in it, shape (4, 4).

    """

    def __init__(
        self,
        arm: Any,
        command_delay: float,
        view: Any = None,
        targets: Callable[[], list[tuple[str, Array]]] = list,
    ) -> None:
        self.joint_names: tuple[str, ...] = arm.joint_names
        self._arm = arm
        self._view, self._targets = view, targets
        self._delay = command_delay
        self._begin()

    def _begin(self) -> None:
        """Begin where the arm stands, with no command."""
        self._well = self._arm.q
        self._playouts = Playouts(self._delay, self._well)
        self._until = 0.0

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self._arm.time)

    @property
    def measured(self) -> tuple[Array, Array, Array]:
        """Joint values, velocities and efforts, each of shape (n,)."""
        return self._arm.q, self._arm.velocity, self._arm.effort

    def take(self, values: Mapping[str, float], stamp: float) -> None:
        """Take a command, to be met after the delay."""
        own = finite_values(values, self.joint_names)
        if not own:
            return
        lower, upper = self._arm.lower, self._arm.upper
        places = {self.joint_names.index(name): value for name, value in own.items()}
        wanted = {i: min(max(value, lower[i]), upper[i]) for i, value in places.items()}
        self._playouts.add(wanted, stamp, self._arm.time)

    def advance(self, dt: float) -> None:
        """
        Let `dt` seconds pass, with a new target for the drives at every time step.

        Raises
        ------
        FabrikError
            If the simulation failed. The arm then rests at its last valid configuration.

        """
        self._until += dt
        if self._view is None:
            self._catch_up()
            return
        with self._view.locked():
            self._catch_up()
        poses = ((self._arm.link_pose(link), T) for link, T in self._targets())
        self._view.show([T_root_link @ T for T_root_link, T in poses if T_root_link is not None])

    def _catch_up(self) -> None:
        try:
            self._simulate()
        except FabrikError:
            well = np.clip(self._well, self._arm.lower, self._arm.upper)
            self._arm.reset(dict(zip(self.joint_names, well.tolist(), strict=True)))
            self._begin()
            raise
        self._well = self._arm.q

    def _simulate(self) -> None:
        timestep = self._arm.options.timestep
        for _ in range(math.floor((self._until - self._arm.time) / timestep + ROUNDING)):
            self._arm.follow(*self._playouts.at(self._arm.time + timestep))
            self._arm.step(timestep)

    def close(self) -> None:
        """Close its window."""
        if self._view is not None:
            self._view.close()


class PhysicalArmNode(ArmNode):
    """
    An arm in MuJoCo, from the same URDF as every other node has.

    Beside the parameters of all simulated arms: `timestep`, `bandwidth`, `gravity_compensation`,
    `command_delay`, `publish_clock` with `real_time_factor`, and `view` with `mesh_paths`. The
    window shows the targets that come as markers on `fabrik/markers`.

    `scene` and `parts` are files of obstacles: those that stand around, and those that the gripper
    can hold and move. `base_link` is the frame of those that name none; left out, the root link.
    Where the parts are is published on the topic `parts`.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('physical_arm', **kwargs)
        self._timestep = self._number('timestep', 0.001, 'of the physics [s]', 1e-4, 0.002)
        self._bandwidth = self._number('bandwidth', 15.0, 'of the drives [Hz]', 0.1, 50.0)
        self._compensation = self._number(
            'gravity_compensation', 1.0, 'share of the weight the drives know of', 0.0, 1.0
        )
        self._delay = self._number(
            'command_delay', 0.03, 'from a command to when it is met [s]', 1e-3, 1.0
        )
        self._factor = self._number(
            'real_time_factor', 1.0, 'simulated seconds a second', 0.01, 100.0
        )
        self._wants_view = bool(self.declare_parameter('view', False).value)
        self._mesh_paths = self.declare_parameter('mesh_paths', ['']).value
        self._scene, self._parts, self._base_link = (
            str(self.declare_parameter(name, '').value) for name in ('scene', 'parts', 'base_link')
        )
        self._tell_parts: Callable[[], MarkerArray] | None = None
        """Makes the message that tells where parts are; None where there are none."""
        self._told_parts = self.create_publisher(MarkerArray, 'parts', LATCHED)
        self._targets = ShownTargets()
        if self._wants_view:
            self.create_subscription(MarkerArray, 'fabrik/markers', self._on_markers, 10)
        self._clock_topic = None
        if self.declare_parameter('publish_clock', False).value:
            self._clock_topic = self.create_publisher(ClockMessage, '/clock', 10)
        self._simulated = 0.0
        self.begin()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        period = PARTS_PERIOD * self.timer_period() / self._period
        self.create_timer(period, self._tell, clock=steady)

    def make_arm(self, description: str) -> Arm:
        """Make the arm that a URDF text describes."""
        try:
            from .mujoco_model import PhysicsOptions
            from .part_markers import PartMarkers
            from .physics import PhysicalArm
            from .surroundings import Surroundings
            from .view import View
        except ImportError as error:
            is_missing = find_spec('mujoco') is None
            why = NO_MUJOCO if is_missing else f'MuJoCo cannot be loaded: {error}'
            raise MissingMujocoError(why) from error
        options = PhysicsOptions(
            timestep=self._timestep,
            bandwidth=self._bandwidth,
            gravity_compensation=self._compensation,
        )
        robot = parse_urdf(description)
        scene, parts = (self._load(file, robot) for file in (self._scene, self._parts))
        surroundings = Surroundings(scene, parts) if self._scene or self._parts else None
        folders = [path for path in self._mesh_paths if path]
        folders += [str(Path(file).parent) for file in (self._scene, self._parts) if file]
        has_shapes = self._wants_view or surroundings is not None
        finder = MeshFinder(folders) if has_shapes else None
        arm = PhysicalArm(description, options=options, finder=finder, surroundings=surroundings)
        arm.reset(self.start)
        if self._parts:
            markers = PartMarkers(parts, robot.root_link, MeshFinder(folders))
            self._tell_parts = partial(markers.message, arm.part_pose)
        for note in arm.notes:
            self.get_logger().warning(note)
        view = View(arm.model, arm.data) if self._wants_view else None
        if view is not None and view.reason:
            self.get_logger().warning(f'no window: {view.reason}')
        return CommandedArm(arm, self._delay, view, lambda: self._targets.at(time.monotonic()))

    def _load(self, file: str, robot: Robot) -> Scene:
        """Load the obstacles of a file; none where there is no file."""
        return load_scene(file, link_poses(robot, self._base_link)) if file else Scene()

    def _drop_arm(self) -> None:
        super()._drop_arm()
        self._tell_parts = None

    def _tell(self) -> None:
        """Tell where the parts are."""
        if self._tell_parts is not None:
            self._told_parts.publish(self._tell_parts())

    def _on_markers(self, message: MarkerArray) -> None:
        self._targets.take(message, time.monotonic())

    def timer_period(self) -> float:
        """Real time between two joint states [s]."""
        return self._period / self._factor if self._clock_topic is not None else self._period

    def duration(self) -> float:
        """Tell the time that has really passed; a whole period where the clock is our own."""
        if self._clock_topic is None:
            return super().duration()
        self._simulated += self._period
        self._clock_topic.publish(ClockMessage(clock=self.now().to_msg()))
        return self._period

    def now(self) -> Time:
        """Tell the simulated time where the clock is our own, else the time of ROS."""
        if self._clock_topic is None:
            return self.get_clock().now()
        return Time(nanoseconds=round(1e9 * self._simulated))


def main(args: list[str] | None = None, robot: Robot | None = None) -> None:
    """Run the arm until it is interrupted; a robot counts instead of parameter and topic."""
    run_arm(PhysicalArmNode, args, robot)


if __name__ == '__main__':
    main()
