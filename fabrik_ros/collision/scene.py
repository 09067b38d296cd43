"""What stands around a robot, and what its links carry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from ..errors import did_you_mean, listed, SceneError, shown
from ..model.geometry import Box, Capsule, Cylinder, HalfSpace, Mesh, Shape, Sphere
from ..model.robot import Robot
from ..transforms import Array, as_pose, why_no_pose

MOST_OBSTACLES = 1000
"""Number of obstacles of a scene: with more, each step of a motion would take too long [1]."""
MOST_CLEARANCE = 1.0
"""[m]"""
LARGEST = 1e3
"""Nothing that stands around an arm is larger, or farther away [m]."""


class ObstacleSource(Enum):
    """Where an obstacle is known from; the values are the namespaces of `~/scene_markers`."""

    FILE = 'file'
    MARKERS = 'markers'
    ATTACHED = 'attached'
    CELLS = 'cells'


@dataclass(frozen=True, eq=False)
class Obstacle:
    """
    A solid that no link may come near.

    Parameters
    ----------
    name : str
        Names it in a scene and in messages.
    shape : Shape or HalfSpace
        Of a mesh all triangles count, as they are; one that is attached becomes a convex hull.
    T_link_obstacle : array, shape (4, 4)
        Where it is, in the frame of `link` [m].
    link : str
        The link that it is attached to and moves with; '' where it stands in the root link.
    touch_links : tuple of str
        Names of links that may touch it.
    clearance : float or None
        Distance that links, and what they carry, keep from it [m]; None: as from all others. Of
        two obstacles that have one the smaller counts.

    Raises
    ------
    SceneError
        If its shape has no size, its pose is none, it is farther away than 1000 m, or its
        clearance is no length up to 1 m.

    """

    name: str
    shape: Shape | HalfSpace
    T_link_obstacle: Array
    link: str = ''
    touch_links: tuple[str, ...] = ()
    clearance: float | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise SceneError('an obstacle has no name')
        if why := why_no_pose(self.T_link_obstacle):
            raise SceneError(f"obstacle '{shown(self.name)}': its pose is no pose: {why}")
        object.__setattr__(self, 'T_link_obstacle', as_pose(self.T_link_obstacle))
        for length in (*_lengths(self.shape), *abs(self.T_link_obstacle[:3, 3]).tolist()):
            if not length <= LARGEST:
                raise SceneError(
                    f"obstacle '{shown(self.name)}': {length:g} m is too much; at most "
                    f'{LARGEST:g} m are understood'
                )
        if any(not length > 0.0 for length in _lengths(self.shape)):
            sizes = ', '.join(f'{length:g}' for length in _lengths(self.shape))
            raise SceneError(
                f"obstacle '{shown(self.name)}': its sizes are {sizes}; they must be above 0"
            )
        if self.clearance is not None and not 0.0 <= self.clearance <= MOST_CLEARANCE:
            raise SceneError(
                f"obstacle '{shown(self.name)}': its clearance is {self.clearance:g} m; expected "
                f'0 to {MOST_CLEARANCE:g}'
            )
        if self.link and isinstance(self.shape, HalfSpace):
            raise SceneError(
                f"obstacle '{shown(self.name)}': a half space has no end, so that no link can "
                'carry it'
            )


def _lengths(shape: Shape | HalfSpace) -> tuple[float, ...]:
    """Sizes that must be above 0 [m]; for a mesh its factors."""
    match shape:
        case Box(size):
            return size
        case Cylinder(radius, length) | Capsule(radius, length):
            return radius, length
        case Sphere(radius):
            return (radius,)
        case Mesh(_, scale):
            return tuple(map(abs, scale))
        case HalfSpace():
            return ()


class Scene:
    """
    Obstacles with different names.

    Parameters
    ----------
    obstacles : iterable of Obstacle
        What stands around the robot, and what its links carry.

    Raises
    ------
    SceneError
        If two have the same name, or there are more than 1000.

    """

    def __init__(self, obstacles: Iterable[Obstacle] = ()) -> None:
        self.obstacles = tuple(obstacles)
        if len(self.obstacles) > MOST_OBSTACLES:
            raise SceneError(
                f'{len(self.obstacles)} obstacles; at most {MOST_OBSTACLES} are checked'
            )
        names = set()
        for obstacle in self:
            if obstacle.name in names:
                raise SceneError(f"two obstacles are called '{shown(obstacle.name)}'")
            names.add(obstacle.name)

    def __len__(self) -> int:
        return len(self.obstacles)

    def __iter__(self) -> Iterator[Obstacle]:
        return iter(self.obstacles)

    def __repr__(self) -> str:
        return f'Scene({listed([obstacle.name for obstacle in self])})'

    def check_links(self, robot: Robot) -> None:
        """
        Check that all links that obstacles name are links of a robot.

        Raises
        ------
        SceneError
            If one is not; names the obstacle and the link.

        """
        for obstacle in self:
            for link in (obstacle.link or robot.root_link, *obstacle.touch_links):
                if link not in robot.links:
                    raise SceneError(
                        f"obstacle '{shown(obstacle.name)}': no link is called "
                        f"'{shown(link)}'{did_you_mean(link, robot.links)}"
                    )
