"""The panel beside the picture: what the arm does and why, and what it can be asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
import html

import viser

from ..model.robot import Robot
from ..programs.program import Program
from ..transforms import Array
from .angles import AngleUnit
from .choices_panel import ChoicesPanel
from .controls import Controls, StopButton
from .gallery import Gallery
from .gripper_panel import GripperPanel
from .joint_sliders import JointSliders
from .looks_panel import LooksPanel
from .page_style import head
from .page_waypoints import PageWaypoints
from .plots import Plots
from .recording import Recording
from .replay import Replay
from .robots_panel import RobotsPanel
from .scene_view import Looks
from .source import Request, Snapshot, Source
from .status_text import silence_html, status_html
from .target_fields import TargetFields


@dataclass(frozen=True)
class Actions:
    """What somebody does on the panel, each in the thread of the server."""

    request: Callable[[Request], None]
    target: Callable[[Array], None]
    joints: Callable[[Mapping[str, float]], None]
    speed: Callable[[float], None]
    place: Callable[[str], None]
    looks: Callable[[Looks], None]
    whole_arm: Callable[[], None]
    program: Callable[[Program], None]
    width: Callable[[float], None]


class Panel:
    """
    Puts all parts below each other.

    Parameters
    ----------
    server : viser.ViserServer
        Has the panel.
    source : Source
        The arm.
    actions : Actions
        Take what somebody does.
    recording : Recording
        The last minute.
    gallery : Gallery or None
        The robots that can be chosen; None for this one alone.

    Attributes
    ----------
    target : TargetFields
        The target in numbers.
    waypoints : PageWaypoints or None
        What the arm can go through; None where it goes along no path.
    joints : JointSliders
        A slider for each joint.
    plots : Plots
        The last half minute.
    replay : Replay
        The last minute.

    """

    def __init__(
        self,
        server: viser.ViserServer,
        source: Source,
        actions: Actions,
        recording: Recording,
        gallery: Gallery | None,
    ) -> None:
        self._server = server
        server.gui.configure_theme(show_share_button=False, show_logo=False)
        server.gui.main_panel.dock_right()
        server.gui.add_html(head())
        stop = StopButton(server, lambda: actions.request(Request.STOP))
        stop.enable(Request.STOP in source.requests)
        self._status = server.gui.add_html('')
        if gallery is not None:
            RobotsPanel(server, gallery)
        self._controls = Controls(
            server, source.requests, source.has_speed, actions.request, actions.speed
        )
        self._gripper = GripperPanel(server, actions.width)
        self.target = TargetFields(server, actions.target)
        self.waypoints = PageWaypoints(server, actions.program) if source.has_programs else None
        self.joints = JointSliders(server, actions.joints)
        self.replay = Replay(server, recording)
        self.plots = Plots(server)
        self._choices = (
            None if source.choices is None else ChoicesPanel(server, source.choices, actions.place)
        )
        self._looks = LooksPanel(server, actions.looks, self._set_unit, actions.whole_arm)

    @property
    def looks(self) -> Looks:
        """What somebody wants to see."""
        return self._looks.looks

    def make_joints(self, robot: Robot, values: Mapping[str, float]) -> None:
        """Make sliders for the joints of a robot."""
        self.joints.make(robot, values)

    def show(self, snapshot: Snapshot, asked: str, age: float) -> None:
        """Show a state: how far what was asked is away, and how long ago that was [s]."""
        self._say(status_html(snapshot, asked, age))
        if age == 0.0:
            self._controls.show(snapshot)
            self._gripper.show(snapshot.gripper)
            if self._choices is not None:
                self._choices.show()

    def show_none(self, name: str) -> None:
        """Say that there are no data of something with a name; nothing else counts."""
        self._say(silence_html(name))

    def say_once(self, text: str) -> None:
        """Add a remark that stays, below all else."""
        self._server.gui.add_html(f'<div style="padding:0.5em 1em">{html.escape(text)}</div>')

    def _set_unit(self, unit: AngleUnit) -> None:
        self.target.set_unit(unit)
        self.joints.set_unit(unit)

    def _say(self, content: str) -> None:
        if content != self._status.content:
            self._status.content = content
