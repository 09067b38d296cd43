"""Self-collision: distances worked out on paper, the choice of pairs, and what cannot be had."""

import math
import re
import sys

from collision_models import body, planar_arm, planar_distance, real_robot, with_bodies
from fabrik_ros import load_urdf
from fabrik_ros.collision import CollisionGuard, LeftOutReason, SelfCollision
from fabrik_ros.errors import CollisionError, CollisionUnavailableError, JointValueError
from fabrik_ros.motion.limits.joint_limiter import JointLimiter
from fabrik_ros.motion.limits.limits import MotionLimits
from helpers import assert_close, joint_xml, PLANAR, robot_xml, Segment, serial_xml
import numpy as np
import pytest

coal = pytest.importorskip('coal', reason='coal measures the distances')

BALL = '<sphere radius="0.1"/>'
TRIPLE = serial_xml([Segment(), Segment(xyz=(1.0, 0.0, 0.0)), Segment(xyz=(0.8, 0.0, 0.0))])
"""Three joints about z, 1.0 m and 0.8 m apart."""


def collision_of(xml, **options):
    robot = load_urdf(xml)
    return SelfCollision(robot, robot.chain(), **options)


def pairs_of(collision):
    return {frozenset(pair) for pair in collision.pairs}


def reasons(collision):
    return {frozenset((left.link_a, left.link_b)): left.reason for left in collision.left_out}


# Distances.


@pytest.mark.parametrize('elbow', [0.0, 0.7, -2.0, 3.0])
def test_distance_of_spheres_follows_from_the_law_of_cosines(elbow):
    xml = with_bodies(TRIPLE, {'l0': body(BALL), 'l3': body(BALL)})
    nearest = collision_of(xml).distance([0.3, elbow, 1.0])
    between = math.sqrt(1.0 + 0.64 + 1.6 * math.cos(elbow))
    assert_close(nearest.distance, between - 0.2, 1e-6)
    assert {nearest.link_a, nearest.link_b} == {'l0', 'l3'}


def test_distance_is_negative_by_the_depth_of_a_penetration():
    xml = with_bodies(TRIPLE, {'l0': body(BALL), 'l3': body(BALL)})
    collision = collision_of(xml.replace('radius="0.1"', 'radius="0.15"'))
    assert_close(collision.distance([0.0, math.pi, 0.0]).distance, 0.2 - 0.3, 1e-5)
    assert not collision.is_collision_free([0.0, math.pi, 0.0])


@pytest.mark.parametrize(
    ('shape', 'reach'),
    [
        ('<box size="0.4 0.2 0.2"/>', 0.2),
        ('<cylinder radius="0.15" length="0.6"/>', 0.15),
        ('<capsule radius="0.15" length="0.6"/>', 0.15),
        ('<sphere radius="0.25"/>', 0.25),
    ],
)
def test_each_shape_is_as_large_as_the_urdf_says(shape, reach):
    xml = with_bodies(TRIPLE, {'l0': body(shape), 'l3': body(BALL)})
    assert_close(collision_of(xml).distance([0.0, 0.0, 0.0]).distance, 1.7 - reach, 1e-6)


@pytest.mark.parametrize(('shape', 'end'), [('cylinder', 0.3), ('capsule', 0.45)])
def test_origin_of_a_geometry_turns_and_moves_it(shape, end):
    lying = body(f'<{shape} radius="0.15" length="0.6"/>', '0.1 0 0', f'0 {math.pi / 2} 0')
    xml = with_bodies(TRIPLE, {'l0': lying, 'l3': body(BALL)})
    assert_close(collision_of(xml).distance([0.0, 0.0, 0.0]).distance, 1.7 - 0.1 - end, 1e-6)


def test_nearest_of_several_geometries_of_a_link_counts():
    far, near = body(BALL, '-1 0 0'), body(BALL, '0.5 0 0')
    xml = with_bodies(TRIPLE, {'l0': far + near, 'l3': body(BALL)})
    assert_close(collision_of(xml).distance([0.0, 0.0, 0.0]).distance, 1.3 - 0.2, 1e-6)


def test_capsules_of_a_planar_arm_are_as_far_apart_as_brute_force_says():
    collision, rng = collision_of(planar_arm(4)), np.random.default_rng(4)
    assert len(collision.pairs) == 3
    for _ in range(200):
        q = rng.uniform(-3.0, 3.0, 4)
        expected = planar_distance(q)
        if expected > 0.0:
            assert_close(collision.distance(q).distance, expected, 1e-5)
        else:
            assert collision.distance(q).distance <= 0.0


def test_free_means_farther_apart_than_the_clearance():
    xml = with_bodies(TRIPLE, {'l0': body(BALL), 'l3': body(BALL)})
    folded = [0.0, math.acos((0.25**2 - 1.64) / 1.6), 0.0]
    assert collision_of(xml, clearance=0.0499).is_collision_free(folded)
    assert not collision_of(xml, clearance=0.0501).is_collision_free(folded)


def test_slide_outside_its_limits_is_measured_all_the_same():
    xml = serial_xml([Segment('prismatic', axis=(1, 0, 0), lower=0, upper=1), Segment()])
    collision = collision_of(with_bodies(xml, {'l0': body(BALL), 'l2': body(BALL, '0.5 0 0')}))
    for slide in (0.5, 1.0, 5.0, 0.2, -3.0, 0.5):
        expected = abs(slide + 0.5) - 0.2
        assert_close(collision.distance([slide, 0.0]).distance, expected, 1e-6)


@pytest.mark.parametrize('slide', [0.0, 1.0, 5.0, -4.0])
def test_ball_on_a_turning_bar_is_seen_to_come_near_however_far_out_its_slide_is(slide):
    """Seen from the ball at the base, the bar turns about a point as far away as the slide is."""
    xml = serial_xml([Segment('prismatic', axis=(1, 0, 0), lower=0, upper=1), Segment()])
    xml = xml.replace('"-3.0" upper="3.0"', '"-3.2" upper="3.2"')
    xml = with_bodies(xml, {'l0': body(BALL), 'l2': body(BALL, '3 0 0')})
    collision = collision_of(xml, clearance=2.5)
    for turn in (0.0, math.pi, 0.5, 2.5, -2.0, 1.0, -3.0):
        away = math.hypot(slide + 3.0 * math.cos(turn), 3.0 * math.sin(turn)) - 0.2
        assert collision.is_collision_free([slide, turn]) == (away > 2.5)


def test_robot_without_pairs_is_always_free():
    collision = collision_of(with_bodies(PLANAR, {'l1': body(BALL)}))
    assert collision.pairs == ()
    assert collision.distance([0.0, 0.0]).distance == math.inf
    assert collision.is_collision_free([0.0, 0.0])


# What takes part.

ROBOT = robot_xml(
    'body mast upper hand finger tail',
    joint_xml('mount', 'body', 'mast', 'fixed', '<origin xyz="0 2 0"/>'),
    joint_xml('shoulder', 'body', 'upper', 'continuous', '<axis xyz="0 0 1"/>'),
    joint_xml('elbow', 'upper', 'hand', 'continuous', '<origin xyz="1 0 0"/><axis xyz="0 0 1"/>'),
    joint_xml(
        'grip',
        'hand',
        'finger',
        'prismatic',
        '<origin xyz="0.5 0 0"/><limit lower="0.1" upper="0.4" velocity="1"/>',
    ),
    joint_xml('wag', 'body', 'tail', 'continuous', '<origin xyz="-1 0 0"/><axis xyz="0 0 1"/>'),
)
"""An arm of 1 m with a finger along x at its hand, on a body with a mast and a tail."""


def robot_collision(bodies, **options):
    robot = load_urdf(with_bodies(ROBOT, bodies))
    return SelfCollision(robot, robot.chain('body', 'hand'), **options)


def test_what_hangs_on_the_tip_moves_with_it_and_the_body_stands_still():
    collision = robot_collision({'mast': body(BALL), 'finger': body(BALL)})
    assert_close(collision.distance([math.pi / 2, 0.0]).distance, 2.0 - 1.6 - 0.2, 1e-6)
    assert_close(collision.distance([-math.pi / 2, 0.0]).distance, 2.0 + 1.6 - 0.2, 1e-6)


def test_joints_outside_the_arm_stand_where_they_are_told_within_their_limits():
    collision = robot_collision(
        {'mast': body(BALL), 'finger': body(BALL)}, other_joints={'grip': 0.2}
    )
    up = [math.pi / 2, 0.0]
    assert_close(collision.distance(up).distance, 2.0 - 1.7 - 0.2, 1e-6)
    collision.set_other_joints({'grip': 0.4, 'shoulder': 1.0, 'nothing': 1.0})
    assert_close(collision.distance(up).distance, 2.0 - 1.9 - 0.2, 1e-6)
    collision.set_other_joints({'grip': 9.0})
    assert_close(collision.distance(up).distance, 2.0 - 1.9 - 0.2, 1e-6)
    collision.set_other_joints({'grip': math.nan})
    assert_close(collision.distance(up).distance, 2.0 - 1.9 - 0.2, 1e-6)


def test_what_was_far_before_another_joint_moved_is_measured_again():
    collision = robot_collision({'tail': body(BALL, '0 0.5 0'), 'finger': body(BALL)})
    assert collision.is_collision_free([math.pi, 0.0])
    collision.set_other_joints({'wag': math.pi / 2, 'grip': 0.1})
    assert_close(collision.distance([math.pi, 0.0]).distance, 0.1 - 0.2, 1e-5)
    assert not collision.is_collision_free([math.pi, 0.0])


def test_follower_beside_the_arm_moves_with_its_source():
    xml = with_bodies(ROBOT, {'tail': body(BALL, '0 0.5 0'), 'mast': body(BALL)}).replace(
        '<joint name="wag" type="continuous">',
        '<joint name="wag" type="continuous"><mimic joint="shoulder" multiplier="2"/>',
    )
    robot = load_urdf(xml)
    collision = SelfCollision(robot, robot.chain('body', 'hand'))
    for shoulder in (0.0, 0.4, -1.0):
        tail = np.array([-1.0 - 0.5 * math.sin(2 * shoulder), 0.5 * math.cos(2 * shoulder)])
        expected = np.linalg.norm(tail - [0.0, 2.0]) - 0.2
        assert_close(collision.distance([shoulder, 1.0]).distance, expected, 1e-6)


# Pairs.


def test_pairs_that_the_arm_does_not_move_against_each_other_are_left_out():
    collision = robot_collision(
        {link: body(BALL) for link in ('body', 'mast', 'hand', 'finger', 'tail')}
    )
    rigid = {pair for pair, reason in reasons(collision).items() if reason is LeftOutReason.RIGID}
    expected = ['body mast', 'body tail', 'mast tail', 'hand finger']
    assert rigid == {frozenset(pair.split()) for pair in expected}
    assert frozenset(('hand', 'mast')) in pairs_of(collision)


def test_neighbours_are_left_out_also_with_a_fixed_link_without_geometry_between():
    segments = [Segment(), Segment('fixed', xyz=(1, 0, 0)), Segment(), Segment(xyz=(0.8, 0, 0))]
    bodies = {link: body(BALL) for link in ('l1', 'l3', 'l4')}
    collision = collision_of(with_bodies(serial_xml(segments), bodies))
    assert reasons(collision) == {
        frozenset(('l1', 'l3')): LeftOutReason.NEIGHBOURS,
        frozenset(('l3', 'l4')): LeftOutReason.NEIGHBOURS,
    }
    assert collision.pairs == (('l1', 'l4'),)


def test_links_with_two_joints_between_are_no_neighbours():
    collision = collision_of(with_bodies(TRIPLE, {'l1': body(BALL), 'l3': body(BALL)}))
    assert collision.pairs == (('l1', 'l3'),)


def test_pair_that_always_touches_is_left_out():
    big = body('<sphere radius="0.9"/>')
    collision = collision_of(with_bodies(TRIPLE, {'l1': body(BALL), 'l2': big, 'l3': big}))
    assert_close(collision.distance([0.0, 0.0, 0.0]).distance, 1.8 - 1.0, 1e-6)
    huge = body('<sphere radius="1.9"/>')
    collision = collision_of(with_bodies(TRIPLE, {'l1': body(BALL), 'l2': big, 'l3': huge}))
    assert reasons(collision)[frozenset(('l1', 'l3'))] is LeftOutReason.ALWAYS
    assert collision.pairs == ()


def test_pair_that_touches_where_the_arm_is_folded_stays_in():
    """Also where that is the zero configuration, put inside the limits."""
    xml = serial_xml(
        [Segment(), Segment(xyz=(1, 0, 0), lower=-3.1, upper=-3.0), Segment(xyz=(1.0, 0, 0))]
    ).replace('lower="-3.1" upper="-3.0"', 'lower="-3.1" upper="3.1"')
    xml = with_bodies(xml, {'l0': body(BALL), 'l1': body(BALL), 'l3': body(BALL)})
    collision = collision_of(xml)
    assert frozenset(('l0', 'l3')) in pairs_of(collision)
    assert not collision.is_collision_free([0.0, 3.1, 0.0])


def test_pairs_may_be_allowed_to_touch():
    xml = with_bodies(TRIPLE, {'l0': body(BALL), 'l3': body(BALL)})
    collision = collision_of(xml, allowed_collisions=[('l3', 'l0')])
    assert reasons(collision) == {frozenset(('l0', 'l3')): LeftOutReason.TOLD}


def test_panda_keeps_the_pair_of_hand_and_forearm_which_do_collide():
    robot, arm, packages, _ = real_robot('panda')
    collision = SelfCollision(robot, arm, mesh_paths=[packages])
    assert collision.missing == ()
    assert {left.reason for left in collision.left_out} == {
        LeftOutReason.NEIGHBOURS,
        LeftOutReason.RIGID,
    }
    assert frozenset(('panda_link5', 'panda_hand')) in pairs_of(collision)
    folded = [0.0, 0.0, 0.0, -0.07, 0.0, -0.0175, 0.0]
    assert collision.distance(folded).distance < 0.0
    assert collision.is_collision_free([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])


def test_same_robot_gives_the_same_pairs_in_the_same_order():
    one, two = collision_of(planar_arm(5)), collision_of(planar_arm(5))
    assert one.pairs == two.pairs
    assert one.left_out == two.left_out


# Clearances of pairs.


TWO_BALLS = with_bodies(TRIPLE, {'l0': body(BALL), 'l3': body(BALL)})
"""A ball at the base, and one on the hand that folds back to it."""


@pytest.mark.parametrize('names', [('l0', 'l3'), ('l3', 'l0')])
def test_pair_keeps_its_own_clearance_however_it_is_named(names):
    collision = collision_of(TWO_BALLS, pair_clearances={names: 0.05})
    straight = collision.distance([0.0, 0.0, 0.0])
    assert straight.clearance == 0.05
    for margin in (0.049, 0.051):
        q = [0.0, bend_to(0.2 + margin), 0.0]
        assert_close(collision.distance(q).distance, margin, 1e-9)
        assert collision.is_collision_free(q) == (margin > 0.05)


def bend_to(distance):
    """Elbow angle at which the hand of `TRIPLE` is so far from its base [m], by the cosines."""
    return math.pi - math.acos((1.0 + 0.8**2 - distance**2) / (2.0 * 0.8))


def test_clearance_of_one_pair_is_none_of_the_others():
    xml = planar_arm(4)
    own = collision_of(xml, clearance=0.01, pair_clearances={('l1', 'l3'): 0.0, ('l4', 'l1'): 0.2})
    expected = {('l1', 'l3'): 0.0, ('l1', 'l4'): 0.2, ('l2', 'l4'): 0.01}
    found = {own.links(p): clearance for p, clearance in enumerate(own.clearances)}
    assert found == expected


def test_wide_clearance_of_a_pair_never_leaves_it_out():
    """Within 3 m of each other is where these links always are."""
    own = {('l0', 'l3'): 3.0}
    assert collision_of(TWO_BALLS, pair_clearances=own).pairs == (('l0', 'l3'),)
    assert collision_of(TWO_BALLS, clearance=3.0).pairs == ()
    assert collision_of(TWO_BALLS, clearance=3.0, pair_clearances={('l0', 'l3'): 0.01}).pairs


@pytest.mark.parametrize(
    ('own', 'reason'),
    [
        ({('l0', 'l33'): 0.1}, "'l0' and 'l33': no link named 'l33'; did you mean 'l3'?"),
        ({('x', 'l3'): 0.1}, "no link named 'x'; the model has: l0, l1, l2, l3"),
        (
            {('l0', 'l3'): -0.1},
            "clearance of 'l0' and 'l3' is -0.1; expected a length of 0 m or m",
        ),
        ({('l0', 'l3'): math.nan}, "clearance of 'l0' and 'l3' is nan; expected"),
        ({('l0', 'l3'): math.inf}, "clearance of 'l0' and 'l3' is inf; expected"),
        ({('l0', 'l0'): 0.1}, "'l0' and 'l0': a link has none from itself"),
        ({('l0', 'l3'): 0.1, ('l3', 'l0'): 0.2}, "clearance of 'l3' and 'l0' is given twice"),
    ],
)
def test_clearance_of_a_pair_that_makes_no_sense_is_refused(monkeypatch, own, reason):
    """Also where coal is missing: it would be wrong once it is there."""
    for module in (coal, None):
        monkeypatch.setitem(sys.modules, 'coal', module)
        with pytest.raises(CollisionError, match=re.escape(reason)) as error:
            collision_of(TWO_BALLS, pair_clearances=own)
        assert not isinstance(error.value, CollisionUnavailableError)


# What cannot be had.


def test_without_coal_the_answer_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, 'coal', None)
    cure = r'coal is not installed; cure: sudo apt install ros-\$ROS_DISTRO-coal, .*pip install co'
    with pytest.raises(CollisionUnavailableError, match=cure):
        collision_of(planar_arm(3))


def test_robot_without_geometry_is_told_apart_from_a_free_one():
    with pytest.raises(CollisionUnavailableError, match='the robot has no <collision> geometry'):
        collision_of(PLANAR)


def test_mesh_that_is_not_found_is_named_and_the_rest_looked_after():
    mesh = body('<mesh filename="package://nowhere/link.stl"/>')
    xml = with_bodies(TRIPLE, {'l0': body(BALL), 'l2': mesh, 'l3': body(BALL)})
    collision = collision_of(xml)
    (missing,) = collision.missing
    assert (missing.link, missing.name) == ('l2', 'package://nowhere/link.stl')
    assert 'no such file in the folders that are searched' in missing.reason
    assert collision.pairs == (('l0', 'l3'),)


def test_robot_of_which_no_mesh_is_found_is_not_taken_for_free():
    mesh = body('<mesh filename="package://nowhere/link.stl"/>')
    with pytest.raises(CollisionError, match=r"could be loaded: link 'l1', package://nowhere/li"):
        collision_of(with_bodies(TRIPLE, {'l1': mesh}))


@pytest.mark.parametrize('content', [b'', b'nonsense', b'solid x\nendsolid x\n', b'\x00' * 200])
@pytest.mark.parametrize('name', ['link.stl', 'link.dae', 'link.obj', 'link'])
def test_file_that_is_no_mesh_is_named(tmp_path, content, name):
    (tmp_path / name).write_bytes(content)
    mesh = body(f'<mesh filename="package://pack/{name}"/>')
    (tmp_path / 'pack').symlink_to(tmp_path)
    xml = with_bodies(TRIPLE, {'l0': body(BALL), 'l2': mesh, 'l3': body(BALL)})
    (missing,) = collision_of(xml, mesh_paths=[tmp_path]).missing
    assert missing.link == 'l2'
    assert missing.reason


def test_geometry_beyond_all_measure_is_named():
    xml = with_bodies(TRIPLE, {'l0': body('<sphere radius="1e300"/>'), 'l3': body(BALL)})
    (missing,) = collision_of(xml).missing
    assert str(missing).startswith("link 'l0', sphere: reaches 1e+300 m from its link; at most")


def test_more_geometry_than_can_be_looked_after_is_refused():
    xml = with_bodies(TRIPLE, {'l0': 401 * body(BALL)})
    with pytest.raises(CollisionError, match='has 401 collision geometries; at most 400 are'):
        collision_of(xml)


TETRAHEDRA = """
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
v 2 0 0
v 3 0 0
v 2 1 0
v 2 0 1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
f 5 7 6
f 5 6 8
f 5 8 7
f 6 7 8
"""
"""Two corners of a cube, 1 m apart along x."""


@pytest.mark.parametrize(
    ('scale', 'side'), [('1 1 1', -1.0), ('0.1 0.1 0.1', -1.0), ('0.1 0.1 -0.1', 1.0)]
)
def test_pieces_of_a_mesh_become_their_convex_hulls_scaled_and_mirrored(tmp_path, scale, side):
    pytest.importorskip('coacd', reason='without it a mesh is one hull')
    (tmp_path / 'pack').mkdir()
    (tmp_path / 'pack' / 'two.obj').write_text(TETRAHEDRA)
    size = float(scale.split()[0])
    mesh = body(f'<mesh filename="package://pack/two.obj" scale="{scale}"/>')
    # A ball 0.1 m in radius, over the gap between them, 1 m from the plane z = 0.
    arm = serial_xml([Segment(), Segment(), Segment(xyz=(1.5 * size, 0.0, side))])
    collision = collision_of(
        with_bodies(arm, {'l0': mesh, 'l3': body(BALL)}), mesh_paths=[tmp_path]
    )
    assert collision.missing == ()
    expected = math.hypot(0.5 * size, 1.0) - 0.1
    assert_close(collision.distance([0.0, 0.0, 0.0]).distance, expected, 1e-6)


SQUARE = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]
TRIANGLE = [(-1, -1, 0), (1, -1, 0), (0, 2, 0), (0, 2, 0)]
NEARLY_FLAT = [(-1, -1, 0), (1, -1, 1e-9), (1, 1, 0), (-1, 1, 0)]


def obj_text(vertices):
    lines = ''.join(f'v {x} {y} {z}\n' for x, y, z in vertices)
    return f'{lines}f 1 2 3\nf 1 3 4\n'


@pytest.mark.parametrize('vertices', [SQUARE, TRIANGLE, NEARLY_FLAT])
def test_flat_mesh_is_a_thin_solid(tmp_path, vertices):
    """It would end the process, if it were given to coal as it is."""
    (tmp_path / 'pack').mkdir()
    (tmp_path / 'pack' / 'flat.obj').write_text(obj_text(vertices))
    mesh = body('<mesh filename="package://pack/flat.obj"/>')
    arm = serial_xml([Segment(), Segment(), Segment(xyz=(0.3, 0.2, 0.5))])
    collision = collision_of(
        with_bodies(arm, {'l0': mesh, 'l3': body(BALL)}), mesh_paths=[tmp_path]
    )
    assert_close(collision.distance([0.0, 0.0, 0.0]).distance, 0.4, 4e-4)


def test_mesh_that_is_a_point_or_a_line_is_no_end_of_the_process(tmp_path):
    (tmp_path / 'pack').mkdir()
    for name, vertices in (('point', 4 * [(0, 0, 0)]), ('line', [(x, x, 0) for x in range(4)])):
        (tmp_path / 'pack' / f'{name}.obj').write_text(obj_text(vertices))
    meshes = [body(f'<mesh filename="package://pack/{name}.obj"/>') for name in ('point', 'line')]
    bodies = {'l0': ''.join(meshes), 'l3': body(BALL)}
    collision = collision_of(with_bodies(TRIPLE, bodies), mesh_paths=[tmp_path])
    assert [missing.name for missing in collision.missing] == ['package://pack/point.obj']


def test_misuse_is_an_error_that_names_it():
    collision = collision_of(planar_arm(3))
    with pytest.raises(JointValueError, match=r'q has shape \(2,\), expected \(3,\)'):
        collision.distance([0.0, 0.0])
    with pytest.raises(JointValueError, match="not finite for joint 'j1'"):
        collision.is_collision_free([0.0, math.nan, 0.0])
    with pytest.raises(CollisionError, match='clearance is -1; expected a length of 0 m or more'):
        collision_of(planar_arm(3), clearance=-1)


# The guard.

ACCELERATION, FASTEST = np.full(3, 5.0), np.full(3, 2.0)
BUMPERS = with_bodies(TRIPLE, {'l0': body(BALL, '0 0.5 0'), 'l3': body(BALL)})
"""A ball beside the base, and one 1.8 m from it on the stretched arm."""
STRETCHED = np.array([0.0, 0.0, 0.0])


def guard_of(xml, **options):
    collision = collision_of(xml, **options)
    return collision, CollisionGuard(collision)


def allows(guard, q, q_next, velocity):
    return guard.allows(
        np.array(q), np.array(q_next), np.array(velocity, dtype=float), ACCELERATION, FASTEST
    )


def test_guard_refuses_what_cannot_stop_in_time_and_names_the_links():
    """The way to stop is v^2 / 2a, and twice that where steps are uneven."""
    collision, guard = guard_of(planar_arm(3))
    touching = next(
        a for a in np.arange(0.9, 3.0, 0.001) if not collision.is_collision_free([0, 2, a])
    )
    room = 0.3
    free = [0.0, 2.0, touching - room]
    slow, fast = [0, 0, 0.99 * math.sqrt(5.0 * room)], [0, 0, 1.01 * math.sqrt(2 * 5.0 * room)]
    assert allows(guard, free, free, slow)
    assert guard.refusal == ''
    assert not allows(guard, free, free, fast)
    assert guard.refusal == "'l1' and 'l3' would come within 2 mm of each other"


def test_guard_sees_what_is_passed_between_two_configurations():
    _, guard = guard_of(with_bodies(TRIPLE, {'l0': body(BALL, '0 1.8 0'), 'l3': body(BALL)}))
    assert not allows(guard, [1.0, 0, 0], [2.2, 0, 0], [0, 0, 0])
    assert allows(guard, [0.0, 0, 0], [1.2, 0, 0], [0, 0, 0])


def test_links_that_start_too_near_may_move_apart_but_not_nearer():
    collision, guard = guard_of(BUMPERS.replace('xyz="0 0.5 0"', 'xyz="1.65 0 0"'))
    assert collision.distance(STRETCHED).distance < 0.0
    assert allows(guard, STRETCHED, STRETCHED, [0, 0, 0])
    assert allows(guard, STRETCHED, [0.002, 0, 0], [0.01, 0, 0])
    _, guard = guard_of(BUMPERS.replace('xyz="0 0.5 0"', 'xyz="1.75 0.1 0"'))
    assert not allows(guard, STRETCHED, [0.002, 0, 0], [0.01, 0, 0])
    assert guard.refusal == (
        "'l0' and 'l3' are within 2 mm of each other already, and may only move apart; "
        'allowed_collisions or pair_clearances allow more'
    )
    assert allows(guard, STRETCHED, [-0.002, 0, 0], [-0.01, 0, 0])


def test_guard_tells_what_is_free_and_which_links_are_not():
    _, guard = guard_of(BUMPERS.replace('xyz="0 0.5 0"', 'xyz="0 1.8 0"'))
    assert guard.collision_at(STRETCHED) == ''
    assert guard.collision_at(np.array([math.pi / 2, 0, 0])) == (
        "'l0' and 'l3' would come within 2 mm of each other"
    )


@pytest.mark.parametrize('height', [0.0, 0.19, 0.201, 0.205, 0.5])
def test_way_is_free_where_nothing_on_it_comes_within_the_clearance(height):
    """The hand passes a ball on its circle, above the middle of the way."""
    xml = BUMPERS.replace('xyz="0 0.5 0"', f'xyz="0 1.8 {height}"')
    _, guard = guard_of(xml)
    before, after = np.array([1.0, 0.0, 0.0]), np.array([2.2, 0.0, 0.0])
    assert guard.is_path_free(before, after) == (height - 0.2 > 0.002)
    assert guard.is_path_free(before, before)


def test_way_out_of_a_collision_is_free_and_the_way_deeper_is_not():
    _, guard = guard_of(BUMPERS.replace('xyz="0 0.5 0"', 'xyz="1.75 0.1 0"'))
    assert guard.collision_at(STRETCHED)
    assert guard.is_path_free(STRETCHED, np.array([-0.5, 0.0, 0.0]))
    assert not guard.is_path_free(STRETCHED, np.array([0.5, 0.0, 0.0]))


def test_arm_at_rest_just_at_the_clearance_can_leave():
    collision, guard = guard_of(BUMPERS.replace('xyz="0 0.5 0"', 'xyz="0 1.8 0"'), clearance=0.01)
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (
            (middle, high) if collision.is_collision_free([middle, 0, 0]) else (low, middle)
        )
    assert not allows(guard, [low, 0, 0], [low + 1e-4, 0, 0], [0.01, 0, 0])
    assert allows(guard, [low, 0, 0], [low - 1e-4, 0, 0], [-0.01, 0, 0])


def test_creeping_nearer_than_the_clearance_ends_within_a_hair():
    collision, guard = guard_of(BUMPERS.replace('xyz="0 0.5 0"', 'xyz="0 1.8 0"'), clearance=0.01)
    q = np.array([math.pi / 2 - 0.1175, 0.0, 0.0])
    step = np.array([4e-7, 0.0, 0.0])
    for _ in range(5000):
        if not guard.allows(q, q + step, step, ACCELERATION, FASTEST):
            break
        q = q + step
    assert guard.refusal
    assert collision.distance(q).distance >= 0.01 - 3e-6


# The guard, and clearances of pairs.

NEAR_HAND = BUMPERS.replace('xyz="0 0.5 0"', 'xyz="1.8 {} 0"')
"""A ball beside the stretched hand; the two balls measure 0.2 m together."""


def test_guard_keeps_the_clearance_of_the_pair_and_names_it():
    xml = BUMPERS.replace('xyz="0 0.5 0"', 'xyz="0 1.8 0"')
    _, guard = guard_of(xml, pair_clearances={('l3', 'l0'): 0.1})
    at = math.pi / 2 - 2.0 * math.asin(0.5 * (0.2 + 0.1) / 1.8)
    said = "'l0' and 'l3' would come within 100 mm of each other"
    assert not allows(guard, [at - 0.01, 0, 0], [at + 0.001, 0, 0], [0, 0, 0])
    assert guard.refusal == said
    assert allows(guard, [at - 0.01, 0, 0], [at - 0.001, 0, 0], [0, 0, 0])
    assert guard.collision_at(np.array([at + 0.001, 0, 0])) == said
    assert guard.collision_at(np.array([at - 0.001, 0, 0])) == ''
    assert not guard.is_path_free(np.zeros(3), np.array([at + 0.001, 0, 0]))
    assert guard.is_path_free(np.zeros(3), np.array([at - 0.002, 0, 0]))


def test_links_nearer_than_their_own_clearance_may_only_move_apart():
    collision, guard = guard_of(NEAR_HAND.format(0.24), pair_clearances={('l0', 'l3'): 0.05})
    assert_close(collision.distance(STRETCHED).distance, 0.04, 1e-9)
    assert allows(guard, STRETCHED, STRETCHED, [0, 0, 0])
    assert not allows(guard, STRETCHED, [1e-5, 0, 0], [1e-5, 0, 0])
    assert guard.refusal == (
        "'l0' and 'l3' are within 50 mm of each other already, and may only move apart; "
        'allowed_collisions or pair_clearances allow more'
    )
    assert allows(guard, STRETCHED, [-0.002, 0, 0], [-0.05, 0, 0])


def test_what_links_have_gained_they_may_not_lose_again_before_they_are_clear():
    _, guard = guard_of(NEAR_HAND.format(0.24), pair_clearances={('l0', 'l3'): 0.05})
    assert allows(guard, STRETCHED, [-0.002, 0, 0], [0, 0, 0])
    assert allows(guard, [-0.002, 0, 0], [-0.002, 0, 0], [0, 0, 0])
    assert not allows(guard, [-0.002, 0, 0], [-0.0019, 0, 0], [0, 0, 0])
    assert not allows(guard, STRETCHED, [-0.001, 0, 0], [0, 0, 0]), 'it has been farther apart'
    assert allows(guard, [-0.002, 0, 0], [-0.02, 0, 0], [0, 0, 0])
    assert allows(guard, [-0.02, 0, 0], [-0.015, 0, 0], [0, 0, 0]), 'clear now: the usual rule'
    assert not allows(guard, [-0.015, 0, 0], [-0.002, 0, 0], [0, 0, 0])
    assert 'would come within 50 mm' in guard.refusal


def test_links_that_part_may_not_come_nearer_on_the_way_there():
    """The hand passes in front of the ball: both ends are as far from it, the middle is not."""
    _, guard = guard_of(NEAR_HAND.format(0.24), pair_clearances={('l0', 'l3'): 0.1})
    ball = math.atan2(0.24, 1.8)
    for half in (0.0003, 0.003, 0.03):
        start, end = [ball - half, 0, 0], [ball + 1.01 * half, 0, 0]
        assert not allows(guard, start, end, [0, 0, 0])


def test_arm_that_somebody_moved_nearer_may_move_apart_from_there():
    _, guard = guard_of(NEAR_HAND.format(0.24), pair_clearances={('l0', 'l3'): 0.05})
    assert allows(guard, [-0.004, 0, 0], [-0.005, 0, 0], [0, 0, 0])
    guard.reset(np.zeros(3))
    assert allows(guard, STRETCHED, [-0.001, 0, 0], [0, 0, 0])


def test_links_that_another_joint_brought_nearer_may_move_apart_from_there():
    """A slide outside the arm carries a ball towards the hand."""
    slide = joint_xml(
        'slide', 'l0', 'side', 'prismatic',
        '<origin xyz="1.8 0.24 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1"/>',
    )  # fmt: skip
    links = f'<link name="side">{body(BALL)}</link>{slide}</robot>'
    xml = with_bodies(TRIPLE, {'l3': body(BALL)}).replace('</robot>', links)
    robot = load_urdf(xml)
    arm = robot.chain('l0', 'l3')
    collision = SelfCollision(robot, arm, pair_clearances={('side', 'l3'): 0.05})
    guard = CollisionGuard(collision)
    assert allows(guard, STRETCHED, STRETCHED, [0, 0, 0])
    collision.set_other_joints({'slide': -0.01})
    assert_close(collision.distance(STRETCHED).distance, 0.03, 1e-9)
    assert allows(guard, STRETCHED, STRETCHED, [0, 0, 0])
    assert allows(guard, STRETCHED, [-0.001, 0, 0], [0, 0, 0])
    assert not allows(guard, [-0.001, 0, 0], [-0.0005, 0, 0], [0, 0, 0])


def test_motion_that_starts_anew_lets_links_part_from_where_they_are_then():
    """The arm was moved by hand, nearer than it had come apart before."""
    collision, guard = guard_of(NEAR_HAND.format(0.24), pair_clearances={('l0', 'l3'): 0.05})
    limits = MotionLimits(1.0, 3.0, 3.0, FASTEST, ACCELERATION)
    governor = JointLimiter(collision.mechanism, limits, guard)
    for start in ([-0.004, 0.0, 0.0], STRETCHED):
        governor.reset(np.array(start))
        governor.begin_step(0.01)
        assert governor.go(np.array([-0.04, 0.0, 0.0]), 0.01), governor.refusal
