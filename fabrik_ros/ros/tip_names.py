"""The names that tip links have within the names of topics."""

from collections.abc import Sequence
import re

from ..errors import FabrikError

PREFIX = 'tip_'


class TipNameError(FabrikError):
    """Two tips would have the same topics."""


def topic_name(link: str) -> str:
    """
    Name of a link within the names of topics, which may hold letters, digits and `_` only.

    Anything else becomes `_`. Where the first character is no letter, `tip_` comes in front:
    names must not begin with a digit, and ROS hides those that begin with `_`.

    >>> topic_name('left_hand'), topic_name('left hand/tool-0'), topic_name('2f_gripper')
    ('left_hand', 'left_hand_tool_0', 'tip_2f_gripper')
    """
    name = re.sub(r'[^A-Za-z0-9_]', '_', link)
    return name if re.match(r'[A-Za-z]', name) else PREFIX + name


def topic_names(tip_links: Sequence[str]) -> tuple[str, ...]:
    """
    Names of the tips within the names of their topics.

    Raises
    ------
    TipNameError
        If two would be the same; names both.

    """
    links: dict[str, str] = {}
    for link in tip_links:
        name = topic_name(link)
        if name in links:
            raise TipNameError(
                f"the tip links '{links[name]}' and '{link}' would have the same topics "
                f'~/{name}/...; only letters, digits and _ are kept of a name'
            )
        links[name] = link
    return tuple(links)
