"""
The chain of a user who names no tip: the only arm, short of its gripper.

Nothing here guesses: where several chains are sensible, the error lists them.

"""

from bisect import bisect_left
from collections import Counter, defaultdict
import re

from ..errors import AmbiguousChainError, ChainError, shown
from .joints import Joint
from .link_tree import LinkTree

MOST_NAMED = 3
"""Links that a refusal names, at most [1]."""
GRIPPER_WORDS = re.compile(r'grip|finger|jaw|knuckle|hand|thumb|claw|pinc|tongs|suction', re.I)


def choose_tip(robot: LinkTree, base_link: str) -> str:
    """
    Find the only sensible tip below `base_link`.

    Raises
    ------
    ChainError
        If nothing that can be driven is below the base.
    AmbiguousChainError
        If there are several; lists them with the longest chains first.

    """
    tips = [(joints, tip) for joints, tip in _tips(robot, base_link) if joints > 0]
    if not tips:
        raise ChainError(
            f"nothing moves below '{shown(base_link)}' (grippers, planar and floating joints left "
            'out, and what follows a joint elsewhere); name a base_link and a tip_link'
            f'{_below_undrivable(robot, base_link)}'
        )
    if len(tips) == 1:
        return tips[0][1]
    tips.sort(key=lambda entry: -entry[0])
    raise AmbiguousChainError(
        f"several chains start at '{shown(base_link)}'; name one of them:",
        [(base_link, tip) for _, tip in tips],
    )


def _below_undrivable(robot: LinkTree, base_link: str) -> str:
    """Name the links below joints below the base that no chain can have; '' where none are."""
    following = _Following(robot, base_link)
    found = [
        joint
        for joint in robot.joints
        if joint.type.moves and not joint.type.is_drivable and following.is_below_base(joint)
    ]
    return ''.join(
        f"; '{shown(joint.child)}' is below '{shown(joint.name)}', which is {joint.type.value}"
        for joint in found[:MOST_NAMED]
    )


def gripper_joints(robot: LinkTree) -> tuple[str, ...]:
    """Names of the joints that move what looks like a gripper: `choose_tip` stops short of it."""
    grippers = _grippers(robot)
    return tuple(j.name for j in robot.joints if j.type.moves and j.name in grippers)


def stray_joints(robot: LinkTree, base_link: str) -> tuple[str, ...]:
    """Names of the joints below the base, grippers apart, that follow one on no path of theirs."""
    grippers, following = _grippers(robot), _Following(robot, base_link)
    return tuple(
        joint.name
        for joint in robot.joints
        if joint.type.is_drivable
        and joint.name not in grippers
        and following.is_below_base(joint)
        and not following.can_be_driven(joint)
    )


def _tips(robot: LinkTree, base_link: str) -> list[tuple[int, str]]:
    """Every sensible tip at or below `base_link`, with its number of joints."""
    grippers, following = _grippers(robot), _Following(robot, base_link)
    tips: list[tuple[int, str]] = []
    pending = [(0, 0, base_link)]
    for joints, astray, link in pending:
        body, branches = _rigid_body(robot, link)
        drivable = [joint for joint in branches if following.can_be_driven(joint)]
        arms = [joint for joint in drivable if joint.name not in grippers]
        pending.extend((joints + 1, astray + following.change(j), j.child) for j in arms)
        if not (arms or astray):
            tips.extend((joints, tip) for tip in _ends(robot, body))
    return tips


class _Following:
    """Joints on paths from one link that follow a joint which is not on the same path."""

    def __init__(self, robot: LinkTree, base_link: str) -> None:
        self._places = _places(robot)
        self._base = self._places[base_link]
        self._joints = {joint.name: joint for joint in robot.joints}
        self._waiting: Counter[str] = Counter()
        """Number of joints above each joint, on its paths, that follow it."""
        for joint in robot.joints:
            source = self._source(joint)
            if source is not None and self._is_above(joint, source):
                self._waiting[source.name] += 1

    def can_be_driven(self, joint: Joint) -> bool:
        """Whether the joint can be in a chain: what it follows is above or below it."""
        if not joint.type.is_drivable or joint.mimic is None:
            return joint.type.is_drivable
        source = self._source(joint)
        return source is not None and (
            self._is_above(source, joint) or self._is_above(joint, source)
        )

    def change(self, joint: Joint) -> int:
        """Count how many more followers lack a source where a path goes through the joint."""
        source = self._source(joint)
        waits = source is not None and self._is_above(joint, source)
        return int(waits) - self._waiting[joint.name]

    def _source(self, joint: Joint) -> Joint | None:
        """Find what the joint follows, if that is below the base."""
        source = self._joints.get(joint.mimic.source) if joint.mimic else None
        return source if source and self.is_below_base(source) else None

    def is_below_base(self, joint: Joint) -> bool:
        """Whether the joint is on a path from the base."""
        return self._places[joint.parent].start in self._base

    def _is_above(self, joint: Joint, other: Joint) -> bool:
        """Whether the joint is on the path to another one, below the base."""
        inside = self._places[other.parent].start in self._places[joint.child]
        return inside and self.is_below_base(joint)


def _rigid_body(robot: LinkTree, link: str) -> tuple[list[str], list[Joint]]:
    """Links fixed to `link`, itself included, and the movable joints that leave them."""
    body, branches = [link], []
    for member in body:
        for joint in robot.child_joints[member]:
            if joint.type.moves:
                branches.append(joint)
            else:
                body.append(joint.child)
    return body, branches


def _ends(robot: LinkTree, body: list[str]) -> list[str]:
    """Outermost links of a rigid body, those of a gripper only where there is nothing else."""
    arm = [link for link in body[1:] if not GRIPPER_WORDS.search(link)]
    arm = [body[0], *arm]
    members = arm if len(arm) > 1 or len(body) == 1 else body
    inner = {robot.parent_joint[link].parent for link in members[1:]}
    return [link for link in members if link not in inner]


def _grippers(robot: LinkTree) -> set[str]:
    """Names of joints from which on outwards every movable one looks like part of a gripper."""
    paired = _paired(robot)
    links = [robot.root_link]
    for link in links:
        links.extend(joint.child for joint in robot.child_joints[link])
    closing: dict[str, bool] = {}
    found = set()
    for link in reversed(links):
        below = robot.child_joints[link]
        for joint in below:
            looks_so = joint.name in paired or GRIPPER_WORDS.search(joint.name)
            if closing[joint.child] and (looks_so or not joint.type.moves):
                found.add(joint.name)
        closing[link] = all(joint.name in found for joint in below)
    return found


def _paired(robot: LinkTree) -> set[str]:
    """Names of joints that open and close, by `mimic`, with one on neither side of their own."""
    places, groups = _places(robot), defaultdict(list)
    for joint in robot.joints:
        driver = joint.mimic.source if joint.mimic else joint.name
        groups[driver].append((places[joint.child], joint.name))
    found = set()
    for group in groups.values():
        group.sort(key=lambda member: member[0].start)
        starts = [place.start for place, _ in group]
        above: list[range] = []
        for i, (place, name) in enumerate(group):
            while above and place.start not in above[-1]:
                above.pop()
            below = bisect_left(starts, place.stop) - i  # itself included
            if len(above) + below < len(group):
                found.add(name)
            above.append(place)
    return found


def _places(robot: LinkTree) -> dict[str, range]:
    """Places of each link and of all below it, in an order in which those follow it."""
    order, pending = [], [robot.root_link]
    while pending:
        order.append(pending.pop())
        pending.extend(joint.child for joint in robot.child_joints[order[-1]])
    places: dict[str, range] = {}
    for start in range(len(order) - 1, -1, -1):
        below = robot.child_joints[order[start]]
        ends = [places[joint.child].stop for joint in below]
        places[order[start]] = range(start, max(ends, default=start + 1))
    return places
