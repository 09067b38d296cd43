"""
How often lines are planned that an independent follower gets through, and what the arm does there.

Random lines of at most 0.3 m and 45 degrees from random configurations that do not collide, and
some that start stretched or with the wrist aligned. The follower knows pinocchio alone: damped
least squares in steps of 1 mm and 0.5 degrees, within the joint limits and 5 mm and 5 degrees of
the line, without self-collisions (coal, hulls of meshes, the same clearance), to the very goal.
Times are thread processor times. Commands are those of a motion on a
simulated clock; how far they leave the line is pinocchio's answer, too.

    python benchmark/experiments/lines.py --count 200 --singular 50 --arms ur5 panda

"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import json
import math
from pathlib import Path
import sys
import time
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))
import coal
from collision_models import packages_of
from command_judge import Bounds, CommandJudge
from fabrik_ros import example_arm, load_urdf, SolverOptions
from fabrik_ros.collision.guard import CollisionGuard
from fabrik_ros.collision.self_collision import CLEARANCE, SelfCollision
from fabrik_ros.model.chain import Chain
from fabrik_ros.motion.choosing.goal import MotionOptions
from fabrik_ros.motion.choosing.motion import Motion
from fabrik_ros.motion.limits.limits import MotionLimits
from fabrik_ros.motion.lines.tolerant_line import Check, LinePlan, TolerantLinePlanner
from fabrik_ros.motion.paths.planned_path import PlannedPath
from fabrik_ros.reasons import Reason, ReasonKind
from fabrik_ros.transforms import Array
from helpers import example_robot, REAL_ARMS
import numpy as np
import pinocchio

ARMS = 'six_axis', 'seven_axis', 'ur5', 'ur10', 'panda', 'xarm7'
LONGEST, MOST_TURNED = 0.3, math.radians(45.0)
TOLERANCES = 0.005, math.radians(5.0)
STEP_LENGTH, STEP_ANGLE = 0.001, math.radians(0.5)
STEP_MOVE = 0.2
"""From one step to the next no joint of the follower moves farther [rad or m]."""
DAMPINGS = (1e-3, 30), (0.02, 6), (0.1, 4)
"""Damping and iterations of the follower, tried in turn."""
AT_GOAL = 1e-4
"""The follower has to end this near to the goal [m, rad]."""
DT = 0.01
LONGEST_MOTION = 120.0
"""Time after which a motion has to be over [s]."""
HEADER = (
    '| arm | lines | follower | planned of those | % | planned of all | left the line | plan ms: '
    'median | p90 | max | longest piece ms | off mm | off deg | violations | not arrived |'
)


class Trial(NamedTuple):
    """A line."""

    q: Array
    T: Array
    kind: str
    """'random' or 'singular'."""


@dataclass
class Outcome:
    """What came of a line."""

    kind: str
    followed: bool
    planned: bool
    reason: str
    planning: float
    """[s]"""
    longest_piece: float
    """[s]"""
    left: bool = False
    off: tuple[float, float] = (0.0, 0.0)
    violations: int = 0
    arrived: bool = True


class Arm:
    """An arm to plan for, its collision guard, and pinocchio's idea of it."""

    def __init__(self, name: str) -> None:
        if name in REAL_ARMS:
            file = example_robot(name)
            base, tip = REAL_ARMS[name].base_link, REAL_ARMS[name].tip_link
            robot, folders = load_urdf(file, use_safety_limits=False), [packages_of(file)]
        else:
            robot, folders = load_urdf(example_arm(name)), []
            base, tip = 'base_link', 'tool0'
        self.name = name
        self.chain: Chain = robot.chain(base, tip)
        collision = SelfCollision(robot, self.chain, mesh_paths=folders)
        self.guard = CollisionGuard(collision)
        paths = [str(path) for path in folders]
        self.follower = Follower(robot.source, self.chain, paths, collision.pairs)
        self.limits = MotionLimits(
            0.25, 1.0, 1.0, np.minimum(self.chain.velocity, 1.5), np.full(len(self.chain), 5.0)
        )

    def is_free(self, q: Array, q_next: Array) -> Reason | None:
        """Say why a path is not free; None where it is."""
        if self.guard.is_path_free(q, q_next):
            return None
        return Reason(
            ReasonKind.COLLISION_AHEAD, f'self-collision {self.guard.collision_at(q_next)}'
        )


class Follower:
    """Follows lines with pinocchio and coal."""

    def __init__(
        self, urdf: str, chain: Chain, folders: list[str], pairs: Sequence[tuple[str, str]]
    ) -> None:
        model = pinocchio.buildModelFromXML(urdf)
        shapes = pinocchio.buildGeomFromUrdfString(
            model, urdf, pinocchio.GeometryType.COLLISION, package_dirs=folders
        )
        for shape in shapes.geometryObjects:
            if isinstance(shape.geometry, coal.BVHModelBase):
                shape.geometry.buildConvexHull(True, 'Qt')
                shape.geometry = shape.geometry.convex
        others = [i for i in range(1, model.njoints) if model.names[i] not in chain.joint_names]
        self._model, self._shapes = pinocchio.buildReducedModel(
            model, shapes, others, pinocchio.neutral(model)
        )
        self._data = self._model.createData()
        self._base = self._model.getFrameId(chain.base_link)
        self._tip = self._model.getFrameId(chain.tip_link)
        joints = [self._model.joints[self._model.getJointId(name)] for name in chain.joint_names]
        self._turns = np.array([joint.nq == 2 for joint in joints])
        self._index = [joint.idx_q for joint in joints]
        self._order = [joint.idx_v for joint in joints]
        self._lower = np.where(self._turns, -np.inf, self._model.lowerPositionLimit[self._index])
        self._upper = np.where(self._turns, np.inf, self._model.upperPositionLimit[self._index])
        self._add_pairs(pairs)
        self._shape_data = self._shapes.createData()
        for request in self._shape_data.collisionRequests:
            request.security_margin = CLEARANCE

    def _add_pairs(self, pairs: Sequence[tuple[str, str]]) -> None:
        links = [
            self._model.frames[shape.parentFrame].name for shape in self._shapes.geometryObjects
        ]
        wanted = {frozenset(pair) for pair in pairs}
        for a in range(len(links)):
            for b in range(a):
                if frozenset((links[a], links[b])) in wanted:
                    self._shapes.addCollisionPair(pinocchio.CollisionPair(b, a))

    def pose(self, q: Array) -> Array:
        """Pose T_base_tip, shape (4, 4)."""
        pinocchio.framesForwardKinematics(self._model, self._data, self._full(q))
        return (self._data.oMf[self._base].inverse() * self._data.oMf[self._tip]).homogeneous

    def _full(self, q: Array) -> Array:
        full = pinocchio.neutral(self._model)
        for value, index, turns in zip(q, self._index, self._turns, strict=True):
            if turns:
                full[index : index + 2] = math.cos(value), math.sin(value)
            else:
                full[index] = value
        return full

    def collides(self, q: Array) -> bool:
        """Whether links come nearer to each other than they may."""
        return bool(
            pinocchio.computeCollisions(
                self._model, self._data, self._shapes, self._shape_data, self._full(q), True
            )
        )

    def gets_through(self, q: Array, T_goal: Array) -> bool:
        """Whether one of the dampings leads to the goal."""
        return any(self._follows(q, T_goal, *damping) for damping in DAMPINGS)

    def _follows(self, q: Array, T_goal: Array, damping: float, iterations: int) -> bool:
        T = self.pose(q)
        way, turn = T_goal[:3, 3] - T[:3, 3], pinocchio.log3(T[:3, :3].T @ T_goal[:3, :3])
        count = math.ceil(
            max(np.linalg.norm(way) / STEP_LENGTH, np.linalg.norm(turn) / STEP_ANGLE, 1.0)
        )
        for i in range(1, count + 1):
            share, before = i / count, q
            p, R = T[:3, 3] + share * way, T[:3, :3] @ pinocchio.exp3(share * turn)
            for _ in range(iterations if i < count else 50):
                q = self._step(q, p, R, damping if i < count else 1e-3)
            e = self._error(q, p, R)
            off = float(np.linalg.norm(e[:3])), float(np.linalg.norm(e[3:]))
            if off[0] > TOLERANCES[0] or off[1] > TOLERANCES[1]:
                return False
            if np.abs(q - before).max() > STEP_MOVE or self.collides(q):
                return False
        return max(off) < AT_GOAL

    def _error(self, q: Array, p: Array, R: Array) -> Array:
        T = self.pose(q)
        return np.append(p - T[:3, 3], T[:3, :3] @ pinocchio.log3(T[:3, :3].T @ R))

    def _step(self, q: Array, p: Array, R: Array, damping: float) -> Array:
        e = self._error(q, p, R)
        pinocchio.computeJointJacobians(self._model, self._data, self._full(q))
        pinocchio.updateFramePlacements(self._model, self._data)
        J = pinocchio.getFrameJacobian(
            self._model, self._data, self._tip, pinocchio.LOCAL_WORLD_ALIGNED
        )[:, self._order]
        back = self._data.oMf[self._base].rotation.T
        J = np.vstack([back @ J[:3], back @ J[3:]])
        free = np.ones(len(q), dtype=bool)
        for _ in range(len(q)):
            A = J[:, free]
            step = np.zeros(len(q))
            step[free] = A.T @ np.linalg.solve(A @ A.T + damping**2 * np.eye(6), e)
            step *= min(1.0, 0.5 * STEP_MOVE / max(np.abs(step).max(), 1e-12))
            beyond = free & ((q + step < self._lower) | (q + step > self._upper))
            if not beyond.any():
                break
            free &= ~beyond
        return np.clip(q + step, self._lower, self._upper)

    def off_line(self, T: Array, T_goal: Array, commands: Array) -> tuple[float, float]:
        """
        Greatest distance from a line [m], and angle [rad] to the orientation at the place.

        The place is, for each command, the one at which the larger share of a tolerance is least.
        """
        way, turn = T_goal[:3, 3] - T[:3, 3], pinocchio.log3(T[:3, :3].T @ T_goal[:3, :3])
        shares, worst, begin = np.linspace(0.0, 1.0, 601), np.zeros(2), 0
        points = T[:3, 3] + shares[:, None] * way
        turned = [T[:3, :3] @ pinocchio.exp3(share * turn) for share in shares]
        for q in commands:
            at = self.pose(q)
            near = range(max(0, begin - 10), min(len(shares), begin + 40))
            off = [
                (
                    float(np.linalg.norm(points[i] - at[:3, 3])),
                    float(np.linalg.norm(pinocchio.log3(at[:3, :3].T @ turned[i]))),
                )
                for i in near
            ]
            best = min(range(len(off)), key=lambda i: _tolerances_used(off[i]))
            begin = near[best]
            worst = np.maximum(worst, off[best])
        return float(worst[0]), float(worst[1])


def _tolerances_used(off: tuple[float, float]) -> float:
    return max(off[0] / TOLERANCES[0], off[1] / TOLERANCES[1])


def trials(arm: Arm, count: int, singular: int, rng: np.random.Generator) -> Iterator[Trial]:
    """Draw lines; those whose start collides are drawn again."""
    made = 0
    while made < count + singular:
        kind = 'random' if made < count else 'singular'
        q = arm.chain.random_configuration(rng)
        if kind == 'singular':
            # elbow and wrist of all these arms are where 0 is straight, or cannot be straight
            joint = rng.choice(_straight_joints(arm.chain))
            q[joint] = np.clip(0.0, arm.chain.lower[joint], arm.chain.upper[joint])
        if arm.guard.collision_at(q) or arm.follower.collides(q):
            continue
        T = arm.follower.pose(q)
        T[:3, 3] += rng.uniform(0.0, LONGEST) * _direction(rng)
        T[:3, :3] = pinocchio.exp3(rng.uniform(0.0, MOST_TURNED) * _direction(rng)) @ T[:3, :3]
        made += 1
        yield Trial(q, T, kind)


def _straight_joints(chain: Chain) -> list[int]:
    """Numbers of the elbow and of the joint in the middle of the wrist."""
    return [2, 4] if len(chain) == 6 else [3, 5]


def _direction(rng: np.random.Generator) -> Array:
    direction = rng.normal(size=3)
    return np.asarray(direction / np.linalg.norm(direction))


def planned(
    planner: TolerantLinePlanner, trial: Trial, is_free: Check
) -> tuple[LinePlan, float, float]:
    """Plan a line; tell how long it took, and its longest piece [s]."""
    begin = last = time.thread_time()
    longest, work = 0.0, planner.plan(trial.q, trial.T[None], is_free)
    while True:
        try:
            next(work)
        except StopIteration as done:
            return done.value, time.thread_time() - begin, longest
        now = time.thread_time()
        longest, last = max(longest, now - last), now


def execute(arm: Arm, motion: Motion, knots: Array) -> tuple[Array, bool]:
    """Follow knots; return the commands, and whether they end at the last one."""
    motion.reset(knots[0])
    motion.follow(PlannedPath(motion.limiter, knots))
    commands = [motion.command[0]]
    while not motion.is_at_rest and len(commands) < LONGEST_MOTION / DT:
        motion.step(DT)
        commands.append(motion.command[0])
    at_end = motion.is_at_rest and bool(np.abs(commands[-1] - knots[-1]).max() < 1e-6)
    return np.array(commands), at_end


def violations(arm: Arm, commands: Array) -> int:
    """Count what the judge of commands finds wrong."""
    chain, limits = arm.chain, arm.limits
    bounds = Bounds(
        chain.lower, chain.upper, limits.joint_velocity, limits.joint_acceleration,
        limits.tip_speed, limits.tip_rotation,
    )  # fmt: skip

    def frames(q: Array) -> tuple[Array, Array]:
        return chain.points(q), arm.follower.pose(q)[None, :3, :3]

    judge = CommandJudge(chain.joint_names, bounds, DT, frames, knows_states=False)
    for number, q in enumerate(commands):
        judge.check(chain.joint_names, round(number * DT * 1e9), q.tolist())
    return judge.violation_count


def run(arm: Arm, count: int, singular: int, seed: int) -> list[Outcome]:
    """Try all lines of an arm."""
    planner = TolerantLinePlanner(arm.chain, SolverOptions(), None, *TOLERANCES)
    motion = Motion(arm.chain, arm.limits, SolverOptions(), MotionOptions())
    outcomes = []
    for number, trial in enumerate(trials(arm, count, singular, np.random.default_rng(seed))):
        if number == 0:
            planner.warm_up()
            planned(planner, trial, arm.is_free)
        plan, duration, longest = planned(planner, trial, arm.is_free)
        followed = arm.follower.gets_through(trial.q, trial.T)
        outcome = Outcome(
            trial.kind, followed, plan.reason is None, str(plan.reason or ''), duration, longest
        )
        if plan.reason is None:
            greatest = plan.greatest
            outcome.left = greatest.position > 1e-6 or greatest.orientation > 1e-6
            commands, outcome.arrived = execute(arm, motion, plan.knots)
            T = arm.follower.pose(trial.q)
            outcome.off = arm.follower.off_line(T, trial.T, commands)
            outcome.violations = violations(arm, commands)
        outcomes.append(outcome)
    return outcomes


def summary(name: str, outcomes: list[Outcome]) -> dict[str, Any]:
    """Figures of an arm."""
    followed = [o for o in outcomes if o.followed]
    done = [o for o in outcomes if o.planned]
    both = sum(o.planned for o in followed)
    times = 1e3 * np.array([o.planning for o in outcomes])
    return {
        'arm': name,
        'lines': len(outcomes),
        'follower': len(followed),
        'both': both,
        'percent': 100.0 * both / max(len(followed), 1),
        'planned': len(done),
        'left': sum(o.left for o in done),
        'median': float(np.median(times)),
        'p90': float(np.quantile(times, 0.9)),
        'max': float(times.max()),
        'piece': 1e3 * max(o.longest_piece for o in outcomes),
        'off_mm': 1e3 * max((o.off[0] for o in done), default=0.0),
        'off_deg': math.degrees(max((o.off[1] for o in done), default=0.0)),
        'violations': sum(o.violations for o in done),
        'not_arrived': sum(not o.arrived for o in done),
    }


def row(s: dict[str, Any]) -> str:
    """Write figures as a line of a table."""
    return (
        f'| {s["arm"]} | {s["lines"]} | {s["follower"]} | {s["both"]} | {s["percent"]:.1f} '
        f'| {s["planned"]} | {s["left"]} | {s["median"]:.1f} | {s["p90"]:.1f} | {s["max"]:.1f} '
        f'| {s["piece"]:.1f} | {s["off_mm"]:.2f} | {s["off_deg"]:.2f} | {s["violations"]} '
        f'| {s["not_arrived"]} |'
    )


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--arms', nargs='+', default=list(ARMS))
    parser.add_argument('--count', type=int, default=200, help='random lines for each arm')
    parser.add_argument('--singular', type=int, default=50, help='lines that start singular')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--json', type=Path, help='write all outcomes to this file')
    parser.add_argument('--verbose', action='store_true', help='print each line that was missed')
    arguments = parser.parse_args()
    print(HEADER)
    print('|' + '---|' * (HEADER.count('|') - 1))
    everything = {}
    for name in arguments.arms:
        outcomes = run(Arm(name), arguments.count, arguments.singular, arguments.seed)
        for kind in ('random', 'singular'):
            some = [outcome for outcome in outcomes if outcome.kind == kind]
            if some:
                print(row(summary(f'{name}, {kind}', some)), flush=True)
        everything[name] = [vars(outcome) for outcome in outcomes]
        if arguments.verbose:
            for number, o in enumerate(outcomes):
                excess = o.off[0] > TOLERANCES[0] or o.off[1] > TOLERANCES[1]
                if (o.followed and not o.planned) or o.violations or not o.arrived or excess:
                    print(number, o)
    if arguments.json:
        arguments.json.write_text(json.dumps(everything, indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
