"""The values of all parameters, typed, and what the node takes of them; no ROS."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import shown
from ...model.chain import Chain
from ...model.robot import Robot
from ...model.tree import Tree
from ...motion.arm_follower import HOME
from ...motion.follower_options import FollowerOptions
from ...motion.following.following_rules import configuration_of
from ...solver.tree_solver import TipOptions
from ...transforms import Array, rotation_from_rpy, transform
from .parameter_spec import ParameterError
from .parameter_table import (
    ArmParameters,
    BaseParameters,
    CollisionParameters,
    CONFIGURATIONS,
    GripperParameters,
    LifeCycleParameters,
    LimitParameters,
    OutputParameters,
    PathParameters,
    SolverParameters,
    SPECS,
    StateParameters,
    TargetParameters,
    WIDEST_CLEARANCE,
)


@dataclass(frozen=True)
class NodeParameters(
    ArmParameters,
    SolverParameters,
    PathParameters,
    OutputParameters,
    LimitParameters,
    CollisionParameters,
    StateParameters,
    BaseParameters,
    TargetParameters,
    GripperParameters,
    LifeCycleParameters,
    FollowerOptions,
):
    """All parameter values; lists are tuples."""

    configurations: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Joint values by the names of configurations [rad or m]."""

    @staticmethod
    def from_values(values: Mapping[str, Any]) -> 'NodeParameters':
        """Take values as ROS has them, by name; parameters that are left out have defaults."""
        given: dict[str, Any] = {
            spec.name: tuple(values[spec.name]) if spec.is_list else values[spec.name]
            for spec in SPECS
            if spec.name in values
        }
        return NodeParameters(**given, configurations=configurations_among(values))

    def differs_in(self, other: 'NodeParameters', *names: str) -> bool:
        """Whether any of some parameters has another value."""
        return any(getattr(self, name) != getattr(other, name) for name in names)

    # -- the arm

    @cached_property
    def tips(self) -> dict[str, TipOptions]:
        """Task of each of `tip_links`."""
        links = self.tip_links
        modes = self.tip_modes or (None,) * len(links)
        weights = self.tip_weights or (1.0,) * len(links)
        return {
            link: TipOptions(mode=mode, weight=weight)
            for link, mode, weight in zip(links, modes, weights, strict=True)
        }

    @cached_property
    def tools(self) -> Array:
        """T_tip_tool of each tip, shape (k, 4, 4)."""
        tips = max(1, len(self.tip_links))
        if not np.any(self.tool_offset):
            return np.tile(np.eye(4), (tips, 1, 1))
        offsets = np.reshape(self.tool_offset, (tips, 6))
        return np.array([transform(rotation_from_rpy(*o[3:]), o[:3]) for o in offsets])

    def arms_of(self, robot: Robot) -> Chain | Tree:
        """
        Take what is to be moved from a robot.

        Raises
        ------
        ChainError
            If the links cannot be used.

        """
        if not self.tip_links:
            chain = robot.chain(self.base_link, self.tip_link)
            return chain.with_tool(self.tools[0]) if self._has_tool(0) else chain
        tree = robot.tree(self.base_link, self.tip_links)
        tools = zip(tree.tip_links, self.tools, strict=True)
        return tree.with_tools({tip: T for i, (tip, T) in enumerate(tools) if self._has_tool(i)})

    def _has_tool(self, tip: int) -> bool:
        return bool(np.any(self.tools[tip] != np.eye(4)))

    def commanded_joints(self, chain: Chain | Tree) -> tuple[str, ...]:
        """
        Names of the joints to command, in the order of the messages.

        Raises
        ------
        ParameterError
            If `command_joints` names a joint that is none of the chain.

        """
        names = self.command_joints
        strange = [name for name in names if name not in chain.joint_names]
        if strange:
            raise ParameterError(
                f'command_joints names {", ".join(map(repr, strange))}, not of the chain; missing '
                f'are {", ".join(repr(name) for name in chain.joint_names if name not in names)}'
            )
        return names or chain.joint_names

    @property
    def named_configurations(self) -> dict[str, tuple[float, ...]]:
        """Joint values by the names of configurations, `home` included [rad or m]."""
        home = {HOME: self.home_configuration} if self.home_configuration else {}
        return {**home, **self.configurations}

    def check_configurations(self, chain: Chain | Tree) -> None:
        """
        Look whether all lists of joint values suit an arm.

        Raises
        ------
        JointValueError
            If one has not a value for each joint, or one outside the limits; names both.

        """
        lists = {'home_configuration': self.home_configuration, 'posture': self.posture}
        for name, values in lists.items():
            if values:
                configuration_of(chain, values, name)
        for name, values in self.configurations.items():
            configuration_of(chain, values, f'{CONFIGURATIONS}{shown(name)}')

    # -- collisions

    @property
    def allowed_pairs(self) -> list[tuple[str, str]]:
        """Pairs of links that may touch, by their names."""
        pairs = [pair.split('/') for pair in self.allowed_collisions]
        return [(a, b) for a, b in pairs]

    @property
    def clearances_of_pairs(self) -> dict[tuple[str, str], float]:
        """Distances that pairs of links keep [m], by their names."""
        return dict(map(pair_clearance, self.pair_clearances))

    # -- the motion

    def moves_like(self, other: 'NodeParameters', chain: Chain | Tree) -> bool:
        """Whether an arm moves the same with these as with others."""
        options = self.solver, self.motion, self.tips
        mine, others = self.limits_for(chain), other.limits_for(chain)
        return options == (other.solver, other.motion, other.tips) and all(
            np.array_equal(getattr(mine, field.name), getattr(others, field.name))
            for field in fields(mine)
        )


def configurations_among(values: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    """Pick the named configurations from the values of parameters by name."""
    return {
        name.removeprefix(CONFIGURATIONS): tuple(value)
        for name, value in values.items()
        if name.startswith(CONFIGURATIONS)
    }


def pair_clearance(entry: str) -> tuple[tuple[str, str], float]:
    """
    Read the names of two links and their clearance [m].

    Raises
    ------
    ParameterError
        If the entry has another form, or the clearance is out of range.

    """
    names, _, number = entry.rpartition('=')
    links = [name.strip() for name in names.split('/')]
    try:
        clearance = float(number)
    except ValueError:
        clearance = None
    if clearance is None or len(links) != 2 or not all(links):
        raise ParameterError(
            "pair_clearances must hold pairs and their clearances [m] as 'link_a/link_b=0.01', "
            f"got '{shown(entry)}'"
        )
    if not 0.0 <= clearance <= WIDEST_CLEARANCE:
        raise ParameterError(
            f'pair_clearances must be in [0, {WIDEST_CLEARANCE:g}] m, got {clearance:g} in '
            f"'{shown(entry)}'"
        )
    return (links[0], links[1]), clearance
