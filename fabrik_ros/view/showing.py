"""A page for as long as somebody wants it."""

from collections.abc import Callable
import signal
import threading
from types import FrameType

from .app import View
from .gallery import Gallery
from .source import Source


def show(
    source: Source,
    host: str,
    port: int,
    mesh_paths: tuple[str, ...],
    watch: Callable[[threading.Event], None] | None = None,
    gallery: Gallery | None = None,
) -> None:
    """
    Show a source until SIGINT or SIGTERM; close it then.

    Parameters
    ----------
    source : Source
        The arm.
    host, port, mesh_paths, gallery
        Those of `View`.
    watch : callable, optional
        Runs beside, in a thread, until the event is set; may set it, which ends the page.

    Raises
    ------
    ViewError
        If the page cannot be there.

    """
    ends = threading.Event()

    def end(signum: int, frame: FrameType | None) -> None:
        ends.set()

    try:
        page = View(source, host, port, mesh_paths, gallery)
        signal.signal(signal.SIGINT, end)
        signal.signal(signal.SIGTERM, end)
        print(f'open {page.address} in a browser; Ctrl-C ends it', flush=True)
        watcher = threading.Thread(target=watch or (lambda ends: None), args=(ends,), daemon=True)
        watcher.start()
        page.run(ends)
        watcher.join()
        page.close()
    finally:
        source.close()
