"""Forward kinematics of several tips: joint values to frames."""

from ..transforms import Array
from ._jit import kernel
from .arm_table import FRAME, POSITION, SOURCE
from .frames import compose, copy
from .kinematics import joint_value, move_joint
from .tree_model import PARENT


@kernel
def frame_before(model: Array, i: int, frames: Array, frame: Array) -> None:
    """Write where row `i` of the model is attached: a joint before its motion, or a tip."""
    parent = int(model[i, PARENT])
    if parent < 0:
        copy(model[i, :FRAME], frame)
    else:
        compose(frames[parent], model[i], frame)


@kernel
def tree_link_frames(model: Array, q: Array, frames: Array) -> None:
    """Write the frame of every link behind a moving joint, and of the tips, shape (m + k, 12)."""
    for i in range(model.shape[0]):
        frame_before(model, i, frames, frames[i])
        if model[i, SOURCE] >= 0.0:
            move_joint(model[i], joint_value(model[i], q), frames[i])


@kernel
def tree_joint_and_link_frames(model: Array, q: Array, joints: Array, frames: Array) -> None:
    """Write link frames, and to `joints` the frames of joints before their motion, (m, 12)."""
    for i in range(model.shape[0]):
        frame_before(model, i, frames, frames[i])
        if model[i, SOURCE] >= 0.0:
            copy(frames[i], joints[i])
            move_joint(model[i], joint_value(model[i], q), frames[i])


@kernel
def tip_poses(model: Array, q: Array, frames: Array, T: Array) -> None:
    """Write the poses of the tips, shape (k, 4, 4); `frames` are written over."""
    tree_link_frames(model, q, frames)
    first = model.shape[0] - T.shape[0]
    for t in range(T.shape[0]):
        for r in range(3):
            for c in range(3):
                T[t, r, c] = frames[first + t, 3 * r + c]
            T[t, r, 3] = frames[first + t, POSITION + r]
            T[t, 3, r] = 0.0
        T[t, 3, 3] = 1.0
