"""Type checks of arguments that should be an arm; the error names the cure."""

from os import PathLike

from ..errors import shown
from .chain import Chain
from .robot import Robot
from .tree import Tree

OF_ROBOT = {Robot: '', Chain: '.chain()', Tree: '.tree(base_link, tip_links)'}
"""Call that makes each kind of arm from a robot, for the advice in refusals."""


def check_arm(arm: object, name: str, *kinds: type[Robot] | type[Chain] | type[Tree]) -> None:
    """
    Check that an argument is of a kind that is allowed.

    Parameters
    ----------
    arm : object
        The argument.
    name : str
        Its name.
    kinds : type
        `Robot`, `Chain`, `Tree`: those allowed, the most usual one first.

    Raises
    ------
    TypeError
        If it is not; says what it is, what is allowed, and how to get that.

    """
    if not isinstance(arm, kinds):
        allowed = ' or '.join(f'a {kind.__name__}' for kind in kinds)
        found = f"'{shown(str(arm))}'" if isinstance(arm, str | PathLike) else shown(repr(arm))
        raise TypeError(f'{name} must be {allowed}, got {found}; {_cure(arm, kinds[0])}')


def _cure(arm: object, kind: type) -> str:
    if isinstance(arm, Chain):
        return 'FabrikSolver is for a chain, and robot.tree(base_link, [tip_link]) makes a tree'
    if isinstance(arm, Tree):
        return 'TreeSolver is for a tree, and tree.chains are its arms'
    if isinstance(arm, Robot):
        return f'give robot{OF_ROBOT[kind]}'
    path = f"'{shown(str(arm))}'" if isinstance(arm, str | PathLike) else 'path'
    return f'give load_urdf({path}){OF_ROBOT[kind]}'
