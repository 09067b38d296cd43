"""Waypoints in the picture: numbered frames, a line through them, and a handle for one."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import viser

from ..transforms import Array, rotation_from_quaternion_xyzw, transform
from .arm_view import put

COLOR, CHOSEN_COLOR = (124, 92, 196), (31, 111, 235)
"""Of waypoints, and of the one that is chosen."""
AXIS, BALL, HANDLE = 0.06, 0.01, 0.14
"""Length of the axes, radius of the ball, and size of the handle [lengths of the arm]."""
NEAR = 1e-6
"""Entries of poses that differ by no more are the same [m or 1]."""
LINE_WIDTH = 2.0
"""[pixels]."""


class WaypointsView:
    """
    Draws waypoints.

    Parameters
    ----------
    scene : viser.SceneApi
        Draws.
    size : float
        Length of the arm [m].
    on_choice : callable
        Takes the number of one that somebody clicks at, from 0 on.
    on_move : callable
        Takes the number of one, and the pose that somebody has dragged it to, shape (4, 4).

    """

    ROOT = '/base/waypoints'

    def __init__(
        self,
        scene: viser.SceneApi,
        size: float,
        on_choice: Callable[[int], None],
        on_move: Callable[[int, Array], None],
    ) -> None:
        self._scene, self._size = scene, size
        self._on_choice, self._on_move = on_choice, on_move
        scene.add_frame(self.ROOT, show_axes=False)
        self._frames: list[Any] = []
        self._poses: list[Array] = []
        self._chosen: int | None = None
        self._held: Array | None = None
        """Pose of the chosen one while somebody drags it."""
        self._line: Any = None
        self._corners = np.empty((0, 3))
        self._handle = scene.add_transform_controls(
            f'{self.ROOT}/handle', scale=HANDLE * size, depth_test=False, visible=False
        )
        self._handle.on_update(self._on_handle)

    def show(self, poses: Sequence[Array], chosen: int | None, has_line: bool) -> None:
        """
        Draw them.

        Parameters
        ----------
        poses : sequence of array, shape (4, 4)
            Where they are.
        chosen : int or None
            Number of the one that has a handle, from 0 on.
        has_line : bool
            Whether there is a line through them: where the path ahead is drawn they would fight.

        """
        held, shown = self._held, list(poses)
        if held is not None and chosen is not None:
            shown[chosen] = held
        while len(self._frames) > len(shown):
            self._frames.pop().remove()
            del self._poses[len(self._frames) :]
        for number, T in enumerate(shown):
            self._show_one(number, T, number == chosen)
        self._show_line(shown if has_line else ())
        self._show_handle(shown, chosen)

    def release(self) -> None:
        """Forget what is dragged: nobody is there any more who could let go."""
        self._held = None

    def _show_one(self, number: int, T: Array, is_chosen: bool) -> None:
        if number == len(self._frames):
            self._add(number)
        frame, color = self._frames[number], CHOSEN_COLOR if is_chosen else COLOR
        if tuple(frame.origin_color) != color:
            frame.origin_color = color
        if number == len(self._poses) or np.abs(self._poses[number] - T).max() > NEAR:
            self._poses[number : number + 1] = [T]
            put(frame, T)

    def _add(self, number: int) -> None:
        name = f'{self.ROOT}/{number + 1}'
        frame = self._scene.add_frame(
            name,
            axes_length=AXIS * self._size,
            axes_radius=0.015 * AXIS * self._size,
            origin_radius=BALL * self._size,
            origin_color=COLOR,
        )
        self._scene.add_label(f'{name}/number', str(number + 1), anchor='bottom-left')

        async def choose(event: object) -> None:
            self._on_choice(number)

        frame.on_click(choose)
        self._frames.append(frame)

    def _show_line(self, poses: Sequence[Array]) -> None:
        corners = np.reshape([T[:3, 3] for T in poses], (-1, 3))
        if np.array_equal(corners, self._corners):
            return
        self._corners = corners
        if self._line is not None:
            self._line.remove()
            self._line = None
        if len(corners) > 1:
            self._line = self._scene.add_line_segments(
                f'{self.ROOT}/line',
                np.stack([corners[:-1], corners[1:]], axis=1).astype(np.float32),
                COLOR,
                thickness=LINE_WIDTH,
                thickness_units='screen',
            )

    def _show_handle(self, poses: Sequence[Array], chosen: int | None) -> None:
        is_seen = chosen is not None
        if chosen is not None and self._held is None:
            T = poses[chosen]
            if self._chosen != chosen or np.abs(self._handle_pose() - T).max() > NEAR:
                put(self._handle, T)
        if self._handle.visible != is_seen:
            self._handle.visible = is_seen
        self._chosen = chosen

    def _handle_pose(self) -> Array:
        w, x, y, z = self._handle.wxyz
        return transform(rotation_from_quaternion_xyzw((x, y, z, w)), self._handle.position)

    # The callback runs at once, in the thread of the server: the order counts.

    async def _on_handle(self, event: Any) -> None:
        chosen, T = self._chosen, self._handle_pose()
        if chosen is None:
            return
        if event.phase != 'end':
            self._held = T
            return
        if self._held is not None:
            self._on_move(chosen, T)
        self._held = None
