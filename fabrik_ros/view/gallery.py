"""Robots to choose from on the page: those that come with the package, and those of a folder."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from ..collision import WorldCollision
from ..errors import AmbiguousChainError, FabrikError
from ..model.chain import Chain
from ..model.examples import example_arms
from ..model.robot import Robot
from .solver_source import SolverSource

SUFFIXES = '.urdf', '.urdf.xacro'
FIRST = 'six_axis'
"""Bundled arm that is shown until another is chosen."""

World = tuple[WorldCollision | None, str]
"""What knows distances, or None and why."""


class Gallery:
    """
    Shows the robot that somebody chooses; the one before stays where another cannot be shown.

    Parameters
    ----------
    files : mapping of str to Path
        The robots by name.
    read : callable
        Reads the robot of a file; FabrikError or OSError where that cannot be.
    make_world : callable
        Makes what knows the distances of a robot and a chain of it.

    Attributes
    ----------
    names : tuple of str
        The robots that can be chosen.
    chosen : str
        The one that is shown at first.
    source : SolverSource
        Has the robot that is shown.

    """

    def __init__(
        self,
        files: Mapping[str, Path],
        read: Callable[[Path], Robot],
        make_world: Callable[[Robot, Chain], World],
    ) -> None:
        self.names = tuple(files)
        self._files, self._read, self._make_world = files, read, make_world
        self._thread = ThreadPoolExecutor(1, 'gallery')
        self.chosen = FIRST if FIRST in files else self.names[0]
        robot, chain, world, note = self._opened(self.chosen)
        self.source = SolverSource(robot, chain, world)
        self.source.say('READY', note)

    def choose(self, name: str) -> Future[None]:
        """Read another robot in a thread, after those that were chosen before, and show it."""
        return self._thread.submit(self._show, name)

    def _show(self, name: str) -> None:
        self.source.say('READING', name)
        try:
            robot, chain, world, note = self._opened(name)
        except Exception as error:  # of any library that reads it: nobody else would hear of it
            self.source.say('REFUSED', f'{name}: {error}')
            return
        self.source.show(robot, chain, world)
        self.source.say('READY', note)

    def _opened(self, name: str) -> tuple[Robot, Chain, WorldCollision | None, str]:
        """Read a robot; also say what about it is not as one may think."""
        robot = self._read(self._files[name])
        chain, others = _first_chain(robot)
        world, why = self._make_world(robot, chain)
        notes = [others, why and f'distances are not measured: {why}']
        return robot, chain, world, '; '.join(filter(None, notes))


def gallery_files(folder: Path | None) -> dict[str, Path]:
    """
    List bundled arms, and descriptions in a folder and all below; those here where it is None.

    Raises
    ------
    FabrikError
        If a folder was given and there is none in it.

    """
    place = Path() if folder is None else folder
    found = place.glob('*') if folder is None else place.rglob('*')
    inside = {
        str(path.relative_to(place)): path
        for path in sorted(found)
        if path.name.endswith(SUFFIXES) and path.is_file()
    }
    if folder is not None and not inside:
        raise FabrikError(f"no {' or '.join(SUFFIXES)} file is in '{folder}'")
    return inside | example_arms()


def _first_chain(robot: Robot) -> tuple[Chain, str]:
    """Take the only chain of a robot, or the first of several, and say so."""
    try:
        return robot.chain(), ''
    except AmbiguousChainError as error:
        base, tip = error.candidates[0]
        which = f'the first of {len(error.candidates)} arms, from {base} to {tip}'
        return robot.chain(base, tip), f'{which}; --tip-link shows another'
