"""Programs of moves: lines, arcs, joint moves and pauses, known to their end before they begin."""

from .program import Arc, Joints, Line, Move, Pause, Program, Segment
from .program_file import load_program

__all__ = [
    'Arc',
    'Joints',
    'Line',
    'Move',
    'Pause',
    'Program',
    'Segment',
    'load_program',
]
