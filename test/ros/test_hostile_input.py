"""Faults and hostile input over real ROS 2: whatever comes, in whatever order."""

from collections.abc import Callable
from random import Random
import signal
from typing import Any, ClassVar

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from hostile_scene import a_scene, Scene
from hostility import ACTIONS, CLOCK_ACTIONS, kill, shut_down
from hypothesis import Phase, settings, strategies as st
from hypothesis.stateful import (
    invariant,
    precondition,
    rule,
    RuleBasedStateMachine,
    run_state_machine_as_test,
)

# Each example takes seconds and the world it meets is never the same: none is looked at twice.
FEW = settings(
    max_examples=2, stateful_step_count=25, phases=[Phase.generate], report_multiple_bugs=False
)
Action = Callable[[Scene, Random], None]
pytestmark = pytest.mark.long

chance = st.randoms(use_true_random=False)
pauses = st.sampled_from([0.0, 0.0, 0.02, 0.1])


class HostileWorld(RuleBasedStateMachine):
    """What is done to the node is a rule each; what must hold then is checked after each."""

    scene: ClassVar[Scene]
    has_been_killed = False

    @precondition(lambda self: not self.has_been_killed)
    @rule(how=st.sampled_from([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
    def kill(self, how: int) -> None:
        self.has_been_killed = True
        self.scene.restart(how)

    @invariant()
    def nothing_was_wrong(self) -> None:
        self.scene.check()

    def teardown(self) -> None:
        """Let there be peace: the node must do what it is for."""
        self.scene.recover()
        self.scene.check()


def as_rule(action: Action) -> Any:
    def act(self: HostileWorld, rng: Random, pause: float) -> None:
        action(self.scene, rng)
        self.scene.spin(pause)

    act.__name__ = action.__name__
    return rule(rng=chance, pause=pauses)(act)


def world(scene: Scene, *actions: Action) -> type[HostileWorld]:
    rules = {action.__name__: as_rule(action) for action in actions}
    return type('World', (HostileWorld,), {**rules, 'scene': scene})


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('node')


@pytest.fixture
def scene(domain_id, folder, six_axis):
    with a_scene(domain_id, folder, six_axis) as scene:
        yield scene


@pytest.fixture
def timeless(domain_id, folder, six_axis):
    """Set a scene whose time is that of /clock."""
    with a_scene(domain_id, folder, six_axis, simulated_time=True) as scene:
        yield scene


def test_each_kind_of_hostility_after_the_other(scene):
    rng = Random(5)
    for action in [*ACTIONS, kill, *ACTIONS, shut_down]:
        action(scene, rng)
        scene.spin(0.02)
        scene.check()
    scene.recover()
    scene.check()


def test_any_hostility_in_any_order(scene):
    run_state_machine_as_test(world(scene, *ACTIONS), settings=FEW)


def test_any_hostility_in_any_order_while_the_clock_jumps(timeless):
    run_state_machine_as_test(world(timeless, *ACTIONS, *CLOCK_ACTIONS), settings=FEW)
