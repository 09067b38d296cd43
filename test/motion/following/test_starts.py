"""Commands start where the arm is, whatever happened to it since the last motion."""

import contextlib
import itertools
import math

from fabrik_ros import FollowerOptions, ReasonKind, RefusedError, State
from helpers import examples, SIX_AXIS
import hypothesis
from hypothesis import strategies as st
import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from judging import Judge
from pushed_arm import Bench, DT, HARDEST, HELD, NEAR, NEARBY, six_axis, START
from two_arms import judges as two_judges, START as TWO_START, two_arms


def send_pose(bench):
    bench.step(Judge(SIX_AXIS, 'l0', 'l7').pose(START))


def send_joints(bench):
    bench.step(dict(zip(bench.follower.arm.joint_names, START, strict=True)))


def send_name(bench):
    bench.step('home')


def go_home(bench):
    bench.follower.home()


def jog(bench):
    bench.follower.jog([0.0, 0.0, 0.05, 0.0, 0.0, 0.0])


DOORS = (send_pose, send_joints, send_name, go_home, jog)
OPTIONS = FollowerOptions(
    home_configuration=tuple(START), arrival_tolerance_position=0.1,
    arrival_tolerance_orientation=0.5, jog_timeout=5.0,
)  # fmt: skip


laws = hypothesis.settings(max_examples=examples(8, 100))

PUSHES, SAGS, DURATIONS = (0.0, 0.003, -0.04, 0.07), (0.0, -0.02), (0.0, 0.3)


def pushes():
    """Every push at every door; sags and durations alternate, and are all there in the long."""
    counts = map(len, (PUSHES, DOORS, SAGS, DURATIONS))
    for i, j, k, m in itertools.product(*map(range, counts)):
        is_quick = k == (j + i // 2) % 2 and m == (i + j) % 2
        marks = [] if is_quick else pytest.mark.long
        yield pytest.param(PUSHES[i], SAGS[k], DURATIONS[m], DOORS[j], marks=marks)


@pytest.mark.parametrize(('by', 'sag', 'duration', 'door'), pushes())
def test_arm_that_was_moved_by_hand_starts_where_it_is(by, sag, duration, door):
    """Less the offset with which it settled after its last motion: else it would dip."""
    bench = Bench(six_axis(), START, OPTIONS, lag=0.02, sag=sag)
    bench.arrive(Judge(SIX_AXIS, 'l0', 'l7').pose(NEAR))
    bench.go(0.8)
    pushed = by * np.array([1.0, -1.0, 0.5, 0.0, 1.0, -0.3])
    bench.push(pushed, duration)
    bench.go(0.4)
    first = bench.first_command(door)
    assert np.abs(first - (bench.arm.q - sag)).max() < NEARBY + HARDEST * DT**2


@pytest.mark.parametrize('door', DOORS)
def test_arm_that_was_moved_far_away_starts_where_it_is_measured(door):
    bench = Bench(six_axis(), START, OPTIONS, lag=0.02)
    bench.arrive(Judge(SIX_AXIS, 'l0', 'l7').pose(NEAR))
    bench.go(0.8)
    bench.push(np.full(6, 3.0 * HELD), 0.5)
    bench.go(0.6)
    assert bench.follower.reason.kind is ReasonKind.MOVED_AWAY
    first = bench.first_command(door)
    assert np.abs(first - bench.arm.q).max() < NEARBY + HARDEST * DT**2


def test_path_that_was_proposed_is_not_taken_from_elsewhere():
    options = FollowerOptions(confirm='always')
    bench = Bench(six_axis(), START, options, lag=0.02)
    bench.step(Judge(SIX_AXIS, 'l0', 'l7').pose(NEAR))
    bench.go(0.5)
    assert bench.follower.reason.kind is ReasonKind.AWAITS_EXECUTE
    bench.push(np.full(6, 0.03), 0.1)
    bench.go(0.3)
    with pytest.raises(RefusedError, match='moved away'):
        bench.follower.execute()
    bench.go(1.0)
    assert bench.follower.is_at_rest


def test_arm_that_is_moved_while_it_looks_for_a_path_sets_out_from_where_it_is():
    bench = Bench(six_axis(), START, OPTIONS)
    bench.go(0.2)
    held = bench.sent[-1]
    bench.follower._follower.looks_in_ticks = False  # one piece of the search in each step
    bench.follower._looking_time = 1e-9
    bench.step(Judge(SIX_AXIS, 'l0', 'l7').pose(NEAR))
    bench.push(np.full(6, 0.04), 0.1)
    bench.follower._looking_time = np.inf
    while np.array_equal(bench.sent[-1], held):
        bench.step()
    assert np.abs(bench.sent[-1] - bench.arm.q).max() < NEARBY + HARDEST * DT**2


def test_arms_that_share_a_base_start_where_they_are():
    bench = Bench(two_arms(), TWO_START, OPTIONS_OF_TWO, lag=0.02, sag=0.01)
    poses = two_judges().poses(TWO_START)
    left = poses.copy()
    left[0, 2, 3] += 0.05
    left[1] = np.nan
    bench.arrive(left)
    bench.go(0.8)
    pushed = np.zeros(12)
    pushed[8] = 0.05  # the arm that did not move
    bench.push(pushed, 0.2)
    bench.go(0.4)
    first = bench.first_command(lambda bench: bench.step(poses))
    assert np.abs(first - (bench.arm.q - 0.01)).max() < NEARBY + HARDEST * DT**2


OPTIONS_OF_TWO = FollowerOptions(arrival_tolerance_position=0.1, arrival_tolerance_orientation=0.5)


@laws
@hypothesis.given(
    seed=st.integers(0, 10_000), lag=st.sampled_from([0.0, 0.02, 0.1, 0.3]),
    sag=st.sampled_from([0.0, 0.01, -0.03]), noise=st.sampled_from([0.0, 5e-4]),
    pause=st.floats(0.05, 2.5),
)  # fmt: skip
def test_next_target_begins_without_a_jump_however_soon_it_comes(seed, lag, sag, noise, pause):
    """Nobody moves the arm: so the commands go on from the last one, or all but."""
    rng = np.random.default_rng(seed)
    bench = Bench(six_axis(), START, OPTIONS, lag=lag, sag=sag, noise=noise, seed=seed)
    judge = Judge(SIX_AXIS, 'l0', 'l7')
    bench.arrive(judge.pose(START + rng.uniform(-0.3, 0.3, 6)))
    bench.go(pause)
    last = bench.sent[-1]
    bench.step(judge.pose(START))
    bench.step()
    jump = np.abs(bench.sent[-1] - last).max()
    assert jump < NEARBY + 3.0 * noise + 4.0 * HARDEST * DT**2


@pytest.mark.parametrize('door', [send_pose, send_joints, jog])
def test_measured_state_counts_though_it_need_not_be_waited_for(door):
    options = FollowerOptions(wait_for_state=False, jog_timeout=5.0)
    bench = Bench(six_axis(), NEAR, options)
    assert np.array_equal(bench.sent[0], NEAR)
    first = bench.first_command(door)
    assert np.abs(first - NEAR).max() < NEARBY


def glitches():
    """Every glitch at every door, at joints in turn; at all of them in the long."""
    for i, off in enumerate((0.5, 0.07, -0.01)):
        for j, door in enumerate(DOORS):
            for joint in range(6):
                marks = [] if joint == (2 * i + j) % 6 else pytest.mark.long
                yield pytest.param(off, joint, door, marks=marks)


@pytest.mark.parametrize(('off', 'joint', 'door'), glitches())
def test_one_wrong_measurement_is_no_start(off, joint, door):
    bench = Bench(six_axis(), START, OPTIONS)
    bench.arrive(Judge(SIX_AXIS, 'l0', 'l7').pose(NEAR))
    bench.go(0.8)
    right = bench.arm.q
    glitch = right.copy()
    glitch[joint] += off
    bench.arm.measured = iter([glitch, *500 * [right]]).__next__
    bench.step()
    with contextlib.suppress(RefusedError):
        door(bench)
    bench.go(1.0)
    sent, held = np.array(bench.sent), bench.sent[-102]
    moved = np.flatnonzero(np.any(sent != held, axis=1))
    moved = moved[moved > len(sent) - 103]
    assert len(moved) or door is jog, bench.follower.reason
    if len(moved):
        assert np.abs(sent[moved[0]] - right).max() < NEARBY + HARDEST * DT**2


@pytest.mark.parametrize('door', DOORS)
def test_nothing_starts_while_two_sources_contradict_each_other(door):
    bench = Bench(six_axis(), START, OPTIONS)
    bench.arrive(Judge(SIX_AXIS, 'l0', 'l7').pose(NEAR))
    bench.go(0.8)
    right, ghost = bench.arm.q, bench.arm.q - 1.0
    bench.arm.measured = iter(250 * [right, ghost]).__next__
    bench.go(0.5)
    held = bench.sent[-1]
    try:
        door(bench)
    except RefusedError as refused:
        reason = refused.reason
    else:
        reason = bench.follower.refusal
    assert reason.kind is ReasonKind.STATE_CONTRADICTED
    assert 'two sources' in reason.text
    bench.go(2.0)
    assert np.array_equal(bench.sent[-1], held)


@laws
@hypothesis.given(
    door=st.sampled_from(DOORS), joint=st.integers(0, 5), sign=st.sampled_from([-1.0, 1.0]),
    off=st.floats(math.log(0.01), 0.0).map(math.exp), every=st.sampled_from([2, 3, 10]),
    after=st.integers(0, 60), has_moved=st.booleans(),
)  # fmt: skip
def test_nothing_starts_at_a_second_source_however_near_it_is(
    door, joint, sign, off, every, after, has_moved
):
    """It speaks up at any time before the arm is asked to move, and goes on."""
    bench = Bench(six_axis(), START if has_moved else NEAR, OPTIONS)
    if has_moved:
        bench.arrive(Judge(SIX_AXIS, 'l0', 'l7').pose(NEAR))
    bench.go(0.8)
    away, steps = sign * off * np.eye(6)[joint], itertools.count()
    bench.arm.measured = lambda: bench.arm.q + away * (next(steps) % every == 0)
    bench.go(after * DT)
    held, true = bench.sent[-1], bench.arm.q
    with contextlib.suppress(RefusedError):
        door(bench)
    bench.go(3.0)
    moved = [q for q in bench.sent[-round(3.0 / DT) :] if not np.array_equal(q, held)]
    assert not moved or np.abs(moved[0] - true).max() < NEARBY + HARDEST * DT**2
    assert not moved or after * DT < 0.5
    assert bench.follower.reason.kind is ReasonKind.STATE_CONTRADICTED


@pytest.mark.parametrize('off', [0.5, 0.07, -0.01])
@pytest.mark.parametrize('door', DOORS)
def test_one_wrong_measurement_is_no_first_start(off, door):
    """Nor one after a hold."""
    bench = Bench(six_axis(), NEAR, OPTIONS)
    bench.go(0.3)
    for _ in range(2):
        right = bench.arm.q.copy()
        glitch = right.copy()
        glitch[2] += off
        bench.arm.measured = iter([glitch, *500 * [right]]).__next__
        held = bench.sent[-1]
        bench.step()
        with contextlib.suppress(RefusedError):
            door(bench)
        bench.go(0.3)
        moved = [q for q in bench.sent[-31:] if not np.array_equal(q, held)]
        assert moved or door is jog, bench.follower.reason
        if moved:
            assert np.abs(moved[0] - right).max() < NEARBY + HARDEST * DT**2
        bench.arm.measured = lambda: bench.arm.q
        bench.follower.hold()
        bench.go(1.5)
        bench.follower.resume()


@laws
@hypothesis.given(
    door=st.sampled_from(DOORS), silence=st.integers(1, 400), joint=st.integers(0, 5),
    off=st.floats(math.log(0.01), 1.0).map(math.exp), sign=st.sampled_from([-1.0, 1.0]),
    has_moved=st.booleans(), speaks_again=st.booleans(),
)  # fmt: skip
@hypothesis.example(send_pose, 75, 2, 2.3, 1.0, True, False)
@hypothesis.example(send_joints, 20, 0, 0.2, -1.0, False, False)
@hypothesis.example(go_home, 130, 1, 1.0, 1.0, True, True)
def test_one_wrong_measurement_after_a_silence_is_no_start(
    door, silence, joint, off, sign, has_moved, speaks_again
):
    """In so long a time a joint may have come anywhere, but nobody else has seen it there."""
    bench = Bench(six_axis(), START if has_moved else NEAR, OPTIONS)
    if has_moved:
        bench.arrive(Judge(SIX_AXIS, 'l0', 'l7').pose(NEAR))
    bench.go(0.8)
    right = bench.arm.q.copy()
    glitch = right + sign * off * np.eye(6)[joint]
    later = right if speaks_again else None
    heard = [*silence * [None], glitch, *500 * [later]]
    bench.arm.measured = iter(heard).__next__
    bench.go((silence + 1) * DT)
    held, before = bench.sent[-1], len(bench.sent)
    try:
        door(bench)
        is_refused = bench.follower.refusal is not None
    except RefusedError:
        is_refused = True
    bench.go(1.0)
    moved = [q for q in bench.sent[before:] if not np.array_equal(q, held)]
    assert moved or is_refused or not speaks_again, bench.follower.reason
    if moved:
        assert np.abs(moved[0] - right).max() < NEARBY + HARDEST * DT**2


@pytest.mark.parametrize('noise', [0.001, 0.003, 0.006])
@pytest.mark.parametrize('door', DOORS)
def test_arm_whose_measurements_tremble_sets_out(noise, door):
    bench = Bench(six_axis(), NEAR, OPTIONS, noise=noise)
    bench.go(0.6)
    first = bench.first_command(door)
    assert np.abs(first - bench.arm.q).max() < NEARBY + 3.0 * noise


@pytest.mark.parametrize('sag', [0.02, -0.02])
@pytest.mark.parametrize('door', DOORS)
def test_arm_that_sags_does_not_dip_after_a_hold(sag, door):
    """A controller is where it was last sent, not where the arm is."""
    bench = Bench(six_axis(), START, OPTIONS, lag=0.02, sag=sag)
    bench.arrive(Judge(SIX_AXIS, 'l0', 'l7').pose(NEAR))
    bench.go(1.0)
    bench.follower.hold()
    bench.go(1.0)
    bench.follower.resume()
    last = bench.sent[-1]
    first = bench.first_command(door)
    assert np.abs(first - last).max() < NEARBY + HARDEST * DT**2


@pytest.mark.parametrize('sag', [0.01, -0.05, -0.09])
@pytest.mark.parametrize('door', DOORS)
def test_arm_that_sags_no_longer_starts_where_it_is(sag, door):
    """A load goes, and the arm rises to its last command: the offset goes with it."""
    bench = Bench(six_axis(), START, OPTIONS, lag=0.02, sag=sag)
    bench.arrive(Judge(SIX_AXIS, 'l0', 'l7').pose(NEAR))
    bench.go(0.8)
    bench.arm.sag = 0.0
    bench.go(0.4)
    first = bench.first_command(door)
    assert np.abs(first - bench.arm.q).max() < NEARBY + HARDEST * DT**2


@pytest.mark.parametrize('door', [send_pose, send_joints, go_home])
def test_target_does_not_wait_for_ever_for_an_arm_that_is_moved(door):
    """It would set out when the hand lets go, long after it was asked to."""
    bench = Bench(six_axis(), NEAR, OPTIONS)
    bench.go(0.3)
    hand = iter(NEAR + 0.003 * np.outer(np.arange(1000), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    bench.arm.measured = hand.__next__
    bench.go(0.2)
    door(bench)
    bench.go(2.5)
    assert bench.follower.state is State.HOLDING
    let_go = next(hand)
    bench.arm.measured = lambda: let_go
    bench.go(3.0)
    assert bench.follower.is_at_rest
    assert np.abs(bench.sent[-1] - let_go).max() < HELD


def haunt(bench, away):
    """Have each state of the arm followed by one of another source."""
    take = bench.follower._take_measured

    def take_both(measured, now):
        take(measured, now)
        take(measured + away, now + 0.2 * DT)

    bench.follower._take_measured = take_both


@laws
@hypothesis.given(
    door=st.sampled_from(DOORS), off=st.floats(0.007, 0.09), sign=st.sampled_from([-1.0, 1.0]),
    push=st.floats(-0.09, 0.09), duration=st.sampled_from([0.0, 0.05, 0.1, 0.3]),
    before=st.integers(0, 15), after=st.integers(3, 30),
)  # fmt: skip
@hypothesis.example(send_pose, 0.0625, 1.0, 0.0625, 0.0, 2, 3)
@hypothesis.example(send_pose, 0.0078, -1.0, 0.0625, 0.0, 13, 4)
def test_arm_that_was_just_pushed_does_not_start_at_a_second_source(
    door, off, sign, push, duration, before, after
):
    bench = Bench(six_axis(), START, OPTIONS)
    bench.arrive(Judge(SIX_AXIS, 'l0', 'l7').pose(NEAR))
    bench.go(0.8)
    bench.push(push * np.ones(6), duration)
    bench.go(before * DT)
    true = bench.arm.q
    haunt(bench, sign * off)
    bench.go(after * DT)
    held = bench.sent[-1]
    with contextlib.suppress(RefusedError):
        door(bench)
    bench.go(1.5)
    moved = [q for q in bench.sent[-round(1.5 / DT) :] if not np.array_equal(q, held)]
    assert not moved or np.abs(moved[0] - true).max() < NEARBY + HARDEST * DT**2


@laws
@hypothesis.given(
    door=st.sampled_from(DOORS), off=st.floats(0.15, 2.0), sign=st.sampled_from([-1.0, 1.0]),
    seed=st.integers(0, 10_000), share=st.floats(0.2, 0.4), after=st.integers(0, 30),
    lasts=st.integers(5, 100),
)  # fmt: skip
@hypothesis.example(send_pose, 0.219, 1.0, 6704, 0.158, 7, 95)
@hypothesis.example(send_pose, 1.071, -1.0, 1261, 0.176, 7, 48)
def test_nothing_starts_at_a_second_source_that_speaks_more_often(
    door, off, sign, seed, share, after, lasts
):
    """It has just come, and sends most of the states, without order."""
    bench = Bench(six_axis(), START, OPTIONS)
    bench.arrive(Judge(SIX_AXIS, 'l0', 'l7').pose(NEAR))
    bench.go(0.8)
    true, held = bench.arm.q, bench.sent[-1]
    measured, rng = bench.arm.measured, np.random.default_rng(seed)
    bench.arm.measured = lambda: measured() if rng.random() < share else true + sign * off
    bench.go(after * DT)
    with contextlib.suppress(RefusedError):
        door(bench)
    bench.go(lasts * DT)
    bench.arm.measured = measured
    bench.go(2.0)
    moved = [q for q in bench.sent[-200 - after - lasts :] if not np.array_equal(q, held)]
    assert not moved or np.abs(moved[0] - true).max() < NEARBY + HARDEST * DT**2


@laws
@hypothesis.given(
    door=st.sampled_from(DOORS), lag=st.sampled_from([0.0, 0.02, 0.05]),
    push=st.floats(0.045, 0.09), sign=st.sampled_from([-1.0, 1.0]), begin=st.floats(0.0, 0.3),
    duration=st.sampled_from([0.0, 0.05, 0.3, 1.0]), pause=st.floats(0.1, 1.0),
)  # fmt: skip
@hypothesis.example(send_pose, 0.0, 0.09, 1.0, 0.0, 1.0, 0.3)
def test_arm_that_is_pushed_as_it_comes_to_rest_does_not_count_as_sagging(
    door, lag, push, sign, begin, duration, pause
):
    """
    Arms sag by 0.03 at most as they come to rest, or lag a little; what is beyond is a push.

    A joint that has moved may be as far behind as when it got its last command.
    """
    bench = Bench(six_axis(), START, OPTIONS, lag=lag)
    bench.step({'j0': START[0] + 0.1})
    while not bench.follower.is_at_rest:
        bench.step()
    bench.go(begin)
    bench.push(sign * push * np.ones(6), duration)
    bench.go(pause)
    true, held = bench.arm.q, bench.sent[-1]
    with contextlib.suppress(RefusedError):
        door(bench)
    bench.go(2.5)
    moved = [q for q in bench.sent[-250:] if not np.array_equal(q, held)]
    off = np.abs(moved[0] - true) if moved else np.zeros(6)
    assert off[0] < 0.04
    assert off[1:].max() < NEARBY + HARDEST * DT**2


@laws
@hypothesis.given(
    door=st.sampled_from(DOORS), off=st.floats(0.035, 0.3), sign=st.sampled_from([-1.0, 1.0]),
    joint=st.integers(0, 5), before=st.integers(1, 40), lasts=st.integers(1, 150),
    after=st.integers(30, 100), lag=st.sampled_from([0.0, 0.02, 0.05]),
)  # fmt: skip
@hypothesis.example(send_joints, 0.05, -1.0, 1, 2, 80, 40, 0.05)
@hypothesis.example(go_home, 0.05, 1.0, 4, 5, 80, 40, 0.02)
def test_arm_that_said_something_else_for_a_while_has_no_offset(
    door, off, sign, joint, before, lasts, after, lag
):
    """As where a sensor slips while it rests, and is mended: no hand moves it so fast."""
    bench = Bench(six_axis(), START, OPTIONS, lag=lag)
    bench.step({'j0': START[0] + 0.1})
    while not bench.follower.is_at_rest:
        bench.step()
    bench.go(before * DT)
    left = np.abs(bench.arm.q - bench.sent[-1]).max()  # of a slow arm, as it was last seen
    measured, lie = bench.arm.measured, sign * off * np.eye(6)[joint]
    bench.arm.measured = lambda: measured() + lie
    bench.go(lasts * DT)
    bench.arm.measured = measured
    bench.go(after * DT)
    with contextlib.suppress(RefusedError):
        bench.follower.resume()
    true, held = bench.arm.q, bench.sent[-1]
    with contextlib.suppress(RefusedError):
        door(bench)
    bench.go(2.5)
    moved = [q for q in bench.sent[-250:] if not np.array_equal(q, held)]
    assert not moved or np.abs(moved[0] - true).max() < NEARBY + left + HARDEST * DT**2


@laws
@hypothesis.given(
    door=st.sampled_from(DOORS), left=st.floats(0.03, 0.25), sign=st.sampled_from([-1.0, 1.0]),
    late=st.integers(1, 4), steps=st.integers(1, 3),
)  # fmt: skip
@hypothesis.example(send_joints, 0.064, 1.0, 2, 1)
def test_arm_that_comes_to_its_last_command_in_a_few_leaps_does_not_sag(
    door, left, sign, late, steps
):
    """As where its states come seldom, or a simulation catches up."""
    bench = Bench(six_axis(), START, OPTIONS)
    bench.step({'j0': START[0] + 0.1})
    while not bench.follower.is_at_rest:
        bench.step()
    end = bench.sent[-1]
    behind = end + sign * left * np.eye(6)[0]
    heard = [*late * [behind], *np.linspace(behind, end, steps + 1)[1:], *600 * [end]]
    bench.arm.measured = iter(heard).__next__
    bench.go((late + steps + 40) * DT)
    held = bench.sent[-1]
    with contextlib.suppress(RefusedError):
        door(bench)
    bench.go(2.5)
    moved = [q for q in bench.sent[-250:] if not np.array_equal(q, held)]
    assert not moved or np.abs(moved[0] - end).max() < NEARBY + HARDEST * DT**2


@laws
@hypothesis.given(
    door=st.sampled_from(DOORS), off=st.floats(0.007, 0.09), sign=st.sampled_from([-1.0, 1.0]),
    before=st.integers(-10, 20), lasts=st.integers(1, 250), after=st.integers(0, 250),
)  # fmt: skip
@hypothesis.example(send_pose, 0.02, 1.0, 0, 60, 200)
def test_second_source_that_is_gone_leaves_no_offset(door, off, sign, before, lasts, after):
    """It speaks up as the arm comes to rest, or soon after, and falls silent."""
    bench = Bench(six_axis(), START, OPTIONS)
    bench.step({'j0': START[0] + 0.1})
    bench.go(0.44 + before * DT)
    haunt(bench, sign * off)
    bench.go(lasts * DT)
    del bench.follower._take_measured
    bench.go(after * DT)
    with contextlib.suppress(RefusedError):
        bench.follower.resume()
    true, held = bench.arm.q, bench.sent[-1]
    is_at_rest = bench.follower.is_at_rest
    with contextlib.suppress(RefusedError):
        door(bench)
    bench.go(2.5)
    moved = [q for q in bench.sent[-round(2.5 / DT) :] if not np.array_equal(q, held)]
    if is_at_rest and moved:
        assert np.abs(moved[0] - true).max() < NEARBY + HARDEST * DT**2


@laws
@hypothesis.given(
    door=st.sampled_from(DOORS), off=st.floats(0.007, 0.09), sign=st.sampled_from([-1.0, 1.0]),
    before=st.integers(3, 30), lasts=st.integers(0, 60),
)  # fmt: skip
@hypothesis.example(send_pose, 0.015, 1.0, 10, 20)
def test_first_start_that_was_in_doubt_is_where_the_arm_is(door, off, sign, before, lasts):
    """Two sources agree again while the arm waits to set out."""
    bench = Bench(six_axis(), NEAR, OPTIONS)
    bench.go(0.3)
    true, held = bench.arm.q, bench.sent[-1]
    haunt(bench, sign * off)
    bench.go(before * DT)
    with contextlib.suppress(RefusedError):
        door(bench)
    bench.go(lasts * DT)
    del bench.follower._take_measured
    bench.go(3.0)
    moved = [q for q in bench.sent if not np.array_equal(q, held)]
    assert not moved or np.abs(moved[0] - true).max() < NEARBY + HARDEST * DT**2


@pytest.mark.parametrize('back', [0.02, 0.1, 0.15])
def test_arm_that_was_moved_far_away_and_some_way_back_is_not_pulled(back):
    """It is let go where it is, and is not told to go to the old command as it comes near that."""
    bench = Bench(six_axis(), START, OPTIONS)
    bench.arrive(Judge(SIX_AXIS, 'l0', 'l7').pose(NEAR))
    bench.go(0.8)
    bench.push(0.15 * np.ones(6), 0.3)
    bench.go(1.0)
    held = bench.sent[-1]
    bench.push(-back * np.ones(6), 0.3)
    there = bench.arm.q
    bench.go(1.0)
    for told in bench.sent[-130:]:
        assert np.array_equal(told, held) or np.abs(told - there).max() <= NEARBY


@pytest.mark.parametrize('every', [3, 10, 20])
def test_arm_whose_states_come_seldom_sets_out_again_without_a_jump(every):
    """At 5 Hz two states are farther apart than the time over which its speed is taken."""
    bench, count = Bench(six_axis(), START, OPTIONS, lag=0.05), itertools.count()
    measured = bench.arm.measured
    bench.arm.measured = lambda: measured() if next(count) % every == 0 else None
    bench.arrive(Judge(SIX_AXIS, 'l0', 'l7').pose(NEAR))
    bench.go(1.0)
    held = bench.sent[-1]
    first = bench.first_command(send_pose)
    assert np.abs(first - held).max() < NEARBY
