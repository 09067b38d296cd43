"""Checks that links and joints of a robot description form one tree."""

from collections.abc import Iterable

from ..errors import listed, shown, UrdfError
from .joints import Joint


def check_unique(names: list[str], kind: str) -> None:
    """Raise UrdfError if two names are the same."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise UrdfError(f"two {kind}s are named '{shown(name)}'; names must be unique")
        seen.add(name)


def check_tree(links: list[str], joints: list[Joint]) -> None:
    """Raise UrdfError unless the joints connect all links into one tree."""
    if not links:
        raise UrdfError('the robot has no links')
    known = set(links)
    above: dict[str, Joint] = {}
    for joint in joints:
        for role, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in known:
                raise UrdfError(
                    f"joint '{shown(joint.name)}' has the {role} link '{shown(link)}', which does "
                    f'not exist; the links are: {listed(links)}'
                )
        if joint.child in above:
            raise UrdfError(
                f"link '{shown(joint.child)}' hangs on two joints, "
                f"'{shown(above[joint.child].name)}' and '{shown(joint.name)}'; "
                'a link has one parent'
            )
        above[joint.child] = joint
    roots = [link for link in links if link not in above]
    if len(roots) > 1:
        raise UrdfError(
            f'the robot has {len(roots)} root links: {listed(roots)}; connect them with joints'
        )
    _check_no_cycle(links, above)


def _check_no_cycle(links: list[str], above: dict[str, Joint]) -> None:
    anchored: set[str] = set()
    for start in links:
        passed: dict[str, None] = {}
        link = start
        while link in above and link not in anchored:
            passed[link] = None
            link = above[link].parent
            if link in passed:
                raise UrdfError(f'links form a cycle: {circle(passed, link)}')
        anchored.update(passed)


def circle(passed: Iterable[str], back_at: str) -> str:
    """Name what comes round in a circle, from `back_at` on, for an error."""
    names = list(passed)
    return f'{listed(names[names.index(back_at) :], " - ")} - {shown(back_at)}'
