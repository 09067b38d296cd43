"""Whether the stamp of a message can be right: neither too old nor ahead of the clock here."""

from ...errors import RefusedError
from ...reasons import Reason, ReasonKind

FUTURE = 0.1
"""Stamps may be ahead of the clock by this time [s]; clocks of two machines differ."""
ANOTHER_TIME = 1e6
"""Clocks that differ by more do not show the same time: one of them is simulated [s]."""


def check_age(what: str, stamp: float, now: float, most: float) -> None:
    """
    Refuse a message whose stamp is negative, too old, or ahead of the time.

    Parameters
    ----------
    what : str
        What the message is.
    stamp, now : float
        Its stamp, 0 for none, and the time [s].
    most : float
        Greatest age [s]; 0: any, in the future, too.

    Raises
    ------
    RefusedError
        If so; says why, and what to do about clocks that differ.

    """
    if stamp < 0.0:
        raise _refusal(f'the {what} has the stamp {stamp:.9g} s; expected 0 or a time')
    if most == 0.0 or stamp == 0.0:
        return
    if now - stamp > most:
        why = f'; {cure(now - stamp)}' if now - stamp > ANOTHER_TIME else ''
        age = f'{now - stamp:.2f} s old (max_target_age {most:g} s)'
        raise _refusal(f'the {what} is {age}{why}')
    if stamp - now > FUTURE:
        raise _refusal(f'the stamp of the {what} is {ahead(stamp, now)}')


def ahead(stamp: float, now: float) -> str:
    """Say by how much a stamp is ahead of the time `now` [s], and what to do about that."""
    return f'{stamp - now:.2f} s ahead of the clock here; {cure(stamp - now)}'


def cure(difference: float) -> str:
    """Say what makes two clocks agree that differ by a time [s]."""
    if difference > ANOTHER_TIME:
        return 'set use_sim_time alike for sender and node'
    return 'set the clocks of both machines by NTP (chrony)'


def _refusal(text: str) -> RefusedError:
    return RefusedError(Reason(ReasonKind.BAD_REQUEST, text))
