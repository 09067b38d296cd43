"""The page of the demo: a process of its own, whose failure is said and no more."""

import os
import socket
import time

import page
import pytest

PATIENCE = 30.0
"""[s]"""


def wait_for(holds) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_port_is_the_usual_one_or_another_where_that_is_taken():
    with socket.socket() as listener:
        if listener.connect_ex((page.HOST, page.USUAL_PORT)) != 0:
            assert page.free_port() == page.USUAL_PORT
    try:
        taken = socket.create_server((page.HOST, page.USUAL_PORT))
    except OSError:
        taken = socket.socket()  # somebody else has it
    with taken:
        assert page.free_port() != page.USUAL_PORT


@pytest.mark.skipif(not os.sys.platform.startswith('linux'), reason='elsewhere there is a display')
def test_browser_is_opened_only_on_a_display(monkeypatch):
    monkeypatch.delenv('DISPLAY', raising=False)
    monkeypatch.delenv('WAYLAND_DISPLAY', raising=False)
    assert not page.has_display()
    monkeypatch.setenv('WAYLAND_DISPLAY', 'wayland-0')
    assert page.has_display()


def without(monkeypatch, tmp_path, name: str) -> None:
    """Let processes find a package that cannot be imported."""
    (tmp_path / f'{name}.py').write_text(f'raise ImportError("gone", name="{name}")\n')
    path = os.pathsep.join([str(tmp_path), os.environ.get('PYTHONPATH', '')])
    monkeypatch.setenv('PYTHONPATH', path)


def test_page_that_cannot_be_shown_says_why_once(monkeypatch, tmp_path):
    without(monkeypatch, tmp_path, 'viser')
    with page.shown('/nowhere/fabrik') as view:
        faults = []
        wait_for(lambda: faults.append(view.look()) or faults[-1])
        assert 'the browser view needs viser' in faults[-1]
        assert "pip install '.[view]'" in faults[-1]
        assert view.look() == ''


def test_no_process_no_page_and_the_demo_goes_on(monkeypatch, capsys):
    def fail(*words, **settings):
        raise OSError('no more processes')

    monkeypatch.setattr(page.subprocess, 'Popen', fail)
    with page.shown('/nowhere/fabrik') as view:
        assert view is None
    assert capsys.readouterr().out == 'no view: no more processes\n'


def test_page_is_there_is_opened_once_and_is_gone_at_the_end(monkeypatch, capsys):
    for name in ('viser', 'yourdfpy', 'rclpy'):
        pytest.importorskip(name, reason=f'{name} is not installed')
    opened = []
    monkeypatch.setattr(page.webbrowser, 'open', opened.append)
    monkeypatch.setenv('DISPLAY', ':7')
    with page.shown('/nowhere/fabrik') as view:
        assert capsys.readouterr().out == f'view: {view.address}\n'
        wait_for(lambda: view.look() or opened)
        assert view.look() == ''
    assert opened == [view.address]
    address = page.HOST, int(view.address.rpartition(':')[2])
    with socket.socket() as connection:
        assert connection.connect_ex(address) != 0
