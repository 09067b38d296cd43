"""Many targets at once: the answers of one at a time, whoever works on them."""

from concurrent.futures import ThreadPoolExecutor
import math
import sys
from types import ModuleType

from fabrik_ros import BatchSolution, Chain, FabrikSolver, load_urdf, Status
from fabrik_ros.errors import JointValueError, TargetError
from fabrik_ros.kernels._jit import COMPILED
from fabrik_ros.kernels.batch import solve_many
from fabrik_ros.solver import batch
from fabrik_ros.transforms import Array, rotation_from_vector, transform
from helpers import PLANAR, SIX_AXIS
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from solving import compilations, is_met, judged, same_answer, solver_for

# Interpreted kernels are a hundred times slower: fewer examples, the same laws.
MANY = 2 * batch.CHUNK + 37 if COMPILED else 12
laws = settings(max_examples=30) if COMPILED else settings(max_examples=3)


@pytest.fixture
def planar() -> Chain:
    return load_urdf(PLANAR).chain()


@pytest.fixture
def six_axis() -> Chain:
    return load_urdf(SIX_AXIS).chain()


def mixed_targets(chain: Chain, count: int, rng: np.random.Generator) -> Array:
    """Draw poses, shape (N, 4, 4): of ten eight in reach, one too far, one turned at random."""
    targets = np.empty((count, 4, 4))
    for k, T in enumerate(targets):
        T[:] = chain.forward_kinematics(chain.random_configuration(rng))
        if k % 10 == 3:
            T[:3, 3] *= 5.0
        elif k % 10 == 6:
            T[:3, :3] = rotation_from_vector(2.0 * rng.normal(size=3))
    return targets


def drawn_seeds(chain: Chain, kind: str, count: int, rng: np.random.Generator):
    """Draw seeds: none, one for all targets, or one for each."""
    if kind == 'none':
        return None
    if kind == 'one':
        return chain.random_configuration(rng)
    return rng.uniform(*chain.finite_limits(), (count, len(chain)))


def one_by_one(solver: FabrikSolver, targets: Array, seeds) -> list:
    """Solve as a loop would."""
    if seeds is None or np.ndim(seeds) == 1:
        seeds = [seeds] * len(targets)
    return [solver.solve(T, seed) for T, seed in zip(targets, seeds, strict=True)]


def assert_same(found: BatchSolution, expected: list) -> None:
    """Compare bit for bit."""
    n = len(expected)
    assert len(found.status) == len(found.q) == n
    assert found.position_error.shape == found.orientation_error.shape == (n,)
    assert found.restarts.shape == found.converged.shape == (n,)
    for k, solution in enumerate(expected):
        assert np.array_equal(found.q[k], solution.q)
        assert found.status[k] is solution.status
        assert found.position_error[k] == solution.position_error
        assert found.orientation_error[k] == solution.orientation_error
        assert found.restarts[k] == solution.restarts
        assert found.converged[k] == solution.converged


class TestAnswers:
    @laws
    @given(
        st.integers(0, 2**32),
        st.sampled_from(['pose', 'axis', 'position', 'auto']),
        st.sampled_from(['auto', 'never']),
        st.sampled_from(['none', 'one', 'each']),
        st.integers(0, 12 if COMPILED else 4),
    )
    def test_are_those_of_one_at_a_time(self, number, mode, polish, kind, count):
        chain, rng = load_urdf(SIX_AXIS).chain(), np.random.default_rng(number)
        solver = solver_for(chain, mode=mode, polish=polish, max_restarts=6)
        targets = mixed_targets(chain, count, rng)
        seeds = drawn_seeds(chain, kind, count, rng)
        assert_same(solver.solve_batch(targets, seeds), one_by_one(solver, targets, seeds))

    @pytest.mark.parametrize('kind', ['none', 'one', 'each'])
    def test_are_so_too_where_there_are_more_than_one_thread_takes_at_a_time(self, six_axis, kind):
        rng = np.random.default_rng(1)
        solver = solver_for(six_axis, max_restarts=20 if COMPILED else 1)
        targets = mixed_targets(six_axis, MANY, rng)
        seeds = drawn_seeds(six_axis, kind, MANY, rng)
        found = solver.solve_batch(targets, seeds)
        assert_same(found, one_by_one(solver, targets, seeds))
        assert {Status.CONVERGED, Status.TOO_FAR} <= set(found.status)
        assert found.restarts.max() > 0

    @pytest.mark.parametrize('count', [0, 1, 2, 4, 7, 8, 9, 15, 16, 17])
    def test_are_complete_whatever_the_number_of_targets(self, planar, monkeypatch, count):
        monkeypatch.setattr(batch, 'CHUNK', 8)
        rng, solver = np.random.default_rng(2), solver_for(planar, max_restarts=2)
        targets = mixed_targets(planar, count, rng)
        seeds = drawn_seeds(planar, 'each', count, rng)
        assert_same(solver.solve_batch(targets, seeds), one_by_one(solver, targets, seeds))

    def test_of_points_are_those_of_poses(self, planar):
        solver, rng = solver_for(planar, mode='position'), np.random.default_rng(3)
        targets = mixed_targets(planar, 4, rng)
        for points in (targets[:, :3, 3], targets[:, :3, 3].tolist(), targets[:3, :3, 3]):
            found = solver.solve_batch(points)
            assert_same(found, one_by_one(solver, np.asarray(points), None))

    @pytest.mark.parametrize(
        'options',
        [
            {'posture': (0.1,) * 7},
            {'posture': (0.1,) * 7, 'posture_weight': 0.5},
            {'prefer': 'near'},
            {'prefer': 'central'},
            {'max_joint_move': 0.05},
            {'axis_weights': (1, 1, 1, 1, 1, 0)},
            {'axis_tolerances': (0.01, 0.01, 0.01, 0, 0, 2.0)},
            {'max_restarts': 0},
        ],
        ids=lambda options: ' '.join(options),
    )
    def test_do_not_depend_on_the_options(self, options):
        (chain, judge), rng = judged('panda'), np.random.default_rng(4)
        solver = solver_for(chain, **{'max_restarts': 10, **options})
        count = 30 if COMPILED else 3
        seeds = drawn_seeds(chain, 'each', count, rng)
        near = np.clip(seeds + rng.uniform(-0.2, 0.2, seeds.shape), chain.lower, chain.upper)
        targets = np.array([judge.pose(q) for q in near])
        targets[0] = judge.pose(seeds[0])
        found = solver.solve_batch(targets, seeds)
        assert_same(found, one_by_one(solver, targets, seeds))
        assert found.converged[0]

    def test_reach_the_targets(self):
        (chain, judge), rng = judged('ur5'), np.random.default_rng(5)
        targets = np.array([judge.pose(chain.random_configuration(rng)) for _ in range(MANY)])
        found = solver_for(chain).solve_batch(targets)
        assert found.converged.all()
        assert all(is_met(judge, T, q) for T, q in zip(targets, found.q, strict=True))

    def test_of_no_targets_are_none(self, six_axis):
        found = solver_for(six_axis).solve_batch(np.empty((0, 4, 4)))
        assert found.q.shape == (0, 6)
        assert found.status == ()
        assert found.converged.shape == found.restarts.shape == (0,)
        assert solver_for(six_axis, mode='position').solve_batch(np.empty((0, 3))).q.size == 0

    def test_belong_to_the_caller(self, planar):
        solver, rng = solver_for(planar), np.random.default_rng(6)
        targets = mixed_targets(planar, 5, rng)
        first = solver.solve_batch(targets)
        kept = first.q.copy()
        solver.solve_batch(targets[::-1])
        assert np.array_equal(first.q, kept)
        first.q[:] = 9.0
        assert np.array_equal(solver.solve_batch(targets).q, kept)


class TestInputs:
    def test_stay_as_they_are_and_may_be_read_only(self, six_axis):
        rng, solver = np.random.default_rng(1), solver_for(six_axis, max_restarts=2)
        targets = mixed_targets(six_axis, 8, rng)
        for seeds in (drawn_seeds(six_axis, 'each', 8, rng), 9.0 * np.ones(6)):
            before = targets.copy(), seeds.copy()
            expected = solver.solve_batch(targets, seeds)
            assert np.array_equal(targets, before[0])
            assert np.array_equal(seeds, before[1])
            seeds.flags.writeable = targets.flags.writeable = False
            found = solver.solve_batch(targets, seeds)
            assert np.array_equal(found.q, expected.q)
            targets.flags.writeable = True

    def test_lists_and_other_memory_layouts_give_the_same_answers(self, six_axis):
        rng, solver = np.random.default_rng(2), solver_for(six_axis, max_restarts=2)
        targets, seeds = mixed_targets(six_axis, 5, rng), drawn_seeds(six_axis, 'each', 5, rng)
        expected = solver.solve_batch(targets, seeds).q
        for T in (targets.tolist(), np.asfortranarray(targets), np.tile(targets, 2)[:, :, :4]):
            assert np.array_equal(solver.solve_batch(T, seeds).q, expected)
        for q in (seeds.tolist(), np.asfortranarray(seeds), np.tile(seeds, 2)[:, :6]):
            assert np.array_equal(solver.solve_batch(targets, q).q, expected)

    @pytest.mark.skipif(not COMPILED, reason='nothing is compiled')
    def test_make_the_kernel_compile_once(self, six_axis):
        rng, solver = np.random.default_rng(8), solver_for(six_axis, max_restarts=2)
        targets, seeds = mixed_targets(six_axis, 5, rng), drawn_seeds(six_axis, 'each', 5, rng)
        frozen = targets.copy()
        frozen.flags.writeable = False
        for T, q in ((targets, seeds), (targets, None), (frozen, seeds[0]), (frozen[::2], None)):
            solver.solve_batch(T, q)
        assert compilations(solve_many) == 1

    @pytest.mark.parametrize('prefer', ['first', 'near'])
    @pytest.mark.parametrize('bad', [0, 3, 10])
    def test_a_bad_target_is_named_by_its_number(self, six_axis, prefer, bad):
        solver = solver_for(six_axis, prefer=prefer, max_restarts=2)
        targets = mixed_targets(six_axis, 11, np.random.default_rng(3))
        spoilt = targets.copy()
        spoilt[bad, 1, 3] = math.nan
        with pytest.raises(TargetError, match=f'^target {bad}: target has entries that are not f'):
            solver.solve_batch(spoilt)
        spoilt = targets.copy()
        spoilt[bad, :3, :3] *= 1.1
        with pytest.raises(TargetError, match=f'^target {bad}: target is not a pose'):
            solver.solve_batch(spoilt)

    @pytest.mark.parametrize(
        ('mode', 'shape'),
        [
            ('pose', (4, 4)),
            ('pose', (5, 3)),
            ('pose', (5, 4, 3)),
            ('pose', (2, 5, 4, 4)),
            ('position', (3,)),
            ('position', (5, 2)),
        ],
    )
    def test_targets_of_another_shape_are_refused(self, six_axis, mode, shape):
        message = f'targets have shape {shape}, expected poses of shape (N, 4, 4)'
        with pytest.raises(TargetError) as refusal:
            solver_for(six_axis, mode=mode).solve_batch(np.zeros(shape))
        assert str(refusal.value) == message

    @pytest.mark.parametrize('shape', [(5,), (4, 6), (5, 5), (1, 5, 6), (), (6, 5)])
    def test_seeds_of_another_shape_are_refused(self, six_axis, shape):
        targets = np.tile(np.eye(4), (5, 1, 1))
        message = f'seeds have shape {shape}, expected (6,) or (5, 6)'
        with pytest.raises(JointValueError) as refusal:
            solver_for(six_axis).solve_batch(targets, np.zeros(shape))
        assert str(refusal.value) == message

    def test_a_seed_that_is_not_finite_is_refused(self, six_axis):
        targets = mixed_targets(six_axis, 5, np.random.default_rng(4))
        seeds = np.zeros((5, 6))
        seeds[2, 1] = math.inf
        with pytest.raises(JointValueError, match="not finite for joint 'j1'"):
            solver_for(six_axis).solve_batch(targets, seeds)


class TestThreads:
    @pytest.mark.parametrize(
        'options',
        [
            {},
            pytest.param({'posture': (0.1,) * 7}, marks=pytest.mark.long),
            {'prefer': 'near'},
        ],
        ids=['plain', 'posture', 'near'],
    )
    def test_two_on_one_solver_get_the_answers_of_one(self, options):
        (chain, _), rng = judged('panda'), np.random.default_rng(5)
        solver = solver_for(chain, max_restarts=5, **options)
        count = (200 if 'prefer' in options else 2000) if COMPILED else 10
        targets = mixed_targets(chain, count, rng)
        expected = one_by_one(solver, targets, None)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            with ThreadPoolExecutor(2) as pool:
                work = [pool.submit(one_by_one, solver, targets[::step], None) for step in (1, -1)]
                forwards, backwards = (done.result() for done in work)
        finally:
            sys.setswitchinterval(interval)
        assert all(map(same_answer, forwards, expected))
        assert all(map(same_answer, reversed(backwards), expected))

    def test_two_batches_on_one_solver_do_not_disturb_each_other_nor_a_third(self, six_axis):
        solver = solver_for(six_axis, max_restarts=5)
        targets = mixed_targets(six_axis, 1000 if COMPILED else 10, np.random.default_rng(6))
        expected = one_by_one(solver, targets, None)
        with ThreadPoolExecutor(3) as pool:
            batches = [pool.submit(solver.solve_batch, targets) for _ in range(2)]
            single = pool.submit(one_by_one, solver, targets, None)
            for work in batches:
                assert_same(work.result(), expected)
            assert all(map(same_answer, single.result(), expected))


class FakeBar:
    """Takes the place of tqdm and notes what it is told."""

    def __init__(self, log: list, **options) -> None:
        self.log = log
        log.append(options)

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        self.log.append('closed')

    def update(self, count: int) -> None:
        self.log.append(count)


class TestProgress:
    @pytest.fixture
    def told(self, monkeypatch) -> list:
        log: list = []
        module = ModuleType('tqdm')
        module.tqdm = lambda **options: FakeBar(log, **options)
        monkeypatch.setitem(sys.modules, 'tqdm', module)
        return log

    def test_without_tqdm_there_is_no_bar_and_all_the_answers(self, planar, monkeypatch, capfd):
        monkeypatch.setitem(sys.modules, 'tqdm', None)
        monkeypatch.setattr(batch, 'LONG_WORK', 0.0)
        solver = solver_for(planar, max_restarts=2)
        targets = mixed_targets(planar, 20, np.random.default_rng(1))
        assert_same(solver.solve_batch(targets), one_by_one(solver, targets, None))
        assert capfd.readouterr() == ('', '')

    def test_off_a_terminal_nothing_is_written(self, planar, monkeypatch, capfd):
        monkeypatch.setattr(batch, 'LONG_WORK', 0.0)
        targets = mixed_targets(planar, 20, np.random.default_rng(2))
        solver_for(planar, max_restarts=2).solve_batch(targets)
        assert capfd.readouterr() == ('', '')

    def test_on_a_terminal_there_is_a_bar_unless_it_is_not_wanted(self, planar, monkeypatch):
        pytest.importorskip('tqdm', reason='tqdm draws the bar; in the extra: fast')
        monkeypatch.setattr(batch, 'LONG_WORK', 0.0)
        targets = mixed_targets(planar, 20, np.random.default_rng(3))
        for wanted in (True, False):
            monkeypatch.setattr(sys, 'stderr', terminal := Terminal())
            solver_for(planar, max_restarts=2).solve_batch(targets, progress=wanted)
            assert ('20/20' in terminal.written) == wanted

    @pytest.mark.parametrize(('wanted', 'disable'), [(True, None), (False, True)])
    def test_the_bar_waits_for_long_work_and_for_a_terminal(self, planar, told, wanted, disable):
        solver_for(planar).solve_batch(np.tile(np.eye(4), (3, 1, 1)), progress=wanted)
        assert told[0] == {'total': 3, 'delay': 1.0, 'disable': disable}  # None: on a terminal

    @pytest.mark.parametrize('options', [{}, {'prefer': 'near'}], ids=['threads', 'one by one'])
    def test_the_bar_ends_when_all_targets_are_done(self, planar, told, monkeypatch, options):
        monkeypatch.setattr(batch, 'CHUNK', 8)
        targets = mixed_targets(planar, 37, np.random.default_rng(4))
        solver_for(planar, max_restarts=2, **options).solve_batch(targets)
        assert sum(told[1:-1]) == 37
        assert told[-1] == 'closed'

    def test_the_bar_is_closed_when_a_target_is_refused(self, planar, told):
        with pytest.raises(TargetError):
            solver_for(planar).solve_batch(np.full((3, 4, 4), math.nan))
        assert told[-1] == 'closed'


class Terminal:
    """What is written to it, and that it says it is a terminal."""

    def __init__(self) -> None:
        self.written = ''

    def write(self, text: str) -> None:
        self.written += text

    def flush(self) -> None:
        """Nothing is held back."""

    def isatty(self) -> bool:
        return True


def test_the_bounds_of_a_solution_batch_are_those_of_the_arm(six_axis):
    targets = mixed_targets(six_axis, 30, np.random.default_rng(7))
    seeds = np.full((30, 6), 40.0)
    found = solver_for(six_axis, max_restarts=2).solve_batch(targets, seeds)
    assert np.all((six_axis.lower <= found.q) & (found.q <= six_axis.upper))


def test_a_frame_far_off_is_too_far_and_the_others_are_not(planar):
    targets = np.array([transform(np.eye(3), [x, 0.0, 0.0]) for x in (1.5, 1e9, 1.4)])
    status = solver_for(planar, mode='position').solve_batch(targets).status
    assert status == (Status.CONVERGED, Status.TOO_FAR, Status.CONVERGED)
