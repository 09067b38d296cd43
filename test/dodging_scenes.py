"""
Random scenes in which a box comes to the elbow of an arm whose tool a hand leads in a circle.

Judged by pinocchio, coal and trigonometry. Scenes count in which the arm follows the circle
exactly without the box, and in which the box keeps away from all but the links at the elbow.
"""

from collections.abc import Iterator, Sequence
import math
from typing import NamedTuple

import coal
from fabrik_ros import ArmFollower, FollowerOptions, Robot, State
from fabrik_ros.collision import Obstacle, Scene
from fabrik_ros.model.chain import Chain
from fabrik_ros.model.geometry import Box
from fabrik_ros.reasons import ReasonKind
from judging import Judge
import numpy as np
import pinocchio

DT, DURATION = 0.01, 9.0
EVERY = 2
"""Steps between two targets [1]."""
MOVES_EVERY = 5
"""Steps between two places of the box [1]."""
RADIUS, TURNING = 0.05, 1.5
"""Of the circle [m, rad/s]."""
SIZE = 0.1
"""Edge of the box [m]."""
COMES, GOES = 2.0, 6.0
"""When the box begins to come, and to go [s]."""
WAY = 0.3
"""How far it comes [m]."""
NEAREST, FARTHEST = 0.09, 0.19
"""Distance between its middle and that of the elbow then [m]."""
SLOWEST, FASTEST = 0.05, 0.2
"""Of the box [m/s]."""
ELBOW = 3
"""Number of the joint at the elbow."""
APART = 0.22
"""Distance that the box keeps from the other joints, and amid the links between [m]."""
EXACT = 5e-4
"""Distance from the circle of an arm that follows it exactly [m]."""
CAUGHT_UP = 1.0
"""Time after which the tool is on the circle [s]."""
JUDGED_EVERY = 10
"""Steps between two at which distances are measured [1]."""
WIDEST = 2.5
"""Circles begin at joint values up to this [rad]."""


class Case(NamedTuple):
    """A circle of the tool, and where a box goes to and fro."""

    q: np.ndarray
    """Joint values at its begin, shape (n,) [rad]."""
    T: np.ndarray
    """Pose there, shape (4, 4)."""
    plane: np.ndarray
    """Directions of the speed there, and of its centre, shape (2, 3)."""
    begin: np.ndarray
    """Where the box is at first, shape (3,) [m]."""
    end: np.ndarray
    """Where it comes to, shape (3,) [m]."""
    speed: float
    """Of the box [m/s]."""

    def pose(self, time: float) -> np.ndarray:
        """Where the tool is led to, shape (4, 4)."""
        angle, moved = TURNING * time, self.T.copy()
        moved[:3, 3] += RADIUS * np.array([np.sin(angle), 1.0 - np.cos(angle)]) @ self.plane
        return moved

    def box(self, time: float) -> np.ndarray:
        """Where the middle of the box is, shape (3,)."""
        come = np.clip(self.speed * (time - COMES), 0.0, WAY)
        gone = np.clip(self.speed * (time - GOES), 0.0, come)
        return self.begin + (come - gone) / WAY * (self.end - self.begin)

    def off(self, tips: np.ndarray) -> float:
        """Largest distance of the tool, shape (m, 3), from the circle once it is on it [m]."""
        from_centre = tips[round(CAUGHT_UP / DT) :] - (self.T[:3, 3] + RADIUS * self.plane[1])
        in_plane = from_centre @ self.plane.T
        out = np.linalg.norm(from_centre - in_plane @ self.plane, axis=1)
        return float(np.hypot(np.linalg.norm(in_plane, axis=1) - RADIUS, out).max())


class Driven(NamedTuple):
    """What an arm did."""

    q: np.ndarray
    """Commands, shape (m, n)."""
    tips: np.ndarray
    """Places of the tool, shape (m, 3)."""
    states: list[State]
    kinds: list[ReasonKind | None]
    """Kinds of the reasons."""
    texts: list[str]
    """And what they said."""

    @property
    def was_blocked(self) -> bool:
        """Whether it stopped on its way."""
        return set(self.states[round(CAUGHT_UP / DT) :]) != {State.MOVING}


class BoxJudge:
    """Measures how near the links of an arm are to the box, by their raw meshes."""

    def __init__(self, robot: Robot, chain: Chain, packages: Sequence[str] = ()) -> None:
        self._model = pinocchio.buildModelFromXML(robot.source)
        kind = pinocchio.GeometryType.COLLISION
        self._solids = pinocchio.buildGeomFromUrdfString(
            self._model, robot.source, kind, package_dirs=list(packages)
        )
        box = pinocchio.GeometryObject('box', 0, pinocchio.SE3.Identity(), coal.Box(*(SIZE,) * 3))
        self._box = self._solids.addGeometryObject(box)
        for number, solid in enumerate(self._solids.geometryObjects):
            if solid.parentJoint > 0:
                pair = pinocchio.CollisionPair(number, self._box)
                self._solids.addCollisionPair(pair)
        self._data = self._model.createData()
        self._joints = [
            self._model.joints[self._model.getJointId(name)] for name in chain.joint_names
        ]

    def nearest(self, case: Case, q: np.ndarray) -> float:
        """Smallest distance while the box moved as told; commands `q`: (m, n) [m]."""
        return min(self._nearest(q[i], case.box(i * DT)) for i in range(0, len(q), JUDGED_EVERY))

    def _nearest(self, values: np.ndarray, place: np.ndarray) -> float:
        q = pinocchio.neutral(self._model)
        for joint, value in zip(self._joints, values, strict=True):
            turns = joint.nq == 2  # continuous: pinocchio keeps cosine and sine
            q[joint.idx_q : joint.idx_q + joint.nq] = (
                (math.cos(value), math.sin(value)) if turns else value
            )
        self._solids.geometryObjects[self._box].placement = pinocchio.SE3(np.eye(3), place)
        data = self._solids.createData()
        pinocchio.computeDistances(self._model, self._data, self._solids, data, q)
        return min(result.min_distance for result in data.distanceResults)


def _scene(place: np.ndarray) -> Scene:
    T = np.eye(4)
    T[:3, 3] = place
    return Scene([Obstacle('box', Box((SIZE,) * 3), T)])


def drive(
    robot: Robot,
    chain: Chain,
    judge: Judge,
    case: Case,
    distance: float,
    has_box: bool = True,
    **others: float,
) -> Driven:
    """Drive a case with a `dodge_distance` and others; the arm is where it was told to be."""
    options = FollowerOptions(path='line', dodge_distance=distance, **others)
    scene = _scene(case.begin) if has_box else None
    arm, q = ArmFollower(chain, options, robot=robot, scene=scene, looking_time=math.inf), case.q
    arm.step(None, DT, measured=q)
    commands, states, kinds, texts = [], [], [], []
    for i in range(round(DURATION / DT)):
        if has_box and i % MOVES_EVERY == 0:
            arm.set_scene(_scene(case.box(i * DT)))
        q = np.array(arm.step(case.pose(i * DT) if i % EVERY == 0 else None, DT, measured=q))
        commands.append(q)
        states.append(arm.state)
        kinds.append(arm.reason and arm.reason.kind)
        texts.append(str(arm.reason or ''))
    tips = np.array([judge.pose(values)[:3, 3] for values in commands])
    return Driven(np.array(commands), tips, states, kinds, texts)


def cases(robot: Robot, chain: Chain, judge: Judge, seed: int) -> Iterator[tuple[Case, Driven]]:
    """Draw scenes that count, and drive them without the box."""
    rng = np.random.default_rng(seed)
    lower, upper = np.maximum(judge.lower, -WIDEST), np.minimum(judge.upper, WIDEST)
    while True:
        q = lower + (upper - lower) * rng.uniform(0.2, 0.8, len(lower))
        plane = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
        side = rng.normal(size=3)
        side /= np.linalg.norm(side)
        end = judge.points(q)[ELBOW] + side * rng.uniform(NEAREST, FARTHEST)
        case = Case(q, judge.pose(q), plane, end + WAY * side, end, rng.uniform(SLOWEST, FASTEST))
        if not _threatens_elbow_alone(case, judge.points(q)):
            continue
        alone = drive(robot, chain, judge, case, 0.0, has_box=False)
        if alone.was_blocked or case.off(alone.tips) > EXACT:
            continue
        if all(_threatens_elbow_alone(case, judge.points(q)) for q in alone.q[::JUDGED_EVERY]):
            yield case, alone


def _threatens_elbow_alone(case: Case, points: np.ndarray) -> bool:
    """Whether the box keeps away from all joints, shape (m, 3), and links but the elbow."""
    base, shoulder, elbow, wrist, tip = points[[0, 1, ELBOW, -2, -1]]
    others = [base, shoulder, 0.5 * (shoulder + elbow), 0.5 * (elbow + wrist), wrist, tip]
    way = case.begin + np.linspace(0.0, 1.0, 20)[:, None] * (case.end - case.begin)
    return min(np.linalg.norm(way - other, axis=1).min() for other in others) >= APART
