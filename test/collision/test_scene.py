"""Scenes: what makes sense is taken, all else is refused with obstacle, key and cure."""

import math

from collision_models import planar_arm
from fabrik_ros import load_urdf
from fabrik_ros.collision import link_poses, load_scene, Obstacle, Scene
from fabrik_ros.collision.scene_file import scene_of
from fabrik_ros.errors import ChainError, JointValueError, LinkNotFoundError, SceneError
from fabrik_ros.model.geometry import Box, Capsule, Cylinder, HalfSpace, Mesh, Sphere
from fabrik_ros.transforms import transform
from helpers import assert_close
import numpy as np
import pytest

HERE = np.eye(4)
RAISED = transform(np.eye(3), np.array([0.0, 0.0, 0.5]))


def pose_of(frame):
    if frame not in ('', 'stand'):
        raise ChainError(f"no frame '{frame}'")
    return RAISED if frame else HERE


TABLE = """
obstacles:
  table:
    box: [1.2, 0.8, 0.04]
    xyz: [0.5, 0.0, -0.02]
"""

EVERYTHING = """
obstacles:
  crate: {box: [1, 0.5, 0.25], xyz: [1, 2, 3], rpy: [0, 0, 1.5707963267948966], frame: stand}
  ball: {sphere: 0.1}
  post: {cylinder: [0.1, 2.0]}
  rail: {capsule: [0.05, 1.0]}
  floor: {half_space: true, xyz: [0, 0, -0.1]}
  shelf: {mesh: shelf.stl, scale: 0.001}
  statue: {mesh: statue.obj, scale: [1, 1, -1]}
  tool: {cylinder: [0.02, 0.2], link: l4, xyz: [0.1, 0, 0], touch_links: [l3], clearance: 0.002}
"""


def loaded(tmp_path, text):
    file = tmp_path / 'scene.yaml'
    file.write_text(text)
    return load_scene(file, pose_of)


def test_table_is_five_lines(tmp_path):
    (table,) = loaded(tmp_path, TABLE)
    assert (table.name, table.shape, table.link) == ('table', Box((1.2, 0.8, 0.04)), '')
    assert_close(table.T_link_obstacle[:3, 3], [0.5, 0.0, -0.02])


def test_every_shape_in_every_place(tmp_path):
    scene = {obstacle.name: obstacle for obstacle in loaded(tmp_path, EVERYTHING)}
    assert [obstacle.shape for obstacle in scene.values()] == [
        Box((1.0, 0.5, 0.25)),
        Sphere(0.1),
        Cylinder(0.1, 2.0),
        Capsule(0.05, 1.0),
        HalfSpace(),
        Mesh('shelf.stl', (0.001, 0.001, 0.001)),
        Mesh('statue.obj', (1.0, 1.0, -1.0)),
        Cylinder(0.02, 0.2),
    ]
    assert_close(scene['crate'].T_link_obstacle[:3, 3], [1.0, 2.0, 3.5])
    assert_close(scene['crate'].T_link_obstacle[:3, 0], [0.0, 1.0, 0.0], 1e-12)
    assert (scene['tool'].link, scene['tool'].touch_links) == ('l4', ('l3',))
    assert scene['tool'].clearance == 0.002


@pytest.mark.parametrize('text', ['obstacles:', 'obstacles: {}'])
def test_file_may_have_no_obstacles(tmp_path, text):
    assert len(loaded(tmp_path, text)) == 0


@pytest.mark.parametrize(
    ('entry', 'said'),
    [
        ('{}', "'x' needs one of box, sphere, cylinder, capsule, mesh, half_space; it has none"),
        ('{box: [1, 1, 1], sphere: 1}', 'it has box and sphere'),
        ('{box: [1, 1]}', 'box: expected 3 numbers, got [1, 1]'),
        ('{box: [1, 1, .nan]}', 'box: expected a finite number, got nan'),
        ('{box: [1, 1, yes]}', 'box: expected a finite number, got True'),
        ('{box: [1, 1, -1]}', 'its sizes are 1, 1, -1; they must be above 0'),
        ('{sphere: 0}', 'its sizes are 0; they must be above 0'),
        ('{sphere: 1e9}', '1e+09 m is too much; at most 1000 m'),
        ('{sphere: 1, xyz: [0, 0, 1e7]}', '1e+07 m is too much'),
        ('{sphere: big}', 'sphere: expected a finite number, got big'),
        ('{half_space: 3}', 'half_space: expected true, got 3'),
        ('{half_space: true, link: l4}', 'a half space has no end'),
        ('{mesh: 3}', 'mesh: expected a name, got 3'),
        ('{sphere: 1, scale: 2}', 'only meshes have a scale'),
        ('{sphere: 1, frme: stand}', "unknown key 'frme'; did you mean 'frame'?"),
        ('{sphere: 1, frame: stand, link: l4}', 'has a frame and a link'),
        ('{sphere: 1, frame: nowhere}', "no frame 'nowhere'"),
        ('{sphere: 1, touch_links: l3}', 'touch_links: expected a list'),
        ('{sphere: 1, clearance: near}', 'clearance: expected a finite number, got near'),
        ('{sphere: 1, clearance: -0.01}', 'clearance is -0.01 m; expected 0 to 1'),
        ('{sphere: 1, clearance: 1.5}', 'clearance is 1.5 m'),
        ('{sphere: 1, rpy: 3}', 'rpy: expected 3 numbers, got 3'),
        ('5', "obstacle 'x': expected keys and values, got 5"),
    ],
)
def test_what_makes_no_sense_is_refused_with_file_obstacle_and_key(tmp_path, entry, said):
    with pytest.raises(SceneError) as error:
        loaded(tmp_path, f'obstacles: {{x: {entry}}}')
    assert said in str(error.value)
    assert 'scene.yaml' in str(error.value)
    assert "'x'" in str(error.value)


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('[1, 2]', 'the file: expected keys and values'),
        ('obstacle: {}', "unknown key 'obstacle'; did you mean 'obstacles'?"),
        ('obstacles: [1]', "'obstacles': expected keys and values"),
        ('', 'the file: expected keys and values'),
        ('obstacles: []', "'obstacles': expected keys and values"),
        ('obstacles: false', "'obstacles': expected keys and values"),
        ('{', 'cannot be read'),
        ('obstacles: {x: {sphere: 1}, y: {sphere: 2}, x: {sphere: 3}}', "'x' is given twice"),
        ('obstacles: {x: {sphere: 1, xyz: [0, 0, 1], xyz: [0, 0, 2]}}', "'xyz' is given twice"),
        ('!!python/object/apply:os.system [ls]', 'cannot be read'),
        ('a: &a [*a]', 'unknown key'),
    ],
)
def test_file_that_is_no_scene_is_refused(tmp_path, text, said):
    with pytest.raises(SceneError, match=r'scene\.yaml') as error:
        loaded(tmp_path, text)
    assert said in str(error.value)


def test_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(SceneError, match='cannot be read'):
        load_scene(tmp_path / 'none.yaml', pose_of)


def test_names_of_keys_may_be_numbers_and_are_told_apart():
    assert [o.name for o in scene_of({'obstacles': {1: {'sphere': 1.0}}}, pose_of)] == ['1']
    ball = Obstacle('ball', Sphere(0.1), HERE)
    with pytest.raises(SceneError, match="two obstacles are called 'ball'"):
        Scene([ball, ball])


@pytest.mark.parametrize('T', [np.full((4, 4), math.nan), 2.0 * np.eye(4), np.eye(3)])
def test_pose_that_is_none_is_refused(T):
    with pytest.raises(SceneError, match='its pose is no pose'):
        Obstacle('ball', Sphere(0.1), T)


def test_too_many_obstacles_are_refused():
    with pytest.raises(SceneError, match='1001 obstacles; at most 1000'):
        Scene(Obstacle(f'{number}', Sphere(0.1), HERE) for number in range(1001))


@pytest.mark.parametrize(
    'obstacle',
    [Obstacle('x', Sphere(0.1), HERE, 'l44'), Obstacle('x', Sphere(0.1), HERE, '', ('l44',))],
)
def test_links_that_the_robot_does_not_have_are_named(obstacle):
    with pytest.raises(SceneError, match=r"'x': no link is called 'l44'; did you mean 'l4'"):
        Scene([obstacle]).check_links(load_urdf(planar_arm(4)))


STOOD_ON = """<robot name="r"><link name="world"/><link name="base"/><link name="arm"/>
<joint name="stand" type="fixed"><parent link="world"/><child link="base"/>
<origin xyz="0 0 0.5"/></joint>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""


def test_links_that_do_not_move_are_frames_and_the_base_is_that_of_what_names_none():
    robot = load_urdf(STOOD_ON)
    assert_close(link_poses(robot)(''), HERE)
    assert_close(link_poses(robot, 'base')(''), RAISED)
    assert_close(link_poses(robot, 'base')('world'), HERE)
    with pytest.raises(JointValueError, match="'turn'"):
        link_poses(robot)('arm')
    with pytest.raises(LinkNotFoundError, match="'gone'"):
        link_poses(robot)('gone')
