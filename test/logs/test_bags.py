"""Bags of ROS 2 become logs, whoever recorded them: here written by rosbags, without ROS."""

from fabrik_ros.errors import LogError
from fabrik_ros.logs.bag_file import is_bag, read_bag
from fabrik_ros.logs.report import report
import numpy as np
import pytest

pytest.importorskip('rosbags', reason='the extra bag: pip install rosbags')

from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores

STORE = get_typestore(Stores.LATEST)
TYPES = STORE.types
BEGIN = 1_700_000_000_000_000_000
"""When the bag begins, by the clock of the recorder [ns]."""
JOINTS = ('turn', 'lift')
TIMES = 0.01 * np.arange(200)
Q = np.column_stack([np.sin(TIMES), 0.1 * TIMES])


def header(time):
    stamp = TYPES['builtin_interfaces/msg/Time'](
        sec=100 + int(time), nanosec=round(time % 1 * 1e9)
    )
    return TYPES['std_msgs/msg/Header'](stamp=stamp, frame_id='')


def joint_state(time, names, q):
    nothing = np.empty(0)
    return TYPES['sensor_msgs/msg/JointState'](
        header=header(time),
        name=list(names),
        position=np.array(q),
        velocity=nothing,
        effort=nothing,
    )


def status(time, **facts):
    pair = TYPES['diagnostic_msgs/msg/KeyValue']
    values = [pair(key=key, value=value) for key, value in facts.items()]
    said = TYPES['diagnostic_msgs/msg/DiagnosticStatus'](
        level=0, name='fabrik', message='', hardware_id='', values=values
    )
    return TYPES['diagnostic_msgs/msg/DiagnosticArray'](header=header(time), status=[said])


class Bag:
    """A bag that is being written."""

    def __init__(self, path, storage=StoragePlugin.MCAP):
        self._writer = Writer(path, version=9, storage_plugin=storage)
        self._writer.open()
        self._topics = {}

    def write(self, topic, time, message):
        kind = message.__msgtype__
        if topic not in self._topics:
            self._topics[topic] = self._writer.add_connection(topic, kind, typestore=STORE)
        data = STORE.serialize_cdr(message, kind)
        self._writer.write(self._topics[topic], BEGIN + round(1e9 * time), data)

    def write_node(self, name):
        space = name.rpartition('/')[0]
        self.write(f'{name}/status', 0.0, status(0.0, state='IDLE', planner='of our own'))
        for time, q in zip(TIMES, Q, strict=True):
            self.write(f'{name}/joint_command', time, joint_state(time, JOINTS, q))
            # Others are in the state, too, and the order is another.
            measured = joint_state(time, ('finger', *JOINTS[::-1]), [0.5, *q[::-1]])
            self.write(f'{space}/joint_states', time + 0.001, measured)
        # As of a driver that tells velocities alone.
        self.write(f'{space}/joint_states', 1.5, joint_state(1.5, JOINTS, []))
        text = TYPES['std_msgs/msg/String'](data='home')
        self.write(f'{name}/target_configuration', 0.5, text)
        self.write(f'{name}/left/target_pose', 0.25, text)
        self.write(f'{name}/somebody_else', 0.25, text)
        self.write(f'{name}/status', 1.0, status(1.0, state='REACHED', reason='at the target'))

    def close(self):
        self._writer.close()


def written(path, *nodes, storage=StoragePlugin.MCAP):
    bag = Bag(path, storage)
    for node in nodes:
        bag.write_node(node)
    bag.close()
    return path


@pytest.mark.parametrize('storage', StoragePlugin)
@pytest.mark.parametrize('node', ['/fabrik', '/left/arm'])
def test_what_was_recorded_of_a_node_is_its_log(tmp_path, storage, node):
    path = written(tmp_path / 'bag', node, storage=storage)
    log = read_bag(path)
    assert log.joints == JOINTS
    assert np.isnan(log.velocity).all()
    assert np.isnan(log.acceleration).all()
    np.testing.assert_allclose(log.commands.heard, TIMES, atol=1e-6)
    np.testing.assert_allclose(log.commands.stamps, TIMES, atol=1e-6)
    np.testing.assert_allclose(log.commands.q, Q)
    np.testing.assert_allclose(log.states.heard, TIMES + 0.001, atol=1e-6)
    np.testing.assert_allclose(log.states.q, Q)
    assert [s.facts for s in log.statuses] == [
        {'state': 'IDLE'},
        {'state': 'REACHED', 'reason': 'at the target'},
    ]
    assert [(t.kind, pytest.approx(t.heard)) for t in log.targets] == [
        ('left/target_pose', 0.25),
        ('target_configuration', 0.5),
    ]
    assert log.about['node'] == node
    assert 'REACHED' in report(log)


def test_a_folder_and_its_file_are_the_same_bag(tmp_path):
    path = written(tmp_path / 'bag', '/fabrik')
    (file,) = path.glob('*.mcap')
    assert is_bag(path)
    assert is_bag(file)
    assert not is_bag(tmp_path)
    assert not is_bag(tmp_path / 'log.zip')
    np.testing.assert_array_equal(read_bag(file).commands.q, read_bag(path).commands.q)


def test_of_several_nodes_one_has_to_be_named(tmp_path):
    path = written(tmp_path / 'bag', '/left/fabrik', '/right/fabrik')
    with pytest.raises(LogError, match=r'2 nodes.*there are: /left/fabrik, /right/fabrik'):
        read_bag(path)
    assert read_bag(path, '/right/fabrik').about['node'] == '/right/fabrik'
    with pytest.raises(LogError, match='0 nodes /middle are in the bag'):
        read_bag(path, '/middle')


def test_what_is_no_bag_or_holds_no_node_says_so(tmp_path):
    bag = Bag(tmp_path / 'bag')
    bag.write('/joint_states', 0.0, joint_state(0.0, JOINTS, Q[0]))
    bag.close()
    with pytest.raises(LogError, match='none; ~/joint_command and ~/status have to be recorded'):
        read_bag(tmp_path / 'bag')
    alone = tmp_path / 'alone.mcap'
    alone.write_bytes(b'nothing')
    with pytest.raises(LogError, match='is no bag that can be read'):
        read_bag(alone)


def cut(bag, length, has_metadata=True):
    """Cut the file of a bag."""
    (file,) = (each for each in bag.iterdir() if each.suffix in ('.mcap', '.db3'))
    file.write_bytes(file.read_bytes()[:length])
    if not has_metadata:
        (bag / 'metadata.yaml').unlink()


def length_of(bag):
    (file,) = bag.glob('*.mcap')
    return file.stat().st_size


@pytest.mark.parametrize('has_metadata', [True, False])
@pytest.mark.parametrize('keep', [0.3, 0.6, 0.9, 0.9999])
def test_a_bag_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path, keep, has_metadata):
    path = written(tmp_path / 'bag', '/fabrik')
    cut(path, int(keep * length_of(path)), has_metadata)
    assert is_bag(path)
    log = read_bag(path)
    count = len(log.commands.heard)
    assert log.is_cut
    assert count > 200 * (keep - 0.25)
    np.testing.assert_allclose(log.commands.q, Q[:count])
    assert f'cut off: its last whole row is of {log.duration:.2f} s' in report(log)


def test_a_bag_that_was_cut_off_among_many_chunks_loses_the_last(tmp_path):
    bag = Bag(tmp_path / 'bag')
    bag.write('/fabrik/status', 0.0, status(0.0, state='IDLE'))
    for time, q in zip(TIMES, Q, strict=True):
        bag.write('/fabrik/joint_command', time, joint_state(time, JOINTS, q))
        if round(100 * time) % 50 == 49:
            bag._writer.storage.close_chunk()
    bag.close()
    whole = read_bag(tmp_path / 'bag')
    for length in range(length_of(tmp_path / 'bag') - 1, 6000, -1501):
        cut(tmp_path / 'bag', length)
        log = read_bag(tmp_path / 'bag')
        assert log.is_cut
        count = len(log.commands.heard)
        np.testing.assert_array_equal(log.commands.q, whole.commands.q[:count])
    assert count <= 50


def test_a_bag_without_metadata_is_whole(tmp_path):
    path = written(tmp_path / 'bag', '/fabrik')
    (path / 'metadata.yaml').unlink()
    log = read_bag(path)
    assert not log.is_cut
    np.testing.assert_allclose(log.commands.q, Q)
    (path / 'metadata.yaml').touch()
    assert len(read_bag(path).states.heard) == 200


@pytest.mark.parametrize('storage', StoragePlugin)
@pytest.mark.parametrize('length', [0, 5, 30])
def test_of_a_bag_that_was_cut_off_at_once_the_name_is_told(tmp_path, storage, length):
    path = written(tmp_path / 'bag', '/fabrik', storage=storage)
    cut(path, length)
    with pytest.raises(LogError, match=r"bag'.*(; expected|have to be recorded)"):
        read_bag(path)


@pytest.mark.parametrize('keep', [0.5, 0.8])
def test_a_damaged_database_is_named(tmp_path, keep):
    path = written(tmp_path / 'bag', '/fabrik', storage=StoragePlugin.SQLITE3)
    cut(path, int(keep * (path / 'bag.db3').stat().st_size))
    with pytest.raises(LogError, match=r"bag' is no bag that can be read: .*database"):
        read_bag(path)


def test_states_of_a_bag_without_commands_are_counted(tmp_path):
    bag = Bag(tmp_path / 'bag')
    bag.write('/fabrik/status', 0.0, status(0.0, state='IDLE'))
    bag.write('/fabrik/joint_command', 0.0, joint_state(0.0, JOINTS, []))
    for time, q in zip(TIMES, Q, strict=True):
        bag.write('/joint_states', time, joint_state(time, JOINTS, q))
    bag.close()
    log = read_bag(tmp_path / 'bag')
    assert log.joints == JOINTS
    np.testing.assert_allclose(log.states.q, Q)
    assert '<td>measured states</td><td>200</td>' in report(log)
