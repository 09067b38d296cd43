"""Clouds of points of any layout: read, or refused by name, and nothing else."""

from fabrik_ros.errors import SceneError
from hypothesis import example, given, strategies as st
import numpy as np
import pytest

pytest.importorskip('sensor_msgs', reason='ROS 2 is not installed')

from fabrik_ros.ros.messages.point_messages import points_of
from sensor_msgs.msg import PointCloud2, PointField

SIZES = st.sampled_from([0, 1, 2, 3, 8, 12, 24, 100, 65536, 2**31 - 1, 2**31, 2**32 - 1])
FIELDS = st.builds(
    PointField,
    name=st.sampled_from(['x', 'y', 'z', 'rgb', '', 'ü' * 300]),
    offset=SIZES,
    datatype=st.integers(0, 255),
    count=st.sampled_from([0, 1, 2, 2**32 - 1]),
)
COORDINATES = [
    PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
    for i, name in enumerate('xyz')
]
CLOUDS = st.builds(
    PointCloud2,
    height=SIZES,
    width=SIZES,
    fields=st.lists(FIELDS, max_size=5) | st.just(COORDINATES),
    is_bigendian=st.booleans(),
    point_step=SIZES,
    row_step=SIZES,
    data=st.binary(max_size=300),
)


@given(CLOUDS)
@example(PointCloud2(height=1, point_step=2**31, fields=COORDINATES))
@example(PointCloud2(row_step=2**32 - 1, point_step=12, fields=COORDINATES))
def test_cloud_is_read_or_refused_by_name(message):
    try:
        points = points_of(message)
    except SceneError:
        return
    assert points.shape == (message.height * message.width, 3)
    assert points.dtype == np.float32


@given(CLOUDS, st.integers(0, 5), st.integers(0, 5))
def test_cloud_that_is_as_large_as_it_says_is_read_if_its_points_have_room(message, rows, columns):
    message.height, message.width, message.fields = rows, columns, COORDINATES
    message.point_step = min(message.point_step, 100)
    message.row_step = message.point_step * columns
    message.data = bytes(message.row_step * rows)
    if message.point_step < 12:
        with pytest.raises(SceneError, match=r"its field '[xyz]' ends at byte"):
            points_of(message)
    else:
        assert np.array_equal(points_of(message), np.zeros((rows * columns, 3)))
