"""Obstacles around the arm, from the scene file and from markers, as they are now."""

from collections.abc import Callable, Iterator
from dataclasses import replace
import math
from pathlib import Path
import re

import numpy as np

from ...collision import Obstacle, Scene
from ...collision.scene_file import load_document, scene_of
from ...errors import FabrikError, SceneError, shown, TargetError, UnknownFrameError
from ...model.robot import Robot
from ...reasons import Reason, ReasonKind
from ...transforms import Array
from ..inputs.frame_resolver import FrameResolver, joint_names_between, JointValues
from ..inputs.marker_obstacles import (
    Groups,
    in_time,
    joint_that_moves,
    MarkedObstacle,
    NOTHING,
    on_link,
)
from ..parameters.node_parameters import NodeParameters
from .handled_obstacles import HandledObstacles, is_alike, is_unmoved, SAME_PLACE

SMALL_MOVE = 0.04
"""An obstacle that has moved by less is where it was, for an arm that waits for quiet [m]."""

SetScene = Callable[[Scene, frozenset[str]], None]
"""Puts a scene in force, of which obstacles with these names are new, have moved or are gone."""


class World:
    """
    Keeps the obstacles that the arm is kept clear of up to date.

    Parameters
    ----------
    parameters : NodeParameters
        The scene file, and how old frames may be.
    robot : Robot
        Its links are frames, and carry obstacles.
    base_link : str
        The frame of obstacles that name none.
    frames : FrameResolver
        Knows other frames.
    groups : mapping
        Obstacles in markers that came before.
    set_scene : callable
        Puts a scene in force, or raises a FabrikError.
    handled : HandledObstacles
        What the hand has made of obstacles.

    Attributes
    ----------
    handled : HandledObstacles
        What the hand has made of obstacles.
    fault : Reason or None
        What is not known of the world, so that the arm may not move.

    Raises
    ------
    SceneError
        If the scene file makes no sense, or a frame in it can never be known.

    """

    def __init__(
        self,
        parameters: NodeParameters,
        robot: Robot,
        base_link: str,
        frames: FrameResolver,
        groups: Groups,
        set_scene: SetScene,
        handled: HandledObstacles,
    ) -> None:
        self._parameters, self._robot, self._base_link = parameters, robot, base_link
        self._frames, self._groups, self._set_scene = frames, groups, set_scene
        self.handled = handled
        self._placed: dict[MarkedObstacle, Obstacle] = {}
        """Places of the obstacles in markers."""
        self._known: dict[str, Obstacle] = {}
        """Placed obstacles by their names."""
        file = Path(parameters.scene)
        self._document = load_document(file) if parameters.scene else None
        self._of_file: tuple[Obstacle, ...] = ()
        self._asks_tf = True
        """Whether obstacles of the file stand in frames that only tf knows."""
        self._scene = Scene()
        self.fault: Reason | None = None

    @property
    def of_file(self) -> tuple[Obstacle, ...]:
        """Obstacles of the scene file."""
        return tuple(self.handled.applied(self._of_file))

    @property
    def in_markers(self) -> tuple[Obstacle, ...]:
        """Obstacles in markers, and what is attached that came in markers which are gone."""
        names = [obstacle.name for obstacle in self._told]
        placed = self.handled.applied(self._placed.values())
        return *placed, *self.handled.without_source(names)

    @property
    def attached(self) -> tuple[str, ...]:
        """Names of the obstacles that were attached to the hand."""
        return self.handled.attached

    @property
    def _told(self) -> list[Obstacle]:
        """Obstacles as file and markers tell them."""
        return [*self._of_file, *self._placed.values()]

    def attach(self, name: str, T_root_link: Array) -> None:
        """
        Let the hand carry an obstacle: see `HandledObstacles.attaching`.

        Raises
        ------
        FabrikError
            If it cannot; nothing changes.

        """
        self._handle(self.handled.attaching(self._told, name, T_root_link))

    def detach(self, name: str, T_root_link: Array) -> None:
        """Put an obstacle down where it is now; FabrikError if it is not attached."""
        self._handle(self.handled.detaching(self._told, name, T_root_link))

    def _handle(self, handled: HandledObstacles) -> None:
        before, self.handled = self.handled, handled
        try:
            self._put_scene_in_force()
        except FabrikError:
            self.handled = before
            raise

    def set_groups(
        self,
        groups: Groups,
        now: float,
        values: JointValues,
        deleted: re.Pattern[str] = NOTHING,
    ) -> None:
        """
        Take obstacles in markers instead of those before; nothing changes where one is refused.

        Parameters
        ----------
        groups : mapping
            The obstacles.
        now : float
            The time [s].
        values : callable
            Tells joint values at the stamp of a marker, for frames that move.
        deleted : pattern, optional
            Names of obstacles that were deleted, unless they were told anew.

        Raises
        ------
        FabrikError
            If one makes no sense, its frame is unknown, or it cannot be kept clear of.

        """
        for obstacle in _obstacles(groups):
            if obstacle not in self._placed:
                self._place(obstacle, now, values)
        told = {obstacle.name for obstacle in self._of_file}
        told.update(obstacle.name for obstacle in _obstacles(groups))
        before = self.handled
        self.handled = before.deleting(
            lambda name: name not in told and deleted.fullmatch(name) is not None
        )
        try:
            self._put_in_force(groups, now, values)
        except FabrikError:
            self.handled = before
            raise
        self._groups = groups

    def update(self, now: float, values: JointValues) -> None:
        """
        Let lifetimes end, and obstacles move with their frames.

        Where the pose of a frame is lost the last one stays, and `fault` says so.

        Raises
        ------
        FabrikError
            If the scene file makes no sense, or an obstacle cannot be kept clear of.

        """
        groups = in_time(self._groups, now)
        self._put_in_force(groups, now, values)
        self._groups = groups

    def _put_in_force(self, groups: Groups, now: float, values: JointValues) -> None:
        """Find where all obstacles are, and put the scene in force if it is another one."""
        faults: list[str] = []
        of_file = self._from_file(now, faults)
        placed = {}
        for obstacle in _obstacles(groups):
            try:
                placed[obstacle] = self._place(obstacle, now, values)
            except FabrikError as error:
                faults.append(str(error))
                if obstacle in self._placed:
                    placed[obstacle] = self._placed[obstacle]
        before, self._of_file, self._placed = (self._of_file, self._placed), of_file, placed
        try:
            self._put_scene_in_force()
        except FabrikError:
            self._of_file, self._placed = before
            raise
        self._known = {obstacle.name: obstacle for obstacle in placed.values()}
        text = f'the world is not known: {faults[0]}' if faults else ''
        self.fault = Reason(ReasonKind.WORLD_UNKNOWN, text) if faults else None

    def _put_scene_in_force(self) -> None:
        """Keep clear of what is known now, if it is another scene."""
        scene = Scene([*self.of_file, *self.in_markers])
        if scene.obstacles != self._scene.obstacles:
            self._set_scene(scene, _changed(self._scene, scene))
            self.handled.forget(self._told)
        self._scene = scene

    def _from_file(self, now: float, faults: list[str]) -> tuple[Obstacle, ...]:
        """Find where the obstacles of the scene file are; as before where a frame is lost."""
        if self._document is None or not self._asks_tf:
            return self._of_file
        self._asks_tf = False
        try:
            scene = scene_of(self._document, lambda frame: self._pose_of(frame, now))
        except UnknownFrameError as error:
            faults.append(str(error))
            return self._of_file
        except SceneError as error:
            raise SceneError(f'scene {shown(self._parameters.scene, 200)}: {error}') from error
        before = {obstacle.name: obstacle for obstacle in self._of_file}
        return tuple(_unmoved(before.get(obstacle.name), obstacle) for obstacle in scene)

    def _place(self, marked: MarkedObstacle, now: float, values: JointValues) -> Obstacle:
        """Find where an obstacle in a marker stands, or which link carries it."""
        name = marked.name
        try:
            on_its_link = self._on_its_link(marked)
            if on_its_link is not None:
                placed = self._placed.get(marked) or self._place_on_link(on_its_link, values)
            else:
                T = self._pose_of(marked.frame, now) @ marked.T_frame_obstacle
                placed = Obstacle(name, marked.shape, T)
        except FabrikError as error:
            kind = UnknownFrameError if isinstance(error, UnknownFrameError) else SceneError
            raise kind(f"obstacle '{name}': {error}") from error
        return _unmoved(self._known.get(name), placed)

    def _on_its_link(self, marked: MarkedObstacle) -> MarkedObstacle | None:
        """Say where an obstacle is in the link that carries its frame; None where tf tells it."""
        frame, robot = marked.frame, self._robot
        if frame in robot.links:
            return marked
        carrier = self._frames.carrier_of(frame)
        if carrier is None or not joint_that_moves(robot, carrier[0]):
            return None
        link, T_link_frame = carrier
        return replace(marked, frame=link, T_frame_obstacle=T_link_frame @ marked.T_frame_obstacle)

    def _place_on_link(self, marked: MarkedObstacle, values: JointValues) -> Obstacle:
        """Find where an obstacle stands whose frame is a link: where that was at its stamp."""
        robot = self._robot
        names = joint_names_between(robot, robot.root_link, marked.frame)
        return on_link(marked, robot, values(marked.stamp, () if marked.is_locked else names))

    def _pose_of(self, frame: str, now: float) -> Array:
        """
        Pose of a frame in the root link, shape (4, 4); of the base frame where it has no name.

        Raises
        ------
        SceneError
            If it moves with a joint, or will never be known.
        UnknownFrameError
            If it is not known now, or too old.

        """
        robot, link = self._robot, frame or self._base_link
        if link not in robot.links:
            return self._pose_by_tf(frame, now)
        joint = joint_that_moves(robot, link)
        if joint:
            raise SceneError(
                f"frame '{shown(link)}' moves with joint '{shown(joint)}'; give the obstacle a "
                'frame that does not, or attach it to the link with `link`'
            )
        return robot.pose(robot.root_link, link, {})

    def _pose_by_tf(self, frame: str, now: float) -> Array:
        if self._frames.buffer is not None:
            self._asks_tf = True
        try:
            T, stamp = self._frames.newest(self._robot.root_link, frame)
        except TargetError as error:
            kind = UnknownFrameError if self._asks_tf else SceneError
            raise kind(str(error)) from error
        timeout = self._parameters.scene_timeout
        if 0.0 < timeout < now - stamp and stamp > 0.0:
            raise UnknownFrameError(
                f"the pose of frame '{shown(frame)}' is {now - stamp:.2f} s old (scene_timeout "
                f'{timeout:g} s)'
            )
        return T


def _obstacles(groups: Groups) -> Iterator[MarkedObstacle]:
    return (obstacle for group in groups.values() for obstacle in group.obstacles)


def _unmoved(before: Obstacle | None, obstacle: Obstacle) -> Obstacle:
    """Return the obstacle before where it is the same in the same place."""
    return obstacle if before is None or not is_unmoved(before, obstacle) else before


def _changed(before: Scene, scene: Scene) -> frozenset[str]:
    """Names of obstacles that are new, gone or in another place."""
    known = {obstacle.name: obstacle for obstacle in before}
    changed = set(known)
    for obstacle in scene:
        old = known.get(obstacle.name)
        if old is None or not is_alike(old, obstacle) or _distance(old, obstacle) > SMALL_MOVE:
            changed.add(obstacle.name)
        else:
            changed.discard(obstacle.name)
    return frozenset(changed)


def _distance(before: Obstacle, obstacle: Obstacle) -> float:
    """Distance that an obstacle has moved by [m]; infinite for one that has turned."""
    T, T_before = obstacle.T_link_obstacle, before.T_link_obstacle
    if np.abs(T[:3, :3] - T_before[:3, :3]).max() > SAME_PLACE:
        return math.inf
    return math.dist(T[:3, 3], T_before[:3, 3])
