"""
What must hold for any document at all, and the judges who say whether it does.

A document is refused by a `FabrikError` that names what `specification.py` finds wrong as well,
or it is read, and then both that judge and pinocchio know the same robot.

"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
import math
from random import Random
import re
import tempfile
from typing import TypeVar
import warnings

from fabrik_ros import Chain, FabrikError, FabrikSolver, load_urdf, Robot, SolverOptions
from fabrik_ros.collision import SelfCollision
from fabrik_ros.errors import AmbiguousChainError, CollisionError
from fabrik_ros.model.urdf import parse_dynamics, parse_urdf
from fuzz.harmless import assert_same_robot, rewritten
from fuzz.pinocchio_judge import movable_joints, Pinocchio
from fuzz.specification import Description, JointRead, Matrix, Problem, read
import numpy as np

LONGEST_MESSAGE = 4000
"""[characters]; some forty names of a robot are no more."""
PYTHON_WORDS = re.compile(
    r'could not convert|NoneType|list index|object is not|has no attribute|invalid literal|'
    r'not subscriptable|unpack|Traceback|KeyError|keyword argument|ufunc|broadcast'
)
MOST_SOLIDS = 12
"""Collisions are looked for in robots with no more, as it takes long."""
LONGEST_SOLVED = 20
"""Chains with more joints are left to the tests of the solver."""

Made = TypeVar('Made')


@dataclass(frozen=True)
class Verdict:
    """What became of a document that was dealt with rightly."""

    kind: str
    """Kind of what is wrong with it, or of how far it was judged."""
    chains: int = 0
    """How many of its chains the judges agreed on."""
    solved: int = 0
    collisions: int = 0
    unknown: str = ''
    """Why pinocchio does not know the robot."""


def judged(text: str, rng: Random) -> Verdict:
    """Deal with a document, and assert that all is right."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        strict = bool(rng.getrandbits(1))
        expected = read(text, use_safety_limits=strict)
        robot, message = outcome(lambda: parse_urdf(text, use_safety_limits=strict))
        assert_a_file_is_read_alike(text, rng)
        if robot is None:
            return Verdict(f'refused: {told(expected, message)}')
        if isinstance(expected, list) and [problem.kind for problem in expected] == ['not XML']:
            assert any('not well-formed XML' in warning for warning in robot.warnings)
            assert_urdfdom_reads_alike(text, robot)
            return Verdict('read: not well-formed')
        assert isinstance(expected, Description), f'read, in spite of: {expected[:5]}'
        assert_same(robot, expected)
        outcome(lambda: parse_dynamics(text))
        other, names = rewritten(rng, text)
        assert_same_robot(robot, parse_urdf(other, use_safety_limits=strict), names)
        return _of_accepted(robot, expected, text, rng)


def outcome(action: Callable[[], Made]) -> tuple[Made, str] | tuple[None, str]:
    """Do something; return what is made, or the message of the error, which has to be good."""
    try:
        return action(), ''
    except FabrikError as error:
        message = str(error)
        lines = message.split('\n')
        if isinstance(error, AmbiguousChainError):
            assert all(line.startswith('  ') for line in lines[1:]), message
            message = lines[0]
        assert_good(message)
        return None, message


def assert_good(message: str) -> None:
    """Assert that a message is a line of sensible length in our words, not in Python's."""
    assert 15 < len(message) <= LONGEST_MESSAGE, f'{len(message)} characters: {message[:300]}'
    assert message.isprintable(), f'not printable: {message!r}'
    assert not PYTHON_WORDS.search(message), message


def told(expected: Description | list[Problem], message: str) -> str:
    """Kind of the problem that a message tells of."""
    assert not isinstance(expected, Description), f'refused without reason: {message}'
    kinds = [problem.kind for problem in expected if problem.is_told_by(message)]
    assert kinds, f'{message!r} tells of none of {expected[:5]}'
    return kinds[0]


def assert_urdfdom_reads_alike(text: str, robot: Robot) -> None:
    """Assert that what is not well-formed is read as urdfdom reads it, if it does."""
    try:
        assert movable_joints(text) == {j.name for j in robot.joints if j.type.value != 'fixed'}
    except ValueError:
        return


def assert_same(robot: Robot, expected: Description) -> None:
    """Names, types, limits, axes, origins and what follows what are those of the judge."""
    assert robot.links == expected.links
    assert [joint.name for joint in robot.joints] == [joint.name for joint in expected.joints]
    for warning in robot.warnings:
        assert_good(warning)
    for ours, theirs in zip(robot.joints, expected.joints, strict=True):
        assert (ours.type.value, ours.parent, ours.child) == (
            theirs.type,
            theirs.parent,
            theirs.child,
        )
        assert (ours.lower, ours.upper, ours.velocity) == (
            theirs.lower,
            theirs.upper,
            theirs.velocity,
        )
        assert (ours.mimic is None) == (theirs.mimic is None)
        size = 1.0 + max(abs(row[3]) for row in theirs.T_parent_joint)
        assert np.allclose(ours.origin, theirs.T_parent_joint, rtol=0.0, atol=1e-14 * size)
        if theirs.type not in ('fixed', 'floating'):
            assert np.allclose(ours.axis, theirs.axis, rtol=0.0, atol=1e-15)
        if ours.mimic:
            source, *numbers = expected.driven(theirs)
            assert ours.mimic.source == source
            assert np.allclose([ours.mimic.multiplier, ours.mimic.offset], numbers, rtol=1e-12)


def assert_a_file_is_read_alike(text: str, rng: Random) -> None:
    """Write a document to a file, in some encoding and perhaps damaged: it is read as text is."""
    if rng.random() > 0.2:
        return
    code = rng.choice(('utf-8', 'utf-8', 'utf-8-sig', 'utf-16', 'latin-1'))
    content = bytearray(text.encode(code, errors='replace'))
    for _ in range(rng.choice((0, 0, 1, 3)) if content else 0):
        content[rng.randrange(len(content))] = rng.randrange(256)
    with tempfile.NamedTemporaryFile(suffix='.urdf') as file:
        file.write(content)
        file.flush()
        robot, message = outcome(lambda: load_urdf(file.name))
    try:
        same, same_message = outcome(lambda: parse_urdf(content.decode('utf-8-sig')))
    except UnicodeDecodeError:
        if b'\0' in content or content[:2] in (b'\xff\xfe', b'\xfe\xff'):
            assert robot is None
            assert 'is not UTF-8 text' in message
            return
        same, same_message = outcome(lambda: parse_urdf(content.decode('latin-1')))
        if robot is not None:
            assert 'save it as UTF-8' in robot.warnings[0]
            robot = replace(robot, warnings=robot.warnings[1:])
    assert message == same_message
    if robot is not None and same is not None:
        assert_same_robot(robot, same, {})


def _of_accepted(robot: Robot, expected: Description, text: str, rng: Random) -> Verdict:
    """Judge some chains of a robot that was read."""
    known, unknown = None, ''
    try:
        known = Pinocchio(text, expected)
        known.assert_joints_agree(read(text, use_safety_limits=False).joints)
    except ValueError as error:
        unknown = str(error)
    chains = solved = collisions = 0
    for chain in _chains(robot, expected, rng):
        path = expected.path(chain.base_link, chain.tip_link)
        values = judge_chain(chain, path, expected, known, rng)
        T = chain.forward_kinematics([values[name] for name in chain.joint_names])
        turned = robot.pose(chain.tip_link, chain.base_link, values)
        assert_poses_agree(T @ turned, np.eye(4), rounding(path, expected, values))
        chains += 1
        if len(chain) <= LONGEST_SOLVED and rng.random() < 0.1:
            assert_solver_answers(chain, rng)
            solved += 1
        if 0 < len(robot.collisions) <= MOST_SOLIDS and rng.random() < 0.1:
            collisions += collisions_are_found_or_refused(robot, chain)
    kind = 'read: chains agree' if chains else 'read: no chain to drive'
    return Verdict(kind, chains, solved, collisions, unknown)


def _chains(robot: Robot, expected: Description, rng: Random) -> Iterator[Chain]:
    """Take the chain that a user gets who names none, and some from the root to a leaf."""
    chain, _ = outcome(robot.chain)
    if chain is not None:
        assert chain.base_link == expected.root
        yield chain
    leaves = expected.leaves
    for leaf in rng.sample(leaves, min(3, len(leaves))):
        problems = list(expected.problems_of_chain(expected.path(expected.root, leaf)))
        chain, message = outcome(lambda leaf=leaf: robot.chain('', leaf))
        assert (chain is None) == bool(problems), message or problems
        if chain is not None:
            yield chain
        else:
            told(problems, message)
    chain, message = outcome(lambda: robot.chain('', 'no such link'))
    assert chain is None
    assert 'no such link' in message


def judge_chain(
    chain: Chain,
    path: list[JointRead],
    expected: Description,
    known: Pinocchio | None,
    rng: Random,
) -> dict[str, float]:
    """Names, limits and poses of a chain are those of the judges; return joint values."""
    own = [joint.name for joint in path if joint.is_drivable and not joint.mimic]
    assert chain.joint_names == tuple(own)
    limits = expected.limits(path)
    lower, upper, velocity = np.array([limits[name] for name in own]).T
    for ours, theirs in ((chain.lower, lower), (chain.upper, upper), (chain.velocity, velocity)):
        assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    q = chain.random_configuration(np.random.default_rng(rng.getrandbits(32)))
    assert np.isfinite(q).all()
    assert ((q >= chain.lower - 1e-9) & (q <= chain.upper + 1e-9)).all()
    values = dict(zip(own, q.tolist(), strict=True))
    T = chain.forward_kinematics(q)
    error = rounding(path, expected, values)
    assert_poses_agree(T, expected.pose(path, values), error)
    assert np.isfinite(chain.points(q)).all()
    if known is not None:
        every = {joint.name: expected.value(joint, values) for joint in path if joint.is_drivable}
        assert_poses_agree(T, known.pose(path, every), error)
    return values


def rounding(path: list[JointRead], expected: Description, values: dict[str, float]) -> float:
    """Bound what two ways of computing the end of a path differ by, roughly [m, rad]."""
    length, angle = 1.0, 10.0
    for joint in path:
        length += max(abs(row[3]) for row in joint.T_parent_joint[:3])
        if joint.is_drivable:
            value = abs(expected.value(joint, values))
            _, multiplier, offset = expected.driven(joint)
            value += abs(offset) + abs(multiplier * values[expected.driven(joint)[0]])
            length += value if joint.type == 'prismatic' else 0.0
            angle += 0.0 if joint.type == 'prismatic' else value
    return 1e-14 * length * (angle + len(path))


def assert_poses_agree(T: np.ndarray, other: np.ndarray | Matrix, error: float) -> None:
    assert np.isfinite(T).all()
    assert np.abs(T - np.array(other)).max() <= error, (T, other)


def assert_solver_answers(chain: Chain, rng: Random) -> None:
    """Whatever the chain is like, a solver answers, within the limits and honestly."""
    draw = np.random.default_rng(rng.getrandbits(32))
    target = chain.forward_kinematics(chain.random_configuration(draw))
    solver, _ = outcome(lambda: FabrikSolver(chain, SolverOptions(max_restarts=2)))
    assert solver is not None
    solution = solver.solve(target, seed=chain.mid_configuration())
    assert np.isfinite(solution.q).all()
    assert ((solution.q >= chain.lower) & (solution.q <= chain.upper)).all()


def collisions_are_found_or_refused(robot: Robot, chain: Chain) -> bool:
    """Whether collisions could be looked for."""
    try:
        found = SelfCollision(robot, chain)
    except CollisionError as error:
        assert_good(str(error))
        return False
    for missing in found.missing:
        assert_good(str(missing))
    nearest = found.distance(chain.mid_configuration())
    assert not math.isnan(nearest.distance)
    return True
