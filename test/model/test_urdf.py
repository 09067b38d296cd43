"""The reader of robot descriptions, mostly by what people get wrong in them."""

import contextlib
import math
import re
import sys
from textwrap import dedent

from fabrik_ros import ChainError, JointType, load_urdf, UrdfError
from fabrik_ros.model.urdf import parse_dynamics
from fabrik_ros.model.urdf_xml import MAXIMUM_CHARACTERS
from helpers import assert_close, example_robot, joint_xml, LIMIT, REAL_ARMS, robot_xml
from hypothesis import given, strategies as st
import numpy as np
import pytest

XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'


def one_joint(kind='revolute', body='', attributes='name="test"'):
    return robot_xml('a b', joint_xml('j', 'a', 'b', kind, body), attributes=attributes)


def read_joint(kind='revolute', body='', **options):
    robot = load_urdf(one_joint(kind, body), **options)
    return robot.joint('j'), robot.warnings


def assert_refused(source, message, **options):
    with pytest.raises(UrdfError, match=re.escape(message)):
        load_urdf(source, **options)


# What is not a robot description at all.


@pytest.mark.parametrize('source', ['', '  \n\t '])
def test_nothing_is_refused_with_what_is_expected(source):
    assert_refused(source, 'is empty; expected URDF text or the path of a file')


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('<robot name="r">', 'is not well-formed XML: no element found: line 1'),
        ('<robot><link name="a"></robot>', 'is not well-formed XML: mismatched tag: line 1'),
        ('<robot/><robot/>', 'is not well-formed XML: junk after document element'),
        ('<robot/>and more', 'is not well-formed XML: junk after document element'),
        ('<robot name=a/>', 'is not well-formed XML'),
        ('<robot name="&sneaky;"/>', 'is not well-formed XML: undefined entity'),
        ('<robot name="\x00"/>', 'is not well-formed XML'),
        ('<robot name="\ud800"/>', 'is not well-formed XML'),
        ('<!ENTITY a "b"><robot/>', 'is not well-formed XML'),
        ('<drake:robot/>', 'is <drake:robot>; a URDF starts with <robot>'),
        ('a < b', 'is not well-formed XML'),
        ('<sdf version="1.9"><model/></sdf>', 'is <sdf>; a URDF starts with <robot>'),
        ('<mujoco model="arm"/>', 'is <mujoco>; a URDF starts with <robot>'),
        ('<robot/>', 'the robot has no links'),
        ('<robot><group><link name="a"/></group></robot>', 'the robot has no links'),
    ],
)
def test_text_that_is_no_robot_is_refused_with_the_reason(text, message):
    assert_refused(text, message)


def test_a_file_that_does_not_exist_is_named():
    with pytest.raises(FileNotFoundError, match=r'no_such_arm\.urdf'):
        load_urdf('no_such_arm.urdf')


@pytest.mark.parametrize('source', ['z' * 5000, 'name\0of nothing'])
def test_text_that_is_neither_xml_nor_a_file_name_is_refused(source):
    assert_refused(source, 'is neither URDF text nor a file that can be read: ')


def test_a_folder_is_refused(tmp_path):
    assert_refused(tmp_path, 'neither URDF text nor a file that can be read: Is a directory')


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_bytes('<robot name="Ärm"/>'.encode('utf-16'))
    assert_refused(path, "arm.urdf' is not UTF-8 text (byte 1), nor like it; save it as UTF-8")


def test_huge_text_is_refused_before_it_is_read():
    text = robot_xml('a', '<!--' + MAXIMUM_CHARACTERS * ' ' + '-->')
    assert_refused(text, f'has {len(text)} characters; at most 10000000 are read')


def test_a_huge_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / 'arm.urdf'
    with path.open('wb') as file:
        file.truncate(50_000_000)  # takes no space on the disk
    assert_refused(path, "arm.urdf' has 50000000 bytes: that is no robot description")


BOMB = """\
    <!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">
"""


@pytest.mark.parametrize(
    'doctype',
    [
        '<!DOCTYPE robot>',
        f'<!DOCTYPE robot [{BOMB}]>',
        '<!DOCTYPE robot SYSTEM "http://example.org/robot.dtd">',
        '<!DOCTYPE robot [<!ENTITY a SYSTEM "file:///etc/hostname">]>',
    ],
    ids=['plain', 'bomb', 'remote', 'file'],
)
def test_a_document_type_is_refused(doctype):
    text = f'<?xml version="1.0"?>{doctype}<robot name="&c;"><link name="a"/></robot>'
    assert_refused(text, 'contains <!DOCTYPE, which is not allowed')


def test_deep_nesting_does_no_harm():
    deep = 100_000
    assert_refused(f'<robot>{"<a>" * deep}{"</a>" * deep}</robot>', 'the robot has no links')


# How a document may be written.


@pytest.mark.parametrize(
    'before',
    [
        '\ufeff',
        ' \n\t',
        '<?xml version="1.0"?>',
        '\ufeff<?xml version="1.0" encoding="utf-8"?>',
        '<?xml version="1.0" encoding="utf-16"?>',  # the text is text already
        '\n<?xml version="1.0" encoding="ISO-8859-1"?>',
        '<?xml-model href="urdf.xsd"?><!-- made by hand -->',
    ],
)
def test_what_stands_before_the_robot_does_not_matter(before, tmp_path):
    text = before + robot_xml('Grundgestell_Süd')
    assert load_urdf(text).links == ('Grundgestell_Süd',)
    path = tmp_path / 'arm.urdf'
    path.write_text(text, encoding='utf-8')
    assert load_urdf(path).links == ('Grundgestell_Süd',)
    assert load_urdf(str(path)).links == ('Grundgestell_Süd',)


def test_a_default_namespace_does_not_matter():
    robot = load_urdf(one_joint(attributes='name="test" xmlns="http://www.ros.org"'))
    assert robot.links == ('a', 'b')
    assert robot.joint('j').upper == 1.0


def test_elements_of_other_namespaces_are_not_ours():
    foreign = '<gz:joint name="k" type="ball"/><gz:link name="c"/>'
    body = '<gz:axis xyz="1 0 0"/><axis xyz="0 0 1"/><gz:mimic joint="k"/>'
    xml = robot_xml(
        'a b', foreign, joint_xml('j', 'a', 'b', body=body), attributes='xmlns:gz="http://gz.org"'
    )
    robot = load_urdf(xml)
    assert robot.links == ('a', 'b')
    assert_close(robot.joint('j').axis, [0, 0, 1])
    assert robot.joint('j').mimic is None
    assert robot.warnings == ()


def test_the_source_text_and_the_name_are_kept():
    text = robot_xml('a', attributes='name="one arm"')
    assert load_urdf(text).source == text
    assert load_urdf(text).name == 'one arm'


def test_only_direct_children_of_the_robot_are_links_and_joints():
    nested = """
        <transmission name="t"><joint name="j"><hardwareInterface/></joint></transmission>
        <ros2_control name="c" type="system"><joint name="j"><command_interface name="position"/>
          </joint><joint name="k" type="ball"/></ros2_control>
        <gazebo><joint name="j" type="screw"/><link name="a"/></gazebo>
        <gazebo reference="j"><limit lower="5"/></gazebo>
    """
    robot = load_urdf(robot_xml('a b', nested, joint_xml('j', 'a', 'b')))
    assert robot.links == ('a', 'b')
    assert [joint.name for joint in robot.joints] == ['j']
    assert robot.joint('j').upper == 1.0


def test_geometry_is_not_looked_at():
    link = """
        <link name="b"><visual><origin xyz="far away"/><geometry>
          <mesh filename="package://no_such_package/b.dae" scale="-"/></geometry></visual></link>
    """
    assert load_urdf(robot_xml('a', link, joint_xml('j', 'a', 'b'))).links == ('a', 'b')


def test_duplicate_elements_warn_and_the_first_one_counts():
    body = '<axis xyz="0 0 1"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="1"/>'
    joint, warnings = read_joint(body=body + LIMIT)
    assert_close(joint.axis, [0, 0, 1])
    assert joint.upper == 2.0
    assert warnings == (
        "joint 'j' has 2 <axis> elements; the first one counts",
        "joint 'j' has 2 <limit> elements; the first one counts",
    )


def test_attributes_that_mean_nothing_to_us_are_ignored():
    joint, warnings = read_joint(body='<axis xyz="0 0 1" rpy="1 2 3" colour="red"/><dynamics/>')
    assert_close(joint.axis, [0, 0, 1])
    assert warnings == ()


# Numbers.


@pytest.mark.parametrize(
    'text', ['1.5 -2 3e-1', ' 1.5\t-2\n .3 ', '+1.5 -2.0 0.3', '15e-1 -2E0 0.30', '1.5 -2. 3.e-1']
)
def test_numbers_may_be_written_in_any_usual_way(text):
    joint, _ = read_joint(body=f'<origin xyz="{text}"/>')
    assert_close(joint.origin[:3, 3], [1.5, -2.0, 0.3])


@pytest.mark.parametrize(
    'text',
    [
        '', ' ', '0 0', '0 0 0 0', '0,0,0', '0, 0, 0', '0,5 0 0', '1_0 0 0', '0 0 x', '0x10 0 0',
        '1e400 0 0', 'nan 0 0', 'inf 0 0', '0 -infinity 0', '[0 0 0]', '1. 5 0 0', '--1 0 0',
        '0 0 0;', '1e 0 0', '1d0 0 0', '90deg 0 0',
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ('tag', 'attribute'), [('origin', 'xyz'), ('origin', 'rpy'), ('axis', 'xyz')]
)
def test_anything_but_three_finite_numbers_names_joint_element_and_text(tag, attribute, text):
    body = f'<{tag} {attribute}="{text}"/>'
    expected = f"joint 'j', <{tag}>: {attribute} is '{text}'; expected 3 finite numbers"
    assert_refused(one_joint(body=body), expected)


@pytest.mark.parametrize('text', ['', 'pi', '1,5', '1_0', '3.14rad', '1 2', '0x1', '1e'])
@pytest.mark.parametrize('attribute', ['lower', 'upper', 'velocity'])
def test_a_limit_that_is_no_number_names_joint_attribute_and_text(attribute, text):
    limit = f'<limit {attribute}="{text}"/>'
    expected = f"joint 'j', <limit>: {attribute} is '{text}'; expected a number"
    assert_refused(one_joint(body=limit), expected)


@pytest.mark.parametrize('attribute', ['lower', 'upper', 'velocity'])
def test_a_limit_that_is_nan_names_joint_and_attribute(attribute):
    limit = f'<limit {attribute}="nan"/>'
    assert_refused(one_joint(body=limit), f"joint 'j', <limit>: {attribute} is NaN")


# Names and the tree.


@pytest.mark.parametrize(
    ('xml', 'message'),
    [
        ('<robot><link/></robot>', 'a <link> has no name; expected <link name="...">'),
        ('<robot><link name=""/></robot>', 'a <link> has no name'),
        (robot_xml('a b', '<joint type="fixed"/>'), 'a <joint> has no name'),
        (robot_xml('a b a'), "two links are named 'a'; names must be unique"),
        (
            robot_xml('a b c', joint_xml('j', 'a', 'b'), joint_xml('j', 'a', 'c')),
            "two joints are named 'j'; names must be unique",
        ),
        (
            robot_xml('a b', '<joint name="j" type="fixed"><child link="b"/></joint>'),
            'joint \'j\' names no parent link; expected <parent link="..."/>',
        ),
        (
            robot_xml('a b', '<joint name="j" type="fixed"><parent link="a"/><child/></joint>'),
            'joint \'j\' names no child link; expected <child link="..."/>',
        ),
        (
            robot_xml('a b', joint_xml('j', 'a', 'c')),
            "joint 'j' has the child link 'c', which does not exist; the links are: a, b",
        ),
        (
            robot_xml('a b', joint_xml('j', 'A', 'b')),
            "joint 'j' has the parent link 'A', which does not exist; the links are: a, b",
        ),
        (robot_xml('a b c', joint_xml('j', 'a', 'b')), 'the robot has 2 root links: a, c; '),
        (
            robot_xml('a b c', joint_xml('j', 'a', 'c'), joint_xml('k', 'b', 'c')),
            "link 'c' hangs on two joints, 'j' and 'k'; a link has one parent",
        ),
        (
            robot_xml('a b', joint_xml('j', 'a', 'b'), joint_xml('k', 'b', 'a')),
            'links form a cycle: a - b - a',
        ),
        (robot_xml('a', joint_xml('j', 'a', 'a')), 'links form a cycle: a - a'),
        (
            robot_xml('root a b', joint_xml('j', 'a', 'b'), joint_xml('k', 'b', 'a')),
            'links form a cycle: a - b - a',
        ),
        (
            robot_xml(
                'tail a b root',
                joint_xml('i', 'a', 'tail'),
                joint_xml('j', 'a', 'b'),
                joint_xml('k', 'b', 'a'),
            ),
            'links form a cycle: a - b - a',
        ),
    ],
)
def test_what_is_no_tree_is_refused_by_name(xml, message):
    assert_refused(xml, message)


def test_a_link_and_a_joint_may_have_the_same_name():
    chain = load_urdf(robot_xml('base gripper', joint_xml('gripper', 'base', 'gripper'))).chain(
        'base', 'gripper'
    )
    assert chain.joint_names == ('gripper',)


def test_elements_may_stand_in_any_order():
    xml = f'<robot>{joint_xml("k", "b", "c")}<link name="c"/>{joint_xml("j", "a", "b")}'
    robot = load_urdf(xml + '<link name="b"/><link name="a"/></robot>')
    assert robot.root_link == 'a'
    assert robot.chain('a', 'c').joint_names == ('j', 'k')


def test_a_very_long_chain_is_read_whatever_its_order():
    count = 3000
    joints = [joint_xml(f'j{i}', f'l{i}', f'l{i + 1}', 'continuous') for i in range(count)]
    robot = load_urdf(robot_xml(' '.join(f'l{i}' for i in range(count, -1, -1)), *joints))
    assert len(robot.chain()) == count


@pytest.mark.parametrize('kind', ['ball', 'Revolute', 'hinge', 'screw', ''])
def test_an_unknown_type_is_refused_with_the_ones_allowed(kind):
    allowed = 'allowed are: revolute, continuous, prismatic, fixed, planar, floating'
    assert_refused(one_joint(kind), f"joint 'j' has type '{kind}'; {allowed}")


def test_a_joint_without_a_type_is_refused():
    joint = '<joint name="j"><parent link="a"/><child link="b"/></joint>'
    assert_refused(robot_xml('a b', joint), "joint 'j' has type None; allowed are: revolute, ")


# Origin and axis.


def test_origin_and_axis_left_out_are_none_and_x():
    joint, warnings = read_joint()
    assert_close(joint.origin, np.eye(4))
    assert_close(joint.axis, [1, 0, 0])
    assert warnings == ()


def test_an_origin_without_attributes_is_none():
    joint, _ = read_joint(body='<origin/>')
    assert_close(joint.origin, np.eye(4))


@pytest.mark.parametrize('axis', ['<axis/>', '<axis xzy="0 0 1"/>'])
def test_an_axis_without_xyz_is_refused_and_not_taken_for_x(axis):
    assert_refused(
        one_joint(body=axis), 'joint \'j\', <axis> has no xyz; expected <axis xyz="..."/>'
    )


@pytest.mark.parametrize(
    'text', ['0 1.5 0', '0 0.99999998 0', '0 1e-6 0', '-0 1e300 0', '5e-324 1 0']
)
def test_an_axis_of_any_length_is_made_a_unit_vector(text):
    assert_close(read_joint(body=f'<axis xyz="{text}"/>')[0].axis, [0, 1, 0], atol=1e-15)


def test_a_skew_axis_is_kept():
    assert_close(read_joint(body='<axis xyz="1 -2 2"/>')[0].axis, [1 / 3, -2 / 3, 2 / 3])


@pytest.mark.parametrize('kind', ['revolute', 'continuous', 'prismatic', 'planar'])
@pytest.mark.parametrize(
    ('text', 'length'), [('0 0 0', '0'), ('-0 0 1e-12', '1e-12'), ('1.7e308 1.7e308 0', 'inf')]
)
def test_a_movable_joint_whose_axis_has_no_direction_is_refused(kind, text, length):
    xml = one_joint(kind, f'<axis xyz="{text}"/>')
    assert_refused(xml, f"joint 'j', <axis>: xyz is '{text}', of length {length}; expected a dir")


def test_a_fixed_joint_may_have_any_axis_limit_and_mimic():
    body = '<axis xyz="0 0 0"/><limit lower="x"/><mimic/>'
    joint, warnings = read_joint('fixed', body)
    assert joint.type is JointType.FIXED
    assert warnings == ()


def test_arrays_of_a_robot_cannot_be_written():
    for kind in ('fixed', 'revolute'):
        joint, _ = read_joint(kind, '<origin xyz="1 2 3"/><axis xyz="0 0 1"/>')
        for array in (joint.origin, joint.axis):
            with pytest.raises(ValueError, match='read-only'):
                array[0] = 1.0


def with_quaternion(version='1.1', more=''):
    body = f'<origin xyz="1 2 3" quat_xyzw="0 0 3 4" {more}/>'
    return one_joint('fixed', body, attributes=f'name="test" {version}')


@pytest.mark.parametrize('version', ['1.1', '1.2', '2.0'])
def test_a_quaternion_is_an_orientation_since_version_1_1(version):
    joint = load_urdf(with_quaternion(f'version="{version}"')).joint('j')
    assert_close(joint.origin[:3, 0], [0.28, 0.96, 0.0])
    assert_close(joint.origin[:3, 3], [1, 2, 3])


@pytest.mark.parametrize('version', ['', 'version="1.0"', 'version="1"', 'version="first"'])
def test_before_version_1_1_a_quaternion_is_left_out_with_a_warning(version):
    robot = load_urdf(with_quaternion(version, 'rpy="0 0 0"'))
    assert_close(robot.joint('j').origin[:3, :3], np.eye(3))
    assert robot.warnings == (
        'joint \'j\', <origin>: quat_xyzw is left out, as it needs <robot version="1.1"> or later',
    )


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('0 0 1', "quat_xyzw is '0 0 1'; expected 4 finite numbers"),
        ('0 0 0 nan', "quat_xyzw is '0 0 0 nan'; expected 4 finite numbers"),
        ('0 0 0 0', 'quaternion [0. 0. 0. 0.] has norm 0; expected 1'),
        ('0 0 0 1" rpy="0 0 0', 'has both rpy and quat_xyzw; expected one of them'),
    ],
)
def test_a_quaternion_that_is_no_rotation_is_refused(text, message):
    xml = one_joint('fixed', f'<origin quat_xyzw="{text}"/>', attributes='version="1.1"')
    with pytest.raises(UrdfError, match=re.escape(message)) as caught:
        load_urdf(xml)
    assert "joint 'j', <origin>" in str(caught.value)


# Limits.


@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
def test_limits_are_read(kind):
    joint, warnings = read_joint(kind, '<limit lower="-0.5" upper="2e0" velocity="3"/>')
    assert (joint.lower, joint.upper, joint.velocity) == (-0.5, 2.0, 3.0)
    assert warnings == ()


@pytest.mark.parametrize(
    ('kind', 'cure'), [('revolute', 'add one or make it continuous'), ('prismatic', 'add one')]
)
def test_a_joint_that_needs_a_limit_and_has_none_is_refused(kind, cure):
    joint = f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/></joint>'
    expected = f"joint 'j' is {kind} but has no <limit>; {cure}"
    with pytest.raises(UrdfError, match=re.escape(expected) + '$'):
        load_urdf(robot_xml('a b', joint))


@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
def test_reversed_limits_are_refused_with_their_values(kind):
    xml = one_joint(kind, '<limit lower="1.5" upper="-1.5" velocity="1"/>')
    assert_refused(xml, "joint 'j', <limit>: lower 1.5 is greater than upper -1.5")


def test_limits_left_out_are_zero_and_warn_that_nothing_moves():
    joint, warnings = read_joint(body='<limit velocity="1" effort="1"/>')
    assert (joint.lower, joint.upper) == (0.0, 0.0)
    assert warnings == ("joint 'j' cannot move: its limits are both 0",)


@pytest.mark.parametrize(
    'limit',
    ['', '<limit/>', '<limit lower="0" upper="0" velocity="1"/>', '<limit lower="2" upper="1"/>',
     '<limit lower="nan" upper="far"/>', '<limit lower="-3.14" upper="3.14"/>'],
)  # fmt: skip
def test_a_continuous_joint_has_no_limits_whatever_its_limit_says(limit):
    joint, _ = read_joint('continuous', limit)
    assert (joint.lower, joint.upper) == (-math.inf, math.inf)


@pytest.mark.parametrize(('lower', 'upper'), [('-inf', 'inf'), ('-1', 'inf'), ('-Infinity', '0')])
def test_a_hinge_may_be_open_on_a_side(lower, upper):
    joint, _ = read_joint(body=f'<limit lower="{lower}" upper="{upper}" velocity="1"/>')
    assert (joint.lower, joint.upper) == (float(lower), float(upper))


@pytest.mark.parametrize(
    ('kind', 'lower', 'upper'),
    [('prismatic', '0', 'inf'), ('prismatic', '-inf', 'inf'), ('revolute', 'inf', 'inf')],
)
def test_infinite_limits_that_make_no_range_are_refused(kind, lower, upper):
    xml = one_joint(kind, f'<limit lower="{lower}" upper="{upper}" velocity="1"/>')
    expected = (
        f"joint 'j', <limit>: [{float(lower)}, {float(upper)}] is not a range a {kind} joint"
    )
    assert_refused(xml, expected)


@pytest.mark.parametrize(
    ('velocity', 'found'),
    [
        ('', 'no velocity limit'),
        ('velocity="0"', 'a velocity limit of 0'),
        ('velocity="-1"', 'a velocity limit of -1'),
    ],
)
def test_a_velocity_that_is_no_limit_warns(velocity, found):
    joint, warnings = read_joint(body=f'<limit lower="-1" upper="1" {velocity}/>')
    assert joint.velocity == math.inf
    assert warnings == (f"joint 'j' has {found}; its speed is not limited by the model",)


def read_limit(limit, kind='revolute', version='version="1.2"'):
    xml = one_joint(kind, f'<limit lower="-1" upper="1" velocity="2" {limit}/>', version)
    robot = load_urdf(xml)
    return robot.joint('j'), robot.warnings


CHANGES = 'acceleration="5" deceleration="7.5" jerk="60"'


# As urdfdom 6.0 reads them: from version 1.2 on, and without a deceleration the acceleration
# counts for both.


@pytest.mark.parametrize('kind', ['revolute', 'continuous', 'prismatic'])
@pytest.mark.parametrize('version', ['1.2', '1.10', '2.0'])
def test_acceleration_deceleration_and_jerk_are_limits(kind, version):
    joint, warnings = read_limit(CHANGES, kind, f'version="{version}"')
    assert (joint.acceleration, joint.deceleration, joint.jerk) == (5.0, 7.5, 60.0)
    assert joint.hardest == 5.0
    assert warnings == ()


@pytest.mark.parametrize('version', ['', 'version="1.0"', 'version="1.1"'])
def test_before_version_1_2_they_are_left_out_with_a_warning(version):
    joint, warnings = read_limit('acceleration="5" jerk="60"', version=version)
    assert (joint.acceleration, joint.deceleration, joint.jerk) == 3 * (math.inf,)
    assert warnings == (
        "joint 'j', <limit>: acceleration, jerk of it is left out, as that needs "
        '<robot version="1.2"> or later',
    )


@pytest.mark.parametrize(
    ('limit', 'expected'),
    [
        ('', (math.inf, math.inf, math.inf)),
        ('acceleration="3"', (3.0, 3.0, math.inf)),
        ('deceleration="3"', (math.inf, 3.0, math.inf)),
        ('acceleration="inf" jerk="8"', (math.inf, math.inf, 8.0)),
    ],
)
def test_what_is_not_given_is_not_limited_but_for_the_deceleration(limit, expected):
    joint, warnings = read_limit(limit)
    assert (joint.acceleration, joint.deceleration, joint.jerk) == expected
    assert warnings == ()


@pytest.mark.parametrize('name', ['acceleration', 'deceleration', 'jerk'])
@pytest.mark.parametrize(('text', 'shown'), [('0', '0'), ('-2.5', '-2.5'), ('-inf', '-inf')])
def test_a_change_that_is_no_limit_warns(name, text, shown):
    joint, warnings = read_limit(f'{name}="{text}"')
    assert (joint.hardest, joint.jerk) == (math.inf, math.inf)
    assert warnings == (f"joint 'j': its limit of {name} is {shown}, and counts as none",)


@pytest.mark.parametrize('name', ['acceleration', 'deceleration', 'jerk'])
@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('nan', 'is NaN; expected a number'),
        ('fast', "is 'fast'; expected a number"),
        ('1e-7', "is '1e-7'; expected at least 1e-06, or 0 for no limit"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(name, text, message):
    xml = one_joint(
        body=f'<limit lower="-1" upper="1" {name}="{text}"/>', attributes='version="1.2"'
    )
    assert_refused(xml, f"joint 'j', <limit>: {name} {message}")


def test_a_joint_that_cannot_be_driven_has_none():
    assert read_limit(CHANGES, 'floating')[0].hardest == math.inf


def test_a_continuous_joint_keeps_its_velocity_limit():
    assert read_joint('continuous', '<limit effort="5" velocity="3.15"/>')[0].velocity == 3.15


@pytest.mark.parametrize(
    ('soft', 'expected'),
    [
        ('soft_lower_limit="-0.5" soft_upper_limit="0.5"', (-0.5, 0.5)),
        ('soft_lower_limit="-5" soft_upper_limit="0.5"', (-1.0, 0.5)),
        ('soft_lower_limit="-inf" soft_upper_limit="inf"', (-1.0, 1.0)),
        ('k_position="20" k_velocity="5"', (-1.0, 1.0)),
    ],
)
def test_sane_soft_limits_narrow_the_range(soft, expected):
    body = LIMIT + f'<safety_controller {soft}/>'
    joint, warnings = read_joint(body=body)
    assert (joint.lower, joint.upper) == expected
    assert warnings == ()
    joint, _ = read_joint(body=body, use_safety_limits=False)
    assert (joint.lower, joint.upper) == (-1.0, 1.0)


@pytest.mark.parametrize(('lower', 'upper'), [(0, 0), (2, 3), (0.5, -0.5), (-9.2, -5)])
def test_absurd_soft_limits_are_left_out_with_a_warning(lower, upper):
    safety = f'<safety_controller soft_lower_limit="{lower}" soft_upper_limit="{upper}"/>'
    joint, warnings = read_joint(body=LIMIT + safety)
    assert (joint.lower, joint.upper) == (-1.0, 1.0)
    expected = f"joint 'j': the soft limits [{lower}, {upper}] make no sense within [-1, 1] and"
    assert [warning.startswith(expected) for warning in warnings] == [True]


def test_soft_limits_do_not_bound_a_continuous_joint():
    safety = '<safety_controller soft_lower_limit="-9.2" soft_upper_limit="10.8"/>'
    joint, warnings = read_joint('continuous', safety)
    assert (joint.lower, joint.upper) == (-math.inf, math.inf)
    assert warnings == ()


@pytest.mark.parametrize('text', ['nan', 'none'])
def test_a_soft_limit_that_is_no_number_is_refused(text):
    safety = f'<safety_controller soft_lower_limit="{text}"/>'
    expected = "joint 'j', <safety_controller>: soft_lower_limit is "
    assert_refused(one_joint(body=LIMIT + safety), expected)


# Mimic.


def mimics(**followed):
    """Write joints on one base: each mimics another, given as 'source multiplier offset'."""
    joints = []
    for name, text in followed.items():
        source, multiplier, offset = [*text.split(), '1', '0'][:3] if text else ('', '', '')
        mimic = f'<mimic joint="{source}" multiplier="{multiplier}" offset="{offset}"/>'
        body = mimic if source else ''
        joints.append(joint_xml(name, 'base', f'{name}_link', 'continuous', body))
    return robot_xml(' '.join(['base', *(f'{name}_link' for name in followed)]), *joints)


def test_a_follower_of_a_follower_names_the_joint_that_is_driven():
    robot = load_urdf(mimics(c='b 2 0.5', b='a -3 0.25', a=''))
    assert robot.joint('a').mimic is None
    mimic = robot.joint('c').mimic
    assert (mimic.source, mimic.multiplier, mimic.offset) == ('a', -6.0, 1.0)


def test_multiplier_and_offset_left_out_are_one_and_zero():
    joint = joint_xml('k', 'a', 'c', 'continuous', '<mimic joint="j"/>')
    mimic = load_urdf(robot_xml('a b c', joint_xml('j', 'a', 'b'), joint)).joint('k').mimic
    assert (mimic.source, mimic.multiplier, mimic.offset) == ('j', 1.0, 0.0)


@pytest.mark.parametrize(
    ('xml', 'message'),
    [
        (mimics(a='a'), 'joints mimic each other in a circle: a - a'),
        (mimics(a='b', b='c', c='a'), 'joints mimic each other in a circle: a - b - c - a'),
        (mimics(a='b', b='c', c='b'), 'joints mimic each other in a circle: b - c - b'),
        (one_joint(body='<mimic/>'), "joint 'j', <mimic> names no joint; expected <mimic joint="),
        (mimics(a='', b='a two 0'), "joint 'b', <mimic>: multiplier is 'two'; expected a number"),
        (mimics(a='', b='a 1 nan'), "joint 'b', <mimic>: offset is NaN; expected a number"),
        (mimics(a='', b='a inf 0'), "joint 'b', <mimic>: multiplier is inf and offset is 0; expe"),
    ],
)
def test_a_mimic_that_leads_nowhere_is_refused_by_name(xml, message):
    assert_refused(xml, message)


@pytest.mark.parametrize('kind', ['fixed', 'planar', 'floating'])
def test_a_joint_without_one_value_cannot_be_mimicked(kind):
    follower = joint_xml('k', 'a', 'c', 'continuous', '<mimic joint="j"/>')
    xml = robot_xml('a b c', joint_xml('j', 'a', 'b', kind), follower)
    message = f"joint 'k' mimics 'j', which is {kind}; it must be revolute, continuous or prisma"
    assert_refused(xml, message)


def test_a_follower_of_nobody_warns_and_only_its_own_chain_is_refused():
    robot = load_urdf(mimics(arm='', finger='b 2 0', b='ghost'))
    assert robot.warnings == (
        "joint 'b' mimics 'ghost', which does not exist; no chain can go through it",
    )
    assert robot.chain('base', 'arm_link').joint_names == ('arm',)
    with pytest.raises(ChainError, match=r"'finger' .* mimics 'ghost', which is not in the "):
        robot.chain('base', 'finger_link')


# Degrees.


@pytest.mark.parametrize(
    ('lower', 'upper'),
    [(-170, 170), (0, 150), (-90, 0), (-13, 10), (-360, 360), (-117.5, 117.5), (-166.003, 166)],
)
def test_limits_that_look_like_degrees_are_named_with_what_would_be_right(lower, upper):
    joint, warnings = read_joint(body=f'<limit lower="{lower}" upper="{upper}" velocity="1"/>')
    right = f'{math.radians(lower):.6g} and {math.radians(upper):.6g}'
    assert warnings == (
        f"joint 'j' has limits that look like degrees, {lower:g} and {upper:g} rad; then {right} "
        'would be right',
    )
    assert (joint.lower, joint.upper) == (lower, upper)


@pytest.mark.parametrize('kind', ['revolute', 'continuous'])
def test_a_speed_that_looks_like_degrees_is_named_with_what_would_be_right(kind):
    _, warnings = read_joint(kind, '<limit lower="-1" upper="1" velocity="180"/>')
    assert warnings == (
        "joint 'j' has a velocity limit that looks like degrees per second, 180 rad/s; then "
        '3.14159 would be right',
    )


@pytest.mark.parametrize(
    ('kind', 'limit'),
    [
        ('revolute', 'lower="-6.2832" upper="6.2832" velocity="10"'),
        ('revolute', f'lower="{-20 * math.pi}" upper="{20 * math.pi}" velocity="20"'),
        ('revolute', 'lower="-62.832" upper="62.83" velocity="0.1"'),
        ('revolute', 'lower="-18.85" upper="18.85" velocity="0.1"'),
        ('revolute', 'lower="-1000" upper="1000" velocity="1000"'),
        ('revolute', 'lower="-inf" upper="1e6" velocity="1"'),
        ('prismatic', 'lower="0" upper="100" velocity="100"'),
        ('continuous', 'lower="-180" upper="180" velocity="1"'),
        ('revolute', 'lower="-1" upper="1" velocity="100"'),
        ('revolute', 'lower="-1" upper="1" velocity="40.3389"'),
    ],
)
def test_turns_slides_and_numbers_that_stand_for_infinity_are_no_degrees(kind, limit):
    assert read_joint(kind, f'<limit {limit}/>')[1] == ()


# Xacro.


@pytest.mark.parametrize(
    'text',
    [
        f'<robot name="r" {XACRO}><xacro:arm prefix=""/></robot>',
        '<robot name="r"><xacro:arm prefix=""/></robot>',
        f'<robot name="r" {XACRO}><xacro:include filename="$(find arm)/a.xacro"/></robot>',
        f'<robot name="r" {XACRO}><link name="a"/><xacro:if value="1"/></robot>',
        robot_xml('${prefix}base'),
        robot_xml('$(arg prefix)base'),
        robot_xml('a b', joint_xml('j', 'a', '${prefix}b')),
        robot_xml('a b', joint_xml('j', '${prefix}a', 'b')),
        one_joint(body='<origin xyz="0 0 ${height}"/>'),
        one_joint(body='<limit lower="${-pi}" upper="${pi}"/>'),
        one_joint(body='<safety_controller soft_lower_limit="${-pi}"/>'),
    ],
)
def test_raw_xacro_is_recognised_and_the_cure_is_told(text):
    cure = 'expand it first (xacro model.urdf.xacro > model.urdf) or give the file itself'
    with pytest.raises(UrdfError, match='is xacro, not URDF') as caught:
        load_urdf(text)
    assert cure in str(caught.value)


def test_what_is_left_of_xacro_names_the_element():
    assert_refused(robot_xml('${prefix}base'), "found <link> {'name': '${prefix}base'}; ")
    text = f'<robot {XACRO}><xacro:arm size="2"/></robot>'
    assert_refused(text, "found <arm> {'size': '2'}; ")


def test_expanded_xacro_may_still_declare_its_namespace():
    assert load_urdf(one_joint(attributes=XACRO)).links == ('a', 'b')


@pytest.fixture
def xacro_file(tmp_path):
    path = tmp_path / 'arm.urdf.xacro'
    path.write_text(
        dedent(
            f"""\
            <robot name="arm" {XACRO}>
              <xacro:arg name="prefix" default=""/>
              <xacro:property name="prefix" value="$(arg prefix)"/>
              <link name="${{prefix}}base"/>
              <link name="${{prefix}}arm"/>
              <joint name="${{prefix}}turn" type="continuous">
                <origin xyz="0 0 ${{2 * 0.25}}"/>
                <parent link="${{prefix}}base"/>
                <child link="${{prefix}}arm"/>
              </joint>
            </robot>
            """
        )
    )
    return path


def test_a_xacro_file_is_expanded(xacro_file):
    pytest.importorskip('xacro')
    robot = load_urdf(xacro_file)
    assert robot.links == ('base', 'arm')
    assert robot.joint('turn').origin[2, 3] == 0.5


def test_xacro_arguments_are_passed_on(xacro_file):
    pytest.importorskip('xacro')
    assert load_urdf(str(xacro_file), xacro_args={'prefix': 'left_'}).links == (
        'left_base',
        'left_arm',
    )


def test_xacro_that_cannot_be_expanded_tells_why(tmp_path):
    pytest.importorskip('xacro')
    path = tmp_path / 'arm.urdf.xacro'
    path.write_text(f'<robot name="arm" {XACRO}><link name="${{no_such_thing}}"/></robot>')
    with pytest.raises(UrdfError, match=r"could not expand '.*arm.urdf.xacro': .*no_such_thing"):
        load_urdf(path)


def test_a_xacro_file_that_does_not_exist_is_named(tmp_path):
    pytest.importorskip('xacro')
    with pytest.raises(FileNotFoundError, match=r'no such file: .*arm\.xacro'):
        load_urdf(tmp_path / 'arm.xacro')


def test_without_the_xacro_package_the_message_tells_how_to_install_it(xacro_file, monkeypatch):
    monkeypatch.setitem(sys.modules, 'xacro', None)  # as if it were not installed
    message = 'is a xacro file and xacro is not installed; install ros-<distro>-xacro or: pip'
    assert_refused(xacro_file, message)


# Anything at all.


@pytest.mark.parametrize('name', REAL_ARMS)
def test_real_robots_are_read_without_any_warning_about_their_arm(name):
    arm = REAL_ARMS[name]
    robot = load_urdf(example_robot(name))
    chain = robot.chain(arm.base_link, arm.tip_link)
    assert len(chain) == arm.joints
    assert not [w for w in robot.warnings if any(f"'{j}'" in w for j in chain.joint_names)]


WELL_FORMED = robot_xml(
    'a b c d',
    joint_xml('i', 'a', 'b', 'continuous', '<origin xyz="0 0 1" rpy="0 1 0"/>'),
    joint_xml('j', 'b', 'c', body='<axis xyz="0 1 0"/>' + LIMIT),
    joint_xml('k', 'c', 'd', 'prismatic', '<mimic joint="j" multiplier="2" offset="0.1"/>'),
)
SCRAPS = ['', ' ', '"', '<', '>', '/>', '&amp;', '&#0;', 'nan', 'inf', '-', '1e999', '0', 'a',
          'j', 'b', 'fixed', 'planar', '\ufeff', '${x}', '<link name="a"/>', '\ud800']  # fmt: skip


@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(WELL_FORMED)), st.integers(0, 12), st.sampled_from(SCRAPS)),
        min_size=1,
        max_size=4,
    )
)
def test_a_damaged_document_is_read_or_refused_but_never_crashes(edits):
    text = WELL_FORMED
    for start, length, scrap in edits:
        text = text[:start] + scrap + text[start + length :]
    with contextlib.suppress(UrdfError):
        assert load_urdf('<!-- -->' + text).links


PARTS = re.split(r'"([^"]*)"', WELL_FORMED)


@given(
    place=st.integers(0, len(PARTS) // 2 - 1),
    value=st.one_of(
        st.sampled_from([*'abcdijk', *SCRAPS[3:], '0 0 0', '1 1', 'revolute', 'floating']),
        st.floats().map(str),
        st.text(st.characters(exclude_characters='"<&', exclude_categories=['Cs', 'Cc'])),
    ),
)
def test_any_value_of_any_attribute_is_read_or_refused_but_never_crashes(place, value):
    parts = [*PARTS]
    parts[2 * place + 1] = value
    text = ''.join(f'"{part}"' if i % 2 else part for i, part in enumerate(parts))
    with contextlib.suppress(UrdfError, ChainError):
        chain = load_urdf(text).chain()
        assert np.isfinite(chain.forward_kinematics(np.zeros(len(chain)))).all()


# Masses and drives.


def test_inertial_is_turned_into_the_frame_of_the_link():
    turned = '<origin xyz="0.1 0.2 0.3" rpy="0 0 1.5707963267948966"/>'
    moments = '<inertia ixx="1" ixy="0.1" ixz="0.2" iyy="2" iyz="0.3" izz="3"/>'
    inertial = f'<inertial>{turned}<mass value="4"/>{moments}</inertial>'
    inertia = parse_dynamics(f'<robot><link name="a">{inertial}</link></robot>').inertias['a']
    assert inertia.mass == 4.0
    assert_close(inertia.centre, [0.1, 0.2, 0.3])
    # The x axis of <inertial> is y of the link, its y axis -x.
    assert_close(
        inertia.tensor_in_link, [[2.0, -0.1, -0.3], [-0.1, 1.0, 0.2], [-0.3, 0.2, 3.0]], 1e-12
    )


def test_link_without_inertial_has_no_inertia():
    assert not parse_dynamics(one_joint()).inertias


def test_drive_tells_what_is_given_and_nothing_else():
    body = LIMIT.replace('/>', ' effort="7"/>') + '<dynamics friction="0"/>'
    drive = parse_dynamics(one_joint(body=body)).drives['j']
    assert (drive.effort, drive.damping, drive.friction) == (7.0, None, 0.0)


@pytest.mark.parametrize(
    ('body', 'message'),
    [
        ('<dynamics damping="much"/>', "joint 'j', <dynamics>: damping is 'much'"),
        ('<dynamics friction="nan"/>', "joint 'j', <dynamics>: friction is NaN"),
    ],
)
def test_drive_that_is_no_number_is_refused(body, message):
    with pytest.raises(UrdfError, match=re.escape(message)):
        parse_dynamics(one_joint(body=body))
