"""Text over the arm that says what the node does and why, and the colour of each state."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from ...model.mechanism import Mechanism
from ...motion.following.arm_state import State
from ...reasons import Reason
from ..messages.marker_shapes import drawn_reach, Pen
from ..messages.palette import BLUE, GREEN, GREY, RED, VIOLET, WHITE, YELLOW
from ..messages.text_layout import laid_out

COLORS = {
    State.WAITING_FOR_MODEL: GREY,
    State.WAITING_FOR_STATE: GREY,
    State.IDLE: WHITE,
    State.LOOKING: VIOLET,
    State.PLANNING: VIOLET,
    State.MOVING: BLUE,
    State.JOGGING: BLUE,
    State.REACHED: GREEN,
    State.HOLDING: RED,
}


def state_color(state: State, reason: Reason | None) -> ColorRGBA:
    """Colour of a state; yellow where an arm that moves has a reason to stop short or to wait."""
    is_troubled = state in (State.MOVING, State.JOGGING) and reason is not None
    return YELLOW if is_troubled else COLORS[state]


def state_sentences(
    state: State, reason: Reason | None, refusal: str, at_limits: Iterable[str]
) -> list[str]:
    """
    Say what the arm does and why, and what else concerns who looks at it.

    Parameters
    ----------
    state : State
        What it does.
    reason : Reason or None
        Why; None where that is plain.
    refusal : str
        Why the last request was refused; '' where it was not.
    at_limits : iterable of str
        Names of the joints at their limits.

    """
    parts = [f'{state.name}: {reason or state.value}']
    parts += [f'refused: {refusal}'] if refusal else []
    joints = ', '.join(at_limits)
    return parts + ([f'at a limit: {joints}'] if joints else [])


def text_markers(
    pen: Pen, robot: Mechanism, sentences: Sequence[str], color: ColorRGBA
) -> Iterator[Marker]:
    """Write sentences over the arms, a marker a line: RViz does not centre several lines."""
    length, foot = drawn_reach(robot), robot.root_points.mean(axis=0)
    for number, line in enumerate(laid_out(sentences)):
        at = foot + np.array([0.0, 0.0, line.height * length])
        yield pen.text('status', at, line.text, color, line.size * length, number)
