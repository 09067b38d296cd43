"""
The colours of all markers.

Lines and words can be read before the background of `config/demo.rviz` and before that of RViz's
own. What belongs to the goal is cool, what is wrong is warm; wood and grey are only there.

"""

from std_msgs.msg import ColorRGBA

from .speed_ramp import RAMP


def _color(red: float, green: float, blue: float, alpha: float = 1.0) -> ColorRGBA:
    return ColorRGBA(r=red, g=green, b=blue, a=alpha)


# -- states, and words about them
GREY = _color(0.7, 0.7, 0.72)
WHITE = _color(1.0, 1.0, 1.0)
VIOLET = _color(0.82, 0.66, 1.0)
BLUE = _color(0.5, 0.76, 1.0)
GREEN = _color(0.45, 0.9, 0.5)
YELLOW = _color(1.0, 0.85, 0.3)
RED = _color(1.0, 0.5, 0.45)

# -- the arm, its goal and what is ahead
CHAIN = _color(0.95, 0.65, 0.25)
GHOST = _color(0.65, 0.85, 1.0, 0.65)
SPEEDS = tuple(_color(*rgb) for rgb in RAMP.tolist())
"""Of the path ahead, slow to fast."""
WAYPOINT = _color(0.78, 0.66, 0.98, 0.9)
CHOSEN = _color(1.0, 1.0, 1.0, 0.9)
ERROR = _color(0.85, 0.5, 0.6)
LIMIT = _color(1.0, 0.75, 0.2, 0.6)
COLLIDING = _color(0.9, 0.25, 0.2, 0.8)
REACH = _color(0.7, 0.7, 0.72, 0.8)
X_AXIS = _color(0.9, 0.35, 0.35)
Y_AXIS = _color(0.4, 0.8, 0.4)
Z_AXIS = _color(0.35, 0.55, 0.95)

# -- what stands around
WOOD = _color(0.76, 0.6, 0.42, 0.85)
CELLS = _color(0.6, 0.62, 0.65, 0.85)
NEAREST = _color(0.95, 0.8, 0.25, 0.95)
BLOCKING = _color(0.85, 0.3, 0.2, 0.95)
