"""Names of meshes that RViz finds: by scheme, as its resource_retriever reads them."""

from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest

pytest.importorskip('ament_index_python', reason='comes with ROS 2')

from fabrik_ros.collision import MeshFinder
from fabrik_ros.ros.messages.mesh_urls import with_mesh_urls


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make a folder with an installed package, and one beside a description."""
    prefix = tmp_path / 'prefix'
    index = prefix / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'installed').touch()
    files = ('prefix/share/installed/a.stl', 'arm/assets/b & c.stl', 'arm/loose/package.xml')
    for file in (*files, 'arm/loose/d.dae', 'arm/package.xml', 'beside/g.stl'):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text('<package><name>loose</name></package>')
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(prefix))
    return tmp_path / 'arm'


@pytest.mark.parametrize(
    ('name', 'file'),
    [
        ('assets/b &amp; c.stl', 'assets/b & c.stl'),
        ('package://loose/d.dae', 'loose/d.dae'),
        ('package://installed/a.stl', None),
        ('https://example.org/e.stl', None),
        ('file:///nowhere/f.stl', None),
        ('assets/missing.stl', None),
        ('package://beside/g.stl', None),
    ],
)
@pytest.mark.parametrize('quote', ['"', "'"])
def test_only_names_that_rviz_does_not_find_become_urls_of_files(folder, name, file, quote):
    before = f'<robot name="r"><!-- kept --><mesh scale="1 1 1"\n filename={quote}{name}{quote}/>'
    text = with_mesh_urls(before + '</robot>', MeshFinder([folder, folder / 'loose']))
    if file is None:
        assert text == before + '</robot>'
        return
    url = urlsplit(ElementTree.fromstring(text).find('mesh').get('filename'))
    assert (url.scheme, url.netloc) == ('file', '')
    assert unquote(url.path) == str(folder / file)
    assert '<!-- kept --><mesh scale="1 1 1"' in text
