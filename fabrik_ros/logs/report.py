"""One page of a log, which needs nothing else to be looked at."""

from collections.abc import Iterable, Sequence
from html import escape
import math

import numpy as np

from ..transforms import Array
from .measures import answer_times, Event, events, limits_used, Tracking, tracking
from .motion_log import MotionLog
from .svg import plot

STYLE = (
    'body{font:15px system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;'
    'color:#222;background:#fff}table{border-collapse:collapse}'
    'td,th{text-align:left;padding:.2em .8em .2em 0;border-bottom:1px solid #ddd;'
    'vertical-align:top}svg{width:100%}.stop{color:#b00020}'
)
MOST_EVENTS = 500
"""So many changes of the state are listed, the last ones."""


def report(log: MotionLog) -> str:
    """Write the page, in HTML."""
    followed, happened = tracking(log), events(log)
    error_plot = plot(followed.times, dict(zip(log.joints, followed.error.T, strict=True)), '')
    commands = log.commands
    value_plot = plot(commands.heard, dict(zip(log.joints, commands.q.T, strict=True)), '')
    parts = [
        '<h1>fabrik_ros: report of a log</h1>',
        *([f'<p class=stop>{escape(log.where_cut)}</p>'] if log.is_cut else []),
        _table(['', ''], log.about.items()),
        '<h2>In short</h2>',
        _table(['', ''], _summary(log, followed, happened)),
        '<h2>Joints</h2>',
        _table(
            ['joint', 'rms error', 'worst error', 'of velocity limit', 'of acceleration limit'],
            _joint_rows(log, followed),
        ),
        '<p>Errors are measured less commanded values [rad or m] while commands came, compared '
        'when they were heard.</p>',
        '<h2>Commands [rad or m]</h2>',
        value_plot or '<p>None were heard.</p>',
        '<h2>Tracking errors [rad or m]</h2>',
        error_plot or '<p>Nothing was measured while commands came.</p>',
        '<h2>States and stops</h2>',
        _events_table(happened[-MOST_EVENTS:]),
        '<h2>Last status</h2>',
        _table(['', ''], _last_facts(log)),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<title>Report of a log of fabrik_ros</title><style>{STYLE}</style></head>\n'
        f'<body>{chr(10).join(parts)}</body></html>\n'
    )


def _summary(
    log: MotionLog, followed: Tracking, happened: Sequence[Event]
) -> list[tuple[str, str]]:
    answers = answer_times(log)
    stops = sum(event.is_stop for event in happened)
    return [
        ('duration', f'{log.duration:.1f} s'),
        ('commands', str(len(log.commands.heard))),
        ('measured states', str(len(log.states.heard))),
        ('targets', str(len(log.targets))),
        ('stops', str(stops)),
        ('target to first command', _spread(answers)),
        ('command to measured', 'unknown' if math.isnan(followed.lag) else _ms(followed.lag)),
    ]


def _spread(times: Array) -> str:
    if not len(times):
        return 'unknown: no target came at rest'
    return f'median {_ms(float(np.median(times)))}, longest {_ms(float(times.max()))}'


def _ms(time: float) -> str:
    return f'{1e3 * time:.0f} ms'


def _joint_rows(log: MotionLog, followed: Tracking) -> Iterable[tuple[str, ...]]:
    used = limits_used(log)
    for number, name in enumerate(log.joints):
        yield (
            name,
            _number(followed.rms[number], '{:.3g}'),
            _number(followed.worst[number], '{:.3g}'),
            _number(used.velocity[number], '{:.0%}'),
            _number(used.acceleration[number], '{:.0%}'),
        )


def _number(value: float, form: str) -> str:
    return form.format(value) if math.isfinite(value) else 'unknown'


def _last_facts(log: MotionLog) -> list[tuple[str, str]]:
    facts = log.statuses[-1].facts if log.statuses else {}
    rows = [(name.replace('_', ' '), text) for name, text in facts.items() if text]
    return rows or [('no status was heard', '')]


def _events_table(happened: Sequence[Event]) -> str:
    rows = ''.join(
        f'<tr{" class=stop" if event.is_stop else ""}><td>{event.time:.2f} s</td>'
        f'<td>{escape(event.state)}</td><td>{escape(event.code)}</td>'
        f'<td>{escape(event.reason)}</td></tr>'
        for event in happened
    )
    return f'<table><tr><th>time<th>state<th>code<th>reason</tr>{rows}</table>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    titles = ''.join(f'<th>{escape(cell)}</th>' for cell in head)
    first = f'<tr>{titles}</tr>' if any(head) else ''
    body = ''.join(
        f'<tr>{"".join(f"<td>{escape(cell)}</td>" for cell in row)}</tr>' for row in rows
    )
    return f'<table>{first}{body}</table>'
