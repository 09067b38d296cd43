"""Checks of the figures against what we want to be true."""

from collections.abc import Callable, Mapping
import operator
from typing import NamedTuple

from peers import RoboticsToolbox, TracIk
from report import Figures
from solvers import Fabrik, FabrikAlone

Results = Mapping[str, Mapping[str, Figures]]
"""Figures by arm and solver."""

SYMBOLS = {operator.lt: '<', operator.le: '<=', operator.ge: '>=', operator.eq: '='}


class Bar(NamedTuple):
    """Something that should hold for every arm, or whatever else the figures are kept by."""

    what: str
    values: dict[str, float]
    """By arm, say; empty where nothing was measured."""
    holds: Callable[[float, float], bool]
    bound: float

    @property
    def worst(self) -> str:
        """The arm that is nearest to missing, or farthest beyond."""
        choose = min if self.holds is operator.ge else max
        return choose(self.values, key=lambda arm: abs(self.values[arm]))

    def __str__(self) -> str:
        wanted = f'{self.what} {SYMBOLS[self.holds]} {self.bound:g}'
        if not self.values:
            return f'* not measured: {wanted}'
        value = self.values[self.worst]
        met = 'met' if self.holds(abs(value), self.bound) else 'NOT met'
        return f'* {met}: {wanted}; worst {value:.4g} ({self.worst})'


def bars(results: Mapping[str, dict]) -> list[Bar]:
    """List the checks of what was measured; by section, and 'mid' and 'close'."""
    found = comparison(results['mid'], results['close']) if 'mid' in results else []
    for section, checks in DEPENDABILITY.items():
        found += checks(results[section]) if section in results else []
    return found


def random_arms(x: Mapping[str, float]) -> list[Bar]:
    """Of 10,000 targets five may stay unsolved, of fewer none more than as large a share."""
    most = 5e-4 * x['targets']
    return [
        Bar('unsolved, random arms', {'all arms': x['unsolved']}, operator.le, most),
        Bar('false claims, random arms', {'all arms': x['false']}, operator.eq, 0),
    ]


def all_solutions(x: Mapping[str, dict]) -> list[Bar]:
    return [
        Bar('all solutions, to 1e-4 rad [%]', figure(x, 'exact_percent'), operator.ge, 99),
        Bar('all solutions, to 0.001 rad [%]', figure(x, 'complete_percent'), operator.ge, 99),
    ]


def unreachable(x: Mapping[str, dict]) -> list[Bar]:
    within = figure(x, 'within_percent')
    return [Bar('unreachable, within 1 % of the best [%]', within, operator.ge, 95)]


def closed_path(x: Mapping[str, dict]) -> list[Bar]:
    following = {key: postures['with'] for key, postures in x.items()}
    return [
        Bar('drift on closed paths [rad]', figure(following, 'drift'), operator.le, 0.02),
        Bar('residual on closed paths', figure(following, 'residual'), operator.lt, 1e-6),
    ]


def snake(x: Mapping[str, dict]) -> list[Bar]:
    ratio = x['cost']['ratio']
    return [
        Bar('iteration cost, 1000 joints / 10 times 100', {'snake': ratio}, operator.le, 1.3),
        Bar('false claims, snakes', figure(x['solved'], 'false'), operator.eq, 0),
    ]


DEPENDABILITY = {
    'random-arms': random_arms,
    'all-solutions': all_solutions,
    'unreachable': unreachable,
    'closed-path': closed_path,
    'snake': snake,
}


def figure(x: Mapping[str, Mapping[str, float]], name: str) -> dict[str, float]:
    """One figure, wherever it was measured."""
    return {key: figures[name] for key, figures in x.items() if name in figures}


def comparison(mid: Results, close: Results) -> list[Bar]:
    """List the checks of the comparison with peers."""
    ours, alone = Fabrik.name, FabrikAlone.name
    found = []
    for name, results in (('mid', mid), ('close', close)):
        found += [
            Bar(f'unsolved, {name}', of(results, ours, 'unsolved'), operator.eq, 0),
            Bar(f'false claims, {name}', of(results, ours, 'false'), operator.eq, 0),
            Bar(f'false claims, no polish, {name}', of(results, alone, 'false'), operator.eq, 0),
            Bar(f'max [ms], {name}', scaled(of(results, ours, 'max'), 1e-3), operator.lt, 20),
            Bar(f'p99 / median, {name}', within(results, ours, 'p99', 'median'), operator.lt, 10),
        ]
    return [
        *found,
        Bar('TRAC-IK / ours, mid', medians(mid, TracIk.name, ours), operator.ge, 20),
        Bar('ik_LM / ours, mid', medians(mid, RoboticsToolbox.name, ours), operator.ge, 4),
        Bar('ik_LM / ours, close', medians(close, RoboticsToolbox.name, ours), operator.ge, 2.5),
        Bar('TRAC-IK / no polish, mid', medians(mid, TracIk.name, alone), operator.ge, 4),
        Bar('no polish solved [%], mid', of(mid, alone, 'solved_percent'), operator.ge, 99.95),
        Bar('jumps, close', of(close, ours, 'jumps'), operator.eq, 0),
        Bar(
            'mean move beyond the truth [%], close', beyond_the_truth(close, ours), operator.le, 2
        ),
    ]


def of(results: Results, solver: str, figure: str) -> dict[str, float]:
    """One figure of a solver, by arm."""
    return {arm: x[solver][figure] for arm, x in results.items() if solver in x}


def scaled(values: Mapping[str, float], factor: float) -> dict[str, float]:
    return {arm: factor * value for arm, value in values.items()}


def within(results: Results, solver: str, figure: str, other: str) -> dict[str, float]:
    """One figure of a solver over another of its, by arm."""
    below = of(results, solver, other)
    return {arm: value / below[arm] for arm, value in of(results, solver, figure).items()}


def medians(results: Results, solver: str, other: str) -> dict[str, float]:
    """Median time of a solver over that of another, by arm."""
    below = of(results, other, 'median')
    return {arm: value / below[arm] for arm, value in of(results, solver, 'median').items()}


def beyond_the_truth(results: Results, solver: str) -> dict[str, float]:
    """
    By how much joints moved farther than to the true configuration [%], by arm.

    Less is no fault: an arm with a spare joint has configurations that are nearer.
    """
    ratios = within(results, solver, 'mean_move', 'true_move')
    return {arm: max(0.0, 100.0 * (ratio - 1.0)) for arm, ratio in ratios.items()}
