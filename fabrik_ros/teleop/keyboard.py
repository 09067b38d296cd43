"""The keyboard of a terminal as a device: keys that are held repeat, and count until then."""

import re

from .controls import Values

AXES = ('ws', 'ad', 'qe', 'uo', 'ik', 'jl')
"""Keys for more and less of each axis."""
BUTTONS = {1: ' ', 2: 'r', 3: 'h', 4: 'g'}
"""Keys of the buttons: stop, resume, open and close. Button 0 is any key that moves something."""
MOVING = {*''.join(AXES), BUTTONS[3], BUTTONS[4]}
ESCAPED = re.compile(r'\x1b(\[[0-?]*[@-~]|O[@-~]|[^ \x1b])?')
"""What arrow, function and Alt keys type; space counts wherever it is."""
HELP = (
    'w s, a d, q e: along x, y, z; u o, i k, j l: about them. h opens, g closes the gripper. '
    'Space stops until r. Ctrl-C ends.'
)


class Keyboard:
    """
    Remembers the keys of late.

    Parameters
    ----------
    time : float
        Time after which a key that did not repeat counts as let go [s].

    """

    def __init__(self, time: float) -> None:
        self._time = time
        self._pressed_at: dict[str, float] = {}

    def type(self, text: str, now: float) -> None:
        """Take what was typed, without arrow and function keys."""
        self._pressed_at |= dict.fromkeys(ESCAPED.sub('', text), now)

    def values(self, now: float) -> Values:
        """Axes and buttons at a time [s]."""
        held = {key for key, at in self._pressed_at.items() if now - at <= self._time}
        axes = [float(pair[0] in held) - float(pair[1] in held) for pair in AXES]
        return Values(axes, [bool(MOVING & held), *(key in held for key in BUTTONS.values())])
