"""What stands around the arm of a running node, and what the node is asked, as the view has it."""

import math
import time

from fabrik_ros import example_arm, load_urdf
from fabrik_ros.model.geometry import Box, Cylinder, Mesh, Sphere
from fabrik_ros.transforms import rotation_from_rpy, transform
import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from domains import free_domain
from fabrik_ros.collision import ObstacleSource
from fabrik_ros.ros.messages.conversions import matrix_to_pose
from fabrik_ros.view.ros_source import RosSource
from fabrik_ros.view.scene_markers import solids_in
from fabrik_ros.view.solid import Cells, Triangles
from fabrik_ros.view.source import Request
from geometry_msgs.msg import Point, Vector3
from rcl_interfaces.msg import SetParametersResult
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA, String
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

DOMAINS = range(80, 94)
PATIENCE = 30.0
"""[s]"""
ROBOT = load_urdf(example_arm('six_axis'))
CHAIN = ROBOT.chain()
PLACE = transform(rotation_from_rpy(0.1, 0.2, 0.3), np.array([0.4, 0.5, 0.6]))
CLEAR = Marker(action=Marker.DELETEALL)
CORNERS = np.array([(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0)])


def marker(kind, ns='file', frame='base_link', points=(), **fields):
    made = Marker(ns=ns, type=kind, pose=matrix_to_pose(PLACE), **fields)
    made.header.frame_id = frame
    made.scale = Vector3(x=0.2, y=0.2, z=0.3)
    made.points = [Point(x=x, y=y, z=z) for x, y, z in points]
    return made


def solid(made):
    (only,) = solids_in(MarkerArray(markers=[CLEAR, made]))
    return only


@pytest.mark.parametrize(
    ('kind', 'shape'),
    [
        (Marker.CUBE, Box((0.2, 0.2, 0.3))),
        (Marker.SPHERE, Sphere(0.15)),
        (Marker.CYLINDER, Cylinder(0.1, 0.3)),
        (Marker.MESH_RESOURCE, Mesh('file:///a.stl', (0.2, 0.2, 0.3))),
    ],
)
def test_shapes_of_markers_stand_where_these_say(kind, shape):
    made = solid(marker(kind, mesh_resource='file:///a.stl', text='crate'))
    assert (made.name, made.source, made.link, made.shape) == (
        'crate',
        ObstacleSource.FILE,
        'base_link',
        shape,
    )
    np.testing.assert_allclose(made.pose, PLACE, atol=1e-12)


def test_triangles_and_cells_are_scaled_as_rviz_does_it():
    surface = solid(marker(Marker.TRIANGLE_LIST, points=CORNERS)).shape
    assert isinstance(surface, Triangles)
    np.testing.assert_allclose(surface.vertices, CORNERS * (0.2, 0.2, 0.3), atol=1e-7)
    cells = solid(marker(Marker.CUBE_LIST, 'cells', points=CORNERS)).shape
    assert isinstance(cells, Cells)
    np.testing.assert_allclose(cells.points, CORNERS, atol=1e-7)
    assert cells.size == (0.2, 0.2, 0.3)


def test_colour_and_carrier_are_those_of_the_marker():
    color = ColorRGBA(r=1.0, g=0.5, b=0.0, a=0.8)
    made = solid(marker(Marker.CUBE, 'attached', 'tool0', color=color))
    assert (made.source, made.link, made.color) == (
        ObstacleSource.ATTACHED,
        'tool0',
        (255, 128, 0),
    )


def test_what_is_no_solid_is_left_out():
    others = [CLEAR, marker(Marker.ARROW), marker(Marker.CUBE, 'axes')]
    assert solids_in(MarkerArray(markers=others)) == ()


@pytest.fixture
def world(monkeypatch):
    """Be a node in a domain of one's own."""
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    with free_domain(DOMAINS) as number:
        monkeypatch.setenv('ROS_DOMAIN_ID', str(number))
        context = rclpy.Context()
        rclpy.init(context=context)
        node = rclpy.create_node('fabrik', context=context)
        yield node
        node.destroy_node()
        rclpy.try_shutdown(context=context)


class Spoken:
    """Publishes what a node and its robot would, and answers its services."""

    def __init__(self, node) -> None:
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(node)
        description = node.create_publisher(String, 'robot_description', latched)
        description.publish(String(data=ROBOT.source))
        self._states = node.create_publisher(JointState, 'joint_states', 10)
        self._status = node.create_publisher(DiagnosticArray, 'fabrik/status', 10)
        self.scene = node.create_publisher(MarkerArray, 'fabrik/scene_markers', latched)
        self.asked, self.answers = [], True
        for request in Request:
            node.create_service(Trigger, f'fabrik/{request.value}', self._answer(request))
        node.declare_parameter('speed_scaling', 0.7)
        node.declare_parameter('max_tip_speed', 0.25)
        node.declare_parameter('stream_timeout', 0.9)
        node.declare_parameter('tip_links', [''])
        for name, word in (('path', 'auto'), ('mode', 'auto'), ('confirm', 'never')):
            node.declare_parameter(name, word)
        node.add_on_set_parameters_callback(self._set)
        self.speeds = []

    def _answer(self, request):
        def answer(_, response):
            self.asked.append(request)
            response.success, response.message = self.answers, f'said of {request.value}'
            return response

        return answer

    def _set(self, parameters):
        self.speeds += [each.value for each in parameters]
        return SetParametersResult(successful=True)

    def until(self, holds, speaks: bool = True, **more: str) -> None:
        """Say how the arm is until something holds."""
        end = time.monotonic() + PATIENCE
        facts = {'state': 'IDLE', 'base_link': 'base_link', 'tip_link': 'tool0'} | more
        values = [KeyValue(key=key, value=value) for key, value in facts.items()]
        while not holds():
            assert time.monotonic() < end
            if speaks:
                names = list(CHAIN.joint_names)
                self._states.publish(JointState(name=names, position=[0.3] * len(names)))
                self._status.publish(DiagnosticArray(status=[DiagnosticStatus(values=values)]))
            self._executor.spin_once(0.05)


@pytest.fixture
def spoken(world):
    return Spoken(world)


@pytest.fixture
def source(spoken):
    source = RosSource('/fabrik')
    yield source
    source.close()


def test_each_message_is_the_whole_scene_also_one_from_before(spoken, source):
    spoken.scene.publish(MarkerArray(markers=[CLEAR, marker(Marker.CUBE, text='crate')]))
    spoken.until(lambda: source.snapshot().solids)
    assert [each.name for each in source.snapshot().solids] == ['crate']
    spoken.until(lambda: source.snapshot().robot is None, speaks=False)
    # The node was silent only, and says nothing of its scene again.
    spoken.until(lambda: source.snapshot().solids)
    spoken.scene.publish(MarkerArray(markers=[CLEAR]))
    spoken.until(lambda: not source.snapshot().solids)


def test_distances_to_obstacles_and_to_itself_are_told_apart(spoken, source):
    spoken.until(
        lambda: source.snapshot().to_itself.names,
        nearest_obstacle='tool0, crate',
        nearest_obstacle_distance='0.05',
        nearest_obstacle_clearance='0.02',
        nearest_self='wrist, elbow',
        nearest_self_distance='0.016',
        nearest_self_clearance='0.002',
    )
    snapshot = source.snapshot()
    assert snapshot.to_obstacle == (0.05, 'tool0, crate', 0.02)
    assert snapshot.to_itself == (0.016, 'wrist, elbow', 0.002)


@pytest.mark.parametrize('request_', Request)
def test_requests_reach_the_node_and_refusals_are_said(spoken, source, request_):
    spoken.until(lambda: source.snapshot().robot is not None)
    spoken.until(lambda: not math.isnan(source.snapshot().speed))  # all services are found
    spoken.answers = False
    source.ask(request_)
    spoken.until(lambda: source.snapshot().answer)
    assert spoken.asked == [request_]
    assert source.snapshot().answer == f'refused: said of {request_.value}'
    spoken.answers = True
    source.ask(request_)
    spoken.until(lambda: len(spoken.asked) == 2 and 'refused' not in source.snapshot().answer)


def test_a_stop_is_sent_to_a_silent_node_too_and_its_absence_is_said(spoken, source):
    spoken.until(lambda: not math.isnan(source.snapshot().speed))
    spoken.until(lambda: source.snapshot().robot is None, speaks=False)
    source.ask(Request.STOP)
    spoken.until(lambda: spoken.asked == [Request.STOP], speaks=False)


def test_speed_is_that_of_the_node_and_is_set_there(spoken, source):
    spoken.until(lambda: source.snapshot().speed == 0.7)
    assert source.snapshot().stream_timeout == 0.9
    source.set_speed(0.25)
    spoken.until(lambda: source.snapshot().speed == 0.25)
    assert spoken.speeds == [0.25]
