"""An arm that stands where a test puts it, and writes down what it is asked."""

from dataclasses import replace
import time

from fabrik_ros import example_arm, load_urdf
from fabrik_ros.view.solver_source import start_values
from fabrik_ros.view.source import Request, Snapshot


class Staged:
    """Shows a snapshot that tests change."""

    name, requests, has_speed, choices = 'the staged arm', frozenset(Request), True, None
    has_programs = True

    def __init__(self, **facts) -> None:
        self.robot = load_urdf(example_arm('six_axis'))
        chain = self.robot.chain()
        values = start_values(self.robot, chain, None)
        self._snapshot = Snapshot(
            0.0, self.robot, chain.base_link, chain.tip_link, values, state='IDLE'
        )
        self.asked, self.speeds, self.targets, self.joints = [], [], [], []
        self.programs, self.widths = [], []
        self.change(**facts)

    def change(self, **facts) -> None:
        self._snapshot = replace(self._snapshot, **facts)

    @property
    def measured(self):
        return self._snapshot.measured

    def snapshot(self) -> Snapshot:
        return replace(self._snapshot, time=time.monotonic())

    def send_target(self, T) -> str:
        self.targets.append(T)
        return str(len(self.targets))

    def send_joints(self, values) -> None:
        self.joints.append(values)

    def send_width(self, width) -> None:
        self.widths.append(width)

    def send_program(self, program) -> None:
        self.programs.append(program)

    def ask(self, request) -> None:
        self.asked.append(request)

    def set_speed(self, share) -> None:
        self.speeds.append(share)

    def close(self) -> None:
        pass
