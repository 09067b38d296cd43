"""What RViz does with interactive markers: asks for them, hears of changes, tells of the mouse."""

from collections.abc import Iterable
import copy
import re
import time

from bench import Bench, matrix_message
import numpy as np
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerFeedback as Feedback,
    InteractiveMarkerUpdate,
)
from visualization_msgs.srv import GetInteractiveMarkers

DEAF_TIME = 1.1
"""For a second after it was made, a marker of the server heeds no client [s]."""


class RvizClient:
    """
    The display InteractiveMarkers of RViz, with a mouse.

    The order of what it tells is that of `rviz_default_plugins`: a press and a release come each
    after one more pose, also where nothing was moved, and poses that come meanwhile are put off.

    Parameters
    ----------
    bench : Bench
        Where it lives.
    namespace : str
        Of the markers.

    """

    def __init__(self, bench: Bench, namespace: str = 'fabrik/drag_target') -> None:
        self._bench, self._namespace = bench, namespace
        self.markers: dict[str, InteractiveMarker] = {}
        self.updates: list[InteractiveMarkerUpdate] = []
        self._held: str | None = None
        bench._listen(InteractiveMarkerUpdate, f'{namespace}/update', self._on_update)
        self._feedback = bench.tester.create_publisher(Feedback, f'{namespace}/feedback', 100)

    def connect(self) -> None:
        """Ask for the markers that are there."""
        service = f'{self._namespace}/get_interactive_markers'
        answer = self._bench.ask(GetInteractiveMarkers, service, GetInteractiveMarkers.Request())
        self.markers = {marker.name: marker for marker in answer.markers}
        self._bench.spin_until(
            lambda: self._feedback.get_subscription_count() > 0, 'somebody hears the mouse'
        )

    def wait_for(self, *names: str) -> None:
        """Wait until markers are shown, and no others, and the server heeds the mouse."""
        self._bench.spin_until(lambda: set(self.markers) == set(names), f'the markers {names}')
        ready = time.monotonic() + DEAF_TIME
        self._bench.spin_until(lambda: time.monotonic() > ready, 'time passes')

    def _on_update(self, message: InteractiveMarkerUpdate) -> None:
        self.updates.append(message)
        for marker in message.markers:
            self.markers[marker.name] = marker
        for entry in message.poses:
            if entry.name != self._held:
                self.markers[entry.name].header = entry.header
                self.markers[entry.name].pose = entry.pose
        for name in message.erases:
            self.markers.pop(name, None)

    def pose(self, name: str) -> np.ndarray:
        """Where a marker is shown, shape (4, 4)."""
        import pinocchio

        pose = self.markers[name].pose
        p, o = pose.position, pose.orientation
        quaternion = pinocchio.Quaternion(o.w, o.x, o.y, o.z)
        return pinocchio.SE3(quaternion, np.array([p.x, p.y, p.z])).homogeneous

    # -- the mouse

    def press(self, name: str) -> None:
        self.tell(name, Feedback.POSE_UPDATE)
        self.tell(name, Feedback.MOUSE_DOWN)
        self._held = name

    def move(self, name: str, T: np.ndarray) -> None:
        self.markers[name].pose = matrix_message(T).pose
        self.tell(name, Feedback.POSE_UPDATE)

    def let_go(self, name: str) -> None:
        self.tell(name, Feedback.POSE_UPDATE)
        self.tell(name, Feedback.MOUSE_UP)
        self._held = None

    def drag(self, name: str, poses: Iterable[np.ndarray], pause: int = 1) -> None:
        """Press, move through poses as fast as the rest of the world turns, and let go."""
        self.press(name)
        for T in poses:
            self.move(name, T)
            for _ in range(pause):
                self._bench.executor.spin_once(timeout_sec=0.02)
        self.let_go(name)

    def select(self, name: str, *titles: str) -> None:
        """Choose an entry of the menu, once it is there, after the menus that it is in."""
        self._bench.spin_until(lambda: self.number(name, *titles), f'an entry {titles}')
        self.tell(name, Feedback.MENU_SELECT, self.number(name, *titles))

    def number(self, name: str, *titles: str) -> int:
        """Tell the number of an entry by what its titles begin with; 0 where there is none."""
        number = 0
        for title in titles:
            pattern = re.compile(rf'(\[.\] )?{re.escape(title)}(: .*)?')
            found = [
                entry.id
                for entry in self.markers[name].menu_entries
                if entry.parent_id == number and pattern.fullmatch(entry.title)
            ]
            if not found:
                return 0
            (number,) = found
        return number

    def titles(self, name: str, *menus: str) -> list[str]:
        """Read what a menu offers: that of the marker, or one within it."""
        parent = self.number(name, *menus)
        entries = self.markers[name].menu_entries
        return [entry.title for entry in entries if entry.parent_id == parent]

    def words(self, name: str) -> str:
        """Read what is written over a marker, in lines that RViz can show."""
        markers = [m for control in self.markers[name].controls for m in control.markers if m.text]
        assert all(abs(marker.scale.x - 0.5 * marker.scale.z) < 1e-9 for marker in markers)
        heights = [marker.pose.position.z for marker in markers]
        assert heights == sorted(heights, reverse=True)
        assert self.markers[name].description == '', 'it has spaces a metre wide'
        return ' '.join(marker.text for marker in markers)

    def checked(self, name: str, title: str) -> list[str]:
        """Which entries of a menu have a check mark."""
        inside = self.titles(name, title)
        return [entry.removeprefix('[x] ') for entry in inside if entry.startswith('[x] ')]

    def die(self) -> None:
        """End without letting go."""
        self._held = None
        self._bench.tester.destroy_publisher(self._feedback)

    def tell(self, name: str, event: int, entry: int = 0) -> None:
        """Send one event of a marker, as it is shown."""
        marker = copy.deepcopy(self.markers[name])
        self._feedback.publish(
            Feedback(
                header=marker.header,
                client_id='rviz',
                marker_name=name,
                event_type=event,
                pose=marker.pose,
                menu_entry_id=entry,
            )
        )
