"""Descriptions that are odd, but that urdfdom reads: they are read alike, with a warning."""

from xml.etree import ElementTree

from fabrik_ros import load_urdf, UrdfError
from fabrik_ros.model.urdf import parse_dynamics, parse_urdf
from fabrik_ros.model.urdf_xml import strict_text
import pytest

BODY = """
<link name="base"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<link name="arm"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
  <origin xyz="0.1 0.2 0.3"/><limit lower="-1" upper="1.5" velocity="2" effort="1"/></joint>
"""
ROBOT = f'<robot name="odd">{BODY}</robot>'


def inside(text):
    return ROBOT.replace('</robot>', f'{text}</robot>')


ODD = {
    'undefined entity': inside('<gazebo>&nbsp;</gazebo>'),
    'undefined entity in a value': inside('<gazebo name="a&ouml;b"/>'),
    'ampersand': inside('<gazebo name="this & that">AT&T</gazebo>'),
    'prefix of an attribute': ROBOT.replace('lower=', 'drake:acceleration="2.5" lower='),
    'prefix of an element': inside('<gazebo><sensor:camera name="eye"/></gazebo>'),
    'angle in a value': inside('<gazebo name="x<y"/>'),
    'dashes in a comment': inside('<!-- a -- b -->'),
    'a line of dashes': inside('<!-------- joints -------->'),
    'text before': 'made by hand ' + ROBOT,
    'text between': ROBOT + ' and ' + ROBOT,
    'two robots': ROBOT + ROBOT.replace('turn', 'bend'),
    'another root before': '<materials><link name="x"/></materials>' + ROBOT,
    'no space between attributes': ROBOT.replace('" type=', '"type='),
    'control characters': inside('<gazebo name="\x01">\x0b\x0c\x1b</gazebo>'),
    'a declaration of its own': '<?xml version="1.0" encoding="no such"?>' + ROBOT,
    'left of xacro': inside('<xacro:property name="width" value="0.2"/>'),
    'declared xacro': inside('<xacro:arg name="p" default="1"/>').replace(
        '<robot', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"'
    ),
    'a macro': inside('<xacro:macro name="arm"><joint name="${p}j"/></xacro:macro>'),
    'another prefix for xacro': inside('<x:property name="width" value="${1 + 1}"/>').replace(
        '<robot', '<robot xmlns:x="http://ros.org/wiki/xacro"'
    ),
    'an include': inside('<xacro:include filename="$(find materials)/all.xacro"/>'),
}
"""Documents that are read with a warning."""
SILENT = {
    'a namespace': ROBOT.replace('<robot', '<robot xmlns="http://www.ros.org"'),
    'a namespace of a joint': ROBOT.replace('<joint', '<joint xmlns="urn:other"'),
    'a mark and a declaration': '\ufeff<?xml version="1.0" encoding="utf-16"?>' + ROBOT,
    'a declared prefix': inside('<g:link name="x"/>').replace('<robot', '<robot xmlns:g="urn:g"'),
}
"""Documents that are read without any."""
REFUSED = {
    'text behind': ROBOT + ' the end',
    'no quotes': inside('<gazebo name=a/>'),
    'no value': inside('<gazebo name/>'),
    'an attribute twice': inside('<gazebo name="a" name="b"/>'),
    'nothing': inside('\x00'),
    'another end': inside('<a></b>'),
    'no end': ROBOT.replace('</robot>', ''),
    'a comment without end': inside('<!-- a'),
    'an angle in text': inside('a < b'),
    'curved quotes': inside('<gazebo name=\u201ca\u201d/>'),
    'a declaration behind a comment': '<!-- first --><?xml version="1.0"?>' + ROBOT,
    'an upper case letter': ROBOT.replace('robot', 'Robot'),
}
"""Documents that urdfdom does not read either."""


def assert_it_is_the_robot(robot):
    assert robot.links == ('base', 'arm')
    (joint,) = robot.joints
    assert (joint.name, joint.lower, joint.upper, joint.velocity) == ('turn', -1.0, 1.5, 2.0)
    assert joint.origin[:3, 3].tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize('name', ODD)
def test_what_is_odd_is_read_with_one_warning(name):
    robot = parse_urdf(ODD[name])
    assert_it_is_the_robot(robot)
    assert len(robot.warnings) == 1, robot.warnings
    assert robot.warnings[0].startswith(
        ('not well-formed XML: ', 'prefixes that', 'left of xacro')
    )
    assert parse_dynamics(ODD[name]).inertias['arm'].mass == 3.0


@pytest.mark.parametrize('name', SILENT)
def test_what_is_not_odd_is_read_without_a_warning(name):
    robot = parse_urdf(SILENT[name])
    assert_it_is_the_robot(robot)
    assert robot.warnings == ()


@pytest.mark.parametrize('name', REFUSED)
def test_what_urdfdom_refuses_is_refused_with_the_place(name):
    with pytest.raises(UrdfError, match=r'line \d+|outermost element is <Robot>'):
        parse_urdf(REFUSED[name])


def test_pinocchio_reads_and_refuses_the_same_documents():
    judge = pytest.importorskip('fuzz.pinocchio_judge', reason='pinocchio judges')
    for text in (ODD | SILENT).values():
        assert judge.movable_joints(text) == {'turn'}
    for text in REFUSED.values():
        try:
            assert judge.movable_joints(text) == set()
        except (ValueError, AssertionError):
            continue


@pytest.mark.parametrize('name', ODD | SILENT)
def test_readers_that_want_well_formed_xml_get_it(name):

    root = ElementTree.fromstring(strict_text((ODD | SILENT)[name]))
    assert [e.get('name') for e in root if e.tag == 'link'] == ['base', 'arm']
    assert root.find('joint/limit').get('upper') == '1.5'


@pytest.mark.parametrize('text', [*ODD.values(), *REFUSED.values()])
@pytest.mark.parametrize('kind', ['<!DOCTYPE robot [<!ENTITY a SYSTEM "file:///etc/hostname">]>'])
def test_a_document_type_is_not_read_in_odd_documents_either(text, kind):
    with pytest.raises(UrdfError):
        parse_urdf(kind + text.replace('turn', '&a;'))
    with pytest.raises(UrdfError):
        parse_urdf('odd ' + kind + text.replace('turn', '&a;'))


# What xacro should have brought.


@pytest.mark.parametrize(
    'text',
    [
        '<robot><link name="world"/><xacro:arm parent="world"/></robot>',
        f'<robot>{BODY}<xacro:arm/><joint name="j" type="fixed"><parent link="tool0"/>'
        '<child link="hand"/></joint><link name="hand"/></robot>',
        '<robot><xacro:macro name="arm"><link name="a"/></xacro:macro></robot>',
        '<robot><link name="a"/><link name="b"/><joint name="j" type="fixed"><parent link="a"/>'
        '<child link="b"/></joint><xacro:if value="1"/></robot>',
    ],
)
def test_xacro_that_is_missed_is_told_with_the_cure(text):
    with pytest.raises(UrdfError, match=r'is xacro, not URDF; found <\w+> .*; expand it first'):
        parse_urdf(text)


# Files.


@pytest.mark.parametrize(
    ('declared', 'code', 'read_as'),
    [
        ('ISO-8859-1', 'latin-1', 'iso-8859-1'),
        ('windows-1252', 'cp1252', 'windows-1252'),
        ('GB2312', 'gb2312', 'gb2312'),
        ('Shift_JIS', 'shift_jis', 'shift_jis'),
        ('UTF-8', 'latin-1', 'iso-8859-1'),
        ('no-such-code', 'latin-1', 'iso-8859-1'),
        ('rot13', 'latin-1', 'iso-8859-1'),
        ('utf-7', 'latin-1', 'iso-8859-1'),
        ('utf-16', 'latin-1', 'iso-8859-1'),
        ('unicode_escape', 'latin-1', 'iso-8859-1'),
        ('', 'latin-1', 'iso-8859-1'),
        ('', 'gb2312', 'iso-8859-1'),
    ],
)
def test_a_file_in_another_code_is_read_with_a_warning(declared, code, read_as, tmp_path):
    letters = '手臂' if code in ('gb2312', 'shift_jis') else 'Länge'
    start = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ''
    path = tmp_path / 'arm.urdf'
    path.write_bytes(f'{start}<!-- {letters} -->{ROBOT}'.encode(code))
    robot = load_urdf(path)
    assert_it_is_the_robot(robot)
    place = len(f'{start}<!-- ') + (1 if letters == '手臂' else 2)
    assert robot.warnings == (
        f'the file is not UTF-8 text (byte {place}), and read as {read_as}; save it as UTF-8',
    )
    assert (letters in robot.source) == (declared != '' or letters == 'Länge')


@pytest.mark.parametrize('code', ['utf-16', 'utf-16-be', 'utf-32'])
def test_a_file_with_wide_letters_is_refused_with_the_cure(code, tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_bytes(f'<!-- Länge -->{ROBOT}'.encode(code))
    with pytest.raises(UrdfError, match='save it as UTF-8'):
        load_urdf(path)


# What xacro cannot expand.


@pytest.mark.parametrize(
    ('body', 'cure'),
    [
        (
            '<xacro:include filename="$(find my_description)/urdf/my.xacro"/>',
            'in AMENT_PREFIX_PATH alone: source the workspace that has my_description',
        ),
        ('<link name="$(arg prefix)base"/>', 'give it one: --xacro-args prefix:=VALUE'),
        ('<xacro:include filename="parts/wrist.xacro"/>', 'starts in the folder of the file'),
        ('<xacro:arm/>', 'include the file that defines it'),
        ('<link name="$(env SIDE_OF_ARM)"/>', 'set it: export SIDE_OF_ARM=VALUE'),
    ],
)
@pytest.mark.parametrize('prefixes', ['', '/opt/nowhere'])
def test_what_xacro_misses_is_told_with_the_cure(body, cure, prefixes, tmp_path, monkeypatch):
    pytest.importorskip('xacro')
    monkeypatch.setenv('AMENT_PREFIX_PATH', prefixes)
    path = tmp_path / 'arm.urdf.xacro'
    path.write_text(f'<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro">{body}</robot>')
    with pytest.raises(UrdfError, match='xacro could not expand') as caught:
        load_urdf(path)
    assert cure in str(caught.value)
    assert '<class' not in str(caught.value)


def test_a_xacro_file_without_its_namespace_is_told_what_to_add(tmp_path):
    pytest.importorskip('xacro')
    path = tmp_path / 'arm.urdf.xacro'
    path.write_text('<robot name="r"><xacro:property name="a" value="1"/></robot>')
    with pytest.raises(UrdfError, match='give <robot> xmlns:xacro="http:'):
        load_urdf(path)
