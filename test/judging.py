"""Judges of poses: pinocchio, and no code of the package. `command_judge` judges commands."""

from collections.abc import Sequence
import itertools
import math
from typing import NamedTuple

import numpy as np
import pinocchio


class Judge:
    """
    Knows one arm of a robot by pinocchio's own reader and kinematics.

    Joints outside the arm stand at 0. Followers of other joints are not looked after: none of
    the arms judged here has one between base and tip.
    """

    def __init__(self, urdf: str, base_link: str, tip_link: str) -> None:
        self._model = pinocchio.buildModelFromXML(urdf)
        self._data = self._model.createData()
        self._base, self._tip = self._frame(base_link), self._frame(tip_link)
        joint = self._model.frames[self._tip].parentJoint
        above = list(self._model.supports[joint])
        before = set(self._model.supports[self._model.frames[self._base].parentJoint])
        self.joint_names = tuple(self._model.names[i] for i in above if i not in before)
        """Names of the moving joints from base to tip."""
        self._joints = [self._model.getJointId(name) for name in self.joint_names]
        self._neutral = pinocchio.neutral(self._model)
        self._places = {
            name: (joint.idx_q, joint.nq == 2)  # continuous: pinocchio keeps cosine and sine
            for name, joint in zip(self._model.names, self._model.joints, strict=True)
        }
        joints = [self._model.joints[i] for i in self._joints]
        turns = np.array([joint.nq == 2 for joint in joints])
        index_q, index_v = [joint.idx_q for joint in joints], [joint.idx_v for joint in joints]
        self.lower = np.where(turns, -math.inf, self._model.lowerPositionLimit[index_q])
        self.upper = np.where(turns, math.inf, self._model.upperPositionLimit[index_q])
        self.velocity = self._model.velocityLimit[index_v]

    def pose(self, values: Sequence[float], names: Sequence[str] | None = None) -> np.ndarray:
        """Pose T_base_tip, shape (4, 4), at joint values of the arm [rad or m]."""
        q = self._whole(values, names or self.joint_names)
        pinocchio.framesForwardKinematics(self._model, self._data, q)
        T_root_base, T_root_tip = self._data.oMf[self._base], self._data.oMf[self._tip]
        return (T_root_base.inverse() * T_root_tip).homogeneous

    def _whole(self, values: Sequence[float], names: Sequence[str]) -> np.ndarray:
        """Values of all joints of the robot, as pinocchio keeps them."""
        q = self._neutral.copy()
        for name, value in zip(names, values, strict=True):
            at, turns = self._places[name]
            if turns:
                q[at], q[at + 1] = math.cos(value), math.sin(value)
            else:
                q[at] = value
        return q

    def points(self, values: Sequence[float], names: Sequence[str] | None = None) -> np.ndarray:
        """Joint centres and the tip, shape (moving joints + 1, 3), in the base frame [m]."""
        return self.points_and_pose(values, names)[0]

    def points_and_pose(
        self, values: Sequence[float], names: Sequence[str] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return those points, and the pose T_base_tip, shape (4, 4)."""
        T = self.pose(values, names)
        T_base_root = self._data.oMf[self._base].inverse().homogeneous
        centres = np.array([self._data.oMi[i].translation for i in self._joints]).reshape(-1, 3)
        return np.vstack([centres @ T_base_root[:3, :3].T + T_base_root[:3, 3], T[:3, 3]]), T

    def errors(self, T_base_target: np.ndarray, values: Sequence[float]) -> 'PoseErrors':
        """Distance [m] and angle [rad] from the tip at joint values to a target."""
        return pose_errors(T_base_target, self.pose(values))

    def near(
        self, T: np.ndarray, q: np.ndarray, names: Sequence[str], tolerance: float = 1e-8
    ) -> np.ndarray | None:
        """Joint values for a pose by Newton steps from others; None where there are none near."""
        order = [self.joint_names.index(name) for name in names]
        lower, upper = self.lower[order], self.upper[order]
        for _ in range(20):
            here = pinocchio.SE3(self.pose(q, names))
            error = pinocchio.log6(here.actInv(pinocchio.SE3(T))).vector
            if np.linalg.norm(error) < tolerance:
                return q
            q = q + np.linalg.lstsq(self._jacobian(q, names), error, rcond=None)[0]
            if np.any(q < lower) or np.any(q > upper):
                return None
        return None

    def _jacobian(self, values: Sequence[float], names: Sequence[str]) -> np.ndarray:
        """Jacobian of the tip in its own frame, shape (6, n)."""
        q = self._whole(values, names)
        J = pinocchio.computeFrameJacobian(self._model, self._data, q, self._tip, pinocchio.LOCAL)
        places = [self._model.joints[self._model.getJointId(name)].idx_v for name in names]
        return J[:, places]

    def least_gain(self, values: Sequence[float], names: Sequence[str] | None = None) -> float:
        """Smallest singular value of the Jacobian of the tip [m or 1]; none at a singularity."""
        J = self._jacobian(values, names or self.joint_names)
        return float(np.linalg.svd(J, compute_uv=False)[-1])

    def random_configuration(self, rng: np.random.Generator, margin: float = 0.0) -> np.ndarray:
        """Joint values drawn from inside the limits; from [-pi, pi] where continuous."""
        lower = np.where(np.isinf(self.lower), -math.pi, self.lower) + margin
        upper = np.where(np.isinf(self.upper), math.pi, self.upper) - margin
        return rng.uniform(lower, upper)

    def _frame(self, link: str) -> int:
        index = self._model.getFrameId(link, pinocchio.FrameType.BODY)
        assert index < self._model.nframes, f'pinocchio knows no link {link}'
        return index


class TreeJudge:
    """Knows several arms of a robot likewise; joint values are those of `joint_names`."""

    def __init__(
        self, urdf: str, base_link: str, tip_links: Sequence[str], joint_names: Sequence[str]
    ) -> None:
        self.arms = tuple(Judge(urdf, base_link, tip_link) for tip_link in tip_links)
        self.joint_names = tuple(joint_names)
        limits = {
            name: ends
            for arm in self.arms
            for name, *ends in zip(arm.joint_names, arm.lower, arm.upper, strict=True)
        }
        assert sorted(limits) == sorted(self.joint_names)
        self.lower, self.upper = np.array([limits[name] for name in self.joint_names]).T

    def poses(self, values: Sequence[float]) -> np.ndarray:
        """Pose of each tip, shape (k, 4, 4), at joint values [rad or m]."""
        return np.array([arm.pose(values, self.joint_names) for arm in self.arms])

    def errors(self, targets: np.ndarray, values: Sequence[float]) -> np.ndarray:
        """Distance [m] and angle [rad] of each tip from its target, shape (k, 2)."""
        return np.array(
            [pose_errors(*pair) for pair in zip(targets, self.poses(values), strict=True)]
        )


class PoseErrors(NamedTuple):
    """How far a pose is from another; less than bounds only if both are, unlike other tuples."""

    distance: float
    """[m]."""
    angle: float
    """[rad]."""

    def __lt__(self, bounds: tuple[float, ...]) -> bool:
        return all(error < bound for error, bound in zip(self, bounds, strict=True))


def pose_errors(T: np.ndarray, T_other: np.ndarray) -> PoseErrors:
    """Distance [m] and angle [rad] between two poses, shape (4, 4)."""
    turn = pinocchio.log3(T[:3, :3].T @ T_other[:3, :3])
    distance = float(np.linalg.norm(T[:3, 3] - T_other[:3, 3]))
    return PoseErrors(distance, float(np.linalg.norm(turn)))


class PointSpeeds(NamedTuple):
    """How fast an arm moves between commands."""

    centres: np.ndarray
    """The fastest joint centre, shape (m - 1,) [m/s]."""
    tips: np.ndarray
    """The fastest tip, shape (m - 1,) [m/s]."""
    turning: np.ndarray
    """The tip that turns fastest, shape (m - 1,) [rad/s]."""


def point_speeds(judge: Judge | TreeJudge, times: np.ndarray, values: np.ndarray) -> PointSpeeds:
    """Chords over time between joint values, shape (m, n), at times, shape (m,)."""
    arms = judge.arms if isinstance(judge, TreeJudge) else (judge,)
    centres, tips, turning = [], [], []
    for arm in arms:
        placed = [arm.points_and_pose(q, judge.joint_names) for q in values]
        points, T = (np.array(each) for each in zip(*placed, strict=True))
        speeds = np.linalg.norm(np.diff(points, axis=0), axis=-1) / np.diff(times)[:, None]
        turns = [
            np.linalg.norm(pinocchio.log3(a.T @ b)) for a, b in itertools.pairwise(T[:, :3, :3])
        ]
        centres.append(speeds[:, :-1].max(axis=1))
        tips.append(speeds[:, -1])
        turning.append(np.array(turns) / np.diff(times))
    return PointSpeeds(*(np.max(each, axis=0) for each in (centres, tips, turning)))


def distances_from_line(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Distance of each of the points, shape (m, 3), from the straight line between two more."""
    way = end - start
    share = np.clip((points - start) @ way / (way @ way), 0.0, 1.0)
    return np.linalg.norm(points - start - share[:, None] * way, axis=1)
