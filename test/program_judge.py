"""
The judge of programs: pinocchio and numpy, and no code of the package but what people write.

Where the tool has to be on a line or an arc is told by geometry of its own.
"""

from collections.abc import Sequence
import math
from typing import NamedTuple

from fabrik_ros.programs import Arc, Joints, Line, Move, Pause
import numpy as np

LIMIT_SLACK = 1e-9
RATE_SLACK = 1e-6


class Slack(NamedTuple):
    """How far the tool may be off what is written."""

    position: float = 1e-4
    """Off its segment, or a waypoint where it stops [m]."""
    orientation: float = math.radians(0.1)
    """The same [rad]."""
    radius: float = 1e-6
    """Beyond the radius of a blend [m]."""
    speed: float = 0.01
    """Off a speed that is held, as a share of it [1]."""


EXACT = Slack()
AVERAGED = Slack(position=2e-4, radius=2e-4, speed=0.02)
"""With limited jerk."""


def turn(R_begin: np.ndarray, R_end: np.ndarray, share: float) -> np.ndarray:
    """Turn evenly from one orientation to another, by Rodrigues' formula."""
    R = R_begin.T @ R_end
    angle = math.acos(min(max(0.5 * (np.trace(R) - 1.0), -1.0), 1.0))
    if angle < 1e-9:
        return R_begin
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    axis /= 2.0 * math.sin(angle)
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    part = share * angle
    return R_begin @ (np.eye(3) + math.sin(part) * K + (1.0 - math.cos(part)) * K @ K)


def circle(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the centre of the circle through three points by least squares, and its axis."""
    axis = np.cross(b - a, c - a)
    rows = np.array([b - a, c - a, axis])
    right = [(b @ b - a @ a) / 2.0, (c @ c - a @ a) / 2.0, axis @ a]
    return np.linalg.solve(rows, right), axis / np.linalg.norm(axis)


class Track:
    """Where the tool has to be on one segment."""

    def __init__(self, segment, T_begin: np.ndarray) -> None:
        self._segment, self._begin = segment, T_begin
        self.end = np.array(T_begin)
        if isinstance(segment, (Line, Arc, Move)):
            self.end = np.array(segment.pose)
        self._angle = 0.0
        if isinstance(segment, Arc):
            a, b, c = T_begin[:3, 3], np.asarray(segment.via), self.end[:3, 3]
            self._centre, self._axis = circle(a, b, c)
            self._angle = segment.angle or self._angle_to(c)
            x = self._round(self._angle)
            self.end = self.end.copy()
            self.end[:3, 3] = x

    def _angle_to(self, point: np.ndarray) -> float:
        spoke, other = self._begin[:3, 3] - self._centre, point - self._centre
        return math.atan2(self._axis @ np.cross(spoke, other), spoke @ other) % (2.0 * math.pi)

    def _round(self, angle: float) -> np.ndarray:
        x, k = self._begin[:3, 3] - self._centre, self._axis
        turned = x * math.cos(angle) + np.cross(k, x) * math.sin(angle)
        return self._centre + turned + k * (k @ x) * (1.0 - math.cos(angle))

    def pose(self, share: float) -> np.ndarray:
        """Pose where a share of the segment lies behind."""
        T = np.eye(4)
        if isinstance(self._segment, Arc):
            T[:3, 3] = self._round(share * self._angle)
        else:
            T[:3, 3] = self._begin[:3, 3] + share * (self.end - self._begin)[:3, 3]
        T[:3, :3] = turn(self._begin[:3, :3], self.end[:3, :3], share)
        return T

    def errors(self, T: np.ndarray, before: float) -> tuple[float, float, float]:
        """Distance and angle from the segment, and the share of it that lies behind."""
        share = self._share(T, before)
        wanted = self.pose(share)
        off = wanted[:3, :3].T @ T[:3, :3]
        sine = np.linalg.norm(off - off.T) / math.sqrt(8.0)
        return float(np.linalg.norm((T - wanted)[:3, 3])), math.asin(min(sine, 1.0)), share

    def _share(self, T: np.ndarray, before: float) -> float:
        if isinstance(self._segment, Arc):
            share = self._angle_to(T[:3, 3]) / self._angle
            laps = 2.0 * math.pi / self._angle
            return min(max(share + laps * round((before - share) / laps), 0.0), 1.0)
        way = (self.end - self._begin)[:3, 3]
        if way @ way > 1e-12:
            return min(max(float((T[:3, 3] - self._begin[:3, 3]) @ way / (way @ way)), 0.0), 1.0)
        whole = np.trace(self._begin[:3, :3].T @ self.end[:3, :3])
        done = np.trace(self._begin[:3, :3].T @ T[:3, :3])
        angles = [math.acos(min(max(0.5 * (x - 1.0), -1.0), 1.0)) for x in (done, whole)]
        return min(angles[0] / angles[1], 1.0) if angles[1] > 1e-9 else 1.0


class Found:
    """What the judge found of one driven program."""

    def __init__(self) -> None:
        self.off = [0.0, 0.0]
        self.wrong: list[str] = []
        self.steady = 0.0
        """Time on lines and arcs at the asked speed [s]."""


def judged_program(judge, program, plan, limits, dt: float = 0.01, slack: Slack = EXACT) -> Found:
    """Look at every command of a plan: where the tool is, how fast the joints and it are."""
    found = Found()
    times, q = plan.times, plan.q
    names = plan.joint_names
    poses = [judge.pose(values, names) for values in q]
    _judge_joints(found, judge, names, q, limits, dt)
    tracks, T = [], poses[0]
    for number, segment in enumerate(program.steps):
        if isinstance(segment, Joints):
            at_end = max(np.flatnonzero(plan.segments == number), default=0)
            T = _end_of_joints(judge, names, segment, q[at_end])
            tracks.append(None)
            continue
        track = Track(segment, T)
        tracks.append(track)
        T = track.end
    before = dict.fromkeys(range(len(tracks)), 0.0)
    for i, time in enumerate(times.tolist()):
        number = int(plan.segments[i])
        segment = program.steps[number]
        is_blend = any(begin - dt <= time <= end + dt for begin, end in plan.blends)
        if number < 0 or not isinstance(segment, (Line, Arc)) or is_blend:
            continue
        distance, angle, share = tracks[number].errors(poses[i], before[number])
        before[number] = share
        found.off[0], found.off[1] = max(found.off[0], distance), max(found.off[1], angle)
        most = slack.position, slack.orientation
        if any(f'segment {number + 1}: leaves the line' in text for text in plan.remarks):
            most = most[0] + plan.position_error, most[1] + plan.orientation_error
        if distance > most[0] or angle > most[1]:
            found.wrong.append(
                f'{time:.2f} s, segment {number + 1}: {distance:.2e} m {angle:.2e} rad'
            )
    _judge_stops(found, program, plan, poses, tracks, slack)
    _judge_speed(found, program, plan, poses, limits, dt, slack.speed)
    end = tracks[-1]
    if end is not None and not isinstance(program.steps[-1], Pause):
        off = np.linalg.norm(poses[-1][:3, 3] - end.end[:3, 3])
        if off > slack.position:
            found.wrong.append(f'ends {off:.2e} m from its end')
    return found


def _end_of_joints(judge, names, segment, q) -> np.ndarray:
    values = dict(zip(names, q, strict=True))
    if isinstance(segment.values, dict):
        values |= segment.values
    else:
        values = dict(zip(names, np.asarray(segment.values), strict=True))
    return judge.pose(list(values.values()), names)


def _judge_joints(found, judge, names, q, limits, dt) -> None:
    order = [judge.joint_names.index(name) for name in names]
    lower, upper = judge.lower[order], judge.upper[order]
    if np.any(q < lower - LIMIT_SLACK) or np.any(q > upper + LIMIT_SLACK):
        found.wrong.append('outside the limits')
    velocity = np.diff(q, axis=0) / dt
    share = np.max(np.abs(velocity) / limits.joint_velocity)
    if share > 1.0 + RATE_SLACK:
        found.wrong.append(f'{share:.4f} of the joint velocity')
    still = np.zeros((1, q.shape[1]))
    acceleration = np.diff(np.vstack([still, velocity, still]), axis=0) / dt
    share = np.max(np.abs(acceleration) / limits.joint_acceleration)
    if share > 1.0 + RATE_SLACK:
        found.wrong.append(f'{share:.4f} of the joint acceleration')


def _judge_stops(found, program, plan, poses: Sequence[np.ndarray], tracks, slack: Slack) -> None:
    """Without a blend the arm rests exactly at the waypoint."""
    for number, track in enumerate(tracks[:-1]):
        on = np.flatnonzero(plan.segments == number)
        is_told = any(f'blend after segment {number + 1}:' in text for text in plan.remarks)
        if track is None or len(on) == 0 or isinstance(program.steps[number], Pause):
            continue
        radius = program.steps[number].blend
        if is_told and radius == 0.0:
            found.wrong.append(f'a remark on a blend that was not asked for: {number + 1}')
        near = min(np.linalg.norm(T[:3, 3] - track.end[:3, 3]) for T in poses)
        if near > radius + slack.position:
            found.wrong.append(f'passes waypoint {number + 1} at {near:.2e} m')
    for begin, end in plan.blends:
        inside = [i for i, t in enumerate(plan.times.tolist()) if begin <= t <= end]
        number = int(plan.segments[inside[0]]) if inside else -1
        if inside and tracks[number] is not None:
            far = max(np.linalg.norm(poses[i][:3, 3] - tracks[number].end[:3, 3]) for i in inside)
            if far > program.steps[number].blend + slack.radius:
                found.wrong.append(f'blend {number + 1} is {far:.4f} m from its waypoint')


def _judge_speed(found, program, plan, poses, limits, dt, slack: float) -> None:
    """Where it is not said beforehand the tool has the speed that was asked for."""
    for i in range(len(poses) - 1):
        begin, end = float(plan.times[i]), float(plan.times[i + 1])
        number = int(plan.segments[i])
        segment = program.steps[number]
        way = float(np.linalg.norm(poses[i + 1][:3, 3] - poses[i][:3, 3])) / dt
        if way > limits.tip_speed * (1.0 + 1e-3):
            found.wrong.append(f'{begin:.2f} s: {way:.4f} m/s')
        said = any(a - dt < end and begin < b + dt for a, b in (*plan.slow, *plan.blends))
        said |= any(f'segment {number + 1}:' in text for text in plan.remarks)
        is_on_course = number >= 0 and isinstance(segment, (Line, Arc))
        if not is_on_course or segment.speed is None or said:
            continue
        if int(plan.segments[i + 1]) != number:
            continue
        asked = min(segment.speed, limits.tip_speed)
        found.steady += dt
        if abs(way - asked) > slack * asked:
            found.wrong.append(f'{begin:.2f} s, segment {number + 1}: {way:.4f} m/s not {asked:g}')


def follows_to(judge, program, q: np.ndarray, names: Sequence[str], steps: int = 400) -> int:
    """
    Follow a program from one configuration by Newton steps; return the segment that stops that.

    Of its own: pinocchio's Jacobian, small steps, joints inside their limits. Free moves to poses
    have several ends, so that it goes no farther than to the first of them.
    """
    values = dict(zip(names, q, strict=True))
    T = judge.pose(list(values.values()), names)
    for number, segment in enumerate(program.steps):
        if isinstance(segment, Move):
            return number
        if isinstance(segment, Joints):
            q = np.array(segment.values)
            T = judge.pose(q, names)
        elif isinstance(segment, (Line, Arc)):
            track = Track(segment, T)
            for i in range(1, steps + 1):
                wanted = track.pose(i / steps)
                q_next = judge.near(wanted, q, names)
                if q_next is None or np.max(np.abs(q_next - q)) > 0.1:
                    return number
                q = q_next
            T = track.end
    return len(program.steps)
