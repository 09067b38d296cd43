"""Links that may touch: the tubes of a telescope, always inside one another."""

import argparse
from itertools import combinations
import math

from fabrik_ros import ArmFollower, FollowerOptions, load_urdf, State
from fabrik_ros.errors import CollisionError
from fabrik_ros.planning import plan
from fabrik_ros.view.main import add_page_arguments
from helpers import joint_xml, robot_xml
import numpy as np
import pytest

pytest.importorskip('coal', reason='coal measures')

TUBES = 4
SLIDE = '<axis xyz="0 0 1"/><limit lower="0" upper="0.9" velocity="1"/>'
NESTED = tuple((f'tube{a}', f'tube{b}') for a, b in combinations(range(TUBES), 2))
OUT = np.full(TUBES - 1, 0.15)
IN = np.full(TUBES - 1, 0.05)


def telescope():
    """Put tubes of 0.6 m into one another, each of which comes out far."""
    links = [
        f'<link name="tube{i}"><collision><geometry><box size="{0.2 - 0.02 * i} {0.2 - 0.02 * i} '
        '0.6"/></geometry></collision></link>'
        for i in range(TUBES)
    ]
    joints = [
        joint_xml(f's{i}', f'tube{i}', f'tube{i + 1}', 'prismatic', SLIDE)
        for i in range(TUBES - 1)
    ]
    return load_urdf(robot_xml('', *links, *joints).replace('<link name=""/>', ''))


def followed(allowed):
    """Ask a telescope that is in to come out; return the follower after three seconds."""
    options = FollowerOptions(mode='position', allowed_collisions=allowed)
    follower = ArmFollower(telescope(), options, looking_time=math.inf)
    q, target = IN, {f's{i}': value for i, value in enumerate(OUT)}
    for _ in range(300):
        q, target = follower.step(target, 0.01, measured=q), None
    return follower, q


def test_tubes_that_touch_are_named_with_the_cure():
    follower, q = followed(())
    assert follower.state is State.HOLDING
    assert np.array_equal(q, IN)
    named = [pair for pair in NESTED if all(f"'{link}'" in str(follower.reason) for link in pair)]
    assert len(named) == 1
    assert 'are within 2 mm of each other already' in str(follower.reason)
    assert 'allowed_collisions' in str(follower.reason)


def test_tubes_that_may_touch_come_out():
    follower, q = followed(NESTED)
    assert follower.state is State.REACHED
    assert q == pytest.approx(OUT, abs=1e-6)


def test_a_plan_takes_the_same_pairs():
    robot = telescope()
    chain = robot.chain()
    assert not plan(chain, IN, OUT, robot=robot, planning_time=1.0)
    assert plan(chain, IN, OUT, robot=robot, allowed_collisions=NESTED, planning_time=5.0)


def test_a_pair_of_which_one_is_no_link_is_refused_with_the_nearest_name():
    with pytest.raises(CollisionError, match="named 'tub2'; did you mean 'tube2'"):
        followed((('tube0', 'tub2'),))


@pytest.mark.parametrize('pairs', [('tube0/tube2',), (('tube0',),), ('ab',)])
def test_what_is_no_pair_is_refused(pairs):
    with pytest.raises(ValueError, match='allowed_collisions must hold pairs of names of links'):
        FollowerOptions(allowed_collisions=pairs).check()


def test_the_command_line_takes_pairs(capsys):
    parser = argparse.ArgumentParser()
    add_page_arguments(parser)
    words = ['--allow-collision', 'tube0/tube2', '--allow-collision', 'tube1/tube3']
    assert parser.parse_args(words).allow_collision == [('tube0', 'tube2'), ('tube1', 'tube3')]
    for wrong in ('tube0', 'tube0/', 'a/b/c'):
        with pytest.raises(SystemExit):
            parser.parse_args(['--allow-collision', wrong])
        assert 'must be LINK_A/LINK_B' in capsys.readouterr().err
