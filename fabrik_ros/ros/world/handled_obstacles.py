"""Obstacles as the hand has made them: it may touch, carry and put them down."""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import NamedTuple

from ...collision import Obstacle
from ...errors import did_you_mean, listed, SceneError, shown
from ...transforms import Array, inverse


class Hand(NamedTuple):
    """What an arm grasps with."""

    link: str
    """Carries what is grasped."""
    touch_links: tuple[str, ...]
    """May touch it."""


class _Handled(NamedTuple):
    source: Obstacle
    """Obstacle as its source tells it."""
    result: Obstacle
    """Obstacle as it is now."""


class HandledObstacles:
    """
    Changes obstacles to what the hand has made of them; attaching makes another one of these.

    An obstacle that is attached stays so until it is detached, whatever its source tells, also
    where that does not know it any more: a camera does not see what the hand hides. One that was
    put down stays where it is until its source tells another place.

    Parameters
    ----------
    hand : Hand or None
        Grasps; None where nothing can be attached.
    graspable : sequence of str
        Names of obstacles that the hand may touch; `*` stands for anything.

    """

    def __init__(self, hand: Hand | None, graspable: Sequence[str]) -> None:
        self._hand, self._graspable = hand, tuple(graspable)
        self._touchable: dict[str, _Handled] = {}
        self._attached: dict[str, _Handled] = {}
        self._put_down: dict[str, _Handled] = {}

    def carrying_on(self, before: 'HandledObstacles') -> 'HandledObstacles':
        """Return these, with what the same hand carried before."""
        after = copy(self)
        if self._hand == before._hand:
            after._attached = before._attached
        return after

    @property
    def attached(self) -> tuple[str, ...]:
        """Names of the obstacles that are attached."""
        return tuple(self._attached)

    def applied(self, obstacles: Iterable[Obstacle]) -> Iterator[Obstacle]:
        """Yield obstacles as they are now; the same objects as long as nothing changes."""
        return map(self._now, obstacles)

    def without_source(self, names: Iterable[str]) -> Iterator[Obstacle]:
        """Yield what is attached and has none of the names that sources tell."""
        known = set(names)
        return (kept.result for name, kept in self._attached.items() if name not in known)

    def attaching(
        self, known: Sequence[Obstacle], name: str, T_root_link: Array
    ) -> 'HandledObstacles':
        """
        Return these, with an obstacle that the hand carries from where it is.

        Parameters
        ----------
        known : sequence of Obstacle
            Obstacles as their sources tell them.
        name : str
            Name of the obstacle.
        T_root_link : array, shape (4, 4)
            Pose of the carrying link of the hand in the root link.

        Raises
        ------
        SceneError
            If there is no such obstacle, a link carries it, or it cannot be carried.

        """
        if self._hand is None:
            raise SceneError('nothing can be attached: of several tips none has the only gripper')
        source = next((obstacle for obstacle in known if obstacle.name == name), None)
        if source is None:
            names = [obstacle.name for obstacle in known]
            there = f'there are: {listed(names)}' if names else 'there are none'
            cure = did_you_mean(name, names)
            raise SceneError(f"no obstacle is called '{shown(name)}'; {there}{cure}")
        if self._graspable and not self._is_graspable(name):
            patterns = ', '.join(self._graspable)
            raise SceneError(f"obstacle '{shown(name)}' is none of `graspable`: {patterns}")
        now = self._now(source)
        if now.link:
            raise SceneError(f"obstacle '{shown(name)}': '{shown(now.link)}' carries it already")
        touch_links = tuple(dict.fromkeys((*now.touch_links, *self._hand.touch_links)))
        T = inverse(T_root_link) @ now.T_link_obstacle
        result = replace(now, T_link_obstacle=T, link=self._hand.link, touch_links=touch_links)
        after = copy(self)
        after._attached = self._attached | {name: _Handled(source, result)}
        return after

    def detaching(
        self, known: Sequence[Obstacle], name: str, T_root_link: Array
    ) -> 'HandledObstacles':
        """
        Return these, with an attached obstacle put down where it is; else as `attaching`.

        Raises
        ------
        SceneError
            If no such obstacle is attached.

        """
        if name not in self._attached:
            there = f'attached are: {listed(self.attached)}' if self._attached else 'none is'
            raise SceneError(f"obstacle '{shown(name)}' is not attached; {there}")
        after = copy(self)
        after._attached = {n: kept for n, kept in self._attached.items() if n != name}
        carried = self._attached[name].result
        source = next((obstacle for obstacle in known if obstacle.name == name), None)
        if source is not None:
            T = T_root_link @ carried.T_link_obstacle
            result = replace(carried, T_link_obstacle=T, link='', touch_links=source.touch_links)
            after._put_down = self._put_down | {name: _Handled(source, self._touched(result))}
        return after

    def forget(self, known: Iterable[Obstacle]) -> None:
        """Forget what was put down, of all but the obstacles that sources tell."""
        names = {obstacle.name for obstacle in known}
        for handled in (self._put_down, self._touchable):
            for name in handled.keys() - names:
                del handled[name]

    def _now(self, source: Obstacle) -> Obstacle:
        name = source.name
        if name in self._attached:
            return self._attached[name].result
        for handled in (self._put_down, self._touchable):
            if name in handled and handled[name].source is source:
                return handled[name].result
        result = self._touched(source)
        if result is not source:
            self._touchable[name] = _Handled(source, result)
        return result

    def _is_graspable(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self._graspable)

    def _touched(self, obstacle: Obstacle) -> Obstacle:
        """Let the hand touch an obstacle that it may grasp."""
        is_graspable = self._is_graspable(obstacle.name)
        if self._hand is None or not is_graspable or obstacle.link:
            return obstacle
        links = tuple(dict.fromkeys((*obstacle.touch_links, *self._hand.touch_links)))
        return replace(obstacle, touch_links=links)
