"""One arm: the chain from a base link to a tip link."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import listed, shown
from ..kernels import kinematics
from ..kernels.arm_table import FRAME, POSITION
from ..transforms import Array
from .joints import Joint
from .mechanism import Mechanism, pack, radii, read_only, tool_joint


class Chain(Mechanism):
    """
    Serial, immutable description of an arm from a base link to a tip link.

    Fixed joints are folded into their neighbours. Mimic joints move with their source and
    have no value of their own: `q` has one entry for each joint in `joint_names`.

    Attributes
    ----------
    base_link, tip_link : str
        First and last link.
    joint_names : tuple of str
        Names of the n joints that have a value, in order from base to tip.
    joint_types : tuple of JointType
        Their types.
    is_revolute : array of bool, shape (n,)
        Which of them turn about their axis; the others are prismatic.
    lower, upper : array, shape (n,)
        Limits [rad or m]; infinite where continuous. Limits of mimic joints are included.
    velocity : array, shape (n,)
        Greatest speeds [rad/s or m/s]; inf where the model gives none. Mimic joints
        included.
    acceleration, jerk : array, shape (n,)
        Greatest accelerations, either way, and jerks [rad or m, per s^2 and per s^3]; likewise.
    root_point : array, shape (3,)
        Where the first joint sits, in the frame of the base link [m].
    reach : float
        The tip is never farther than this from `root_point` [m].
    inner_reach : float
        The tip is never nearer than this to `root_point` [m]; mostly 0.
    size : float
        What lengths are measured by [m]: the reach, where the limits of no prismatic joint stand
        for none.
    model : array
        What the compiled functions read; see `kernels/arm_table.py`.

    """

    def __init__(self, base_link: str, tip_link: str, path: tuple[Joint, ...]) -> None:
        super().__init__(f"between '{shown(base_link)}' and '{shown(tip_link)}'", path)
        self.base_link = base_link
        self.tip_link = tip_link
        self.tip_links = (tip_link,)
        self._path = path
        end = path[-1].child
        self.model, _, moving = pack(path, base_link, [end], self.joint_names)
        self.root_point = read_only(self.model[0, POSITION:FRAME].copy())
        self.inner_reach, self.reach, self.size = radii(self.model, moving, self.open_slides)

    def __repr__(self) -> str:
        ends = f"'{shown(self.base_link)}' to '{shown(self.tip_link)}'"
        return f'Chain({ends}: {listed(self.joint_names)})'

    def with_tool(self, T_tip_tool: npt.ArrayLike) -> Chain:
        """
        Append a fixed tool frame, `T_tip_tool` of shape (4, 4), behind the tip link.

        Raises
        ------
        ChainError
            If the tool is not a pose.

        """
        tool = tool_joint(self._path[-1].child, T_tip_tool)
        return Chain(self.base_link, self.tip_link, (*self._path, tool))

    def forward_kinematics(self, q: npt.ArrayLike) -> Array:
        """
        Pose of the tip at joint values `q`, shape (n,) [rad or m].

        Returns
        -------
        array, shape (4, 4)
            T_base_tip.

        Raises
        ------
        JointValueError
            If `q` has another shape or is not finite. Limits are not checked.

        """
        T = np.empty((4, 4))
        kinematics.tip_pose(self.model, self.checked(q), np.empty(FRAME), T)
        return T

    def points(self, q: npt.ArrayLike) -> Array:
        """Joint centres and the tip in the base frame [m], shape (moving joints + 1, 3)."""
        points = np.empty((len(self.model), 3))
        kinematics.joint_centres(self.model, self.checked(q), np.empty(FRAME), points)
        return points

    def tip_poses(self, q: npt.ArrayLike) -> Array:
        """Pose of the tip as that of the only one of several, shape (1, 4, 4)."""
        T = np.empty((1, 4, 4))
        kinematics.tip_pose(self.model, self.checked(q), np.empty(FRAME), T[0])
        return T

    def tip_points(self, q: npt.ArrayLike) -> tuple[Array, ...]:
        """Joint centres and the tip in the base frame [m], as those of the only one of several."""
        return (self.points(q),)

    def moves(self, t: int) -> npt.NDArray[np.bool_]:
        """Tell of each joint value, shape (n,), whether it moves the tip: all do."""
        return np.ones(len(self), dtype=bool)

    @property
    def root_points(self) -> Array:
        """Place of the first joint in the base frame, shape (1, 3) [m]."""
        return self.root_point[None]

    @property
    def reaches(self) -> Array:
        """The reach of the only tip, shape (1,) [m]."""
        return np.array([self.reach])

    @property
    def sizes(self) -> Array:
        """The size of the only tip, shape (1,) [m]."""
        return np.array([self.size])

    @property
    def tree_rows(self) -> Array:
        """The rows of the model, each below the one before it."""
        return np.column_stack([self.model, np.arange(-1.0, len(self.model) - 1)])
