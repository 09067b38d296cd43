"""Whether the solver can be relied on, beyond the arms and targets of the comparison."""

import all_solutions
import closed_path
import random_arms
import snake
import unreachable

CHECKS = {
    'random-arms': random_arms,
    'all-solutions': all_solutions,
    'unreachable': unreachable,
    'closed-path': closed_path,
    'snake': snake,
}
"""Modules with a function `measure` and a function `report` of what that returns."""
