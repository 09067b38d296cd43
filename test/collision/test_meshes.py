"""Where the files of a URDF are looked for, and where not."""

from pathlib import Path
import re

from fabrik_ros.collision import meshes, MeshFinder
import pytest


@pytest.fixture(autouse=True)
def no_ros(monkeypatch):
    """Forget the packages of this machine."""
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    monkeypatch.delenv('ROS_PACKAGE_PATH', raising=False)


@pytest.fixture
def mesh(tmp_path):
    """Write a file into a package, which is all that is there besides one file outside."""
    (tmp_path / 'secret.stl').write_text('solid')
    path = tmp_path / 'share' / 'arm_description' / 'meshes' / 'link 1.stl'
    path.parent.mkdir(parents=True)
    path.write_text('solid')
    return path


NAME = 'package://arm_description/meshes/link 1.stl'


def refusal(finder, name):
    with pytest.raises(FileNotFoundError) as caught:
        finder.find(name)
    return str(caught.value)


@pytest.mark.parametrize(
    'name', [NAME, NAME.replace(' ', '%20'), NAME.replace('package', 'model')]
)
def test_package_is_found_by_the_ament_index(mesh, monkeypatch, tmp_path, name):
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/nowhere:{tmp_path}')
    assert MeshFinder().find(name) == mesh


@pytest.mark.parametrize('below', ['share', 'share/arm_description'])
def test_package_is_found_by_the_package_path_and_in_folders_that_are_given(
    mesh, monkeypatch, tmp_path, below
):
    assert MeshFinder([tmp_path / below]).find(NAME) == mesh
    monkeypatch.setenv('ROS_PACKAGE_PATH', str(tmp_path / below))
    assert MeshFinder().find(NAME) == mesh


def test_file_url_and_absolute_path_are_found_inside_given_folders_only(mesh, tmp_path):
    finder = MeshFinder([tmp_path / 'share'])
    assert finder.find(f'file://{mesh}') == mesh
    assert finder.find(f'file://localhost{mesh}') == mesh
    assert finder.find(str(mesh)) == mesh
    assert 'no such file in the folders' in refusal(finder, f'file://{tmp_path}/secret.stl')
    assert 'no such file in the folders' in refusal(finder, str(tmp_path / 'secret.stl'))


def test_relative_path_starts_at_the_urdf_and_stays_in_the_folder_above(mesh, tmp_path):
    finder = MeshFinder(urdf_folder=str(mesh.parents[1] / 'urdf'))
    assert finder.find('../meshes/link 1.stl') == mesh
    assert 'no such file' in refusal(finder, '../../../secret.stl')


def test_relative_path_without_a_urdf_file_starts_at_given_folders(mesh, tmp_path):
    assert MeshFinder([mesh.parents[1]]).find('meshes/link 1.stl') == mesh


@pytest.mark.parametrize(
    'name',
    [
        'package://arm_description/../../secret.stl',
        'package://../secret.stl',
        'package:///../secret.stl',
        'package://arm_description/%2e%2e/%2e%2e/secret.stl',
        '../secret.stl',
    ],
)
def test_no_name_leads_out_of_the_folders(mesh, tmp_path, name):
    assert 'no such file' in refusal(MeshFinder([tmp_path / 'share']), name)


@pytest.mark.parametrize('name', ['http://host/link.stl', 'https://host/a', 'file://host/a.stl'])
def test_nothing_is_fetched_over_a_network(mesh, tmp_path, name):
    assert 'only package://, file:// and paths' in refusal(MeshFinder([tmp_path]), name)


@pytest.mark.parametrize('name', ['package://[', 'a\0b', 'x' * 5000, 'package://', '', '/', '.'])
def test_name_that_makes_no_sense_is_just_not_found(mesh, tmp_path, name):
    assert refusal(MeshFinder([tmp_path]), name)


def test_without_any_folder_the_answer_says_so():
    assert re.search('searched .none: no folder was given', refusal(MeshFinder(), NAME))


def test_file_that_is_far_too_large_is_refused(mesh, tmp_path, monkeypatch):
    monkeypatch.setattr(meshes, 'LARGEST_FILE', 4)
    assert 'has more than 4 bytes' in refusal(MeshFinder([tmp_path / 'share']), NAME)


def test_links_of_a_workspace_are_followed(mesh, tmp_path):
    elsewhere = tmp_path / 'install' / 'share'
    elsewhere.mkdir(parents=True)
    (elsewhere / 'arm_description').symlink_to(mesh.parents[1])
    found = MeshFinder([elsewhere]).find(NAME)
    assert Path(found).samefile(mesh)


def test_file_that_is_not_found_names_the_parameter_that_says_where_to_look():
    with pytest.raises(FileNotFoundError, match='the parameter mesh_paths names more of them'):
        MeshFinder().find('meshes/arm.stl')
