"""The gripper of a configured arm: which one there is, what it may touch, and what it does."""

from collections.abc import Iterator, Mapping
import math
from typing import Any

import numpy as np

from ...errors import GripperError, RefusedError, shown
from ...gripper.drive import GripperDrive
from ...gripper.gripper import find_gripper, Gripper
from ...model.chain import Chain
from ...model.robot import Robot
from ...model.tree import Tree
from ...motion.following.arm_observer import contradiction
from ...motion.following.joint_belief import MARGIN
from ...motion.following.measured_joints import MeasuredJoints
from ...reasons import Reason, ReasonKind
from ...transforms import Array
from ..inputs.frame_resolver import joint_names_between
from ..parameters.node_parameters import NodeParameters
from ..world.collision_watch import CollisionWatch
from ..world.handled_obstacles import Hand

PLACES = 9
"""Number of widths on the way that are looked at [1]."""


class ArmGripper:
    """
    What an arm grasps with, and how wide it is open.

    Parameters
    ----------
    robot : Robot
        The robot.
    arm : Chain or Tree
        The arm or arms that move.
    parameters : NodeParameters
        Which gripper.
    watch : CollisionWatch
        What stands around it.

    Attributes
    ----------
    drive : GripperDrive or None
        Sends it to widths; None where there is no gripper.
    missing : str
        Why there is none; '' where there is one.
    hand : Hand or None
        What grasped obstacles are attached to; None where several tips share no gripper.

    Raises
    ------
    GripperError
        If parameters ask for a gripper that cannot be had.

    """

    def __init__(
        self, robot: Robot, arm: Chain | Tree, parameters: NodeParameters, watch: CollisionWatch
    ) -> None:
        self._watch, self._parameters = watch, parameters
        self.drive: GripperDrive | None = None
        self.missing, self.requests = '', 0
        self._contradicted: Reason | None = None
        """Two sources that contradict each other about its joint."""
        gripper: Gripper | None = None
        name, widths = parameters.gripper_joint, parameters.gripper_widths
        try:
            found = find_gripper(robot, name, widths)
            _check_carried(robot, found, arm)
            gripper, self.drive = found, GripperDrive(found)
        except GripperError as error:
            if name or widths or parameters.gripper_action:
                raise
            self.missing = str(error)
        self.hand = _hand(robot, arm, gripper)

    def change(self, parameters: NodeParameters) -> None:
        """Move by other parameters from now on."""
        self._parameters = parameters

    def look(self, measured: MeasuredJoints, now: float) -> None:
        """Take up where its joint is measured, as far as that is fresh at a time [s]."""
        if self.drive is None:
            return
        name, timeout = self.drive.gripper.joint.name, self._parameters.state_timeout
        measured.expect([name], [MARGIN * self.drive.gripper.velocity], [math.inf])
        measured.missing([name], now, timeout)  # hears what has come
        found = measured.contradictions([name], now)
        self._contradicted = contradiction(found) if found else None
        value, measured_at = measured.reading(name, now, timeout) or (None, None)
        self.drive.look(value, now, measured_at)
        if self._parameters.wait_for_state and self.drive.fingers.is_lost:
            text = f"no joint states come any more of the gripper joint '{shown(name)}'"
            self.drive.hold(Reason(ReasonKind.STATE_MISSING, text))

    def hold(self, reason: Reason) -> None:
        """Let fingers that are under way brake, for a reason; they do not go on by themselves."""
        if self.drive is not None:
            self.drive.hold(reason)

    @property
    def is_under_way(self) -> bool:
        """Whether its fingers move, or a controller moves them."""
        return self.drive is not None and self.drive.is_under_way

    def look_ahead(self, q: Array | None) -> None:
        """Let fingers brake that would come too near to something, for an arm at `q`, (n,)."""
        if self.drive is None or self.drive.goal is None or self.drive.stopped_by is not None:
            return
        met = self._met(self.drive, self.drive.goal, q, None)
        if met is not None:
            self.drive.hold(met)

    @property
    def commanded(self) -> Mapping[str, float]:
        """Value that its joint was sent to last, by name [rad or m]; empty before."""
        if self.drive is None or self.drive.command is None:
            return {}
        return {self.drive.gripper.joint.name: self.drive.command[0]}

    def go_to(self, width: float, q: Array | None) -> GripperDrive:
        """
        Set out for a width, and return what sends the commands.

        Parameters
        ----------
        width : float
            Between the fingers [m].
        q : array, shape (n,), or None
            Joint values of the arm, where they are known.

        Raises
        ------
        GripperError
            If there is no gripper, or it cannot have the width.
        RefusedError
            If it is not known where the fingers are, or they would come too near to something.

        """
        drive = self.drive
        if drive is None:
            raise GripperError(self.missing)
        if self._contradicted is not None:
            raise RefusedError(self._contradicted)
        limits, gripper = self._parameters, drive.gripper
        is_blind = limits.gripper_action or not limits.wait_for_state
        assumed = _assumed(gripper) if is_blind else None
        met = self._met(drive, gripper.value_for(width), q, assumed)
        if met is not None:
            raise RefusedError(met)
        speed = min(
            limits.gripper_speed / abs(gripper.width_per_value),
            limits.max_joint_velocity_fraction * gripper.velocity,
            limits.max_joint_velocity,
        )
        acceleration = min(limits.max_joint_acceleration, gripper.acceleration)
        drive.go_to(width, speed, acceleration, assumed)
        self.requests += 1
        return drive

    def _met(
        self, drive: GripperDrive, goal: float, q: Array | None, assumed: float | None
    ) -> Reason | None:
        """Say what the fingers would come too near to on their way; None where that is free."""
        here = assumed if drive.here is None else drive.here
        if here is None or q is None:
            return None
        values = np.linspace(here, goal, PLACES)[1:].tolist()
        met = self._watch.met_by(drive.gripper.joint.name, values, q)
        if met is None:
            return None
        text = (
            f"'{met.link_a}' would come {1e3 * met.distance:.0f} mm near to '{met.link_b}', "
            f'which keeps {1e3 * met.clearance:.0f} mm; what the gripper is to touch is named in '
            '`graspable`'
        )
        return Reason(ReasonKind.COLLISION_AHEAD, text)

    def warnings(self) -> Iterator[str]:
        """Say that the fingers may leap with the first command, or that sources disagree."""
        drive, parameters = self.drive, self._parameters
        if self._contradicted is not None:
            yield self._contradicted.text
        leaps = not (parameters.wait_for_state or parameters.gripper_action)
        if drive is not None and leaps and drive.here is None:
            width = drive.gripper.width_at(_assumed(drive.gripper))
            yield (
                f"gripper joint '{shown(drive.gripper.joint.name)}' is not measured: the fingers "
                f'count as {width:g} m wide, and leap there with the first command if they are not'
            )

    def facts(self, now: float) -> dict[str, Any]:
        """Say what the gripper does, at a time [s]."""
        drive = self.drive
        if drive is None:
            return {'gripper': f'none: {self.missing}'}
        gripper, reason = drive.gripper, drive.reason(now)
        return {
            'gripper': gripper.joint.name,
            'gripper_state': drive.state(now).value,
            'gripper_reason': '' if reason is None else reason.text,
            'gripper_reason_code': '' if reason is None else reason.kind.value,
            'gripper_width': '' if drive.width is None else drive.width,
            'gripper_target': '' if drive.target is None else drive.target,
            'gripper_narrowest': gripper.narrowest,
            'gripper_widest': gripper.widest,
            'gripper_requests': self.requests,
        }


def _assumed(gripper: Gripper) -> float:
    """Value of the joint where nothing is known of it, as for collisions [rad or m]."""
    return min(max(0.0, gripper.joint.lower), gripper.joint.upper)


def _check_carried(robot: Robot, gripper: Gripper, arm: Chain | Tree) -> None:
    """Make sure that the gripper hangs on the arm, and is none of its joints; GripperError."""
    name = shown(gripper.joint.name)
    if gripper.joint.name in arm.joint_names:
        raise GripperError(f"gripper_joint '{name}' is a joint of the arm")
    if not set(joint_names_between(robot, robot.root_link, gripper.palm)) & set(arm.joint_names):
        raise GripperError(
            f"gripper_joint '{name}' hangs on '{shown(gripper.palm)}', which the arm does not move"
        )


def _hand(robot: Robot, arm: Chain | Tree, gripper: Gripper | None) -> Hand | None:
    """Find what carries grasped things: the palm, else the only tip with what is fixed to it."""
    if gripper is not None:
        return Hand(gripper.palm, gripper.links)
    if len(arm.tip_links) > 1:
        return None
    links = [arm.tip_links[0]]
    for link in links:
        links.extend(joint.child for joint in robot.child_joints[link] if not joint.type.moves)
    return Hand(links[0], tuple(links))
