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


@pytest.mark.parametrize('slashes', ['', '//', '///', '////'])
def test_file_url_has_any_number_of_slashes(mesh, tmp_path, slashes):
    finder = MeshFinder([tmp_path / 'share'])
    assert finder.find(f'file:{slashes}{mesh}') == mesh
    assert finder.find(f'FILE:{slashes}{mesh}'.replace(' ', '%20')) == mesh
    assert 'no such file' in refusal(finder, f'file:{slashes}{tmp_path}/secret.stl')


@pytest.mark.parametrize('slashes', ['', '/', '//'])
def test_absolute_path_has_any_number_of_slashes(mesh, tmp_path, slashes):
    assert MeshFinder([tmp_path / 'share']).find(slashes + str(mesh)) == mesh
    assert 'no such file' in refusal(MeshFinder([tmp_path / 'share']), f'//{tmp_path}/secret.stl')


@pytest.mark.parametrize('name', ['meshes/link 1.stl', 'file:meshes/link 1.stl'])
def test_relative_path_is_found_alike_by_the_file_and_by_folders(mesh, name):
    package = str(mesh.parents[1])
    assert MeshFinder(urdf_folder=package).find(name) == mesh
    assert MeshFinder([package], urdf_folder='/nowhere').find(name) == mesh
    assert MeshFinder(meshes.folders_beside(package)).find(name) == mesh


@pytest.mark.parametrize('sign', ['#', '?', '%', '%20'])
def test_signs_that_mean_something_in_urls_are_signs_of_names(mesh, tmp_path, sign):
    other = mesh.parent / f'a{sign}b.stl'
    other.write_text('solid')
    finder = MeshFinder([tmp_path / 'share'])
    for name in (f'package://arm_description/meshes/a{sign}b.stl', f'file://{other}', str(other)):
        assert finder.find(name) == other


FINDERS = {
    'library': lambda folder: MeshFinder(urdf_folder=str(folder)),
    'node': lambda folder: MeshFinder(meshes.folders_beside(str(folder))),
}
"""By the file of the description, and by the folders that the node is told of it."""


@pytest.mark.parametrize('finder', FINDERS.values(), ids=list(FINDERS))
@pytest.mark.parametrize('below', ['urdf', 'urdf/arms', '.'])
def test_package_that_the_description_lies_in_is_found(mesh, tmp_path, finder, below):
    folder = mesh.parents[1] / below
    assert finder(folder).find(NAME) == mesh
    assert 'no such file' in refusal(finder(folder), 'package://other/meshes/link 1.stl')
    assert 'no such file' in refusal(finder(folder), 'package://arm_description/../../secret.stl')


@pytest.mark.parametrize('finder', FINDERS.values(), ids=list(FINDERS))
def test_package_is_known_by_its_manifest_and_so_is_the_one_beside_it(mesh, tmp_path, finder):
    package = tmp_path / 'checkout' / 'arm-main'
    (package / 'meshes').mkdir(parents=True)
    other = package / 'meshes' / 'other.stl'
    other.write_text('solid')
    manifest = package / 'package.xml'
    manifest.write_text('<package><!-- <name>no</name> --><name> arm </name></package>')
    assert finder(package / 'urdf').find('package://arm/meshes/other.stl') == other
    beside = package.parent / 'gripper' / 'jaw.stl'
    beside.parent.mkdir()
    beside.write_text('solid')
    assert finder(package / 'urdf').find('package://gripper/jaw.stl') == beside
    for name in ('package://no/meshes/other.stl', 'package://../secret.stl'):
        assert 'no such file' in refusal(finder(package / 'urdf'), name)
    manifest.unlink()
    assert 'no such file' in refusal(finder(package / 'urdf'), 'package://gripper/jaw.stl')


@pytest.mark.parametrize('below', ['share', 'share/urdf'])
def test_folder_beside_the_description_is_a_package_too(mesh, tmp_path, below):
    """As in pybullet's panda.urdf: package://meshes/link.stl, with `meshes` beside the file."""
    folder = str(tmp_path / below)
    for finder in (MeshFinder(urdf_folder=folder), MeshFinder(meshes.folders_beside(folder))):
        assert finder.find(NAME) == mesh


@pytest.mark.parametrize('name', ['package://..', 'package://arm_description/../..'])
def test_package_beside_the_description_leads_no_farther_than_the_folder_above(
    mesh, tmp_path, name
):
    finder = MeshFinder(urdf_folder=str(tmp_path / 'share' / 'urdf'))
    assert 'no such file' in refusal(finder, f'{name}/secret.stl')


def test_package_in_a_folder_of_another_name_is_named(mesh, tmp_path):
    finder = MeshFinder([f'my_arm={mesh.parents[1]}'])
    assert finder.find(NAME.replace('arm_description', 'my_arm')) == mesh
    assert 'no such file' in refusal(finder, 'package://my_arm/../../secret.stl')
    assert 'no such file' in refusal(finder, 'package://other/meshes/link 1.stl')
    assert meshes.absolute_folder('arm=here') == f'arm={Path("here").absolute()}'
    assert meshes.absolute_folder('here') == str(Path('here').absolute())


def test_folder_with_an_equals_sign_in_its_name_is_that_folder(mesh, tmp_path):
    folder = tmp_path / 'a=b'
    folder.mkdir()
    (folder / 'arm_description').symlink_to(mesh.parents[1])
    assert MeshFinder([str(folder)]).find(NAME).samefile(mesh)


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
    with pytest.raises(FileNotFoundError, match='mesh_paths, for commands --mesh-path, names'):
        MeshFinder().find('meshes/arm.stl')
