"""Points in a cloud, whatever made it; nothing else."""

import numpy as np
import numpy.typing as npt
from sensor_msgs.msg import PointCloud2, PointField

from ...collision.point_map import MOST_POINTS
from ...errors import listed, SceneError, shown

FORMATS = {PointField.FLOAT32: 'f4', PointField.FLOAT64: 'f8'}
"""Types of coordinates that are understood."""

LARGEST_POINT = 1 << 16
"""Most bytes of a point; numpy takes no more than 2 GB."""


def points_of(message: PointCloud2) -> npt.NDArray[np.float32]:
    """
    Read the points of a cloud, organised or not, in either byte order.

    Parameters
    ----------
    message : PointCloud2
        The cloud; its fields x, y and z are float32 or float64 [m].

    Returns
    -------
    array, shape (n, 3)
        The points in the frame of the cloud [m]; not finite where nothing was measured.

    Raises
    ------
    SceneError
        If a field is missing or of another type, there is less data than announced, or there are
        more than 3 million points; says what there is.

    """
    check_size(message)
    order = '>' if message.is_bigendian else '<'
    layout = np.dtype(
        {
            'names': ['x', 'y', 'z'],
            'formats': [order + FORMATS[field.datatype] for field in _coordinates(message)],
            'offsets': [field.offset for field in _coordinates(message)],
            'itemsize': message.point_step,
        }
    )
    cloud = np.ndarray(
        (message.height, message.width),
        layout,
        memoryview(message.data),
        strides=(message.row_step, message.point_step),
    )
    points = np.empty((message.height, message.width, 3), dtype=np.float32)
    with np.errstate(over='ignore'):  # what is too far for float32 becomes infinite
        for axis, name in enumerate(layout.names or ()):
            points[:, :, axis] = cloud[name]
    return points.reshape(-1, 3)


def check_size(message: PointCloud2) -> None:
    """
    Check that a cloud is as large as it says, and not too large.

    Raises
    ------
    SceneError
        If it is not; says what there is.

    """
    count = message.height * message.width
    if count > MOST_POINTS:
        raise SceneError(
            f'{message.height} x {message.width} points; at most {MOST_POINTS} are taken'
        )
    if message.point_step > LARGEST_POINT:
        raise SceneError(
            f'point_step is {message.point_step} bytes; at most {LARGEST_POINT} are taken'
        )
    if message.row_step < message.width * message.point_step:
        raise SceneError(
            f'row_step is {message.row_step} bytes, too few for {message.width} points of '
            f'{message.point_step} bytes'
        )
    announced = message.height * message.row_step
    if len(message.data) < announced:
        raise SceneError(
            f'its data has {len(message.data)} bytes; {message.height} rows of '
            f'{message.row_step} bytes need {announced}'
        )


def _coordinates(message: PointCloud2) -> list[PointField]:
    """Find the fields of x, y and z."""
    fields = {field.name: field for field in message.fields}
    for name in ('x', 'y', 'z'):
        if name not in fields:
            raise SceneError(f"it has no field '{name}'; its fields are: {listed(list(fields))}")
        field = fields[name]
        if field.datatype not in FORMATS or field.count > 1:
            raise SceneError(
                f"its field '{name}' has {field.count} of datatype {field.datatype}; expected one "
                f'of FLOAT32 ({PointField.FLOAT32}) or FLOAT64 ({PointField.FLOAT64})'
            )
        end = field.offset + int(FORMATS[field.datatype][1])
        if end > message.point_step:
            raise SceneError(
                f"its field '{shown(name)}' ends at byte {end} of a point, which has "
                f'{message.point_step}'
            )
    return [fields[name] for name in ('x', 'y', 'z')]
