"""RRT-Connect in a plane with discs: what it finds is judged by distances from segments."""

from itertools import count, pairwise

from fabrik_ros.planning.rrt_connect import RrtConnect
from helpers import assert_close, examples
from hypothesis import given, settings, strategies as st
import numpy as np

LONGEST, SIDE = 0.7, 3.0
LOWER, UPPER = np.full(2, -SIDE), np.full(2, SIDE)
seeds = st.integers(1, 2**31 - 1)


def distances(q, q_next, centres):
    """Measure how far each of some points, (k, 2), is from a segment."""
    along, away = q_next - q, centres - q
    share = np.clip(away @ along / max(along @ along, 1e-300), 0.0, 1.0)
    return np.linalg.norm(away - share[:, None] * along, axis=1)


class Discs:
    """Discs in the plane that leave start and goal free."""

    def __init__(self, seed, number=12):
        rng = np.random.default_rng(seed)
        self.start, self.goal = rng.uniform(LOWER, UPPER, (2, 2))
        self.centres, self.radii = rng.uniform(LOWER, UPPER, (number, 2)), 0.0
        ends = (self.start, self.goal)
        self.radii = np.min([0.95 * distances(q, q, self.centres) for q in ends], axis=0)
        self.radii = np.minimum(self.radii, rng.uniform(0.2, 0.9, number))

    def is_free(self, q, q_next):
        return bool(np.all(distances(q, q_next, self.centres) > self.radii))


def search(lower=LOWER, upper=UPPER, weights=None, longest=LONGEST):
    weights = np.ones(len(lower)) if weights is None else weights
    return RrtConnect(lower, upper, weights, longest)


def never():
    return False


def after(number):
    """Say stop once that was asked so often."""
    asked = count()
    return lambda: next(asked) >= number


@settings(max_examples=examples(40, 300), deadline=None)
@given(seeds)
def test_path_leads_from_start_to_goal_over_free_edges_and_is_the_same_again(seed):
    world = Discs(seed)
    found = [
        search().path(world.start, lambda: world.goal, world.is_free, after(20_000), seed)
        for _ in range(2)
    ]
    if found[0] is None:
        return
    path = np.array(found[0])
    assert np.array_equal(path[0], world.start)
    assert np.array_equal(path[-1], world.goal)
    assert all(world.is_free(*edge) for edge in pairwise(path))
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).max() <= LONGEST + 1e-12
    assert np.all((path >= LOWER) & (path <= UPPER))
    assert np.array_equal(path, np.array(found[1]))


def test_most_worlds_have_a_path():
    worlds = [(seed, Discs(seed)) for seed in range(1, 31)]
    found = [
        search().path(world.start, lambda w=world: w.goal, world.is_free, after(20_000), seed)
        for seed, world in worlds
    ]
    assert sum(path is not None for path in found) >= 27


def test_another_seed_gives_another_path():
    world = Discs(1, number=30)
    a, b = (
        search().path(world.start, lambda: world.goal, world.is_free, never, i) for i in (1, 2)
    )
    assert len(a) != len(b) or not np.array_equal(a, b)


@settings(max_examples=examples(20, 100), deadline=None)
@given(seeds, st.integers(0, 30))
def test_goal_that_comes_late_is_reached(seed, late):
    drawn = count()
    start, *goals = np.random.default_rng(seed).uniform(LOWER, UPPER, (4, 2))

    def draw():
        number = next(drawn)
        return None if number < late else goals[number % 3]

    path = search().path(start, draw, lambda a, b: True, never, seed)
    assert any(np.array_equal(path[-1], goal) for goal in goals)


def test_goal_that_is_walled_in_is_left_for_one_that_comes_later():
    goals = [np.array([2.0, 0.0]), np.array([0.0, 2.0])]
    waiting = list(goals)

    def is_free(q, q_next):
        ring = [np.linalg.norm(end - goals[0]) < 0.5 for end in (q, q_next)]
        return ring[0] == ring[1] and (ring[0] or distances(q, q_next, goals[0][None])[0] > 0.5)

    path = search().path(
        np.zeros(2), lambda: waiting.pop(0) if waiting else None, is_free, after(20_000), 3
    )
    assert np.array_equal(path[-1], goals[1])


def test_nothing_is_found_where_a_wall_is_between():
    edges = []

    def is_free(q, q_next):
        edges.append(q_next)
        return bool((q[0] < 0.0) == (q_next[0] < 0.0))

    start, goal = np.array([-1.0, 0.0]), np.array([1.0, 0.0])
    assert search().path(start, lambda: goal, is_free, after(2_000), 1) is None
    assert len(edges) > 500


def test_without_a_goal_it_looks_for_one_until_it_is_told_to_stop():
    assert search().path(np.zeros(2), lambda: None, lambda a, b: True, after(50), 1) is None


@settings(max_examples=examples(10, 50), deadline=None)
@given(seeds, st.integers(0, 200))
def test_once_told_to_stop_it_asks_for_no_more_than_one_edge(seed, number):
    asked, late = count(), []

    def should_stop():
        return next(asked) >= number

    def is_free(q, q_next):
        late.append(1)
        return bool((q[0] < 0.0) == (q_next[0] < 0.0))

    start, goal = np.array([-1.0, 0.0]), np.array([1.0, 0.0])
    assert search().path(start, lambda: goal, is_free, should_stop, seed) is None
    assert len(late) <= number


def test_weights_say_what_is_near_and_how_long_an_edge_is():
    weights, edges = np.array([1.0, 0.1]), []

    def is_free(q, q_next):
        edges.append((q, q_next))
        return True

    search(weights=weights).path(
        np.array([-2.0, -2.0]), lambda: np.array([2.0, 2.0]), is_free, never, 1
    )
    lengths = [np.linalg.norm((b - a) * weights) for a, b in edges]
    assert_close(max(lengths), LONGEST)


def test_start_that_is_a_goal_is_a_path():
    q = np.array([0.5, -0.5])
    path = search().path(q, lambda: q, lambda a, b: True, never, 1)
    assert np.array_equal(path[0], q)
    assert np.array_equal(path[-1], q)
