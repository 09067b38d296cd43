"""Collision geometry of a URDF: what is read, and what is left out with a warning."""

from fabrik_ros import load_urdf
from fabrik_ros.model.geometry import Box, Capsule, Cylinder, Mesh, Sphere
from helpers import assert_close, PLANAR
import numpy as np
import pytest


def robot_with(collision):
    """Give the second link of a planar arm a child."""
    return load_urdf(PLANAR.replace('<link name="l1"/>', f'<link name="l1">{collision}</link>'))


def shaped(shape, origin=''):
    return f'<collision>{origin}<geometry>{shape}</geometry></collision>'


@pytest.mark.parametrize(
    ('xml', 'shape'),
    [
        ('<box size="1 2 3"/>', Box((1.0, 2.0, 3.0))),
        ('<cylinder radius="1" length="2"/>', Cylinder(1.0, 2.0)),
        ('<capsule radius="1" length="2"/>', Capsule(1.0, 2.0)),
        ('<sphere radius="0.5"/>', Sphere(0.5)),
        ('<mesh filename=" a.stl "/>', Mesh('a.stl', (1.0, 1.0, 1.0))),
        ('<mesh filename="a.stl" scale="1 -1 0.001"/>', Mesh('a.stl', (1.0, -1.0, 0.001))),
    ],
)
def test_shape_is_read(xml, shape):
    robot = robot_with(shaped(xml))
    (collision,) = robot.collisions
    assert (collision.link, collision.shape) == ('l1', shape)
    assert_close(collision.T_link_geometry, np.eye(4))
    assert robot.warnings == ()


def test_origin_is_read():
    origin = '<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>'
    (collision,) = robot_with(shaped('<sphere radius="1"/>', origin)).collisions
    expected = [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
    assert_close(collision.T_link_geometry, np.array(expected, dtype=float))
    assert not collision.T_link_geometry.flags.writeable


def test_all_geometries_of_a_link_are_read_and_visual_ones_are_not():
    several = shaped('<sphere radius="1"/>') + shaped('<box size="1 1 1"/>')
    visual = '<visual><geometry><sphere radius="9"/></geometry></visual>'
    robot = robot_with(visual + several + visual)
    assert [collision.shape for collision in robot.collisions] == [Sphere(1.0), Box((1, 1, 1))]


BROKEN = [
    ('<collision/>', 'no shape; expected a <geometry> with one of: box, cylinder, capsule'),
    ('<collision><geometry/></collision>', 'has no shape'),
    (shaped('<cone radius="1" length="2"/>'), 'has <cone>; expected a <geometry> with one of'),
    (shaped('<sphere radius="1"/><box size="1 1 1"/>'), 'has <sphere>, <box>; expected'),
    (shaped('<box/>'), "<box>: size is ''; expected 3 finite numbers"),
    (shaped('<box size="1 1"/>'), "size is '1 1'; expected 3 finite numbers"),
    (shaped('<box size="1 0 1"/>'), "size is '1 0 1'; expected lengths above 0"),
    (shaped('<box size="1 -1 1"/>'), "size is '1 -1 1'; expected lengths above 0"),
    (shaped('<box size="1 nan 1"/>'), "size is '1 nan 1'; expected 3 finite numbers"),
    (shaped('<sphere/>'), "radius is ''; expected a finite number"),
    (shaped('<sphere radius="0"/>'), 'radius is 0; expected a length above 0'),
    (shaped('<sphere radius="-2"/>'), 'radius is -2; expected a length above 0'),
    (shaped('<sphere radius="inf"/>'), "radius is 'inf'; expected a finite number"),
    (shaped('<cylinder radius="1"/>'), "length is ''; expected a finite number"),
    (shaped('<capsule radius="1" length="x"/>'), "length is 'x'; expected a finite number"),
    (shaped('<mesh/>'), 'names no file'),
    (shaped('<mesh filename="  "/>'), 'names no file'),
    (shaped('<mesh filename="a" scale="0 1 1"/>'), "scale is '0 1 1'; expected factors not 0"),
    (shaped('<mesh filename="a" scale="1"/>'), "scale is '1'; expected 3 finite numbers"),
    (shaped('<sphere radius="1"/>', '<origin xyz="1 2"/>'), "xyz is '1 2'; expected 3 finite"),
    (shaped('<sphere radius="1"/>', '<origin rpy="a b c"/>'), "rpy is 'a b c'; expected 3"),
]


@pytest.mark.parametrize(('collision', 'said'), BROKEN)
def test_broken_geometry_is_left_out_and_the_model_goes_on_working(collision, said):
    robot = robot_with(collision)
    (warning,) = robot.warnings
    assert warning.startswith("link 'l1', <collision>")
    assert said in warning
    assert warning.endswith('this collision geometry is left out')
    assert robot.collisions == ()
    assert_close(robot.chain().forward_kinematics([0.0, 0.0])[:3, 3], np.array([1.8, 0.0, 0.0]))


def test_what_is_sound_beside_broken_geometry_is_kept():
    robot = robot_with(shaped('<sphere radius="0"/>') + shaped('<sphere radius="1"/>'))
    assert [collision.shape for collision in robot.collisions] == [Sphere(1.0)]
    assert robot.warnings[0].startswith("link 'l1', <collision> number 1, <sphere>: radius is 0")


def test_robot_knows_the_folder_of_its_file_and_none_for_text(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(PLANAR)
    assert load_urdf(path).folder == str(tmp_path)
    assert load_urdf(PLANAR).folder == ''
