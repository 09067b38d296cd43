"""Obstacles and clouds of points around the node: right ones, and whatever can be wrong."""

from collections.abc import Callable
import math
from random import Random
from typing import Any

from geometry_msgs.msg import Point
from hostile_scene import Scene
from hostility import FRAMES, give_odd_stamp, ODD_NUMBERS, send_target
import numpy as np
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import PointCloud2, PointField
from visualization_msgs.msg import Marker, MarkerArray

SOLIDS = (Marker.CUBE, Marker.SPHERE, Marker.CYLINDER, Marker.CUBE_LIST, Marker.SPHERE_LIST)
LINKS = ('base_link', 'base_link', 'base_link', 'tool0', 'wrist_2_link')
FARTHEST = 1.2
"""Obstacles stand in this distance from the base, some in the arm itself [m]."""
MOST = 6
"""Obstacles that are told apart by number [1]."""
CLOUD_PERIOD = 0.05
"""[s]."""
QUEUE = 10
CLOSING = 0.3
"""Time for a last message to be taken [s]."""


def show_obstacles(scene: Scene, rng: Random) -> None:
    """Show some obstacles, or show them elsewhere, at times right in the arm."""
    markers = [_marker(rng) for _ in range(rng.choice([1, 1, 3, 20]))]
    _publish_markers(scene, markers)
    scene.counts['obstacle'] += len(markers)


def move_obstacle(scene: Scene, rng: Random) -> None:
    """Move an obstacle through the arm, ten times a second, while that has a target."""
    marker = _marker(rng)
    send_target(scene, rng)
    for _ in range(10):
        marker.pose.position.x += rng.uniform(-0.1, 0.1)
        marker.pose.position.y += rng.uniform(-0.1, 0.1)
        _publish_markers(scene, [marker])
        scene.spin(0.05)
    scene.counts['obstacle'] += 10


def remove_obstacles(scene: Scene, rng: Random) -> None:
    """Remove one obstacle, or all."""
    marker = _marker(rng)
    marker.action = rng.choice([Marker.DELETE, Marker.DELETEALL])
    if marker.action == Marker.DELETEALL:
        marker.ns = ''
    _publish_markers(scene, [marker])
    scene.counts['obstacle removed'] += 1


def odd_obstacle(scene: Scene, rng: Random) -> None:
    """Show an obstacle that makes no sense, next to one that does."""
    marker = _marker(rng)
    what = rng.choice(['number', 'frame', 'type', 'action', 'own', 'list', 'mesh', 'stamp'])
    if what == 'number':
        part = rng.choice([marker.scale, marker.pose.position, marker.pose.orientation])
        setattr(part, rng.choice('xyz'), rng.choice(ODD_NUMBERS))
    elif what == 'frame':
        marker.header.frame_id = rng.choice(FRAMES)
    elif what == 'type':
        marker.type = rng.choice([Marker.ARROW, Marker.TEXT_VIEW_FACING, Marker.POINTS, 99])
    elif what == 'action':
        marker.action = rng.choice([1, 7, -5])
    elif what == 'own':
        marker.ns = 'fabrik'
    elif what == 'list':
        marker.type = rng.choice([Marker.CUBE_LIST, Marker.SPHERE_LIST])
        marker.points = [_point(rng)] * rng.choice([0, 1001, 5000])
    elif what == 'mesh':
        marker.type = Marker.MESH_RESOURCE
        marker.mesh_resource = rng.choice(['', 'package://nowhere/a.stl', 'file:///dev/null', 'ü'])
    else:
        give_odd_stamp(scene, rng, marker)
    _publish_markers(scene, [_marker(rng), marker])
    scene.counts['odd obstacle'] += 1


def show_points(scene: Scene, rng: Random) -> None:
    """Show clouds of a wall or a ball that moves, for half a second."""
    random = np.random.default_rng(rng.getrandbits(32))
    frame, count = rng.choice(LINKS), rng.choice([1, 200, 5000])
    centre = random.uniform(-FARTHEST, FARTHEST, 3)
    for _ in range(10):
        centre += random.normal(0.0, 0.03, 3)
        away = random.normal(size=(count, 3))
        points = centre + 0.15 * away / np.linalg.norm(away, axis=1, keepdims=True)
        points[random.random(count) < 0.1] = np.nan
        _publish_cloud(scene, cloud_of(points, frame, scene.now()))
        scene.spin(CLOUD_PERIOD)
    scene.counts['cloud'] += 10


def odd_points(scene: Scene, rng: Random) -> None:
    """Show a cloud that makes no sense."""
    random = np.random.default_rng(rng.getrandbits(32))
    points = random.uniform(-FARTHEST, FARTHEST, (100, 3))
    what = rng.choice(
        ['nan', 'number', 'frame', 'many', 'far', 'stamp', 'fields', 'data', 'empty']
    )
    if what == 'nan':
        points[:] = np.nan
    elif what == 'number':
        points[rng.randrange(100), rng.randrange(3)] = rng.choice(ODD_NUMBERS)
    elif what == 'many':  # as many cells
        points = random.uniform(-3.0, 3.0, (60_000, 3))
    elif what == 'far':
        points *= 1e6
    message = cloud_of(points, rng.choice(LINKS), scene.now())
    if what == 'frame':
        message.header.frame_id = rng.choice(FRAMES)
    elif what == 'stamp':
        give_odd_stamp(scene, rng, message)
    elif what == 'fields':
        message.fields = rng.choice([[], message.fields[:2], [message.fields[0]] * 3])
        for field in message.fields:
            field.datatype = rng.choice([0, 2, 7, 8, 200])
            field.offset = rng.choice([0, 8, 4_000_000])
    elif what == 'data':
        message.width = rng.choice([0, 101, 10_000_000])
        message.point_step = rng.choice([0, 1, 12, 2**31])
    elif what == 'empty':
        message.data, message.width, message.row_step = b'', 0, 0
    _publish_cloud(scene, message)
    scene.counts['odd cloud'] += 1


def clear(scene: Scene) -> None:
    """Remove all obstacles, where any were shown; points go with the arm that is configured."""
    if 'obstacles' not in scene.publishers:
        return
    marker = Marker(action=Marker.DELETEALL)
    _publish_markers(scene, [marker])
    scene.spin(CLOSING)


def cloud_of(points: np.ndarray, frame: str, stamp: float) -> PointCloud2:
    """Make a cloud of points, shape (m, 3), in a frame [m], measured at a time [s]."""
    message = PointCloud2(height=1, width=len(points), point_step=12, row_step=12 * len(points))
    message.header.frame_id = frame
    message.header.stamp.sec = math.floor(stamp)
    message.header.stamp.nanosec = math.floor(1e9 * (stamp - math.floor(stamp)))
    message.fields = [
        PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
        for i, name in enumerate('xyz')
    ]
    with np.errstate(over='ignore'):
        message.data = points.astype(np.float32).tobytes()
    return message


def _marker(rng: Random) -> Marker:
    """Make an obstacle that may stand anywhere."""
    marker = Marker(ns='things', id=rng.randrange(MOST), type=rng.choice(SOLIDS))
    marker.header.frame_id = rng.choice(LINKS)
    marker.frame_locked = rng.random() < 0.5
    marker.pose.position = _point(rng)
    marker.pose.orientation.w = 1.0
    scale = marker.scale
    scale.x, scale.y, scale.z = (rng.uniform(0.02, 0.4) for _ in range(3))
    if marker.type in (Marker.CUBE_LIST, Marker.SPHERE_LIST):
        marker.points = [_point(rng) for _ in range(rng.choice([1, 5, 50]))]
    if rng.random() < 0.3:
        marker.lifetime.nanosec = rng.choice([1, 50_000_000, 900_000_000])
    return marker


def _point(rng: Random) -> Point:
    x, y, z = (rng.uniform(-FARTHEST, FARTHEST) for _ in range(3))
    return Point(x=x, y=y, z=z)


def _publish_markers(scene: Scene, markers: list[Marker]) -> None:
    _publisher(scene, 'obstacles', MarkerArray, QUEUE).publish(MarkerArray(markers=markers))


def _publish_cloud(scene: Scene, message: PointCloud2) -> None:
    _publisher(scene, 'points', PointCloud2, qos_profile_sensor_data).publish(message)


def _publisher(scene: Scene, topic: str, kind: type, qos: Any) -> Any:
    if topic not in scene.publishers:
        scene.publishers[topic] = scene.tester.create_publisher(kind, f'fabrik/{topic}', qos)
    return scene.publishers[topic]


WORLD_ACTIONS: dict[Callable[[Scene, Random], None], int] = {
    show_obstacles: 30,
    move_obstacle: 12,
    remove_obstacles: 16,
    odd_obstacle: 30,
    show_points: 20,
    odd_points: 30,
}
"""What may happen besides where things stand around the arm, and how often."""
