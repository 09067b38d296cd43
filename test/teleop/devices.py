"""Stand-ins for devices and for the node, on a clock that only they move."""

from fabrik_ros.teleop.controls import Values
from fabrik_ros.teleop.node_view import Call, Jog, JointTarget, NodeView, Say, ToolTarget
from fabrik_ros.teleop.pilot import Pilot
from fabrik_ros.teleop.profile import profile_of
from fabrik_ros.transforms import pose_from_xyz_rpy
import numpy as np

DEADMAN, STOP, RESUME, OPEN, CLOSE = range(5)
BUTTONS = {
    'joy': 'joy',
    'deadman': DEADMAN,
    'stop': STOP,
    'resume': RESUME,
    'gripper': {'open': OPEN, 'close': CLOSE},
}
STICKS = {'deadzone': 0.1, 'x': {'axis': 0, 'speed': 0.2}, 'yaw': {'axis': 1, 'speed': -0.5}}
HAND = {'pose': 'hand/pose'}
LEADER = {'topic': 'leader', 'joints': {'l1': 'j1', 'l2': {'joint': 'j2', 'factor': -1.0}}}
TOOL = pose_from_xyz_rpy([0.4, 0.1, 0.3], [3.0, 0.1, -0.4])
JOINTS = {'j1': 0.3, 'j2': -0.2, 'j3': 1.0}
PERIOD = 0.02


class Rig:
    """
    A pilot, who has it in hand, and the node that it talks to.

    Parameters
    ----------
    guide : str
        What moves the arm: 'sticks', 'hand', 'leader' or 'joint_jog'.
    rules : dict
        What the profile says of it.

    """

    def __init__(self, guide, rules, **more):
        self.pilot = Pilot(profile_of({**BUTTONS, guide: rules, **more}))
        self.guide = self.pilot.guide
        self.now = 100.0
        self.tool, self.joints, self.limits = TOOL, dict(JOINTS), {}
        self.orders = []
        self.see()

    def see(self, why_not='', **facts):
        """Let the pilot see the node."""
        view = NodeView(
            why_not,
            tool_pose=lambda: self.tool,
            joints=lambda: self.joints,
            limits=lambda: self.limits,
            **facts,
        )
        self.pilot.see(view, self.now)
        self.take()

    def take(self):
        """Take the orders that are due; return them."""
        orders = self.pilot.orders(self.now)
        self.orders += orders
        return orders

    def pass_time(self, seconds=PERIOD):
        self.now += seconds
        return self.take()

    def press(self, *buttons, axes=(0.0, 0.0), seconds=PERIOD):
        """Say what is pressed and deflected, after some time."""
        self.now += seconds
        pressed = [int(number in buttons) for number in range(5)]
        self.pilot.hear(Values(axes, pressed), self.now)
        return self.take()

    def engage(self, axes=(0.0, 0.0)):
        """Let the deadman go, and press it."""
        self.press(axes=axes)
        orders = self.press(DEADMAN, axes=axes)
        assert self.pilot.is_engaged, self.said
        return orders

    def hand(self, T, seconds=0.0, frame='room', stamp=0.0):
        """Say where the hand is, after some time."""
        self.now += seconds
        self.guide.hear_pose(T, frame, self.now, stamp)
        self.pilot.heard()
        return self.take()

    def lead(self, l1, l2, seconds=0.0):
        """Say where the joints of the leader are, after some time."""
        self.now += seconds
        self.guide.hear_joints({'l1': l1, 'l2': l2}, self.now)
        self.pilot.heard()
        return self.take()

    @property
    def said(self):
        return [order.text for order in self.orders if isinstance(order, Say)]

    @property
    def called(self):
        return [order.service for order in self.orders if isinstance(order, Call)]

    def clear(self):
        self.orders.clear()


def motions(orders):
    """List what sets the arm in motion."""
    return [
        order
        for order in orders
        if isinstance(order, ToolTarget | JointTarget)
        or (isinstance(order, Jog) and np.any(order.twist))
    ]
