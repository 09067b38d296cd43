"""State that parts of the node share: parameters, the arm, whether it is held, why it waits."""

from dataclasses import dataclass, field
from typing import NamedTuple

from ...errors import RefusedError
from ...kernels._jit import COMPILED, IS_BUILT, WHY_NOT_BUILT
from ...motion.following.arm_state import State
from ...motion.following.follower import Follower
from ...motion.following.start_gate import StartGate, TOLD_TO_HOLD
from ...reasons import joined, Reason, ReasonKind
from ..clocks.node_clock import NodeClock
from ..clocks.spare_time import SpareTime
from ..inputs.marker_obstacles import Groups
from ..parameters.node_parameters import NodeParameters
from ..status.reporter import Tally
from .configured_arm import ConfiguredArm


class Standing(NamedTuple):
    """State of the arm, the reason for it, and what the node waits for."""

    state: State
    reason: Reason | None
    """None where that is plain."""
    awaited: str = ''
    """'' where it waits for nothing."""


class ActiveArm(NamedTuple):
    """The arm while the node is active."""

    arm: ConfiguredArm
    follower: Follower


class JointTarget(NamedTuple):
    """Mark by which the sender of joint values, or of the name of some, knows them again."""

    stamp: float = 0.0
    """Stamp of the message [s]; 0 where it had none."""
    name: str = ''
    """Name of the configuration; '' for values."""


@dataclass
class NodeState:
    """The state of the node."""

    parameters: NodeParameters
    clock: NodeClock
    description: str = ''
    """The newest robot description, URDF; '' before the first."""
    description_topic: str = ''
    arm: ConfiguredArm | None = None
    """Arm; it exists while the node is configured."""
    groups: Groups = field(default_factory=dict)
    """Obstacles in markers that were accepted last."""
    gate: StartGate = field(default_factory=StartGate)
    tally: Tally = field(default_factory=Tally)
    spare_time: SpareTime = field(default_factory=SpareTime)
    """The time after each command, for what nobody waits for."""
    joint_target: JointTarget = field(default_factory=JointTarget)
    """The joint target that was accepted last."""
    failure_reason: str = ''
    """Reason why the last step of the life cycle failed; '' after one that did not."""
    is_preparing: bool = False
    """Whether the solvers are being compiled."""
    description_changed: bool = False
    """Whether another description came while the node was configured."""
    rival: str = ''
    """Other node of the same name that goes first; '' if none does."""
    stays_down: bool = False
    """Whether somebody cleaned the node up: then it does not configure itself."""
    starts_when_free: bool = False
    """Whether the node is to become active as soon as no other has its name."""
    end: Reason | None = None
    """Reason why the node does nothing any more; None while it lives."""
    active_since: int = 0
    """Time of the last activation, by the steady clock [ns]."""

    @property
    def follower(self) -> Follower | None:
        """Follower that decides what the arm does; None while the node is not active."""
        return None if self.arm is None else self.arm.follower

    def configured_arm(self) -> ConfiguredArm:
        """
        Get the arm of a configured node.

        Raises
        ------
        RefusedError
            If the node is not configured.

        """
        if self.arm is None:
            text = f'the node is not configured: {self.standing().reason or ""}'
            raise RefusedError(Reason(ReasonKind.INACTIVE, text))
        return self.arm

    def active_arm(self) -> ActiveArm:
        """
        Get the arm of an active node.

        Raises
        ------
        RefusedError
            If the node is not active; says why.

        """
        arm, follower = self.arm, self.follower
        if arm is None or follower is None:
            raise RefusedError(TOLD_TO_HOLD if self.gate.is_held else self.inactivity())
        return ActiveArm(arm, follower)

    @property
    def missing_description(self) -> str:
        """Say that there is no robot description."""
        return f'no robot description yet on {self.description_topic}'

    def inactivity(self) -> Reason:
        """Say why the node is not active."""
        text = f'the node is not active: {self.standing().reason or ""}'
        return Reason(ReasonKind.INACTIVE, text)

    def standing(self) -> Standing:
        """Say what the arm does, why, and what the node waits for."""
        if self.end is not None:
            return Standing(State.HOLDING, self.end)
        if self.follower is not None:
            state, reason = self.follower.state(self.clock.now())
            if state is not State.WAITING_FOR_STATE:
                return Standing(state, reason)
            jump = None if self.arm is None else self.arm.clock_jump
            return Standing(state, joined((jump, reason)), 'the measured state of every joint')
        standing = self._before_configuration() if self.arm is None else self._before_activation()
        held = TOLD_TO_HOLD if self.gate.is_held else None
        return standing._replace(reason=joined((held, standing.reason)))

    def _before_activation(self) -> Standing:
        if self.rival:
            then = 'starts when that is gone' if self.starts_when_free else 'end one of them'
            reason = Reason(ReasonKind.NAME_TAKEN, f'{self.rival}; {then}')
            return Standing(State.HOLDING, reason, 'the name of the node')
        if self.starts_when_free:
            reason = Reason(ReasonKind.PREPARING, 'looking for other nodes of the same name')
            return Standing(State.WAITING_FOR_MODEL, reason, 'the name of the node')
        changed = 'the robot description has changed' if self.description_changed else ''
        text = self.failure_reason or f'{changed or "the node is inactive"}: activate it'
        return Standing(State.HOLDING, Reason(ReasonKind.INACTIVE, text), 'activation')

    def _before_configuration(self) -> Standing:
        state = State.WAITING_FOR_MODEL
        if self.is_preparing:
            text = 'preparing the solver'
            if COMPILED and not IS_BUILT:
                text += f'; the first start compiles it, which takes a minute: {WHY_NOT_BUILT}'
            return Standing(state, Reason(ReasonKind.PREPARING, text), 'the solver')
        if not self.description:
            reason = Reason(ReasonKind.NO_MODEL, self.missing_description)
            return Standing(state, reason, 'a robot description')
        text = self.failure_reason or 'there is a robot description: configure the node'
        return Standing(state, Reason(ReasonKind.NO_MODEL, text), 'configuration')
