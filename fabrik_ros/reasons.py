"""Why an arm stands still, or does not do what it is asked: one type, with a code that stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt


class ReasonKind(Enum):
    """What kind of reason it is; the values are codes in the status, and do not change."""

    # of the goal, and of the path to it
    TOO_FAR = 'too_far'
    TOO_NEAR = 'too_near'
    BLOCKED_BY_LIMITS = 'blocked_by_limits'
    BLOCKED_BY_JOINT_MOVE = 'blocked_by_joint_move'
    STALLED = 'stalled'
    BUDGET_EXHAUSTED = 'budget_exhausted'
    PATH_BLOCKED = 'path_blocked'
    GOAL_IN_COLLISION = 'goal_in_collision'
    COLLISION_AHEAD = 'collision_ahead'
    CONTACT_POSSIBLE = 'contact_possible'
    WORLD_CHANGED = 'world_changed'
    NO_PATH = 'no_path'
    PLANNER_FAILED = 'planner_failed'
    AWAITS_EXECUTE = 'awaits_execute'
    LOOKING = 'looking'
    PLANNING = 'planning'
    CHANGING_PATH = 'changing_path'
    JOG_BLOCKED = 'jog_blocked'
    JOG_ENDED = 'jog_ended'
    SLIDING = 'sliding'
    DODGING = 'dodging'
    # of the robot, and of who asks
    HELD = 'held'
    CANCELLED = 'cancelled'
    PAUSED = 'paused'
    NOT_READY = 'not_ready'
    STATE_MISSING = 'state_missing'
    STATE_IN_DOUBT = 'state_in_doubt'
    STATE_CONTRADICTED = 'state_contradicted'
    WORLD_UNKNOWN = 'world_unknown'
    MOVED_AWAY = 'moved_away'
    DOES_NOT_FOLLOW = 'does_not_follow'
    SETTLING = 'settling'
    STAYS_SHORT = 'stays_short'
    TURNED_OFF = 'turned_off'
    OUTSIDE_LIMITS = 'outside_limits'
    TARGET_TIMEOUT = 'target_timeout'
    BASE_LOST = 'base_lost'
    CLOCK_JUMPED = 'clock_jumped'
    CLOCK_STANDS = 'clock_stands'
    ERROR = 'error'
    STOPPED = 'stopped'
    # of a request that is refused
    BAD_REQUEST = 'bad_request'
    STILL_STOPPING = 'still_stopping'
    WAITS_FOR_PAUSE = 'waits_for_pause'
    WAS_INTERRUPTED = 'was_interrupted'
    NO_HOME = 'no_home'
    NOTHING_PROPOSED = 'nothing_proposed'
    # of the node
    NO_MODEL = 'no_model'
    PREPARING = 'preparing'
    INACTIVE = 'inactive'
    NAME_TAKEN = 'name_taken'


GOES_ON = ReasonKind.SLIDING, ReasonKind.DODGING
"""Reasons of an arm that goes on as far as it is led."""


@dataclass(frozen=True, eq=False)
class Reason:
    """
    Why something is not done.

    Attributes
    ----------
    kind : ReasonKind
        Its kind, with a code that stays.
    text : str
        What a person at the arm reads.
    joints : tuple of str
        Names of the joints that are concerned.
    place : array, shape (k, 3), or None
        Where on the path it is: positions of the tips in the base frame [m].

    """

    kind: ReasonKind
    text: str
    joints: tuple[str, ...] = ()
    place: npt.NDArray[np.float64] | None = None

    def __str__(self) -> str:
        return self.text


def shown_place(place: npt.NDArray[np.float64]) -> str:
    """Write the positions of k tips, shape (k, 3) [m]."""
    return ', '.join(' '.join(f'{x:.2f}' for x in point) for point in place)


def joined(reasons: Iterable[Reason | None]) -> Reason | None:
    """Make one of several reasons, of the kind of the first; None where there is none."""
    known = [reason for reason in reasons if reason is not None]
    if len(known) < 2:
        return known[0] if known else None
    joints = tuple(dict.fromkeys(joint for reason in known for joint in reason.joints))
    return Reason(known[0].kind, '; '.join(map(str, known)), joints, known[0].place)
