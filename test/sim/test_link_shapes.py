"""The shapes of links in the window: where the URDF has them, or a note why not."""

from fabrik_ros.collision import MeshFinder
from helpers import joint_xml
import numpy as np
import pytest

pytest.importorskip('mujoco', reason='the extra `sim`: pip install mujoco')

from fabrik_ros.sim.physics import PhysicalArm
import mujoco

TETRAHEDRON = """
v 0 0 0
v 0.1 0 0
v 0 0.2 0
v 0 0 0.3
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""
INERTIAL = (
    '<inertial><mass value="2"/>'
    '<inertia ixx="1e-2" iyy="1e-2" izz="1e-2" ixy="0" ixz="0" iyz="0"/></inertial>'
)


def robot(*shapes):
    """Write a link that turns, with shapes one metre above its joint."""
    collisions = ''.join(
        f'<collision><origin xyz="0 0 1"/><geometry>{shape}</geometry></collision>'
        for shape in shapes
    )
    limit = '<axis xyz="0 1 0"/><limit effort="40" velocity="10"/>'
    joint = joint_xml('turn', 'base', 'rod', 'continuous', limit)
    end = joint_xml('fix', 'rod', 'end', 'fixed', '<origin xyz="0 0 2"/>')
    return (
        f'<robot name="r"><link name="base"/><link name="end"/><link name="rod">{INERTIAL}'
        f'{collisions}</link>{joint}{end}</robot>'
    )


def shapes_of(arm, link='rod'):
    """Geoms of a link: kind, and where the middle of it is in the link [m]."""
    body = arm.model.body(link).id
    numbers = np.flatnonzero(arm.model.geom_bodyid == body)
    return [(int(arm.model.geom_type[n]), arm.model.geom_pos[n]) for n in numbers]


@pytest.mark.parametrize(
    ('shape', 'kind', 'size'),
    [
        ('<box size="0.2 0.4 0.6"/>', mujoco.mjtGeom.mjGEOM_BOX, (0.1, 0.2, 0.3)),
        ('<sphere radius="0.2"/>', mujoco.mjtGeom.mjGEOM_SPHERE, (0.2, 0.0, 0.0)),
        (
            '<cylinder radius="0.2" length="0.6"/>',
            mujoco.mjtGeom.mjGEOM_CYLINDER,
            (0.2, 0.3, 0.0),
        ),
    ],
)
def test_solid_is_shown_where_it_is(shape, kind, size):
    arm = PhysicalArm(robot(shape), finder=MeshFinder())
    ((shown, at),) = shapes_of(arm)
    assert shown == kind
    np.testing.assert_allclose(at, (0.0, 0.0, 1.0))
    (number,) = np.flatnonzero(arm.model.geom_type == kind)
    np.testing.assert_allclose(arm.model.geom_size[number], size)


def test_mesh_is_shown_at_its_scale(tmp_path):
    (tmp_path / 'rod.obj').write_text(TETRAHEDRON)
    shape = f'<mesh filename="file://{tmp_path}/rod.obj" scale="2 2 2"/>'
    arm = PhysicalArm(robot(shape), finder=MeshFinder([tmp_path]))
    assert [kind for kind, _ in shapes_of(arm)] == [mujoco.mjtGeom.mjGEOM_MESH]
    number = int(np.flatnonzero(arm.model.geom_type == mujoco.mjtGeom.mjGEOM_MESH)[0])
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, arm.model.geom_quat[number])
    corners = arm.model.mesh_vert @ rotation.reshape(3, 3).T + arm.model.geom_pos[number]
    np.testing.assert_allclose(corners.max(axis=0), (0.2, 0.4, 1.6), atol=1e-6)
    np.testing.assert_allclose(corners.min(axis=0), (0.0, 0.0, 1.0), atol=1e-6)
    assert arm.notes == PhysicalArm(robot()).notes


@pytest.mark.parametrize(
    ('name', 'text', 'why'),
    [
        ('gone.obj', None, 'no such file'),
        ('rod.obj', 'no triangles', ''),
        ('rod.dae', '<COLLADA/>', ''),
        ('flat.obj', 'v 0 0 0\nv 1 0 0\nf 1 2 2\n', ''),
    ],
)
def test_mesh_that_cannot_be_shown_is_noted_and_a_rod_stands_for_its_link(
    tmp_path, name, text, why
):
    if text is not None:
        (tmp_path / name).write_text(text)
    url = f'file://{tmp_path}/{name}'
    arm = PhysicalArm(robot(f'<mesh filename="{url}"/>'), finder=MeshFinder([tmp_path]))
    (note,) = (note for note in arm.notes if 'is not there' in note)
    assert note.startswith(f'{url} is not there: ')
    assert why in note
    assert [kind for kind, _ in shapes_of(arm)] == [mujoco.mjtGeom.mjGEOM_CAPSULE]


def test_no_rod_is_drawn_through_what_is_shown_of_a_tool():
    fixed = joint_xml('flange_fix', 'rod', 'flange', 'fixed')
    tip = joint_xml('tip_fix', 'flange', 'tip', 'fixed', '<origin xyz="0 0 1"/>')
    hand = joint_xml('hand_fix', 'flange', 'hand', 'fixed')
    box = '<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'
    links = f'<link name="flange"/><link name="tip"/><link name="hand">{box}</link>'
    text = robot('<sphere radius="0.2"/>').replace(
        '</robot>', f'{links}{fixed}{tip}{hand}</robot>'
    )
    arm = PhysicalArm(text, finder=MeshFinder())
    assert [kind for kind, _ in shapes_of(arm, 'hand')] == [mujoco.mjtGeom.mjGEOM_BOX]
    assert shapes_of(arm, 'flange') == []


def test_shapes_change_nothing_of_the_motion():
    end = []
    for finder in (None, MeshFinder()):
        arm = PhysicalArm(robot('<box size="0.2 0.4 0.6"/>'), finder=finder)
        arm.reset({'turn': 0.5})
        arm.follow(np.array([0.8]), np.zeros(1))
        arm.step(0.3)
        end.append((arm.q, arm.velocity, arm.effort))
    np.testing.assert_array_equal(*end)


def test_pose_of_a_link_is_that_in_the_root_link():
    arm = PhysicalArm(robot())
    arm.reset({'turn': 0.5})
    c, s = np.cos(0.5), np.sin(0.5)
    turned = [[c, 0, s, 2 * s], [0, 1, 0, 0], [-s, 0, c, 2 * c], [0, 0, 0, 1]]
    np.testing.assert_allclose(arm.link_pose('end'), turned, atol=1e-9)
    np.testing.assert_array_equal(arm.link_pose('base'), np.eye(4))
    assert arm.link_pose('elsewhere') is None
