"""Random programs of moves for an arm."""

import math

from fabrik_ros.programs import Arc, Joints, Line, Move, Pause, Program
from fabrik_ros.transforms import rotation_from_vector, transform
import numpy as np

FARTHEST, MOST_TURN = 0.2, 0.5
BLENDS = 0.0, 0.005, 0.02, 0.05


def unit(rng: np.random.Generator) -> np.ndarray:
    """Return a random direction."""
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def near_pose(rng: np.random.Generator, T: np.ndarray, size: float) -> np.ndarray:
    """Return a pose near another one."""
    R = rotation_from_vector(rng.uniform(0.0, MOST_TURN) * unit(rng))
    return transform(R @ T[:3, :3], T[:3, 3] + size * rng.uniform(0.02, FARTHEST) * unit(rng))


def random_program(rng: np.random.Generator, chain, q: np.ndarray, count: int) -> Program:
    """Return a program of some segments that begins at joint values `q`."""
    segments, T, size = [], chain.tip_poses(q)[0], min(1.0, chain.size)
    while len(segments) < count:
        settings = {
            'blend': float(rng.choice(BLENDS)),
            'share': float(rng.uniform(0.3, 1.0)),
            'acceleration': float(rng.choice([1.0, 0.5])),
        }
        if rng.random() < 0.6:
            settings['speed'] = float(rng.uniform(0.02, 0.25))
        kind = rng.choice(['line', 'line', 'line', 'arc', 'circle', 'joints', 'move', 'pause'])
        if kind == 'pause':
            segments.append(Pause(float(rng.uniform(0.0, 0.3))))
            continue
        if kind == 'joints':
            q = np.clip(q + rng.uniform(-0.4, 0.4, len(chain)), chain.lower, chain.upper)
            segments.append(Joints(q, **settings))
            T = chain.tip_poses(q)[0]
            continue
        goal = near_pose(rng, T, size)
        if kind == 'line':
            segments.append(Line(goal, **settings))
        elif kind == 'move':
            segments.append(Move(goal, **settings))
        else:
            via = 0.5 * (T + goal)[:3, 3] + 0.05 * size * unit(rng)
            angle = 2.0 * math.pi if kind == 'circle' else None
            segments.append(Arc(via, goal, angle, **settings))
            goal = goal.copy()
            goal[:3, 3] = T[:3, 3] if angle else goal[:3, 3]
        T = goal
    return Program(segments)
