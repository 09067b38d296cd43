"""Status of the node, put together from its parts."""

from collections.abc import Sequence
from typing import Any

from ..motion.following.follower import Follower
from ..motion.following.program_run import ProgramRun
from .arm.node_state import NodeState
from .outputs.topics import Topics
from .status.diagnostics import goal_facts, target_stamp
from .status.namesakes import Namesakes
from .status.neighbours import Neighbours
from .status.reporter import Report


class NodeStatus:
    """
    Makes the reports of the node.

    Parameters
    ----------
    state : NodeState
        The arm, and what the node waits for.
    topics : Topics
        What the robot says, and the stamps of the targets.
    neighbours : Neighbours
        What is wrong around the node.
    namesakes : Namesakes
        The other nodes of the same name.
    warnings : sequence of str
        What is wrong for as long as the node lives.

    """

    def __init__(
        self,
        state: NodeState,
        topics: Topics,
        neighbours: Neighbours,
        namesakes: Namesakes,
        warnings: Sequence[str],
    ) -> None:
        self._state, self._topics, self._warnings = state, topics, warnings
        self._neighbours, self._namesakes = neighbours, namesakes

    def report(self) -> Report:
        """Say what the arm does, why, and what else is known."""
        state, reason, awaited = self._state.standing()
        facts = {
            **self._state.tally.facts(),
            **self._namesakes.facts(),
            'held': self._state.gate.is_held,
            'waits_for': awaited,
            'waits_for_pause': self._state.gate.waits_for_pause(self._state.clock.now()),
            **self._topics.robot.facts(),
            'solve_time': 0.0,
        }
        warnings = [*self._warnings, *self._neighbours.warnings]
        arm, follower = self._state.arm, self._state.follower
        if arm is None:
            facts['warnings'] = '; '.join(warnings)
            return Report(state, reason, awaited, facts)
        q = None if follower is None else arm.shown_configuration()
        facts |= {
            'solve_time': arm.motion.resolving_time,
            'base_link': arm.chain.base_link,
            'tip_link': ', '.join(arm.tip_links),
            'description_warnings': '; '.join(arm.description_warnings),
            'tool_offset': ' '.join(map(repr, self._state.parameters.tool_offset)),
            'look_ahead': arm.loop.look_ahead,
            'jerk_limited': arm.motion.limits_jerk,
            'longest_stop': arm.motion.longest_stop + arm.loop.period,
            'planner': arm.planner_state,
            **arm.watch.facts(q),
            **arm.others.facts(),
            **arm.gripper.facts(self._state.clock.now()),
            'attached': ', '.join(arm.world.attached),
            **arm.point_facts(),
        }
        warnings += [arm.loop.warning, *arm.others.warnings(), *arm.gripper.warnings()]
        facts['warnings'] = '; '.join(filter(None, warnings))
        if follower is not None:
            facts |= self._path_facts(follower) | self._goal_facts(follower)
        return Report(state, reason, awaited, facts, follower)

    def _path_facts(self, follower: Follower) -> dict[str, Any]:
        """Say which path was found last, to whichever goal there is."""
        found = follower.motion.found
        preview = None if found is None else found.preview
        return {
            'path': '' if found is None or found.path is None else found.kind,
            'path_length': 0.0 if preview is None else preview.length,
            'path_duration': 0.0 if preview is None else preview.duration,
            'path_share': 0.0 if preview is None else preview.share,
            'path_deviation_position': 0.0 if found is None else found.deviation.position,
            'path_deviation_orientation': 0.0 if found is None else found.deviation.orientation,
            'waits_for_execute': follower.motion.waits_for_execute,
            'goes_on': follower.goes_on_by_itself,
            **_program_facts(follower.run, () if found is None else found.remarks),
        }

    def _goal_facts(self, follower: Follower) -> dict[str, Any]:
        stamps = [tip.target_stamp for tip in self._topics.tips]
        world_frame = self._state.parameters.world_frame
        now = self._state.clock.now()
        facts = goal_facts(follower, stamps, now, world_frame)
        if not facts:
            return {}
        if not follower.goes_to_joints:
            return {**facts, 'target_configuration': ''}
        stamp, name = self._state.joint_target
        age = now - stamp if stamp > 0.0 else 0.0
        own = {'target_stamp': target_stamp(stamp), 'target_age': age}
        return {**facts, **own, 'target_configuration': name}


def _program_facts(run: ProgramRun | None, remarks: tuple[str, ...]) -> dict[str, Any]:
    """Say how far the arm is with a program; nothing where it has none."""
    if run is None:
        return {}
    return {
        'program': run.name,
        'segment': run.segment + 1,
        'segments': run.count,
        'progress': run.share,
        'time_left': run.time_left,
        'remarks': '; '.join(remarks),
    }
