"""Several nodes of one name, as processes: one of them moves the arm, and the others wait."""

import signal
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')
pytest.importorskip('pinocchio', reason='pinocchio is the judge')

from bench import check_commands, JOINTS, shifted, six_axis_judge, START, values_at
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from fabrik_ros.ros.status.namesakes import Claim, Instance, Namesakes
from hypothesis import given, strategies as st
from node_process import NodeProcess
from rclpy.lifecycle import TransitionCallbackReturn

SHORT_LEASE = """
<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <participant profile_name="short" is_default_profile="true"><rtps><builtin><discovery_config>
    <leaseDuration><sec>3</sec></leaseDuration>
    <leaseAnnouncement><sec>1</sec></leaseAnnouncement>
  </discovery_config></builtin></rtps></participant>
</profiles>
"""
"""Profile of Fast DDS: a crashed node leaves the graph after 3 s instead of 20."""
long = pytest.mark.long


@pytest.fixture
def start(domain_id, tmp_path, bench, six_axis, monkeypatch):
    """Start nodes of one name beside an arm; all of them are configured."""
    processes = []
    profile = tmp_path / 'short.xml'
    profile.write_text(SHORT_LEASE)
    monkeypatch.setenv('FASTDDS_DEFAULT_PROFILES_FILE', str(profile))
    bench.start_arm(values_at(JOINTS, START))
    bench.describe(six_axis)

    def start(**parameters):
        folder = tmp_path / str(len(processes))
        folder.mkdir()
        process = NodeProcess(domain_id, folder, {'planning_time': 0.0, **parameters}, {})
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.end()


def newest(bench):
    """Newest status of each node, by process."""
    return {number(status): status for status in bench.statuses}


def number(status):
    return int(status['instance'].split()[2])


def of(bench, process):
    return newest(bench).get(process._process.pid, {})


def wait_for_state_of(bench, process, state):
    bench.spin_until(lambda: of(bench, process).get('state') == state, f'it is {state}')


def wait_until_it_waits(bench, process):
    bench.spin_until(lambda: of(bench, process).get('reason_code') == 'name_taken', 'it waits')


def check_one_at_a_time(bench):
    """Check that no two nodes said that they hold the name at the same time."""
    holders = set()
    for status in bench.statuses:
        (holders.add if status['name_claim'] == 'holds' else holders.discard)(number(status))
        holders &= {process for process in holders if process not in ended(bench)}
        assert len(holders) <= 1, holders


def ended(bench):
    return getattr(bench, 'ended', set())


def end(bench, process, signal_number):
    process.end(signal_number)
    bench.ended = {*ended(bench), process._process.pid}


def go(bench, six_axis, **shift):
    """Send the arm somewhere, and check that it got there by commands of one node."""
    here = six_axis_judge(six_axis).pose(START)
    bench.send(shifted(here, **shift))
    bench.spin_until(
        lambda: 'REACHED' in {status['state'] for status in bench.statuses[-4:]}, 'it is there'
    )
    check_commands(bench, six_axis_judge(six_axis))


class Graph:
    """Stands for a node, in a graph where so many others have its name."""

    def __init__(self, others):
        self.names = ['fabrik'] * (1 + others)

    def get_fully_qualified_name(self):
        return '/fabrik'

    def resolve_topic_name(self, name):
        return name

    def count_publishers(self, topic):
        return len(self.names)

    def get_publishers_info_by_topic(self, topic):
        return [
            SimpleNamespace(node_namespace='/', node_name=name, endpoint_gid=[number])
            for number, name in enumerate(self.names)
        ]

    def create_subscription(self, *given):
        return None


def make(claims):
    """Make namesakes with claims, the one that was started first coming first."""
    made = []
    for started, claim in enumerate(claims):
        one = Namesakes(Graph(len(claims) - 1), lambda claim=claim: claim is not Claim.NONE)
        one._own = Instance(started, 'process 1 on host')
        one.holds = claim is Claim.HOLDS
        one.look()
        made.append(one)
    return made


def tell(speaker, listener):
    values = [KeyValue(key=key, value=value) for key, value in speaker.facts().items()]
    listener._take(DiagnosticArray(status=[DiagnosticStatus(values=values)]))


@pytest.mark.parametrize(
    ('before', 'looks', 'is_rival'),
    [
        ('guest', 1, False),
        ('fabrik', 1, True),
        ('fabrik', 99, True),
        ('_UNKNOWN_', 1, True),
        (None, 99, False),
    ],
)
def test_publisher_that_lost_its_name_is_a_rival_unless_it_had_another_one_or_came_late(
    before, looks, is_rival
):
    """The endpoints of a node that leaves may stay in the graph for longer than its name."""
    graph = Graph(0)
    one = Namesakes(graph, lambda: True)
    graph.names += [before] if before else []
    for _ in range(looks):
        one.look()
    graph.names[1:] = ['_NODE_NAME_UNKNOWN_']
    one.look()
    assert bool(one.rival()) == is_rival


@given(st.lists(st.sampled_from(Claim), min_size=1, max_size=5))
def test_of_nodes_that_have_heard_each_other_one_goes_first(claims):
    """No two of them ever, and never none: the first that holds the name, else that is ready."""
    everyone = make(claims)
    for one in everyone:
        for other in everyone:
            tell(other, one)
    rank = next((claim for claim in (Claim.HOLDS, Claim.READY) if claim in claims), None)
    free = [
        number
        for number, (one, claim) in enumerate(zip(everyone, claims, strict=True))
        if claim is not Claim.NONE and not one.rival()
    ]
    assert free == ([] if rank is None else [claims.index(rank)])
    keeps = [one for one in everyone if one.holds and not one.winner()]
    assert len(keeps) == (rank is Claim.HOLDS)


@given(st.lists(st.sampled_from(Claim), min_size=2, max_size=5), st.data())
def test_nobody_goes_before_a_node_that_it_has_not_heard(claims, data):
    everyone = make(claims)
    number = data.draw(st.integers(0, len(claims) - 1))
    silent = data.draw(st.integers(0, len(claims) - 1).filter(lambda other: other != number))
    one = everyone[number]
    for other in (other for i, other in enumerate(everyone) if i != silent):
        tell(other, one)
    assert one.rival()
    assert any('1 that says nothing' in warning for warning in one.warnings())


@pytest.mark.parametrize('number', [signal.SIGINT, pytest.param(signal.SIGKILL, marks=long)])
def test_second_node_waits_says_why_and_goes_on_when_the_first_is_gone(
    bench, six_axis, start, number
):
    first = start()
    wait_for_state_of(bench, first, 'IDLE')
    second = start()
    wait_until_it_waits(bench, second)
    bench.spin_until(lambda: 'already' in of(bench, second)['reason'], 'it knows whom')
    status = of(bench, second)
    assert status['state'] == 'HOLDING'
    assert status['waits_for'] == 'the name of the node'
    assert f'another node is /fabrik already: process {first._process.pid} on' in status['reason']
    assert 'starts when that is gone' in status['reason']
    for process, other in ((first, second), (second, first)):
        bench.spin_until(lambda p=process: 'name' in of(bench, p)['warnings'], 'it warns')
        warnings = of(bench, process)['warnings']
        assert '2 nodes have the name /fabrik' in warnings
        assert f'process {other._process.pid} on' in warnings
    go(bench, six_axis, y=0.1)
    assert of(bench, first)['state'] == 'REACHED'
    assert of(bench, second)['commands'] == '0'
    assert of(bench, second)['accepted'] == '0'
    check_one_at_a_time(bench)
    end(bench, first, number)
    wait_for_state_of(bench, second, 'IDLE')
    bench.wait_for_statuses(15)
    go(bench, six_axis, y=-0.1)
    assert of(bench, second)['state'] == 'REACHED'
    check_one_at_a_time(bench)
    assert not first.complaints()
    assert not second.complaints()


@long
def test_of_nodes_that_start_together_one_wins_and_the_others_go_on_in_turn(
    bench, six_axis, start
):
    for _ in range(3):
        processes = [start(), start(), start()]
        while processes:
            winner = wait_for_the_winner(bench, processes)
            bench.wait_for_statuses(10 * len(processes))
            assert wait_for_the_winner(bench, processes) is winner
            go(bench, six_axis, y=0.05 * len(processes))
            assert of(bench, winner)['state'] == 'REACHED'
            processes.remove(winner)
            assert {of(bench, other)['commands'] for other in processes} <= {'0'}
            end(bench, winner, signal.SIGTERM)


def wait_for_the_winner(bench, processes):
    """Wait until one of them is ready for targets, and the others wait for its name."""
    winners = []

    def is_decided():
        statuses = [of(bench, process) for process in processes]
        winners[:] = [
            process
            for process, status in zip(processes, statuses, strict=True)
            if status.get('state') == 'IDLE'
        ]
        waiting = [status.get('reason_code') == 'name_taken' for status in statuses]
        return len(winners) == 1 and sum(waiting) == len(processes) - 1

    bench.spin_until(is_decided, 'one wins')
    return winners[0]


def test_activation_asked_for_is_refused_while_another_is_active(bench, start):
    first = start()
    wait_for_state_of(bench, first, 'IDLE')
    second = bench.start_node(autostart=False)
    bench.spin_until(lambda: second.node_state.description, 'a description')
    bench.spin_until(lambda: second.node_state.rival, 'the other is heard')
    assert second.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert second.trigger_activate() == TransitionCallbackReturn.FAILURE
    assert second.node_state.follower is None
    reason = second.node_state.standing().reason
    assert reason.kind.value == 'name_taken'
    assert 'end one of them' in str(reason)
    end(bench, first, signal.SIGINT)
    bench.spin_until(lambda: not second.node_state.rival, 'the name is free')
    bench.wait_for_statuses(15)
    assert second.node_state.follower is None, 'nobody asked'
    assert second.trigger_activate() == TransitionCallbackReturn.SUCCESS


@long
def test_client_and_doctor_tell_the_two_apart(bench, six_axis, start, domain_id, tmp_path):
    first = start()
    wait_for_state_of(bench, first, 'IDLE')
    wait_until_it_waits(bench, start())

    def ask(*words):
        folder = tmp_path / words[0]
        folder.mkdir()
        process = NodeProcess(domain_id, folder, {}, {}, ['-m', 'fabrik_ros', *words])
        bench.spin_until(lambda: not process.is_alive, 'an answer')
        return process.end(), process.last_words()

    x, y, z = six_axis_judge(six_axis).pose(START)[:3, 3] + (0.0, 0.1, 0.0)
    code, said = ask('target', '--xyz', str(x), str(y), str(z), '--rpy', '3.14159', '0', '0')
    assert code == 0, said
    assert of(bench, first)['state'] == 'REACHED'
    code, said = ask('doctor')
    assert code == 1
    assert '2 nodes have the name /fabrik' in said
    assert 'REACHED' in said
    assert 'HOLDING: another node is /fabrik already' in said


@long
def test_node_that_is_not_configured_takes_nobody_the_name(bench, start):
    idle = start(autostart=False)
    wait_for_state_of(bench, idle, 'WAITING_FOR_MODEL')
    second = start()
    wait_for_state_of(bench, second, 'IDLE')
    bench.spin_until(lambda: '2 nodes' in of(bench, second)['warnings'], 'a warning')


@long
def test_of_two_that_hold_the_name_the_later_one_gives_up(bench, start):
    """The first one sleeps until it is given up, and wakes beside the second."""
    first = start()
    wait_for_state_of(bench, first, 'IDLE')
    second = start()
    wait_until_it_waits(bench, second)
    first.tell(signal.SIGSTOP)
    wait_for_state_of(bench, second, 'IDLE')
    first.tell(signal.SIGCONT)
    bench.spin_until(lambda: of(bench, second)['name_claim'] == 'ready', 'it gives up')
    assert wait_for_the_winner(bench, [first, second]) is first
