"""The text over the arm is all in the picture of RViz, by the camera of its configuration."""

import math
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from builtin_interfaces.msg import Time
from fabrik_ros import parse_urdf
from fabrik_ros.motion.following.arm_state import State
from fabrik_ros.reasons import Reason, ReasonKind
from fabrik_ros.ros.drawing.status_markers import GREY, state_sentences, text_markers
from fabrik_ros.ros.launching.rviz_view import fitted_to
from fabrik_ros.ros.messages.marker_shapes import Pen
from helpers import Segment, serial_xml
from hypothesis import given, strategies as st
import numpy as np
import yaml

CONFIG = Path(__file__).parents[3] / 'config' / 'demo.rviz'
FIELD = math.tan(math.radians(22.5))
"""Half the height of RViz' picture at a distance of 1: its cameras see 45 degrees."""
ASPECT = 680 / 500
"""Width by height of the picture that the panels leave of the window."""
LARGEST_SEEN = 1.3
"""Reach of the largest arm that the configuration shows whole as it is [m]."""

words = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=60)
sentences = st.lists(words, min_size=1, max_size=60).map(' '.join)


class Eye:
    """The orbit view of a configuration: it looks at a point from a distance, z upwards."""

    def __init__(self, config):
        view = yaml.safe_load(config.read_text())['Visualization Manager']['Views']['Current']
        yaw, pitch = view['Yaw'], view['Pitch']
        back = np.array([math.cos(yaw) * math.cos(pitch), math.sin(yaw) * math.cos(pitch),
                         math.sin(pitch)])  # fmt: skip
        self.forward = -back
        self.right = np.array([-math.sin(yaw), math.cos(yaw), 0.0])
        self.up = np.cross(self.right, self.forward)
        focus = np.array([view['Focal Point'][axis] for axis in 'XYZ'])
        self.place = focus + view['Distance'] * back

    def sees(self, point):
        """Where in the picture a point is: its edges are at -1 and 1."""
        away = point - self.place
        depth = away @ self.forward
        assert depth > 0.0
        x, y = away @ self.right / depth, away @ self.up / depth
        return x / (FIELD * ASPECT), y / FIELD

    def check(self, marker):
        """Check that a text is in the picture, with letters as wide as they are high."""
        p, size = marker.pose.position, marker.scale.z
        middle = np.array([p.x, p.y, p.z])
        across = 0.5 * size * len(marker.text) * self.right
        for corner in (across, -across):
            for edge in (0.5, -0.5):
                x, y = self.sees(middle + corner + edge * size * self.up)
                assert -1.0 < x < 1.0
                assert -0.2 < y < 1.0, 'above the edge, or far down in the arm'


def arm_of(reach):
    links = [(0.0, 0.0, 0.0), (0.0, 0.0, 0.2 * reach), (0.4 * reach, 0.0, 0.0)]
    tool = Segment('fixed', xyz=(0.4 * reach, 0.0, 0.0))
    return parse_urdf(serial_xml([*(Segment(xyz=xyz) for xyz in links), tool])).chain()


def lines_over(robot, *reasons):
    reason = Reason(ReasonKind.HELD, reasons[0])
    said = state_sentences(State.WAITING_FOR_STATE, reason, reasons[1], reasons[2].split())
    return list(text_markers(Pen('base', Time()), robot, said, GREY))


@given(st.floats(0.3, 3.0), st.tuples(sentences, sentences, sentences))
def test_no_line_is_beyond_the_edge_of_the_view_that_fits_the_arm(reach, reasons):
    robot = arm_of(reach)
    eye = Eye(fitted_to(CONFIG, robot))
    for marker in lines_over(robot, *reasons):
        eye.check(marker)


@given(st.floats(0.3, LARGEST_SEEN), sentences)
def test_no_line_is_beyond_the_edge_of_the_view_as_it_is(reach, reason):
    eye = Eye(CONFIG)
    for marker in lines_over(arm_of(reach), reason, '', ''):
        eye.check(marker)


@given(sentences, sentences)
def test_lines_follow_each_other_downwards_and_say_all_or_end_in_dots(reason, refusal):
    markers = lines_over(arm_of(1.0), reason, refusal, '')
    heights = [marker.pose.position.z for marker in markers]
    sizes = [marker.scale.z for marker in markers]
    gaps = -np.diff(heights)
    assert np.all(gaps > 0.5 * (np.array(sizes[:-1]) + sizes[1:])), 'lines do not touch'
    assert len(markers) <= 8
    assert max(len(marker.text) for marker in markers) <= 48
    assert all(len(m.text) <= 40 for m in markers if m.scale.z == max(sizes))
    assert len(set(sizes)) <= 2
    said = ''.join(''.join(marker.text for marker in markers).split())
    whole = ''.join(f'WAITING_FOR_STATE: {reason} refused: {refusal}'.split())
    assert said == whole or (said.endswith('...') and whole.startswith(said[:-3]))
