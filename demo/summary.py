"""What a run of the demo was like, in words."""

from demo_node import Demo
import numpy as np


def summary(demo: Demo, arm: str) -> str:
    """Tell how it went, with the arm in words."""
    judge, status, tally = demo.judge, demo.status, demo.tally
    finishers = {who: int(status.get(f'finished_by_{who}', 0)) for who in ('fabrik', 'polish')}
    solves = max(1, sum(finishers.values()))
    left = np.array(tally.left or [(0.0, 0.0)])
    lines = [
        f'arm               {arm}',
        f'scene             {demo.scene.name}: {demo.scene.meaning}',
        f'targets sent      {tally.judged + tally.interrupted}',
        f'{demo.scene.done:17} {tally.done} ({tally.done / max(1, tally.judged):.1%})',
        *(f'  {count:>3} times       {answer}' for answer, count in tally.answers.most_common()),
        *([f'interrupted       {tally.interrupted}'] if tally.interrupted else []),
        f'refused           {status.get("refused", "?")}',
        f'{"left over" if demo.scene.reasons else "worst residual":17} '
        f'{left[:, 0].max():.2e} m, {left[:, 1].max():.2e} rad at most when left (pinocchio, '
        'from the joint states on the wire; reached: 1e-4 m, 1e-3 rad)',
        f'out of bounds     {judge.violation_count} of {len(judge.commands)} commands, '
        f'{len(judge.too_near)} of them within a clearance (pinocchio and coal)',
        f'by FABRIK alone   {finishers["fabrik"] / solves:.1%} of {solves} solves; the others by '
        'the polish too: a few damped least-squares steps',
        f'command rate      {judge.command_rate():.1f} Hz',
        f'solve time        {_median(demo.times["solve_time"])} for a target, '
        f'{_median(demo.times["step_time"])} for a control step (medians)',
    ]
    return '\n'.join([*lines, *judge.violations[:5]])


def _median(seconds: list[float]) -> str:
    return f'{1e3 * float(np.median(seconds)):.3f} ms' if seconds else 'unknown'
