"""
The judge of ways: pinocchio and coal, and no code of the package.

It says whether a configuration, a straight joint move, or a straight line of the tip is free, by
these rules:

* Joints stay inside their limits, narrowed by the soft limits of a `safety_controller`. Joints
  outside the arm stand at 0, or at the limit next to it.
* All links that carry collision geometry take part, meshes as their convex hulls. A configuration
  is free where all pairs of links that are looked at are farther apart than the clearance.
* Pairs are not looked at where no joint of the arm moves one against the other; where one moving
  joint connects them, with no link with geometry between; where they are within the clearance in
  at least 95 % of 400 random configurations; or in at least half of them, and with all joints at
  zero or amid their limits too; and those that are said to be allowed.
* Boxes that stand around the arm keep farther away than their clearance from all links that a
  joint of the arm moves.
* A joint move is looked at where no joint is farther than `MOVE_STEP` from the last look.
* A line is followed in steps of 1 mm or half a degree, whichever is shorter, by damped least
  squares from the configuration it starts at, with joints at their limits kept there. It is free
  where the tip is on it to 1e-4 m and 1e-4 rad after each step, no joint jumps, and all
  configurations are free. Steps are halved, up to `HALVINGS` times, where a joint would jump. With
  fewer than six joints the position is exact, and the orientation as good as the joints allow.

"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product
import math
from typing import NamedTuple
import xml.etree.ElementTree as ET

import coal
from judging import pose_errors
import numpy as np
import pinocchio

CLEARANCE = 0.002
"""Distance that links keep [m]: the default of the node."""
BOX_CLEARANCE = 0.02
"""Distance that links keep from what stands around [m]: the default of the node."""
COMMAND_SLACK = 1e-4
"""A command may be this much nearer [m]: distances have errors, and a motion stops in front."""
LIMIT_SLACK = 1e-9
"""A command may be this far outside a limit [rad or m]: rounding."""
SAMPLES, NEARLY_ALWAYS, OFTEN = 400, 0.95, 0.5
MOVE_STEP = 0.005
"""[rad or m]; 5 mm at the end of an arm of one metre."""
LINE_STEP, TURN_STEP = 0.001, math.radians(0.5)
"""[m], [rad]"""
EXACT = 1e-4
"""[m] and [rad]"""
LARGEST_CHANGE = 0.05
"""A joint that moves more between two steps of a line jumps [rad or m]."""
HALVINGS = 5
MOST_STEPS, MOST_TRIES = 40, 100
"""Least-squares steps from one seed; seeds for the configurations at a goal."""
CONVERGED = 1e-8
"""Error at which least squares have nothing left to do [m and rad]."""
DAMPING, LEAST_DAMPING = 0.1, 1e-10
"""Damping of least squares: share of the squared error, and the least."""
BETWEEN = 1000
"""Configurations over which a joint move may go."""
MOST_GOALS = 64
"""Configurations at the goal that are looked at from one between, the nearest first."""
LEAST_JOINTS_FOR_POSES = 6
TURN = 2.0 * math.pi


class Line(NamedTuple):
    """What became of following a line."""

    is_free: bool
    share: float
    """How far it was followed; 1 for all of it."""
    cause: str
    """'' where it is free; else 'jump', 'limits', 'out of reach' or 'collision'."""


class BoxAround(NamedTuple):
    """A box that stands around an arm."""

    size: tuple[float, float, float]
    """Lengths of its edges [m]."""
    T_base_box: np.ndarray
    """Where its centre is, shape (4, 4)."""


class WayJudge:
    """
    Judges the ways of one arm.

    Parameters
    ----------
    urdf : str
        The URDF text.
    base_link, tip_link : str
        The first and the last link of the arm.
    packages : sequence of str
        Folders that packages with meshes are in.
    clearance : float
        Distance that links keep [m].
    allowed : iterable of (str, str)
        Names of links that may touch.
    boxes : mapping
        What stands around the arm, `BoxAround` by name.
    box_clearance : float
        Distance that links keep from them [m].

    Attributes
    ----------
    joint_names : tuple of str
        Moving joints from base to tip, the order of all joint values.
    lower, upper : array, shape (n,)
        Limits [rad or m]; infinite where there are none.
    pairs : frozenset of frozenset of str
        Names of the links that are looked at.

    """

    def __init__(
        self,
        urdf: str,
        base_link: str,
        tip_link: str,
        packages: Sequence[str] = (),
        clearance: float = CLEARANCE,
        allowed: Iterable[tuple[str, str]] = (),
        boxes: Mapping[str, BoxAround] | None = None,
        box_clearance: float = BOX_CLEARANCE,
    ) -> None:
        whole = pinocchio.buildModelFromXML(urdf)
        solids = pinocchio.buildGeomFromUrdfString(
            whole, urdf, pinocchio.GeometryType.COLLISION, package_dirs=list(packages)
        )
        _take_hulls(solids)
        links = [whole.frames[solid.parentFrame].name for solid in solids.geometryObjects]
        joints = _joints_between(whole, base_link, tip_link)
        others = [i for i in range(1, whole.njoints) if i not in joints]
        self._model, self._solids = pinocchio.buildReducedModel(
            whole, solids, others, _resting(whole)
        )
        self._data = self._model.createData()
        self.joint_names = tuple(whole.names[i] for i in joints)
        assert tuple(self._model.names)[1:] == self.joint_names
        moving = list(self._model.joints)[1:]
        self._continuous = np.array([joint.nq == 2 for joint in moving])
        self._turning = np.array([joint.shortname().startswith('JointModelR') for joint in moving])
        self._at = np.array([joint.idx_q for joint in moving])
        self.lower, self.upper = self._limits(urdf)
        self._tip = self._frame(tip_link)
        self._base_in_root = self._placement(self._frame(base_link), np.zeros(len(joints)))
        self._take_pairs(links, _neighbours(urdf, set(links)), allowed, clearance)
        clearances = [clearance] * len(self._solids.collisionPairs)
        clearances += [box_clearance] * self._put_around(boxes or {}, len(links))
        self._apart = self._looking(clearances)
        self._commanded = self._looking([max(0.0, c - COMMAND_SLACK) for c in clearances])

    # -- the arm

    def __len__(self) -> int:
        return len(self.joint_names)

    @property
    def finite_limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Limits with one turn in place of infinite ones, each of shape (n,)."""
        lower = np.where(np.isinf(self.lower), -math.pi, self.lower)
        return lower, np.where(np.isinf(self.upper), math.pi, self.upper)

    def random_configuration(self, rng: np.random.Generator) -> np.ndarray:
        """Joint values drawn from inside the limits, shape (n,)."""
        return rng.uniform(*self.finite_limits)

    def free_configuration(self, rng: np.random.Generator) -> np.ndarray:
        """Joint values of a free configuration drawn likewise."""
        while not self.is_free(q := self.random_configuration(rng)):
            pass
        return q

    def pose(self, q: np.ndarray) -> np.ndarray:
        """T_base_tip, shape (4, 4), at joint values of shape (n,)."""
        return (self._base_in_root.inverse() * self._placement(self._tip, q)).homogeneous

    def is_inside(self, q: np.ndarray, slack: float = LIMIT_SLACK) -> bool:
        """Whether all joints are inside their limits."""
        return bool(np.all((self.lower - slack <= q) & (q <= self.upper + slack)))

    # -- what is free

    def is_free(self, q: np.ndarray) -> bool:
        """Whether all links are farther apart than the clearance."""
        return not self._touch(q, self._apart)

    def may_be_commanded(self, q: np.ndarray) -> bool:
        """Whether all links are apart as `is_free`, but for the slack of commands."""
        return not self._touch(q, self._commanded)

    def is_move_free(self, q: np.ndarray, q_end: np.ndarray) -> bool:
        """Whether a straight joint move from a free configuration to another is free."""
        count = max(1, math.ceil(np.abs(q_end - q).max() / MOVE_STEP))
        return all(self.is_free(q + share * (q_end - q)) for share in _shares(count))

    def line(self, q: np.ndarray, T_goal: np.ndarray) -> Line:
        """Follow the straight line from a free configuration to the pose T_base_tip, (4, 4)."""
        T = self.pose(q)
        distance, angle = pose_errors(T, T_goal)
        step = whole = 1.0 / max(1, math.ceil(distance / LINE_STEP), math.ceil(angle / TURN_STEP))
        share = 0.0
        while share < 1.0:
            end = 1.0 if share + step > 1.0 - 1e-9 else share + step
            q_next, cause = self._follow(_between(T, T_goal, end), q)
            if cause:
                step *= 0.5
                if step < whole * 0.5**HALVINGS:
                    return Line(False, share, cause)
            elif not self.is_free(q_next):
                return Line(False, share, 'collision')
            else:
                q, share, step = q_next, end, min(whole, 2.0 * step)
        return Line(True, 1.0, '')

    def configurations_at(
        self,
        T_goal: np.ndarray,
        q: np.ndarray,
        rng: np.random.Generator,
        known: np.ndarray | None = None,
    ) -> list[np.ndarray]:
        """
        Find free configurations at a pose T_base_tip, (4, 4), each in all turns it may be in.

        Those nearest to `q`, shape (n,), come first. Joints without limits come within a turn of
        `q`. One that is `known` already, shape (n,), is among them.
        """
        found = {} if known is None else {self._in_one_turn(known): known}
        for _ in range(MOST_TRIES):
            answer = self.solve(T_goal, self.random_configuration(rng))
            if answer is not None and self.is_free(answer):
                found.setdefault(self._in_one_turn(answer), answer)
        turned = (other for answer in found.values() for other in self._turns(answer, q))
        return sorted(turned, key=lambda other: float(np.abs(other - q).max()))

    def free_move(self, q: np.ndarray, goals: Sequence[np.ndarray]) -> bool:
        """Whether a straight joint move to any of these configurations is free."""
        return any(self.is_move_free(q, goal) for goal in goals)

    def free_move_over_one(
        self, q: np.ndarray, goals: Sequence[np.ndarray], rng: np.random.Generator
    ) -> bool:
        """Whether there is a free move to any of these over one of `BETWEEN` random ones."""
        if not goals:
            return False
        table = np.array(goals)
        for _ in range(BETWEEN):
            via = self.random_configuration(rng)
            if not (self.is_free(via) and self.is_move_free(q, via)):
                continue
            nearest = np.argsort(np.abs(table - via).max(axis=1))[:MOST_GOALS]
            if self.free_move(via, table[nearest]):
                return True
        return False

    def solve(self, T_goal: np.ndarray, q: np.ndarray) -> np.ndarray | None:
        """Joint values at the pose T_base_tip, (4, 4), from a seed; None where none are found."""
        for _ in range(MOST_STEPS):
            error, J = self._error(T_goal, q)
            if np.abs(error).max() < CONVERGED:
                break
            q = self._within_limits(q, error, J, _least_squares)
        distance, angle = pose_errors(T_goal, self.pose(q))
        return q if distance < EXACT and angle < EXACT else None

    # -- one step of a line

    def _follow(self, T: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, str]:
        """Joint values at a pose near that at `q`, and why it cannot be followed; '' if it can."""
        whole = len(self) >= LEAST_JOINTS_FOR_POSES
        q_next = q
        for _ in range(MOST_STEPS):
            error, J = self._error(T, q_next)
            before = q_next
            q_next = self._within_limits(q_next, error, J, _least_squares if whole else _position)
            if np.abs(q_next - before).max() < CONVERGED:
                break
        distance, angle = pose_errors(T, self.pose(q_next))
        if distance > EXACT or (whole and angle > EXACT):
            return q_next, 'limits' if self._is_at_limit(q_next) else 'out of reach'
        return q_next, 'jump' if np.abs(q_next - q).max() > LARGEST_CHANGE else ''

    def _within_limits(self, q, error, J, solve) -> np.ndarray:
        """Take a step, shape (n,); joints at a limit do not move beyond it, the others help."""
        free = np.ones(len(q), dtype=bool)
        while True:
            step = solve(np.where(free, J, 0.0), error)
            stopped = free & (
                ((q <= self.lower) & (step < 0.0)) | ((q >= self.upper) & (step > 0.0))
            )
            if not stopped.any():
                return np.clip(q + step, self.lower, self.upper)
            free &= ~stopped

    def _is_at_limit(self, q: np.ndarray) -> bool:
        return bool(np.any((q <= self.lower + LIMIT_SLACK) | (q >= self.upper - LIMIT_SLACK)))

    def _error(self, T: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Position and turn that are missing, (6,) [m, rad], and the Jacobian, (6, n), in root."""
        goal = self._base_in_root * pinocchio.SE3(T)
        pinocchio.computeJointJacobians(self._model, self._data, self._configuration(q))
        here = pinocchio.updateFramePlacement(self._model, self._data, self._tip)
        turn = here.rotation @ pinocchio.log3(here.rotation.T @ goal.rotation)
        J = pinocchio.getFrameJacobian(
            self._model, self._data, self._tip, pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )
        return np.concatenate([goal.translation - here.translation, turn]), J

    # -- pinocchio

    def _configuration(self, q: np.ndarray) -> np.ndarray:
        """Joint values as pinocchio has them: continuous joints by cosine and sine."""
        if not self._continuous.any():
            return np.asarray(q, dtype=float)
        values = np.zeros(self._model.nq)
        values[self._at] = np.where(self._continuous, np.cos(q), q)
        values[self._at[self._continuous] + 1] = np.sin(q)[self._continuous]
        return values

    def _placement(self, frame: int, q: np.ndarray) -> pinocchio.SE3:
        pinocchio.framesForwardKinematics(self._model, self._data, self._configuration(q))
        return self._data.oMf[frame].copy()

    def _frame(self, link: str) -> int:
        index = self._model.getFrameId(link, pinocchio.FrameType.BODY)
        assert index < self._model.nframes, f'pinocchio knows no link {link}'
        return index

    def _limits(self, urdf: str) -> tuple[np.ndarray, np.ndarray]:
        lower, upper = self._model.lowerPositionLimit, self._model.upperPositionLimit
        lower = np.where(self._continuous, -math.inf, lower[self._at])
        upper = np.where(self._continuous, math.inf, upper[self._at])
        for joint in ET.fromstring(urdf).findall('joint'):
            soft, name = joint.find('safety_controller'), joint.get('name')
            if soft is not None and name in self.joint_names:
                j = self.joint_names.index(name)
                lower[j] = max(lower[j], float(soft.get('soft_lower_limit', '-inf')))
                upper[j] = min(upper[j], float(soft.get('soft_upper_limit', 'inf')))
        return lower, upper

    def _touch(self, q: np.ndarray, looking: pinocchio.GeometryData) -> bool:
        model, data, solids = self._model, self._data, self._solids
        at = self._configuration(q)
        return bool(pinocchio.computeCollisions(model, data, solids, looking, at, True))

    def _looking(self, clearances: Sequence[float]) -> pinocchio.GeometryData:
        """Prepare to find the pairs that are within their clearances [m]."""
        looking = self._solids.createData()
        for request, clearance in zip(looking.collisionRequests, clearances, strict=True):
            request.security_margin = clearance
        return looking

    def _put_around(self, boxes: Mapping[str, BoxAround], own: int) -> int:
        """Add boxes, paired with those of the first `own` solids that move; count the pairs."""
        before = len(self._solids.collisionPairs)
        for name, (size, T) in boxes.items():
            placement = self._base_in_root * pinocchio.SE3(T)
            box = pinocchio.GeometryObject(name, 0, placement, coal.Box(*size))
            b = self._solids.addGeometryObject(box)
            for a in range(own):
                if self._solids.geometryObjects[a].parentJoint:
                    self._solids.addCollisionPair(pinocchio.CollisionPair(a, b))
        return len(self._solids.collisionPairs) - before

    def _take_pairs(self, links, neighbours, allowed, clearance) -> None:
        """Choose the pairs that are looked at."""
        solids, left_out = self._solids, {frozenset(pair) for pair in allowed} | neighbours
        for a, b in combinations(range(len(links)), 2):
            moves = solids.geometryObjects[a].parentJoint != solids.geometryObjects[b].parentJoint
            if moves and frozenset((links[a], links[b])) not in left_out:
                solids.addCollisionPair(pinocchio.CollisionPair(a, b))
        looking = self._looking([clearance] * len(solids.collisionPairs))
        often = self._often_touching(links, looking)
        for pair in list(solids.collisionPairs):
            if frozenset((links[pair.first], links[pair.second])) in often:
                solids.removeCollisionPair(pair)
        self.pairs = frozenset(
            frozenset((links[pair.first], links[pair.second])) for pair in solids.collisionPairs
        )

    def _often_touching(self, links, looking) -> set[frozenset[str]]:
        """Find the pairs of links that touch so often that they must be meant to."""
        names = [
            frozenset((links[pair.first], links[pair.second]))
            for pair in self._solids.collisionPairs
        ]

        def touching(q: np.ndarray) -> set[frozenset[str]]:
            model, data, at = self._model, self._data, self._configuration(q)
            pinocchio.computeCollisions(model, data, self._solids, looking, at, False)
            results = zip(names, looking.collisionResults, strict=True)
            return {name for name, result in results if result.isCollision()}

        rng, counts = np.random.default_rng(1), dict.fromkeys(names, 0)
        for _ in range(SAMPLES):
            for name in touching(self.random_configuration(rng)):
                counts[name] += 1
        lower, upper = self.finite_limits
        usual = touching(np.clip(np.zeros(len(lower)), lower, upper))
        usual |= touching(0.5 * (lower + upper))
        return {
            name
            for name, count in counts.items()
            if count >= SAMPLES * (OFTEN if name in usual else NEARLY_ALWAYS)
        }

    def _in_one_turn(self, q: np.ndarray) -> tuple[float, ...]:
        """Two digits of joint values, the same for all turns that revolute joints may be in."""
        once = np.where(self._turning, np.arctan2(np.sin(q), np.cos(q)), q)
        return tuple(np.round(once, 2) + 0.0)

    def _turns(self, q: np.ndarray, near: np.ndarray) -> Iterator[np.ndarray]:
        """Yield a configuration in all turns that its joints may be in."""
        lower = np.where(self._continuous, near - TURN, self.lower)
        upper = np.where(self._continuous, near + TURN, self.upper)
        first = np.where(self._turning, np.ceil((lower - q) / TURN), 0.0).astype(int)
        last = np.where(self._turning, np.floor((upper - q) / TURN), 0.0).astype(int)
        ranges = [range(a, b + 1) for a, b in zip(first, last, strict=True)]
        for turns in product(*ranges):
            yield q + TURN * np.array(turns)


def _joints_between(model: pinocchio.Model, base_link: str, tip_link: str) -> list[int]:
    """Numbers of the moving joints from one link to another."""
    base, tip = (
        model.frames[model.getFrameId(link, pinocchio.FrameType.BODY)].parentJoint
        for link in (base_link, tip_link)
    )
    before = set(model.supports[base])
    return [i for i in model.supports[tip] if i not in before]


def _resting(model: pinocchio.Model) -> np.ndarray:
    """Put all joints of the whole model at 0, or at the limit next to it."""
    q = pinocchio.neutral(model)
    for joint in list(model.joints)[1:]:
        if joint.nq == 1:
            limits = model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]
            q[joint.idx_q] = np.clip(0.0, *limits)
    return q


def _take_hulls(solids: pinocchio.GeometryModel) -> None:
    """Put the convex hull in the place of each mesh."""
    for solid in solids.geometryObjects:
        if isinstance(solid.geometry, coal.BVHModelBase):
            solid.geometry.buildConvexHull(True, 'Qt')
            if solid.geometry.convex is None:  # a vertex has more neighbours than coal can count
                solid.geometry.buildConvexHull(True, 'QJ')
            solid.geometry = solid.geometry.convex


def _neighbours(urdf: str, solid: set[str]) -> set[frozenset[str]]:
    """Pairs of links with one moving joint between them, and no other link with geometry."""
    joints = ET.fromstring(urdf).findall('joint')
    above = {
        joint.find('child').get('link'): (
            joint.find('parent').get('link'),
            joint.get('type') != 'fixed',
        )
        for joint in joints
    }
    found = set()
    for link in solid:
        parent, moving = link, 0
        while parent in above and (parent == link or parent not in solid):
            parent, moves = above[parent]
            moving += moves
        if moving == 1:
            found.add(frozenset((link, parent)))
    return found


def _between(T: np.ndarray, T_end: np.ndarray, share: float) -> np.ndarray:
    """Pose (4, 4) on the straight line between two, turned about one axis."""
    turn = pinocchio.log3(T[:3, :3].T @ T_end[:3, :3])
    between = np.eye(4)
    between[:3, :3] = T[:3, :3] @ pinocchio.exp3(share * turn)
    between[:3, 3] = T[:3, 3] + share * (T_end[:3, 3] - T[:3, 3])
    return between


def _least_squares(J: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Damped least-squares step, shape (n,)."""
    damping = DAMPING * float(error @ error) + LEAST_DAMPING
    return J.T @ np.linalg.solve(J @ J.T + damping * np.eye(len(error)), error)


def _position(J: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Step that takes the position to where it should be, and turns as far as that leaves free."""
    first = _least_squares(J[:3], error[:3])
    inverse = J[:3].T @ np.linalg.inv(J[:3] @ J[:3].T + LEAST_DAMPING * np.eye(3))
    left_free = np.eye(J.shape[1]) - inverse @ J[:3]
    turn = error[3:] - J[3:] @ first
    return first + left_free @ _least_squares(J[3:] @ left_free, turn)


@lru_cache(maxsize=512)
def _shares(count: int) -> np.ndarray:
    """Shares 1 / count, 2 / count, ..., 1, the far apart ones first: so the first hit is early."""
    bits = count.bit_length()
    order = sorted(range(1, count + 1), key=lambda i: int(f'{i:0{bits}b}'[::-1], 2))
    return np.array(order) / count
