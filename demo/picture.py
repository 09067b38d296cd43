"""The picture of a demo run: the arm along its path, and how far it was from each target."""

from pathlib import Path

import matplotlib

matplotlib.use('Agg')

from judge import Judge, ORIENTATION_TOLERANCE, POSITION_TOLERANCE
import matplotlib.pyplot as plt
from mpl_toolkits.mplot3d import Axes3D
import numpy as np

SHOWN_ARMS = 14
ARM, PATH, TARGET = '#1f5fb4', '#8a8f98', '#1b9e5a'


def draw(judge: Judge, targets: list[np.ndarray], file: Path) -> None:
    """
    Write the picture of a run.

    Parameters
    ----------
    judge : Judge
        What was seen on the wire.
    targets : list of array, shape (4, 4)
        What was asked for.
    file : Path
        Where the picture goes.

    """
    figure = plt.figure(figsize=(12.0, 5.5), layout='constrained')
    space = figure.add_subplot(1, 2, 1, projection='3d')
    _draw_arm(space, judge, targets)
    _draw_residuals(figure.add_subplot(1, 2, 2), judge)
    figure.savefig(file, dpi=110)
    plt.close(figure)


def _draw_arm(space: Axes3D, judge: Judge, targets: list[np.ndarray]) -> None:
    configurations = [q for _, q in judge.commands]
    path = np.array([judge.tip_position(q) for q in configurations])
    space.plot(*path.T, color=PATH, linewidth=0.8, label='path of the tool')
    for k in np.linspace(0, len(configurations) - 1, SHOWN_ARMS).astype(int):
        shade = 0.15 + 0.85 * k / len(configurations)
        centres = judge.joint_centres(configurations[k])
        space.plot(*centres.T, '-o', color=ARM, alpha=shade, linewidth=2.5, markersize=3.5)
    space.scatter(*np.array([T[:3, 3] for T in targets]).T, color=TARGET, s=22, label='targets')
    space.set(xlabel='x [m]', ylabel='y [m]', zlabel='z [m]', title='The arm along its path')
    space.set_aspect('equal')
    space.legend(loc='upper left')


def _draw_residuals(plot: plt.Axes, judge: Judge) -> None:
    times, positions, orientations = np.array(judge.residuals).T
    times = times - times[0]
    floor = 1e-8
    plot.semilogy(times, np.maximum(positions, floor), label='position [m]', color=ARM)
    plot.semilogy(times, np.maximum(orientations, floor), label='orientation [rad]', color=TARGET)
    plot.axhline(POSITION_TOLERANCE, color=ARM, linestyle=':', linewidth=1.0)
    plot.axhline(ORIENTATION_TOLERANCE, color=TARGET, linestyle=':', linewidth=1.0)
    plot.set(xlabel='time [s]', title='From the measured joints to the target; dotted: reached')
    plot.legend(loc='upper right')
    plot.grid(alpha=0.3)
