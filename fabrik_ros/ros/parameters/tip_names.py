"""The names that tip links have within the names of topics."""

from collections.abc import Sequence
import re

from ...errors import FabrikError

PREFIX = 'tip_'


class TipNameError(FabrikError):
    """Two tips would have the same topics."""


def topic_name(link: str) -> str:
    """
    Name of a link within the names of topics.

    >>> topic_name('left_hand'), topic_name('left hand/tool-0'), topic_name('2f_gripper')
    ('left_hand', 'left_hand_tool_0', 'tip_2f_gripper')
    """
    return ros_name(link, PREFIX)


def ros_name(text: str, prefix: str) -> str:
    """
    Make a name of any text that ROS accepts: of letters, digits and `_` only.

    Anything else becomes `_`. Where the first character is no letter, the prefix comes in front:
    names must not begin with a digit, and ROS hides those that begin with `_`.
    """
    name = re.sub(r'[^A-Za-z0-9_]', '_', text)
    return name if re.match(r'[A-Za-z]', name) else prefix + name


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
