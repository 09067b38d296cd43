"""Who has the arm: a device whose deadman is pressed, or nobody."""

import math

from .clutch import HandGuide
from .controls import Button, Values
from .guides import Guide, StickGuide
from .joint_jogger import JointJogger
from .leader import LeaderGuide
from .node_view import Call, Grip, JointTarget, Motion, NodeView, Order, Say, ToolTarget
from .profile import Profile

PERIOD = 0.008
"""Time between two motions, at least [s]."""
REPEAT_PERIOD = 0.05
"""Time after which a motion is said again, where the device is slow [s]."""
REST_TIME, REST_PERIOD = 0.3, 0.1
"""For how long, and how often, an arm that was let go is told to rest [s]."""
STARTING_TIME = 0.5
"""Time after which the status is not about a rest that the device asked for before [s]."""
REFUSED_TIME = 0.3
"""Time without a target that the node takes after which the arm is let go [s]."""
HOLD_PERIOD = 0.5
"""Time after which a node that is not held yet is told so again [s]."""


class Pilot:
    """
    Turns what a device says into orders for the node.

    The arm moves only while the deadman is pressed, and once it was pressed while the node takes
    targets: not when the link comes back, the node is ready again, or the stop has ended. Then it
    has to be let go and pressed again. Times are of one clock that never jumps [s].

    Parameters
    ----------
    profile : Profile
        What the parts of the device do.

    Attributes
    ----------
    guide : Guide
        What moves the arm; hears what is not said by buttons and axes.
    is_engaged : bool
        Whether the device has the arm.
    is_stopped : bool
        Whether the stop button latched.

    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.guide = guide_of(profile)
        self.is_engaged = self.is_stopped = False
        self._view = NodeView()
        self._before: Values | None = None
        """What the device said last; None: nothing, or the link was lost since."""
        self._heard_at = -math.inf
        self._may_engage = False
        """Whether the deadman was seen let go since it was pressed last."""
        self._sent_at = self._rested_at = -math.inf
        self._rests_until = -math.inf
        self._held_at = -math.inf
        self._is_held = False
        """Whether the node was seen held since the stop."""
        self._refused_at = math.inf
        """When the first target was refused since one was taken; inf: none was."""
        self._is_fresh = self._is_under_way = False
        self._streams = False
        """Whether it sends targets, each of which the node takes or refuses."""
        self._orders: list[Order] = []

    # -- what comes

    def see(self, view: NodeView, now: float) -> None:
        """Take what is seen of the node; where somebody resumes it, the stop has ended."""
        if view.instance != self._view.instance:
            self._is_held = False
            self._release('the node was started anew', now)
        elif self._is_held and not view.is_held:
            self.is_stopped = self._is_held = False
        self._is_held = view.is_held and self.is_stopped
        self._look_at_refusals(view, now)
        self._view = view
        if view.why_not:
            self._release(view.why_not, now)
        elif view.is_stopped and self._is_under_way:
            self._release('somebody stopped the arm', now)
        elif not view.is_stopped and now - self._rested_at > STARTING_TIME:
            self._is_under_way = True

    def _look_at_refusals(self, view: NodeView, now: float) -> None:
        """Let an arm go that does not follow: what it missed is not to be made up for at once."""
        if not self._streams or view.accepted > self._view.accepted:
            self._refused_at = math.inf
        elif view.refused > self._view.refused:
            self._refused_at = min(self._refused_at, now)
        if now - self._refused_at > REFUSED_TIME:
            self._release(f'the node refuses its targets: {view.refusal}', now)

    def hear(self, values: Values, now: float) -> None:
        """
        Take what axes and buttons say.

        Where an axis is not finite it only counts that stop is pressed, or the deadman is not.
        """
        self._look_at_link(now)
        if not values.is_finite:
            if self.profile.stop.is_pressed(values):
                self._look_at_stop(None, values, now)
            elif not self.profile.deadman.is_pressed(values):
                self._release('', now)
            return
        before, self._before, self._heard_at = self._before, values, now
        self._is_fresh = True
        self.guide.hear_values(values)
        self._look_at_stop(before, values, now)
        self._look_at_deadman(values, now)
        if self.is_engaged:
            self._look_at_gripper(before, values)

    def heard(self) -> None:
        """Take note that the guide heard something."""
        self._is_fresh = True

    def let_go(self, why: str, now: float) -> None:
        """Let the arm go, for a reason; the deadman has to be pressed anew."""
        self._may_engage = False
        self._release(why, now)

    # -- what goes

    def orders(self, now: float) -> list[Order]:
        """Take the orders that are due at a time [s]; ask often."""
        self._look_at_link(now)
        if self.is_stopped and not self._is_held and now - self._held_at >= HOLD_PERIOD:
            self._held_at = now
            self._orders.append(Call('hold'))
        motion = self._motion(now) if self.is_engaged else None
        orders, self._orders = self._orders, []
        if motion is not None:
            orders.append(motion)
        elif self._is_to_rest(now):
            self._rested_at = now
            orders.append(self.guide.rest(self._view))
        return orders

    def _is_to_rest(self, now: float) -> bool:
        """Whether it is time to tell the arm again that it was let go."""
        is_let_go = not (self.is_engaged or self.is_stopped) and now < self._rests_until
        return is_let_go and now - self._rested_at >= REST_PERIOD

    def _motion(self, now: float) -> Motion | None:
        passed = now - self._sent_at
        if passed < PERIOD or not (self._is_fresh or passed >= REPEAT_PERIOD):
            return None
        motion = self.guide.motion(self._view, now)
        self._orders += map(Say, self.guide.notices)
        self.guide.notices.clear()
        if self.guide.fault:
            self._release(self.guide.fault, now)
            return None
        self._sent_at, self._is_fresh = now, False
        if motion is not None:
            is_target = isinstance(motion, ToolTarget | JointTarget)
            self._streams = self.guide.sends_targets and is_target
        return motion

    # -- buttons

    def _look_at_link(self, now: float) -> None:
        if self._before is not None and now - self._heard_at > self.profile.timeout:
            self._before, self._may_engage = None, False
            self._release('the device is silent', now)

    def _look_at_stop(self, before: Values | None, values: Values, now: float) -> None:
        resume = self.profile.resume
        if self.profile.stop.is_pressed(values):
            self._release('the stop button', now)
            self._rests_until = -math.inf
            if not self.is_stopped:
                self.is_stopped, self._is_held, self._held_at = True, False, -math.inf
                self._orders.append(Say('STOPPED: until resumed'))
        elif resume is not None and _goes_down(resume, before, values):
            self.is_stopped = False
            self._orders += [Call('resume'), Say('resumed')]

    def _look_at_deadman(self, values: Values, now: float) -> None:
        if not self.profile.deadman.is_pressed(values):
            self._may_engage = True
            self._release('', now)
        elif self._may_engage:
            self._may_engage = False
            why_not = self._why_not(values, now)
            if why_not:
                self._orders.append(Say(f'not engaged: {why_not}'))
                return
            self.is_engaged, self._is_under_way = True, False
            self._sent_at = -math.inf
            self._orders.append(Say('engaged'))

    def _why_not(self, values: Values, now: float) -> str:
        if self.is_stopped:
            return 'the stop button was pressed; resume first'
        if not self.profile.stop.is_part_of(values):
            return 'the device does not have the stop button of the profile'
        return self._view.why_not or self.guide.engage(self._view, now)

    def _look_at_gripper(self, before: Values | None, values: Values) -> None:
        gripper = self.profile.gripper
        for button, opens in ((gripper.open, True), (gripper.close, False)):
            if button is not None and _goes_down(button, before, values):
                self._orders.append(Grip(opens))
        squeeze = gripper.squeeze
        if squeeze is not None and before is not None:
            is_pressed = squeeze.is_pressed(values)
            if squeeze.is_pressed(before) != is_pressed:
                self._orders.append(Grip(not is_pressed))

    def _release(self, why: str, now: float) -> None:
        """Let the arm go: it is told to rest, at once."""
        if not self.is_engaged:
            return
        self.is_engaged = self._streams = False
        self.guide.release()
        self._orders.append(self.guide.rest(self._view))
        self._orders.append(Say(f'released: {why}' if why else 'released'))
        self._rested_at, self._rests_until = now, now + REST_TIME


def guide_of(profile: Profile) -> Guide:
    """Make what moves the arm."""
    if profile.sticks is not None:
        return StickGuide(profile.sticks, profile.timeout)
    if profile.hand is not None:
        return HandGuide(profile.hand, profile.timeout)
    if profile.leader is not None:
        return LeaderGuide(profile.leader, profile.timeout)
    return JointJogger(profile.joint_jog, profile.timeout)


def _goes_down(button: Button, before: Values | None, values: Values) -> bool:
    """Whether a button was seen up, and is down now."""
    return before is not None and button.is_pressed(values) and not button.is_pressed(before)
