"""A mesh that is missing, empty or not understood: whoever uses shapes says so or refuses."""

import struct

from fabrik_ros import ArmFollower, FollowerOptions, load_urdf
from fabrik_ros.collision import MeshFinder, Obstacle, PointCells, Scene, WorldCollision
from fabrik_ros.collision.self_collision import SelfCollision
from fabrik_ros.errors import CollisionError, CollisionUnavailableError
from fabrik_ros.model.geometry import Box, Mesh
from fabrik_ros.planning import PlannerSetup
from fabrik_ros.transforms import transform
import numpy as np
import pytest

pytest.importorskip('coal', reason='coal measures the distances')

FILES = {
    'missing': None,
    'empty': b'',
    'without triangles': b'solid x\nendsolid x\n',
    'nonsense': b'what is that?',
    'cut short': b'\0' * 80 + struct.pack('<I', 1000) + b'\0' * 50,
}
"""What is in the file of the mesh of the forearm."""
FILE = 'fore.stl'
SOLID = """
v 0 0 0
v 0.4 0 0
v 0 0.05 0
v 0 0 0.05
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""
ARM = """<robot name="r">
<link name="base"><collision><geometry>{base}</geometry></collision></link>
<link name="upper"><collision><origin xyz="0.2 0 0"/><geometry>
<box size="0.3 0.05 0.05"/></geometry></collision></link>
<link name="fore"><collision><geometry>{fore}</geometry></collision></link>
<link name="neck"/>
<joint name="nod" type="revolute"><parent link="base"/><child link="neck"/><origin xyz="0 0 0.2"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
<joint name="turn" type="revolute"><parent link="neck"/><child link="upper"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
<joint name="bend" type="revolute"><parent link="upper"/><child link="fore"/>
<origin xyz="0.4 0 0"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="1" effort="1"/>
</joint>
</robot>"""
BOX = '<box size="0.1 0.1 0.1"/>'
MESH = f'<mesh filename="{FILE}"/>'
POST = Scene([Obstacle('post', Box((0.1, 0.1, 1.0)), transform(np.eye(3), np.array([2.0, 0, 0])))])


@pytest.fixture(params=FILES)
def robot(request, tmp_path):
    """Return an arm whose forearm has no shape that is known."""
    return robot_of(tmp_path, FILES[request.param])


def robot_of(folder, content, base=BOX, fore=MESH):
    if content is not None:
        (folder / FILE).write_bytes(content)
    file = folder / 'arm.urdf'
    file.write_text(ARM.format(base=base, fore=fore))
    return load_urdf(file)


def test_it_is_named_and_the_rest_is_not_called_whole(robot):
    said = ArmFollower(robot).collision_checking
    assert said.startswith('partly on: 1 pair of links; no shape of fore (fore.stl)')
    collision = SelfCollision(robot, robot.chain())
    assert [(missing.link, missing.name) for missing in collision.missing] == [('fore', FILE)]
    assert PlannerSetup(robot, robot.chain()).world(Scene()).checking.startswith('partly on: ')


def test_it_is_refused_where_shapes_are_required(robot):
    with pytest.raises(CollisionUnavailableError, match=f"missing: link 'fore', {FILE}: "):
        ArmFollower(robot, FollowerOptions(self_collision='require'))


@pytest.mark.parametrize('self_collision', ['auto', 'require', 'never'])
def test_obstacles_cannot_be_kept_clear_of_without_the_shape_of_what_moves(robot, self_collision):
    options = FollowerOptions(self_collision=self_collision)
    with pytest.raises(CollisionUnavailableError, match=f"missing: link 'fore', {FILE}: "):
        ArmFollower(robot, options, scene=POST)


def test_obstacles_that_come_later_are_refused_too(robot):
    follower = ArmFollower(robot, scene=Scene())
    with pytest.raises(CollisionUnavailableError, match='obstacles cannot be kept clear of'):
        follower.set_scene(POST)
    world = WorldCollision(SelfCollision(robot, robot.chain()), Scene())
    with pytest.raises(CollisionUnavailableError, match='obstacles cannot be kept clear of'):
        world.set_points('camera', PointCells.around([[1.0, 0.0, 0.0]], 0.02))
    assert world.set_points('camera', None) == {0: 0}
    assert world.checking.startswith('partly on: ')


def test_plan_among_obstacles_is_refused(robot):
    from fabrik_ros.planning import plan

    with pytest.raises(CollisionUnavailableError, match=f"missing: link 'fore', {FILE}: "):
        plan(robot.chain(), [0.0, -0.6, 0.0], [0.0, 0.6, 0.0], POST, robot=robot)
    way = plan(robot.chain(), [0.0, -0.6, 0.0], [0.0, 0.6, 0.0], robot=robot)
    assert way.collision_checking.startswith('partly on: ')


def test_obstacle_whose_mesh_is_not_known_is_refused(robot):
    scene = Scene([Obstacle('shelf', Mesh(FILE, (1.0, 1.0, 1.0)), np.eye(4))])
    own = SelfCollision(robot_without_meshes(robot), robot.chain())
    with pytest.raises(CollisionError, match=f"obstacle 'shelf', {FILE}: "):
        WorldCollision(own, scene, finder=MeshFinder(urdf_folder=robot.folder))


def robot_without_meshes(robot):
    return load_urdf(robot.source.replace(MESH, BOX))


def test_what_the_arm_does_not_move_may_be_missing_among_obstacles(tmp_path):
    robot = robot_of(tmp_path, None, base=MESH, fore=BOX)
    follower = ArmFollower(robot, scene=POST)
    assert follower.collision_checking.startswith('partly on: obstacles alone; no shape of base (')
    with pytest.raises(CollisionUnavailableError, match="missing: link 'base'"):
        ArmFollower(robot, FollowerOptions(self_collision='require'), scene=POST)


@pytest.mark.parametrize('name', ['fore.obj', 'FORE.OBJ'])
def test_whole_robot_is_on(tmp_path, name):
    (tmp_path / name).write_text(SOLID)
    robot = robot_of(tmp_path, None, fore=MESH.replace(FILE, name))
    follower = ArmFollower(robot, FollowerOptions(self_collision='require'), scene=POST)
    assert follower.collision_checking.startswith('on: ')


COLLADA = """<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"
version="1.4.1"><asset>{asset}<up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="p"><float_array id="a" count="12">
0 0 0 {x} 0 0 0 {x} 0 0 0 {x}</float_array><technique_common><accessor source="#a" count="4"
stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z"
type="float"/></accessor></technique_common></source><vertices id="v"><input semantic="POSITION"
source="#p"/></vertices><triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>
"""
"""A corner of a cube."""
EDGE = 0.5
"""Of that cube [m]."""


@pytest.mark.parametrize(
    ('asset', 'unit', 'scale'),
    [
        ('<unit meter="1"/>', 1.0, 1.0),
        ('<unit name="centimeter" meter="0.01"/>', 0.01, 1.0),
        ('<unit name="centimeter" meter="0.01"/>', 0.01, 2.0),
        ("<unit\n meter='0.001' name='mm'></unit>", 0.001, 1.0),
        ('<unit meter="2.54e-2" name="inch"/>', 0.0254, 1.0),
        ('<created>2020</created><unit meter = "0.01"/>', 0.01, 1.0),
        ('<!-- <unit meter="0.1"/> --><unit meter="0.01"/>', 0.01, 1.0),
        ('<unit name="meter"/>', 1.0, 1.0),
        ('', 1.0, 1.0),
        ('', 1.0, 2.0),
    ],
)
def test_unit_of_a_collada_file_counts_for_links_and_obstacles(tmp_path, asset, unit, scale):
    file = tmp_path / 'corner.dae'
    file.write_text(COLLADA.format(asset=asset, x=EDGE / unit))
    mesh = f'<mesh filename="{file.name}" scale="{scale} {scale} {scale}"/>'
    robot = robot_of(tmp_path, None, fore=mesh)
    solid = SelfCollision(robot, robot.chain()).solids[-1]
    assert solid.radius == pytest.approx(0.5 * 3.0**0.5 * EDGE * scale)
    shape = Mesh(file.name, (scale,) * 3)
    far = Obstacle('far', shape, transform(np.eye(3), np.array([3.0, 0.0, 0.0])))
    own = SelfCollision(robot_of(tmp_path, None, fore=BOX), robot.chain())
    world = WorldCollision(own, Scene([far]), finder=MeshFinder(urdf_folder=str(tmp_path)))
    boundaries = [s.radius for s in world.distances.solids]
    assert boundaries[-1] == pytest.approx(0.5 * 3.0**0.5 * EDGE * scale)


@pytest.mark.parametrize('meter', ['0', '-1', 'nan', 'inf', 'inch', ''])
def test_unit_that_is_no_length_is_named(tmp_path, meter):
    (tmp_path / 'corner.dae').write_text(COLLADA.format(asset=f'<unit meter="{meter}"/>', x=EDGE))
    robot = robot_of(tmp_path, None, fore='<mesh filename="corner.dae"/>')
    (missing,) = SelfCollision(robot, robot.chain()).missing
    assert missing.reason.startswith(f"its unit is '{meter}' m; expected a length above 0")
