"""
How arms follow hands, beside a plain servo with the same limits.

Circles, squares with a rest at each corner, and the ways of eight hands: two even, two that
tremble, two late by up to a period, two of which messages are lost or come in bursts. The servo
does what servos do: in each step, by damped least squares (Wampler 1986), it heads for the newest
target at a speed in proportion to the distance, within the limits of the tool and of the joints,
and brakes as hard as they may. Its gain is the highest with which it passes the corners of the
square by no more than we do. Both drive the same arm in MuJoCo, and pinocchio judges where its
tool is. Nothing is in the way. Only poses around which a circle can be followed count, as in
`streams.py`.

    python benchmark/experiments/servo.py --arms six_axis panda --rates 30 120

"""

import argparse
from collections.abc import Callable, Sequence
import itertools
from pathlib import Path
import sys
from typing import NamedTuple, Protocol

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'test'))
from dodging import arm
from fabrik_ros import ArmFollower, FollowerOptions
from fabrik_ros.model.chain import Chain
from fabrik_ros.sim.physics import PhysicalArm
from followed_circles import Circle, circles, jacobian, twist
from judging import Judge
import numpy as np
import pinocchio

ARMS = 'six_axis', 'seven_axis', 'ur5', 'panda', 'xarm7'
RATES = 10.0, 30.0, 60.0, 120.0
DT = 0.01
"""Between two commands [s]."""
SPEED, SIDE, CORNER = 0.2, 0.15, 0.6
"""Of the hand on squares [m/s], their sides [m], and its rest at each corner [s]."""
LASTS, COUNTS_FROM = 8.0, 1.0
"""Duration of a motion, and when it begins to count [s]."""
HANDS = 8
FAR, TURNED = 0.1, 0.3
"""How far hands go from where they begin, along each axis [m], and how they turn [rad]."""
LEGS, PAUSES = (0.6, 1.6), (0.0, 0.6)
"""Time of each stroke of a hand, and of the rest after it [s]."""
TREMBLING = 0.002
"""Standard deviation of a hand that trembles [m]."""
LOST, BURST = 0.1, 5
"""Share of the messages that are lost, and how many come at once [1]."""
LAGS = np.arange(0.0, 0.5, 0.0025)
"""Those that are tried [s]."""
GAINS = np.geomspace(1.5, 40.0, 30)
"""Those that the servo is tried with, speed for a distance [1/s]."""
DAMPING = 0.02
"""Of its least squares [m/rad]."""
ROOM = 1e-4
"""By so much more may it pass a corner [m]."""
EQUAL = 1.05
"""It is better where we are more than so many times as far off [1]."""
COLUMNS = 'lag ms', 'behind mm', 'off mm', 'past corners mm', 'jerk m/s^3'


class Hand(NamedTuple):
    """A motion, by displacements of the tool from where it begins."""

    name: str
    at: Callable[[np.ndarray], np.ndarray]
    """Displacements at times (m,), shape (m, 6) [m, rad]."""
    trembling: float = 0.0
    """[m]."""
    jitter: float = 0.0
    """Largest delay of a message, as a share of the period [1]."""
    lost: float = 0.0
    """Share of the messages [1]."""
    burst: int = 1
    """How many messages come at once [1]."""


class Figures(NamedTuple):
    """How a motion was followed; the best is 0."""

    lag: float
    """Constant lag with which it is followed best [s]."""
    behind: float
    """Root mean square of the distance from where the hand is [m]."""
    off: float
    """Root mean square of the distance from where the tool was to be with that lag [m]."""
    past: float
    """How far it went beyond the corners of a square; 0 for others [m]."""
    jerk: float
    """Root mean square of the jerk of the tool [m/s^3]."""


class Follows(Protocol):
    """What leads an arm to targets."""

    def step(self, T: np.ndarray | None, q: np.ndarray) -> np.ndarray:
        """Return the next command, for a target if one came, where the arm is measured at `q`."""


class Ours:
    """This package, by its defaults."""

    def __init__(self, chain: Chain, q: np.ndarray) -> None:
        self._follower = ArmFollower(chain)
        self._follower.step(None, DT, measured=q)

    def step(self, T: np.ndarray | None, q: np.ndarray) -> np.ndarray:
        """Return the next command."""
        return np.asarray(self._follower.step(T, DT, measured=q))


class Servo:
    """A plain servo, by damped least squares, that starts from its last command."""

    def __init__(self, judge: Judge, q: np.ndarray, gain: float) -> None:
        self._judge, self._q, self._gain = judge, q, gain
        self._limits = FollowerOptions()
        self._target = judge.pose(q)
        self._twist, self._velocity = np.zeros(6), np.zeros_like(q)

    def step(self, T: np.ndarray | None, q: np.ndarray) -> np.ndarray:
        """Return the next command."""
        limits, here = self._limits, self._judge.pose(self._q)
        self._target = self._target if T is None else T
        wanted = self._gain * twist(here, self._target)
        for part, most in (
            (slice(3), limits.max_tip_speed),
            (slice(3, 6), limits.max_tip_rotation),
        ):
            wanted[part] *= min(1.0, most / max(np.linalg.norm(wanted[part]), 1e-12))
        change = wanted - self._twist
        most = limits.max_tip_acceleration * DT
        self._twist = self._twist + change * min(
            1.0, most / max(np.linalg.norm(change[:3]), 1e-12)
        )
        J = jacobian(self._judge, self._q, here)
        inverse = np.linalg.inv(J @ J.T + DAMPING**2 * np.eye(6))
        velocity = J.T @ inverse @ self._twist
        fastest = np.minimum(limits.max_joint_velocity, self._judge.velocity)
        velocity /= max(1.0, np.max(np.abs(velocity) / fastest))
        change = velocity - self._velocity
        change /= max(1.0, np.abs(change).max() / (limits.max_joint_acceleration * DT))
        self._velocity = self._velocity + change
        self._q = np.clip(self._q + DT * self._velocity, self._judge.lower, self._judge.upper)
        return self._q


def circle_of(circle: Circle) -> Hand:
    """Lead the tool around a circle."""

    def at(times: np.ndarray) -> np.ndarray:
        ways = circle.points(times) - circle.T[:3, 3]
        return np.hstack([ways, np.zeros_like(ways)])

    return Hand('circle', at)


def square_of(circle: Circle) -> Hand:
    """Lead the tool around a square in the plane of a circle, with a rest at each corner."""
    sides = np.array([circle.along, circle.inwards, -circle.along, -circle.inwards])
    corners = np.vstack([np.zeros(3), SIDE * np.cumsum(sides, axis=0)])

    def at(times: np.ndarray) -> np.ndarray:
        leg, since = np.divmod(times, SIDE / SPEED + CORNER)
        number, shares = leg.astype(int) % 4, np.minimum(since * SPEED / SIDE, 1.0)
        ways = corners[number] + SIDE * shares[:, None] * sides[number]
        return np.hstack([ways, np.zeros_like(ways)])

    return Hand('square', at)


def drawn(number: int) -> Hand:
    """Draw a hand that goes from place to place, evenly as hands do, and rests there."""
    rng = np.random.default_rng((7, number))
    begins, places = [0.0], [np.zeros(6)]
    while begins[-1] < LASTS:
        leg, pause = rng.uniform(*LEGS), rng.uniform(*PAUSES)
        place = np.append(rng.uniform(-FAR, FAR, 3), rng.uniform(-TURNED, TURNED, 3))
        begins += [begins[-1] + leg, begins[-1] + leg + pause]
        places += [place, place]
    nodes, values = np.array(begins), np.array(places)

    def at(times: np.ndarray) -> np.ndarray:
        i = np.clip(np.searchsorted(nodes, times, side='right') - 1, 0, len(nodes) - 2)
        s = np.clip((times - nodes[i]) / (nodes[i + 1] - nodes[i]), 0.0, 1.0)
        share = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)  # of least jerk (Flash and Hogan 1985)
        return values[i] + share[:, None] * (values[i + 1] - values[i])

    kinds = ({}, {'trembling': TREMBLING}, {'jitter': 1.0})
    kinds += ({'lost': LOST} if number % 2 else {'burst': BURST},)
    return Hand(f'hand {number}', at, **kinds[number // 2])


def messages(hand: Hand, T: np.ndarray, rate: float) -> list[tuple[float, np.ndarray]]:
    """Return the times at which targets come [s], with the targets, shape (4, 4)."""
    rng = np.random.default_rng((11, round(rate)))
    sent = np.arange(0.0, LASTS, 1.0 / rate)
    ways = hand.at(sent)
    ways[:, :3] += rng.normal(0.0, 1.0, (len(sent), 3)) * hand.trembling
    arrivals = sent + rng.uniform(0.0, hand.jitter / rate, len(sent))
    last = (np.arange(len(sent)) // hand.burst + 1) * hand.burst - 1
    arrivals = arrivals[np.minimum(last, len(sent) - 1)]
    is_kept = rng.uniform(size=len(sent)) >= hand.lost
    is_kept[0] = True
    return [
        (when, moved(T, way))
        for when, way, kept in zip(arrivals, ways, is_kept, strict=True)
        if kept
    ]


def moved(T: np.ndarray, way: np.ndarray) -> np.ndarray:
    """Displace a pose by (6,) [m, rad], in the base frame."""
    after = T.copy()
    after[:3, :3] = pinocchio.exp3(way[3:]) @ T[:3, :3]
    after[:3, 3] += way[:3]
    return after


class Rig:
    """An arm in MuJoCo, at a pose from which hands lead it."""

    def __init__(self, name: str, seed: int) -> None:
        robot, self.chain, self.judge = arm(name)
        self.circle = next(circles(self.judge, seed))
        self._arm = PhysicalArm(robot.source, self.judge.joint_names)

    def follow(self, hand: Hand, rate: float, follows: Follows) -> Figures:
        """Let the arm be led by a hand, and judge how it follows."""
        start, body = self.circle.q, self._arm
        body.reset(dict(zip(body.joint_names, start, strict=True)))
        coming = messages(hand, self.circle.T, rate)
        before, tips = start, []
        for i in range(round(LASTS / DT)):
            target = None
            while coming and coming[0][0] <= i * DT + 1e-9:
                target = coming.pop(0)[1]
            q = follows.step(target, body.q)
            body.follow(q, (q - before) / DT)
            body.step(DT)
            before = q
            tips.append(self.judge.pose(body.q)[:3, 3])
        return judged(hand, np.array(tips), self.circle)

    def ours(self, hand: Hand, rate: float) -> Figures:
        """Figures of this package."""
        return self.follow(hand, rate, Ours(self.chain, self.circle.q))

    def servo(self, hand: Hand, rate: float, gain: float) -> Figures:
        """Figures of the servo."""
        return self.follow(hand, rate, Servo(self.judge, self.circle.q, gain))

    def gain_for(self, rate: float, most_past: float) -> float:
        """Highest gain with which the servo passes corners by no more than that [m]."""
        square = square_of(self.circle)
        lower, upper = 0, len(GAINS)
        while upper - lower > 1:
            middle = (lower + upper) // 2
            is_fine = self.servo(square, rate, GAINS[middle]).past <= most_past + ROOM
            lower, upper = (middle, upper) if is_fine else (lower, middle)
        return float(GAINS[lower])


def judged(hand: Hand, tips: np.ndarray, circle: Circle) -> Figures:
    """Judge where a tool was, shape (m, 3), at the ends of all steps."""
    times = DT * np.arange(1, len(tips) + 1)
    counted = times > COUNTS_FROM
    origin = circle.T[:3, 3]
    errors = [
        np.linalg.norm(tips - origin - hand.at(np.maximum(times - lag, 0.0))[:, :3], axis=1)
        for lag in LAGS
    ]
    off = [float(np.sqrt(np.mean(error[counted] ** 2))) for error in errors]
    best = int(np.argmin(off))
    jerk = np.linalg.norm(np.diff(tips, n=3, axis=0) / DT**3, axis=1)
    past = 0.0
    if hand.name == 'square':
        ways = tips - origin
        along = np.array([ways @ circle.along, ways @ circle.inwards])
        past = max(0.0, float(along.max() - SIDE), float(-along.min()))
    return Figures(
        float(LAGS[best]), off[0], off[best], past, float(np.sqrt(np.mean(jerk[50:] ** 2)))
    )


def row(name: str, rate: float, pairs: Sequence[tuple[Figures, Figures]]) -> tuple[str, bool]:
    """Write medians of ours and of the servo's as a line of a table; whether one is worse."""
    ours, servo = np.median(np.array(pairs), axis=0)
    units = np.array([1e3, 1e3, 1e3, 1e3, 1.0])
    is_worse = ours > EQUAL * servo + np.array([0.0025, ROOM, ROOM, ROOM, 0.1])
    cells = [
        f'{a:.1f} : {b:.1f}{" worse" if worse else ""}'
        for a, b, worse in zip(units * ours, units * servo, is_worse, strict=True)
    ]
    return f'| {name} | {rate:g} | {" | ".join(cells)} |', bool(is_worse.any())


def main() -> int:
    """Print a table, ours beside the servo's; 1 where the servo is better in any column."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--arms', nargs='+', default=list(ARMS), help='names, or URDF files')
    parser.add_argument('--rates', nargs='+', type=float, default=list(RATES), help='[Hz]')
    parser.add_argument('--seed', type=int, default=2)
    arguments = parser.parse_args()
    rigs = [Rig(name, arguments.seed) for name in arguments.arms]
    print(f'| motion | Hz | {" | ".join(COLUMNS)} |\n|{"---|" * 7}')
    is_worse = False
    hands = [circle_of, square_of, *(lambda _, i=i: drawn(i) for i in range(HANDS))]
    gains = {}
    for rate, rig in itertools.product(arguments.rates, rigs):
        past = rig.ours(square_of(rig.circle), rate).past
        gains[rate, rig] = rig.gain_for(rate, past)
    for hand_of, rate in itertools.product(hands, arguments.rates):
        pairs = []
        for rig in rigs:
            hand = hand_of(rig.circle)
            pairs.append((rig.ours(hand, rate), rig.servo(hand, rate, gains[rate, rig])))
        text, worse = row(hand.name, rate, pairs)
        is_worse = is_worse or worse
        print(text, flush=True)
    medians = (np.median([gains[rate, rig] for rig in rigs]) for rate in arguments.rates)
    shown = ', '.join(f'{gain:.1f}' for gain in medians)
    print(f'Gains of the servo at each rate, medians: {shown} 1/s.')
    return 1 if is_worse else 0


if __name__ == '__main__':
    sys.exit(main())
