"""What the page writes of an arm: its state, why, and how near it is to what."""

import html
import math

from ..motion.following.arm_state import UNDER_WAY
from .source import Gap, Snapshot

GOOD, BUSY, BAD = '#1a7f37', '#1f6feb', '#b35900'
GOOD_STATES = ('IDLE', 'REACHED', 'READY', 'CONVERGED')


def status_html(snapshot: Snapshot, asked: str = '', age: float = 0.0) -> str:
    """
    Write the state of an arm.

    Parameters
    ----------
    snapshot : Snapshot
        The state.
    asked : str
        How far away is what was asked on the page; '' where that is plain.
    age : float
        How long ago that was, in a recording [s]; 0: it is so now.

    """
    state = snapshot.state
    color = GOOD if state in GOOD_STATES else BUSY if state in UNDER_WAY else BAD
    said = [
        snapshot.answer,
        snapshot.reason,
        snapshot.refusal and f'refused: {snapshot.refusal}',
        asked and f'asked: {asked}',
    ]
    near = [_gap_text('obstacle', snapshot.to_obstacle), _gap_text('itself', snapshot.to_itself)]
    return _area(state, color, [*filter(None, said)], near, age)


def silence_html(name: str) -> str:
    """Write that nothing is heard of something with a name."""
    return _area('NO DATA', BAD, [f'nothing is heard of {name}'], ['', ''])


def _area(state: str, color: str, said: list[str], near: list[str], age: float = 0.0) -> str:
    when = f'<small>{age:.1f} s ago</small>' if age > 0.0 else ''
    why = ''.join(f'<div>{html.escape(text)}</div>' for text in said)
    rows = ''.join(
        f'<div class="near" title="{html.escape(text)}">{html.escape(text)}</div>' for text in near
    )
    past = ' past' if age > 0.0 else ''
    return (
        f'<div class="fabrik-status{past}" role="status" aria-label="State of the arm">'
        f'<div class="head" style="color:{color}">{html.escape(state)}{when}</div>'
        f'<div class="why" tabindex="0">{why}</div>{rows}</div>'
    )


def _gap_text(kind: str, gap: Gap) -> str:
    if math.isnan(gap.distance):
        return ''
    keeps = '' if math.isnan(gap.clearance) else f' (keeps {1e3 * gap.clearance:.0f})'
    return f'{kind}: {1e3 * gap.distance:.0f} mm{keeps}, {gap.names}'


def event_html(ages: list[float], snapshots: list[Snapshot]) -> str:
    """Write what happened how long ago [s], newest first."""
    rows = ''.join(
        f'<div title="{html.escape(_event(snapshot))}">{-age:.1f} s: '
        f'{html.escape(_event(snapshot))}</div>'
        for age, snapshot in zip(reversed(ages), reversed(snapshots), strict=True)
    )
    return f'<div class="fabrik-events" tabindex="0" aria-label="Events">{rows}</div>'


def _event(snapshot: Snapshot) -> str:
    refused = snapshot.refusal and f'refused: {snapshot.refusal}'
    return ', '.join(filter(None, [snapshot.state, snapshot.reason, refused]))
