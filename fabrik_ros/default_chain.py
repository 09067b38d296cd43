"""
Which chain a user means who names no tip: the only arm, short of its gripper.

Nothing here guesses: where several answers are sensible they are listed and refused.

"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .errors import AmbiguousChainError, ChainError

if TYPE_CHECKING:
    from .joints import Joint
    from .robot import Robot

GRIPPER_WORDS = re.compile(r'grip|finger|jaw|knuckle|hand|thumb|claw|pinc|tongs|suction', re.I)


def choose_tip(robot: Robot, base_link: str) -> str:
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
            f"nothing moves below '{base_link}' (grippers, planar and floating joints left out); "
            'name a base_link and a tip_link'
        )
    if len(tips) == 1:
        return tips[0][1]
    tips.sort(key=lambda entry: -entry[0])
    raise AmbiguousChainError(
        f"several chains start at '{base_link}'; name one of them:",
        [(base_link, tip) for _, tip in tips],
    )


def _tips(robot: Robot, base_link: str) -> list[tuple[int, str]]:
    """Every sensible tip at or below `base_link`, with its number of joints."""
    tips: list[tuple[int, str]] = []
    pending = [(0, base_link)]
    for joints, link in pending:
        body, branches = _rigid_body(robot, link)
        drivable = [joint for joint in branches if joint.type.is_drivable]
        arms = [joint for joint in drivable if not _is_gripper(robot, joint)]
        pending.extend((joints + 1, joint.child) for joint in arms)
        if not arms:
            tips.extend((joints, tip) for tip in _ends(robot, body))
    return tips


def _rigid_body(robot: Robot, link: str) -> tuple[list[str], list[Joint]]:
    """Links fixed to `link`, itself included, and the movable joints that leave them."""
    body, branches = [link], []
    for member in body:
        for joint in robot.child_joints[member]:
            if joint.type.moves:
                branches.append(joint)
            else:
                body.append(joint.child)
    return body, branches


def _ends(robot: Robot, body: list[str]) -> list[str]:
    """Outermost links of a rigid body, those of a gripper only where there is nothing else."""
    arm = [link for link in body[1:] if not GRIPPER_WORDS.search(link)]
    arm = [body[0], *arm]
    members = arm if len(arm) > 1 or len(body) == 1 else body
    inner = {robot.parent_joint[link].parent for link in members[1:]}
    return [link for link in members if link not in inner]


def _is_gripper(robot: Robot, joint: Joint) -> bool:
    """Whether every movable joint from this one outwards looks like part of a gripper."""
    outwards = [joint]
    for outer in outwards:
        if not (GRIPPER_WORDS.search(outer.name) or _moves_with_another_branch(robot, outer)):
            return False
        outwards.extend(_rigid_body(robot, outer.child)[1])
    return True


def _moves_with_another_branch(robot: Robot, joint: Joint) -> bool:
    """Whether the joint opens and closes, by `mimic`, with one that is not on its way to a tip."""
    driver = joint.mimic.source if joint.mimic else joint.name
    partners = [
        other
        for other in robot.joints
        if other.name == driver or (other.mimic and other.mimic.source == driver)
    ]
    above = robot.joints_between(robot.root_link, joint.child)
    return any(
        other not in above and joint not in robot.joints_between(robot.root_link, other.child)
        for other in partners
    )
