"""Waypoints in RViz: what is shown, what a mouse does, and the program that is sent."""

import json

import pytest

pytest.importorskip('visualization_msgs', reason='ROS 2 is not installed')

from fabrik_ros.programs.program_file import program_of
from fabrik_ros.programs.waypoints import Waypoints
from fabrik_ros.ros.beside.menu_entries import Blend, Edit, KnownWaypoints
from fabrik_ros.ros.beside.waypoint_handles import WaypointHandles
from fabrik_ros.ros.messages.conversions import matrix_to_pose, pose_to_matrix
from fabrik_ros.transforms import pose_from_xyz_rpy
from hypothesis import given, strategies as st
import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    InteractiveMarkerFeedback as Feedback,
    Marker,
)

SIZE = 0.25
BASE = 'base_link'


class Screen:
    """A server of interactive markers, and a mouse."""

    def __init__(self) -> None:
        self.markers, self._listeners = {}, {}
        self.inserted = []
        self.waypoints = Waypoints()
        self.handles = WaypointHandles(self, self.waypoints, BASE, SIZE)

    def insert(self, marker, *, feedback_callback) -> None:
        heard = deserialize_message(serialize_message(marker), InteractiveMarker)
        self.markers[marker.name], self._listeners[marker.name] = heard, feedback_callback
        self.inserted.append(marker.name)

    def setPose(self, name, pose) -> bool:  # noqa: N802
        self.markers[name].pose = pose
        return True

    def erase(self, name) -> bool:
        return self.markers.pop(name, None) is not None

    def choose(self, what, T=None):
        wish = what if isinstance(what, Blend) else Edit(what)
        program = self.handles.take(wish, np.eye(4) if T is None else T)
        self.handles.show()
        return program

    def tell(self, number, event, control='move', frame=BASE):
        name = f'waypoint_{number}'
        feedback = Feedback(marker_name=name, event_type=event, control_name=control)
        feedback.header.frame_id, feedback.pose = frame, self.markers[name].pose
        self._listeners[name](feedback)
        self.handles.show()

    def drag(self, number, *poses, control='move'):
        self.tell(number, Feedback.MOUSE_DOWN, control)
        for T in poses:
            self.markers[f'waypoint_{number}'].pose = matrix_to_pose(T)
            self.tell(number, Feedback.POSE_UPDATE, control)
        self.tell(number, Feedback.MOUSE_UP, control)

    def poses(self):
        names = [f'waypoint_{k + 1}' for k in range(len(self.markers))]
        return [pose_to_matrix(self.markers[n].pose) for n in names if n in self.markers]

    def line(self):
        if 'waypoints' not in self.markers:
            return np.empty((0, 3))
        ((marker,),) = [control.markers for control in self.markers['waypoints'].controls]
        return np.array([(p.x, p.y, p.z) for p in marker.points])

    def has_arrows(self, number):
        modes = [c.interaction_mode for c in self.markers[f'waypoint_{number}'].controls]
        return InteractiveMarkerControl.MOVE_AXIS in modes


def pose(k, x=0.0):
    return pose_from_xyz_rpy((0.1 * k + x, 0.2, 0.3), (0.3 * k, 0.0, 1.0))


@pytest.fixture
def screen():
    screen = Screen()
    for k in range(3):
        screen.choose('add', pose(k))
    return screen


edits = st.one_of(
    st.builds(lambda k: ('add', k), st.integers(0, 9)),
    st.just(('undo',)),
    st.just(('clear',)),
    st.builds(lambda number, k: ('drag', number, k), st.integers(1, 5), st.integers(0, 9)),
    st.builds(lambda number: ('click', number), st.integers(1, 5)),
)


@given(st.lists(edits, max_size=15))
def test_what_is_shown_is_what_is_set_and_one_at_most_has_arrows(asked):
    screen = Screen()
    for what, *values in asked:
        if what == 'add':
            screen.choose('add', pose(values[0]))
        elif what in ('undo', 'clear'):
            screen.choose(what)
        elif values[0] <= len(screen.waypoints):
            screen.drag(values[0], *([pose(values[1], 0.05)] if what == 'drag' else []))
        poses = screen.waypoints.poses
        assert len(screen.poses()) == len(poses)
        for shown, T in zip(screen.poses(), poses, strict=True):
            np.testing.assert_allclose(shown, T, atol=1e-6)
        middle = [T[:3, 3] for T in poses] if len(poses) > 1 else np.empty((0, 3))
        np.testing.assert_allclose(screen.line(), middle, atol=1e-6)
        assert len(screen.markers) == len(poses) + (len(poses) > 1)
        assert sum(screen.has_arrows(k + 1) for k in range(len(poses))) <= 1
        known = KnownWaypoints(len(poses), screen.waypoints.can_undo, 0.0)
        assert screen.handles.known == known


def test_a_waypoint_is_a_numbered_frame_with_a_ball_to_drag(screen):
    marker = screen.markers['waypoint_2']
    assert (marker.header.frame_id, marker.header.stamp.sec) == (BASE, 0)
    ball, frame, label = marker.controls
    assert ball.interaction_mode == InteractiveMarkerControl.MOVE_3D
    assert {c.interaction_mode for c in (frame, label)} == {InteractiveMarkerControl.NONE}
    assert all(control.always_visible for control in marker.controls)
    (axes,) = frame.markers
    tips = np.array([(p.x, p.y, p.z) for p in axes.points])[1::2]
    np.testing.assert_allclose(tips / np.linalg.norm(tips, axis=1)[:, None], np.eye(3))
    assert axes.scale.x < 0.1 * np.linalg.norm(tips[0]), 'thin'
    assert frame.orientation_mode == InteractiveMarkerControl.INHERIT, 'it turns with the tool'
    assert [m.text for m in label.markers] == ['2']
    assert ball.markers[0].type == Marker.SPHERE
    assert ball.markers[0].scale.x < 0.2 * SIZE, 'smaller than the handle'


def test_line_follows_the_mouse_and_the_marker_stays_in_the_hand(screen):
    screen.tell(2, Feedback.MOUSE_DOWN)
    del screen.inserted[:]
    screen.markers['waypoint_2'].pose = matrix_to_pose(pose(7))
    screen.tell(2, Feedback.POSE_UPDATE)
    np.testing.assert_allclose(screen.line()[1], pose(7)[:3, 3])
    assert screen.inserted == ['waypoints']
    np.testing.assert_array_equal(screen.waypoints.poses[1], pose(1), 'not before it is let go')
    screen.tell(2, Feedback.MOUSE_UP)
    np.testing.assert_allclose(screen.waypoints.poses[1], pose(7), atol=1e-6)
    screen.choose('undo')
    np.testing.assert_allclose(screen.poses()[1], pose(1), atol=1e-6)


def test_a_click_chooses_and_another_one_ends_it_but_not_one_at_an_arrow(screen):
    screen.drag(2)
    assert [screen.has_arrows(k) for k in (1, 2, 3)] == [False, True, False]
    screen.drag(2, control='move_x')
    assert screen.has_arrows(2)
    screen.drag(3)
    assert [screen.has_arrows(k) for k in (1, 2, 3)] == [False, False, True]
    screen.drag(3)
    assert not screen.has_arrows(3)


def test_who_goes_in_a_drag_leaves_the_waypoint_where_it_was(screen):
    screen.tell(1, Feedback.MOUSE_DOWN)
    screen.markers['waypoint_1'].pose = matrix_to_pose(pose(7))
    screen.tell(1, Feedback.POSE_UPDATE)
    screen.handles.release()
    screen.handles.show()
    np.testing.assert_allclose(screen.poses()[0], pose(0), atol=1e-6)


def test_what_makes_no_sense_changes_nothing(screen):
    before = screen.waypoints.poses
    screen.tell(1, Feedback.MOUSE_DOWN, frame='elsewhere')
    screen.drag(2, np.full((4, 4), np.nan))
    np.testing.assert_allclose(screen.poses()[1], pose(1), atol=1e-6)
    screen.tell(1, Feedback.POSE_UPDATE)
    screen.tell(1, Feedback.MOUSE_UP)
    assert screen.waypoints.poses is before


def test_who_grabs_one_that_is_taken_away_just_now_grabs_nothing(screen):
    screen.waypoints.undo()
    screen.tell(3, Feedback.MOUSE_DOWN)
    assert len(screen.poses()) == len(screen.waypoints) == 2


def test_the_program_goes_through_all_and_is_what_the_node_reads(screen):
    assert Screen().choose('run') == ''
    assert screen.choose(Blend(0.02)) == ''
    sent = screen.choose('run')
    name, program = program_of(json.loads(sent))
    assert name == 'waypoints'
    assert [step.name for step in program.steps] == ['move', 'line', 'line']
    assert [step.blend for step in program.steps] == [0.02, 0.02, 0.0]
    for step, T in zip(program.steps, (pose(0), pose(1), pose(2)), strict=True):
        np.testing.assert_allclose(step.pose, T, atol=1e-9)
    assert len(screen.waypoints) == 3
    assert screen.choose('run') == sent, 'once more'


def test_markers_go_and_waypoints_stay(screen):
    screen.handles.close()
    assert screen.markers == {}
    again = WaypointHandles(screen, screen.waypoints, BASE, SIZE)
    again.show()
    assert len(screen.markers) == 4
