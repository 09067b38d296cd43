"""Obstacles as the hand has made them: it may touch, carry and put them down."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from ...collision import Obstacle
from ...errors import did_you_mean, listed, SceneError, shown
from ...transforms import Array, inverse

SAME_PLACE = 1e-6
"""An obstacle whose pose differs by no more in any entry has not moved [1 or m]."""


class Hand(NamedTuple):
    """What an arm grasps with."""

    link: str
    """Carries what is grasped."""
    touch_links: tuple[str, ...]
    """May touch it."""


class _Handled(NamedTuple):
    source: Obstacle | None
    """Obstacle as its source tells it; None where it tells nothing any more."""
    result: Obstacle
    """Obstacle as it is now."""


class HandledObstacles:
    """
    Changes obstacles to what the hand has made of them; attaching makes another one of these.

    An obstacle that is attached stays so until it is detached, whatever its source tells, also
    where that does not know it any more: a camera does not see what the hand hides. One that was
    put down stays where it is until its source tells another place, or deletes it; that it falls
    silent, or deleted it before, does not take it away.

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
        """Return these, with what the same hand carried and put down before."""
        after = copy(self)
        if self._hand == before._hand:
            after._attached, after._put_down = before._attached, before._put_down
        return after

    @property
    def attached(self) -> tuple[str, ...]:
        """Names of the obstacles that are attached."""
        return tuple(self._attached)

    def applied(self, obstacles: Iterable[Obstacle]) -> Iterator[Obstacle]:
        """Yield obstacles as they are now; the same objects as long as nothing changes."""
        return map(self._now, obstacles)

    def without_source(self, names: Iterable[str]) -> Iterator[Obstacle]:
        """Yield what is attached or was put down and has none of the names that sources tell."""
        known, kept = set(names), self._put_down | self._attached
        return (handled.result for name, handled in kept.items() if name not in known)

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
        known = [*known, *self.without_source(obstacle.name for obstacle in known)]
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
        before, carried = self._attached[name]
        source = next((obstacle for obstacle in known if obstacle.name == name), None)
        told = source or before or carried
        T = T_root_link @ carried.T_link_obstacle
        result = replace(carried, T_link_obstacle=T, link='', touch_links=told.touch_links)
        after._put_down = self._put_down | {name: _Handled(source, self._touched(result))}
        return after

    def deleting(self, is_deleted: Callable[[str], bool]) -> 'HandledObstacles':
        """Return these, without what was put down and is deleted, by its name."""
        after = copy(self)
        after._put_down = {n: kept for n, kept in self._put_down.items() if not is_deleted(n)}
        return after

    def forget(self, known: Iterable[Obstacle]) -> None:
        """Forget what sources, who tell these obstacles, tell anew or will not need."""
        told = {obstacle.name: obstacle for obstacle in known}
        for name in [n for n in self._put_down.keys() & told.keys() if not self._is_down(told[n])]:
            del self._put_down[name]
        for name in self._touchable.keys() - told.keys():
            del self._touchable[name]

    def _is_down(self, source: Obstacle) -> bool:
        """Whether an obstacle was put down, and its source tells the same as then."""
        before = self._put_down[source.name].source if source.name in self._put_down else None
        return before is source or (before is not None and is_unmoved(before, source))

    def _now(self, source: Obstacle) -> Obstacle:
        name = source.name
        if name in self._attached:
            return self._attached[name].result
        if self._is_down(source):
            return self._put_down[name].result
        if name in self._touchable and self._touchable[name].source is source:
            return self._touchable[name].result
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


def is_unmoved(before: Obstacle, obstacle: Obstacle) -> bool:
    """Whether two obstacles are the same in the same place."""
    apart = np.abs(before.T_link_obstacle - obstacle.T_link_obstacle).max()
    return is_alike(before, obstacle) and bool(apart <= SAME_PLACE)


def is_alike(before: Obstacle, obstacle: Obstacle) -> bool:
    """Whether two obstacles are the same, but for where they are."""
    mine, theirs = (
        (each.name, each.shape, each.link, each.touch_links, each.clearance)
        for each in (before, obstacle)
    )
    return mine == theirs
