"""Points of a depth camera that looks down on the arm; judged by trigonometry on the wire."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('coal', reason='coal measures the distances')

from bench import values_at
from depth_camera import DepthCamera
import numpy as np
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import PointCloud2, PointField
from test_changing_world import (
    ARM,
    BALL,
    check_commands,
    CLEARANCE,
    END,
    FAST,
    gaps,
    START,
    target,
    tips,
)

CAMERA = (0.4, 0.2, 1.5)
ARM_WITH_CAMERA = ARM.replace(
    '</robot>',
    '<link name="camera"/><joint name="stand" type="fixed"><parent link="base"/>'
    '<child link="camera"/><origin rpy="3.14159265 0 0" '
    f'xyz="{CAMERA[0]} {CAMERA[1]} {CAMERA[2]}"/>'
    '</joint></robot>',
)
PLACE, RADIUS = (0.6, 0.6), 0.06
SIZE = 0.02


def column(place, radius=RADIUS, spacing=0.01):
    """Points on a post, shape (n, 3), in the base frame [m]."""
    angles = np.arange(0.0, 2.0 * np.pi, spacing / radius)
    heights = np.arange(-0.1, 0.1, spacing)
    angle, z = (grid.ravel() for grid in np.meshgrid(angles, heights))
    x, y = place[0] + radius * np.cos(angle), place[1] + radius * np.sin(angle)
    return np.column_stack([x, y, z])


class Camera:
    """Sees points at 10 Hz, and the balls of the arm among them."""

    def __init__(self, bench):
        self.bench = bench
        self.points = column((2.0, 2.0))
        self._publisher = bench.tester.create_publisher(
            PointCloud2, 'fabrik/points', qos_profile_sensor_data
        )
        self._timer = bench.tester.create_timer(0.1, self._look)

    def measured(self):
        """Points in the frame of the camera, shape (n, 3)."""
        here = tips(self.q)[0]
        angle = np.linspace(0.0, 2.0 * np.pi, 40)
        own = np.column_stack([*(here + 0.05 * np.column_stack([np.cos(angle), np.sin(angle)])).T,
                               np.zeros(40)])  # fmt: skip
        seen = np.concatenate([self.points, own, np.full((3, 3), np.nan)]) - CAMERA
        return seen * (1.0, -1.0, -1.0)

    @property
    def q(self):
        state = self.bench.states[-1]
        q = dict(zip(state.name, state.position, strict=True))
        return q['shoulder'], q['elbow']

    def _look(self):
        self.say()  # a callback with parameters would be given those of its timer

    def say(self, **fields):
        seen = self.measured()
        message = PointCloud2(height=1, width=len(seen), point_step=12, row_step=12 * len(seen))
        message.header.frame_id = 'camera'
        message.header.stamp = self.bench.states[-1].header.stamp
        message.fields = [
            PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
            for i, name in enumerate('xyz')
        ]
        message.data = seen.astype(np.float32).tobytes()
        for name, value in fields.items():
            setattr(message, name, value)
        self._publisher.publish(message)

    def show(self, points):
        """Wait until the node knows what is seen now."""
        self.points = points
        self.wait_until_known()

    def wait_until_known(self):
        count = int(self.bench.status['clouds_accepted'])
        self.bench.spin_until(
            lambda: int(self.bench.status['clouds_accepted']) > count + 1, 'accepted clouds'
        )

    def die(self):
        self._timer.cancel()


class SeeingCamera(Camera):
    """Sees the balls of the arm and a hand, and nothing that is behind another of them."""

    HAND = 0.03
    """Radius [m]."""

    def __init__(self, bench):
        self.hand = np.array([2.0, 2.0, 0.0])
        self._rays = DepthCamera(CAMERA, pixels=120, width=0.5).rays
        super().__init__(bench)

    def measured(self):
        a, _ = self.q
        elbow = np.array([0.4 * np.cos(a), 0.4 * np.sin(a), 0.0])
        things = [(elbow, BALL), (np.append(tips(self.q)[0], 0.0), BALL), (self.hand, self.HAND)]
        ranges = np.min([self._ranges(*thing) for thing in things], axis=0)
        return self._rays * np.where(np.isfinite(ranges), ranges, np.nan)[:, None]

    def _ranges(self, centre, radius):
        """How far each ray goes until it meets a sphere; inf where it does not, shape (n,) [m]."""
        away = (centre - CAMERA) * (1.0, -1.0, -1.0)
        along = self._rays @ away
        square = along**2 - away @ away + radius**2
        return np.where(square > 0.0, along - np.sqrt(np.maximum(square, 0.0)), np.inf)

    def gap(self, q):
        """Distances of the ball at the tip from the hand, shape (m,) [m]."""
        places = np.column_stack([tips(q), np.zeros(len(tips(q)))])
        return np.linalg.norm(places - self.hand, axis=1) - BALL - self.HAND


@pytest.fixture
def start(bench):
    def start(kind=Camera, **parameters):
        values = values_at(('shoulder', 'elbow'), START)
        bench.start_all(ARM_WITH_CAMERA, values, mode='position', **parameters)
        camera = kind(bench)
        camera.show(column((2.0, 2.0)))
        return camera

    return start


def check_gap(bench):
    assert gaps(bench.commands.q, PLACE, RADIUS).min() > CLEARANCE - SIZE
    check_commands(bench)


def test_arm_goes_round_points_and_not_round_itself(bench, start):
    start(max_tip_speed=FAST).show(column(PLACE))
    assert int(bench.status['points']) > 50
    bench.send(target(END))
    bench.wait_for_state('REACHED')
    assert "points of 'camera'" in bench.status['nearest_links']
    check_gap(bench)


def test_points_that_appear_on_the_path_stop_the_arm_until_they_are_gone(bench, start):
    camera = start()
    bench.send(target(END))
    bench.wait_for_commands(40)
    camera.points = column((0.45, 0.65))
    assert "points of 'camera'" in bench.wait_for_state('HOLDING')['reason']
    bench.wait_until_silent(4)
    assert gaps(bench.commands.q, (0.45, 0.65), RADIUS).min() > CLEARANCE
    camera.show(column((2.0, 2.0)))
    assert bench.set(max_tip_speed=FAST) == []
    bench.resume()
    bench.wait_for_state('REACHED')
    check_commands(bench)


def test_arm_stops_when_the_camera_dies_and_keeps_what_it_saw(bench, start):
    camera = start()
    camera.show(column(PLACE))
    bench.send(target(END))
    bench.wait_for_commands(20)
    camera.die()
    status = bench.wait_for_state('HOLDING')
    assert "the newest points of 'camera' are" in status['reason']
    assert 'scene_timeout 0.5 s' in status['reason']
    assert status['reason_code'] == 'world_unknown'
    assert int(status['points']) > 50
    assert 'the newest points' in bench.refusal(target(START))
    bench.wait_until_silent(4)
    check_gap(bench)


def test_hand_that_is_moved_up_to_a_link_is_not_taken_for_the_link(bench, start):
    """It ends nearer than the padding, in the way; the arm leaves it by another path."""
    camera, here = start(SeeingCamera), np.append(tips(START)[0], 0.0)
    aside = np.array([-np.sin(0.5), np.cos(0.5), 0.0])
    """Where the tip would go on the way to END."""
    for gap in (0.2, 0.1, 0.06, 0.04, 0.025, 0.01):
        camera.hand = here + (BALL + camera.HAND + gap) * aside
        camera.wait_until_known()
    assert float(bench.status['nearest_distance']) < 0.015
    assert "points of 'camera'" in bench.status['nearest_links']
    bench.send(target(END))
    bench.wait_for_state('REACHED')
    assert camera.gap(bench.commands.q).min() > 0.01 - 1e-3
    check_commands(bench)


@pytest.mark.long
def test_hand_behind_a_link_is_not_forgotten(bench, start):
    """The arm comes to rest between it and the camera; then the hand is moved into its path."""
    camera = start(SeeingCamera)
    over = (0.9, -0.2)
    ball = np.append(tips(over)[0], 0.0)
    away = ball - CAMERA
    camera.hand = ball + 0.13 * away / np.linalg.norm(away)
    camera.wait_until_known()
    bench.send(target(over))
    bench.wait_for_state('REACHED')
    camera.wait_until_known()
    camera.wait_until_known()
    seen = camera.measured() * (1.0, -1.0, -1.0) + CAMERA
    assert np.nanmin(np.linalg.norm(seen - camera.hand, axis=1)) > 0.05, 'it can be seen'
    assert "points of 'camera'" in bench.status['nearest_links']
    assert float(bench.status['nearest_distance']) < 0.08
    check_commands(bench)


def test_nothing_moves_before_the_first_points_where_they_are_required(bench):
    bench.start_node(mode='position', require_points=True, max_tip_speed=FAST)
    bench.start_arm(values_at(('shoulder', 'elbow'), START))
    bench.describe(ARM_WITH_CAMERA)
    bench.spin_until(lambda: 'require_points' in bench.status.get('reason', ''), 'the reason')
    bench.send(target(END))
    bench.spin_until(lambda: 'require_points' in bench.status['last_refusal'], 'the refusal')
    assert len(bench.commands) == 0
    Camera(bench).show(column((2.0, 2.0)))
    bench.wait_until_it_may_set_out()
    bench.send(target(END))
    bench.wait_for_state('REACHED')


def test_clouds_that_were_all_refused_did_come(bench):
    bench.start_node(mode='position', require_points=True)
    bench.start_arm(values_at(('shoulder', 'elbow'), START))
    bench.describe(ARM_WITH_CAMERA)
    bench.spin_until(lambda: 'no points have come' in bench.status.get('reason', ''), 'none yet')
    bench.spin_until(lambda: bench.states, 'joint states')
    camera = Camera(bench)
    camera.die()
    bench.spin_until(lambda: camera._publisher.get_subscription_count() > 0, 'a listener')
    camera.say(data=b'123')
    bench.spin_until(lambda: 'refused, 1 of them' in bench.status['reason'], 'the first')
    assert bench.status['reason_code'] == 'world_unknown'
    for _ in range(20):
        camera.say(data=b'123')
        bench.wait_for_statuses(1)
    bench.spin_until(lambda: 'refused, more than 10' in bench.status['reason'], 'many')
    assert "points of 'camera' refused: " in bench.status['reason']
    assert 'data' in bench.status['reason'].partition("'camera'")[2]
    camera = Camera(bench)
    camera.show(column((2.0, 2.0)))
    bench.wait_for_state('IDLE')


@pytest.mark.parametrize(
    ('fields', 'said'),
    [
        ({'data': b'123'}, 'data'),
        pytest.param({'fields': []}, "'x'", marks=pytest.mark.long),
        pytest.param({'width': 10**9}, 'points; at most', marks=pytest.mark.long),
    ],
)
def test_bad_cloud_is_refused_and_the_last_good_one_stays(bench, start, fields, said):
    camera = start(scene_timeout=0.0)
    camera.show(column(PLACE))
    camera.die()
    bench.wait_for_statuses(3)
    known = bench.status['points']
    camera.say(**fields)
    bench.spin_until(lambda: said in bench.status['last_cloud_refusal'], said)
    assert "points of 'camera' refused" in bench.status['last_cloud_refusal']
    assert bench.status['points'] == known


def test_points_that_the_clearance_does_not_exceed_refuse_to_configure(bench):
    with pytest.raises(Exception, match='obstacle_clearance must be greater than points_padding'):
        bench.start_node(obstacle_clearance=0.01, require_points=True)
