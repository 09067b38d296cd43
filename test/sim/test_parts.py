"""Parts that a simulated gripper holds, pushes and drops, judged by mechanics on paper."""

from functools import cache
import math
from pathlib import Path
import re

from fabrik_ros import example_arm, FabrikSolver, load_urdf
from fabrik_ros.collision import link_poses, load_scene, MeshFinder, Obstacle, Scene
from fabrik_ros.errors import SceneError
from fabrik_ros.model.geometry import Box, Capsule, Cylinder, HalfSpace, Mesh, Sphere
from fabrik_ros.transforms import rotation_from_rpy, transform
from helpers import assert_close
from hypothesis import given, strategies as st
import numpy as np
import pytest

pytest.importorskip('mujoco', reason='the extra `sim`: pip install mujoco')
pytest.importorskip('xacro', reason='the bundled arms are xacro files')

from fabrik_ros.sim.mujoco_model import GRAVITY, PhysicsOptions
from fabrik_ros.sim.physics import PhysicalArm
from fabrik_ros.sim.surroundings import gripper_links, Surroundings, SurroundingsError, WOOD

CONFIG = Path(__file__).parents[2] / 'config'
EDGE = 0.045
OPEN, CLOSED = 0.04, 0.0
PERIOD = 0.002
DOWN = rotation_from_rpy(math.pi, 0.0, 0.0)
"""Rotation of a tool that points down."""
BENT = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0])


@cache
def robot():
    return load_urdf(example_arm('six_axis_gripper'))


@cache
def chain():
    return robot().chain()


@cache
def above():
    """Joint values with the pads 0.2 m above the table."""
    return joints_at((0.4, -0.2, 0.2), BENT)


def joints_at(position, seed):
    solution = FabrikSolver(chain()).solve(transform(DOWN, np.array(position)), seed=seed)
    assert solution.position_error < 1e-6
    return solution.q


def standing(name, shape, xyz, rpy=(0.0, 0.0, 0.0)):
    return Obstacle(name, shape, transform(rotation_from_rpy(*rpy), np.array(xyz, dtype=float)))


TABLE = standing('table', Box((1.2, 1.2, 0.04)), (0.4, 0.0, -0.02))
CUBE = Box((EDGE, EDGE, EDGE))


def arm_with(*parts, urdf='', density=600.0, scene=(TABLE,), timestep=0.001):
    """Start the arm above the table, its gripper open."""
    arm = PhysicalArm(
        urdf or robot().source,
        options=PhysicsOptions(timestep=timestep),
        surroundings=Surroundings(Scene(scene), Scene(parts), density),
    )
    start = dict(zip(chain().joint_names, above(), strict=True))
    arm.reset(start | {'left_finger_joint': OPEN})
    return arm


def go(arm, q, fingers, duration):
    """Move smoothly to joint values and a value of the fingers; yield after each period."""
    begin = np.array(arm._targets)
    end = np.array([*q, fingers])
    count = round(duration / PERIOD)
    for k in range(count):
        x = (k + 1) / count
        share = x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
        arm.follow(begin + share * (end - begin), np.zeros(len(end)))
        arm.step(PERIOD)
        yield


def gone(*arguments):
    for _ in go(*arguments):
        pass


def grasped(*parts, height=EDGE / 2 + 0.01, **options):
    """Take hold of what stands below the pads, on the table."""
    arm = arm_with(*parts, **options)
    at = joints_at((0.4, -0.2, height), above())
    gone(arm, at, OPEN, 1.0)
    gone(arm, at, CLOSED, 0.5)
    arm.step(0.2)
    return arm


def in_hand(arm, part):
    """Pose of a part between the pads, shape (4, 4)."""
    return np.linalg.inv(arm.link_pose('tcp')) @ arm.part_pose(part)


def cube(name='part/1', x=0.4, y=-0.2, z=EDGE / 2):
    return standing(name, CUBE, (x, y, z))


# Without a hand.


@pytest.mark.parametrize(
    ('shape', 'height'),
    [
        (CUBE, EDGE / 2),
        (Sphere(0.03), 0.03),
        (Cylinder(0.02, 0.06), 0.03),
        (Capsule(0.02, 0.04), 0.04),
    ],
)
def test_part_falls_as_long_as_the_formula_says_and_rests_on_the_table(shape, height):
    fall = 0.3
    arm = arm_with(standing('part', shape, (0.6, 0.3, height + fall)))
    duration = math.sqrt(2.0 * fall / GRAVITY)
    arm.step(0.9 * duration)
    # Poses are those at the beginning of the last step, in which it falls by 2.2 mm.
    assert arm.part_pose('part')[2, 3] == pytest.approx(height + 0.19 * fall, abs=3e-3)
    arm.step(0.1 * duration)
    assert arm.part_pose('part')[2, 3] == pytest.approx(height, abs=5e-3)
    arm.step(1.0)
    assert arm.part_pose('part')[2, 3] == pytest.approx(height, abs=3e-4)


def test_part_beside_the_table_falls_to_the_floor_below_it():
    arm = arm_with(standing('part', CUBE, (0.4, -0.8, 0.3)))
    arm.step(2.0)
    assert arm.part_pose('part')[2, 3] == pytest.approx(-0.04 + EDGE / 2, abs=1e-3)


def test_parts_stand_on_each_other():
    arm = arm_with(cube('low', y=0.3), cube('high', y=0.3, z=1.5 * EDGE))
    arm.step(2.0)
    assert_close(arm.part_pose('high')[:3, 3], (0.4, 0.3, 1.5 * EDGE), 1e-3)


@pytest.mark.parametrize(('slope', 'slides'), [(0.8, False), (1.2, True)])
def test_part_slides_down_a_slope_that_is_steeper_than_its_friction(slope, slides):
    angle = math.atan(slope * WOOD)
    ramp = standing('ramp', Box((0.6, 0.6, 0.02)), (0.4, 0.4, 0.3), (0.0, angle, 0.0))
    T = ramp.T_link_obstacle @ transform(np.eye(3), np.array([0.0, 0.0, 0.01 + EDGE / 2]))
    arm = arm_with(Obstacle('part', Box((0.08, 0.08, EDGE)), T), scene=(ramp,))
    arm.step(0.5)
    way = float(np.linalg.norm(arm.part_pose('part')[:3, 3] - T[:3, 3]))
    slip = GRAVITY * (math.sin(angle) - WOOD * math.cos(angle))
    if slides:
        assert way == pytest.approx(0.5 * slip * 0.5**2, rel=0.1)
    else:
        assert way < 3e-3


def test_reset_puts_parts_back():
    arm = grasped(cube())
    gone(arm, above(), CLOSED, 1.0)
    arm.reset()
    assert_close(arm.part_pose('part/1')[:3, 3], (0.4, -0.2, EDGE / 2), 1e-12)


def test_whole_robot_but_the_gripper_touches_nothing():
    inside = standing('inside', Sphere(0.1), (-0.2, 0.0, 0.4))
    arm = arm_with(scene=(inside,))
    reach = joints_at((0.4, -0.2, 0.4), above())
    gone(arm, reach, OPEN, 0.5)
    links = gripper_links(robot())
    touching = {
        int(arm.model.geom_bodyid[number])
        for number in np.flatnonzero(arm.model.geom_contype | arm.model.geom_conaffinity)
    }
    names = {arm.model.body(number).name for number in touching}
    assert names == {'world', *links}
    assert links == {'gripper_link', 'left_finger_link', 'right_finger_link'}


def test_surroundings_change_nothing_of_an_arm_that_touches_nothing():
    ends = []
    for surroundings in (None, Surroundings(Scene([TABLE]), Scene([cube(y=0.4)]))):
        arm = PhysicalArm(robot().source, surroundings=surroundings)
        arm.reset(dict(zip(chain().joint_names, above(), strict=True)))
        gone(arm, above() + 0.1, OPEN, 0.5)
        ends.append(arm.q)
    assert_close(ends[0], ends[1], 1e-9)


# In the hand.


@pytest.mark.parametrize(
    ('shape', 'width'),
    [
        (CUBE, EDGE),
        pytest.param(Box((0.05, 0.05, 0.05)), 0.05, marks=pytest.mark.long),
        pytest.param(Sphere(0.025), 0.05, marks=pytest.mark.long),
        (Cylinder(0.02, 0.06), 0.04),
    ],
)
def test_gripper_that_closes_on_a_part_stops_at_its_width_and_presses(shape, width):
    height = {Sphere: 0.025, Cylinder: 0.03}.get(type(shape), width / 2)
    arm = grasped(standing('part', shape, (0.4, -0.2, height)), height=height + 0.005)
    assert 2.0 * arm.q[-1] == pytest.approx(width, abs=1e-3)
    assert arm.effort[-1] == pytest.approx(-60.0)


def test_gripper_that_closes_on_nothing_closes():
    arm = grasped()
    assert 2.0 * arm.q[-1] < 5e-4


def test_part_that_stands_off_the_middle_is_pushed_there():
    arm = grasped(cube(y=-0.19))
    assert_close(in_hand(arm, 'part/1')[:2, 3], (0.0, 0.0), 1e-3)


@pytest.mark.parametrize('timestep', [pytest.param(0.001, marks=pytest.mark.long), 0.002])
def test_held_part_does_not_slip_in_20_s_of_moves_at_1_metre_a_second(timestep):
    arm = grasped(cube(), timestep=timestep)
    gone(arm, above(), CLOSED, 1.0)
    start, worst, fastest = in_hand(arm, 'part/1'), 0.0, 0.0
    q, before = above(), arm.link_pose('tcp')[:3, 3]
    places = [(0.4, -0.3, 0.3), (0.4, 0.3, 0.3), (0.5, 0.3, 0.6), (0.5, -0.3, 0.4)]
    while arm.time < 22.0:
        for place in places:
            goal = joints_at(place, q)
            way = chain().forward_kinematics(goal)[:3, 3] - chain().forward_kinematics(q)[:3, 3]
            for _ in go(arm, goal, CLOSED, max(1.875 * np.linalg.norm(way), 0.4)):
                here = arm.link_pose('tcp')[:3, 3]
                fastest = max(fastest, float(np.linalg.norm(here - before)) / PERIOD)
                before = here
            shift = in_hand(arm, 'part/1') - start
            worst = max(worst, float(np.abs(shift).max()))
            q = goal
    assert fastest > 1.0
    assert worst < 1e-3


def test_part_that_is_let_go_stays_where_it_is_put():
    arm = grasped(cube())
    gone(arm, above(), CLOSED, 1.0)
    away = joints_at((0.4, 0.3, 0.2), above())
    gone(arm, away, CLOSED, 1.5)
    down = joints_at((0.4, 0.3, EDGE / 2 + 0.01), away)
    gone(arm, down, CLOSED, 1.0)
    gone(arm, down, OPEN, 0.5)
    gone(arm, away, OPEN, 0.5)
    at = arm.part_pose('part/1')[:3, 3]
    assert_close(at, (0.4, 0.3, EDGE / 2), 2e-3)
    arm.step(2.0)
    assert_close(arm.part_pose('part/1')[:3, 3], at, 1e-4)


def weak(effort):
    """Write the robot with a gripper that presses less."""
    return robot().source.replace('effort="60"', f'effort="{effort}"')


@pytest.mark.parametrize(('share', 'holds'), [(0.8, True), (1.3, False)])
def test_part_slips_out_of_a_grip_that_is_too_weak_for_its_weight(share, holds):
    """Each finger presses with half the effort: friction of 1 holds as much as the effort."""
    effort = 20.0
    density = share * effort / GRAVITY / EDGE**3
    arm = grasped(cube(), urdf=weak(effort), density=density)
    gone(arm, above(), CLOSED, 1.0)
    arm.step(1.0)
    height = arm.part_pose('part/1')[2, 3]
    if holds:
        assert height == pytest.approx(0.2 - 0.01, abs=3e-3)
    else:
        assert height < 0.1


@given(
    speeds=st.lists(
        st.tuples(*[st.floats(-10.0, 10.0)] * 3, *[st.floats(-50.0, 50.0)] * 3),
        min_size=3,
        max_size=3,
    )
)
def test_parts_that_are_thrown_around_stay_numbers_and_above_the_floor(speeds):
    arm = arm_with(*(cube(f'part/{k}', y=0.1 * k, z=0.1 + 0.1 * k) for k in range(3)))
    arm.data.qvel[-18:] = np.ravel(speeds)
    for _ in range(20):
        arm.step(0.05)
        for part in arm.parts:
            T = arm.part_pose(part)
            assert np.isfinite(T).all()
            assert T[2, 3] > -0.05


# What is refused, or said.


def refused(error, message):
    return pytest.raises(error, match=re.escape(message))


def test_part_without_end_is_refused():
    with refused(SurroundingsError, "part 'ground' cannot be moved: it has no end"):
        Surroundings(parts=Scene([standing('ground', HalfSpace(), (0, 0, 0))]))


def test_part_that_a_link_carries_is_refused():
    carried = Obstacle('tool', CUBE, np.eye(4), link='tool0')
    with refused(SurroundingsError, "part 'tool' cannot be moved: link 'tool0' carries it"):
        Surroundings(parts=Scene([carried]))


def test_obstacle_that_an_unknown_link_carries_is_refused():
    with refused(SceneError, "no link is called 'tool9'"):
        arm_with(scene=[Obstacle('camera', CUBE, np.eye(4), link='tool9')])


def test_part_whose_mesh_is_missing_is_refused():
    with refused(SurroundingsError, "part 'cup': cup.stl is not there"):
        arm_with(standing('cup', Mesh('cup.stl'), (0, 0, 0)))


def test_unknown_part_is_none():
    with pytest.raises(KeyError, match='cup'):
        arm_with(cube()).part_pose('cup')


# The files that come with the package, as markers.


def bundled_scene(name):
    return load_scene(CONFIG / f'{name}.yaml', link_poses(robot()))


def test_bundled_parts_stand_still_on_the_bundled_table():
    parts = bundled_scene('pick_and_place_parts')
    arm = arm_with(*parts, scene=bundled_scene('pick_and_place'))
    arm.step(2.0)
    for part in parts:
        assert_close(arm.part_pose(part.name), part.T_link_obstacle, 1e-4)


def test_markers_name_parts_as_the_file_does_and_say_where_they_are():
    pytest.importorskip('rclpy')
    from fabrik_ros.ros.inputs.marker_obstacles import after
    from fabrik_ros.sim.part_markers import PartMarkers

    parts = bundled_scene('pick_and_place_parts')
    arm = arm_with(*parts)
    markers = PartMarkers(parts, 'base_link', MeshFinder())
    groups = after({}, markers.message(arm.part_pose), 0.0)
    heard = {o.name: o for group in groups.values() for o in group.obstacles}
    assert list(heard) == [part.name for part in parts]
    for part in parts:
        assert heard[part.name].shape == part.shape
        assert heard[part.name].frame == 'base_link'
        assert_close(heard[part.name].T_frame_obstacle, part.T_link_obstacle, 1e-9)
    arm.step(0.5)
    again = after(groups, markers.message(arm.part_pose), 0.1)
    assert all(again[key].obstacles is groups[key].obstacles for key in groups), 'they rest'


@pytest.mark.parametrize(
    ('name', 'there'),
    [
        ('part/1', ('part', 1)),
        ('cup', ('cup', 0)),
        ('part/01', ('part/01', 0)),
        ('/1', ('/1', 0)),
        ('a/b/12', ('a/b', 12)),
        ('big/12345678901', ('big/12345678901', 0)),
    ],
)
def test_name_becomes_a_namespace_and_a_number(name, there):
    pytest.importorskip('rclpy')
    from fabrik_ros.ros.inputs.marker_names import namespace_and_number

    assert namespace_and_number(name) == there


def test_parts_that_would_be_the_same_marker_are_refused():
    pytest.importorskip('rclpy')
    from fabrik_ros.sim.part_markers import PartMarkers

    parts = Scene([cube('cup'), cube('cup/0', x=0.6)])
    with refused(SurroundingsError, "parts 'cup' and 'cup/0' would both be 'cup/0'"):
        PartMarkers(parts, 'base_link', MeshFinder())
