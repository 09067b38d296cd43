"""The services: stop, hold, resume, go home, and execute a path that was proposed."""

from collections.abc import Callable

from rclpy.node import Node
from std_srvs.srv import Trigger

from ..errors import FabrikError
from ..motion.following.arm_state import RESUMED
from ..motion.following.start_gate import PAUSE_NEEDED
from .arm.node_state import JointTarget, NodeState


class Services:
    """
    Answers `~/stop`, `~/hold`, `~/resume`, `~/home` and `~/execute`.

    Parameters
    ----------
    node : Node
        Whose services they are.
    state : NodeState
        The arm.

    """

    def __init__(self, node: Node, state: NodeState) -> None:
        self._state = state
        node.create_service(Trigger, '~/stop', _answering(self.stop))
        node.create_service(Trigger, '~/hold', _answering(self.hold))
        node.create_service(Trigger, '~/resume', _answering(self.resume))
        node.create_service(Trigger, '~/home', _answering(self.go_home))
        node.create_service(Trigger, '~/execute', _answering(self.execute))

    def stop(self) -> str:
        """End what the arm does, without keeping it from the next target; say what happens now."""
        arm, follower = self._state.arm, self._state.follower
        if arm is None or follower is None:
            return f'nothing moves: {self._state.inactivity()}'
        follower.cancel()
        rests = 'at rest' if follower.is_at_rest else 'slowing down to rest'
        fingers = '; the fingers move: ~/hold stops them' if arm.gripper.is_under_way else ''
        return f'{rests}{fingers}'

    def hold(self) -> str:
        """Hold until `resume`; say what happens now."""
        arm, follower = self._state.arm, self._state.follower
        if arm is None or follower is None:
            self._state.gate.hold()
            return f'held, although {self._state.inactivity()}: nothing sets out until ~/resume'
        follower.hold_when_told()
        rests = follower.is_at_rest and not arm.gripper.is_under_way
        return 'holding still' if rests else 'slowing down to hold'

    def resume(self) -> str:
        """
        Let the arm set out again; say what it waits for.

        Raises
        ------
        RefusedError
            If something is still wrong.

        """
        arm, follower, now = self._state.arm, self._state.follower, self._state.clock.now()
        if arm is None or follower is None:
            self._state.gate.release(RESUMED, now)
            return f'no longer held, but {self._state.inactivity()}'
        follower.resume(now)
        arm.loop.begin_at_once()
        if follower.is_under_way:
            return 'going on to the target'
        if self._state.gate.waits_for_pause(now):
            return f'no longer held, but targets are coming: {PAUSE_NEEDED}'
        return 'ready for a new target'

    def go_home(self) -> str:
        """
        Set out for `home_configuration`.

        Raises
        ------
        RefusedError
            If the arm cannot set out; says why.

        """
        arm, follower = self._state.active_arm()
        follower.go_home(self._state.clock.now())
        self._state.tally.last_refusal = ''
        self._state.joint_target = JointTarget(name='home')
        arm.loop.begin_at_once()
        return 'on the way to home_configuration'

    def execute(self) -> str:
        """
        Set out on the path that was proposed, or look for one where a line has ended.

        Raises
        ------
        RefusedError
            If there is none, or the arm cannot set out; says why.

        """
        arm, follower = self._state.active_arm()
        follower.execute(self._state.clock.now())
        arm.loop.begin_at_once()
        return 'setting out if the path is free'


def _answering(
    act: Callable[[], str],
) -> Callable[[Trigger.Request, Trigger.Response], Trigger.Response]:
    """Make a callback that answers what happens now, or why nothing does."""

    def answer(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.message, response.success = act(), True
        except FabrikError as error:
            response.message, response.success = str(error), False
        return response

    return answer
