"""Arms that share a body: the tree from a base link to several tip links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..errors import ChainError, LinkNotFoundError, listed, shown
from ..kernels import tree_kinematics as kinematics
from ..kernels.arm_table import FRAME, IS_MIMIC, POSITION, SOURCE
from ..transforms import Array
from .chain import Chain
from .joints import Joint
from .mechanism import Mechanism, pack, radii, read_only, tool_joint


class Tree(Mechanism):
    """
    Immutable description of several arms that hang on one base and may share joints.

    `q` has one entry for each joint in `joint_names`; a joint that several tips hang on is there
    once.

    Attributes
    ----------
    base_link : str
        First link.
    tip_links : tuple of str
        The k last links.
    joint_names : tuple of str
        Names of the n joints that have a value: those on the path to the first tip, from base to
        tip, then the others on the path to the second one, and so on.
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
    inner_reaches : array, shape (k,)
        Each tip is never nearer than this to its root point [m].
    reach : float
        The largest of the reaches [m].
    size : float
        What lengths are measured by [m]: see `Chain`.
    model : array
        What the compiled functions read; see `kernels/tree_model.py`.

    """

    def __init__(
        self, base_link: str, tip_links: tuple[str, ...], paths: tuple[tuple[Joint, ...], ...]
    ) -> None:
        _check_tips(base_link, tip_links, paths)
        joints = list({joint.child: joint for path in paths for joint in path}.values())
        super().__init__(f"between '{shown(base_link)}' and {_quoted(tip_links)}", joints)
        self.base_link = base_link
        self.tip_links = tip_links
        self._paths = paths
        ends = [path[-1].child for path in paths]
        rows, parents, moving = pack(joints, base_link, ends, self.joint_names)
        self.model = read_only(np.column_stack([rows, parents]))
        self._path_rows = [_rows_to(len(moving) + t, parents) for t in range(len(tip_links))]
        self._root_points = read_only(rows[[path[0] for path in self._path_rows], POSITION:FRAME])
        spans = [
            radii(rows[path], [moving[i] for i in path[:-1]], self.open_slides)
            for path in self._path_rows
        ]
        columns = map(read_only, np.array(spans).T.copy())
        self.inner_reaches, self._reaches, self._sizes = columns
        self.reach, self.size = float(self._reaches.max()), float(self._sizes.max())

    def __repr__(self) -> str:
        tips = _quoted(self.tip_links)
        return f"Tree('{shown(self.base_link)}' to {tips}: {listed(self.joint_names)})"

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """
        The chain to each tip.

        Raises
        ------
        ChainError
            If a joint mimics one on the path to another tip.

        """
        ends = zip(self.tip_links, self._paths, strict=True)
        return tuple(Chain(self.base_link, tip, path) for tip, path in ends)

    def part(self, tips: Sequence[int]) -> Tree:
        """
        Return the tree to some of the tips, by their numbers.

        Raises
        ------
        ChainError
            If a joint mimics one on the path to another tip.

        """
        numbers = sorted(tips)
        links, paths = self.tip_links, self._paths
        return Tree(
            self.base_link, tuple(links[t] for t in numbers), tuple(paths[t] for t in numbers)
        )

    @property
    def root_points(self) -> Array:
        """Place of the first joint on the path to each tip in the base frame, shape (k, 3) [m]."""
        return self._root_points

    @property
    def reaches(self) -> Array:
        """Bound on the distance of each tip from its root point, shape (k,) [m]."""
        return self._reaches

    @property
    def sizes(self) -> Array:
        """The size of each tip, shape (k,) [m]."""
        return self._sizes

    @property
    def tree_rows(self) -> Array:
        """The rows of the model."""
        return self.model

    def joints_to(self, t: int) -> int:
        """Count the joints on the path to tip number `t`, without mimic joints."""
        rows = self.model[self._path_rows[t][:-1]]
        return int(np.count_nonzero(rows[:, IS_MIMIC] == 0.0))

    def moves(self, t: int) -> npt.NDArray[np.bool_]:
        """Tell of each joint value, shape (n,), whether it moves tip number `t`."""
        sources = self.model[self._path_rows[t][:-1], SOURCE].astype(int)
        return np.isin(np.arange(len(self)), sources)

    def with_tools(self, tools: Mapping[str, npt.ArrayLike]) -> Tree:
        """
        Append fixed tool frames, T_tip_tool of shape (4, 4) by tip link, behind tip links.

        Raises
        ------
        ChainError
            If a tool is not a pose.
        LinkNotFoundError
            If a tool is for a link that is no tip.

        """
        for link in tools:
            if link not in self.tip_links:
                raise LinkNotFoundError(link, self.tip_links)
        paths = [
            (*path, tool_joint(path[-1].child, tools[tip])) if tip in tools else path
            for tip, path in zip(self.tip_links, self._paths, strict=True)
        ]
        return Tree(self.base_link, self.tip_links, tuple(paths))

    def forward_kinematics(self, q: npt.ArrayLike) -> Array:
        """
        Poses of the tips at joint values `q`, shape (n,) [rad or m].

        Returns
        -------
        array, shape (k, 4, 4)
            T_base_tip of each tip.

        Raises
        ------
        JointValueError
            If `q` has another shape or is not finite. Limits are not checked.

        """
        T = np.empty((len(self.tip_links), 4, 4))
        frames = np.empty((len(self.model), FRAME))
        kinematics.tip_poses(self.model, self.checked(q), frames, T)
        return T

    def tip_points(self, q: npt.ArrayLike) -> tuple[Array, ...]:
        """Joint centres as in `points`, by the name that chains have for it, too."""
        return self.points(q)

    def tip_poses(self, q: npt.ArrayLike) -> Array:
        """Poses as in `forward_kinematics`, by the name that chains have for it, too."""
        return self.forward_kinematics(q)

    def points(self, q: npt.ArrayLike) -> tuple[Array, ...]:
        """Joint centres on the path to each tip, and the tip, in the base frame [m], (., 3)."""
        frames = np.empty((len(self.model), FRAME))
        kinematics.tree_link_frames(self.model, self.checked(q), frames)
        return tuple(frames[path, POSITION:FRAME] for path in self._path_rows)


def _quoted(links: tuple[str, ...]) -> str:
    return listed([repr(link) for link in links])


def _rows_to(row: int, parents: tuple[int, ...]) -> list[int]:
    """List the rows on the path from the base to a row, with that row."""
    path = [row]
    while parents[path[-1]] >= 0:
        path.append(parents[path[-1]])
    return path[::-1]


def _check_tips(
    base_link: str, tip_links: tuple[str, ...], paths: tuple[tuple[Joint, ...], ...]
) -> None:
    if not tip_links:
        raise ChainError('a tree needs at least one tip link')
    for tip, path in zip(tip_links, paths, strict=True):
        if tip_links.count(tip) > 1:
            raise ChainError(f"tip link '{shown(tip)}' is named twice")
        if not any(joint.type.moves for joint in path):
            raise ChainError(f"nothing moves between '{shown(base_link)}' and '{shown(tip)}'")
