"""A description that is odd but read: the node says so in its log and its status, and moves."""

from bench import Bench
from command_judge import accelerations, velocities
from fabrik_ros.ros.beside.graph_check import _node
from helpers import joint_xml, robot_xml
import numpy as np
import pytest

LIMITS = '<limit lower="-170" upper="170" velocity="2" drake:acceleration="3"/>'
ODD = robot_xml(
    'base upper tip',
    '<xacro:property name="width" value="0.2"/>',
    '<!-- arm -- of two links -->',
    joint_xml('turn', 'base', 'upper', body=f'{LIMITS}<axis xyz="0 0 1"/>'),
    joint_xml('reach', 'upper', 'tip', body=f'{LIMITS}<axis xyz="0 1 0"/><origin xyz="1 0 0"/>'),
)
SAID = [
    'not well-formed XML: not well-formed (invalid token)',
    'prefixes that are not declared: drake',
    'left of xacro: <xacro:property>',
    "joint 'turn' has limits that look like degrees, -170 and 170 rad",
]


def test_log_status_and_doctor_say_what_is_odd(bench: Bench, capfd: pytest.CaptureFixture):
    bench.start_all(ODD, {'turn': 0.1, 'reach': 0.2})
    status = bench.wait_for_state('IDLE')
    log = capfd.readouterr().err
    told = list(_node('/fabrik', status))
    for text in SAID:
        assert f'robot description: {text}' in log
        assert text in status['description_warnings']
        assert any(kind == 'note' and text in note for kind, _, note in told)
    assert not any(kind == 'WRONG' and 'xacro' in text for kind, _, text in told)
    assert bench.status['state'] == 'IDLE'


@pytest.mark.parametrize('text', ['<robot><xacro:arm/></robot>', '<robot name=a/>'])
def test_a_description_that_cannot_be_read_is_told_with_the_cure(bench: Bench, text):
    bench.start_node(robot_description=text)
    bench.spin_until(lambda: bench.status.get('reason_code') == 'no_model', 'the reason')
    assert 'expand it first' in bench.status['reason'] or 'mend that' in bench.status['reason']


def test_a_node_keeps_the_accelerations_of_the_description_and_says_what_is_slower_for_it(
    bench: Bench, capfd: pytest.CaptureFixture
):
    limits = '<limit lower="-3" upper="3" velocity="2" acceleration="{}"/>'
    described = robot_xml(
        'base upper tip',
        joint_xml('turn', 'base', 'upper', body=f'{limits.format(0.8)}<axis xyz="0 0 1"/>'),
        joint_xml('reach', 'upper', 'tip', body=f'{limits.format(9)}<origin xyz="1 0 0"/>'),
        attributes='name="r" version="1.2"',
    )
    bench.start_all(described, {'turn': 0.1, 'reach': 0.2})
    bench.wait_for_state('IDLE')
    said = "to stop them within 0.5 s: 'turn' from 1.5 to 0.4"
    assert 'robot description: velocities are lowered' in capfd.readouterr().err
    assert said in bench.status['description_warnings']
    bench.send_joints(['turn', 'reach'], [0.6, -0.4])
    bench.wait_for_state('REACHED')
    for times, q in bench.commands.runs():
        assert np.all(np.abs(velocities(times, q)).max(axis=0) <= [0.4 + 1e-6, 1.5 + 1e-6])
        hardest = np.abs(accelerations(times, q)).max(axis=0)
        assert np.all(hardest <= np.array([0.8, 5.0]) * (1.0 + 1e-4))
    assert bench.set(max_joint_velocity=1.0) == []
    bench.spin_until(
        lambda: "'turn' from 1 to 0.4" in bench.status['description_warnings'], 'the new warning'
    )
    assert "'turn' from 1 to 0.4" in capfd.readouterr().err
