"""Configurations at a goal, and ways between configurations."""

from importlib import import_module
from typing import Any

from .plan_request import PlanRequest
from .plan_result import Plan, PlanOutcome
from .planner import Planner
from .planner_setup import PlannerSetup
from .planner_thread import PlannerFailure, PlannerState, PlannerThread

__all__ = [
    'Plan',
    'PlanOutcome',
    'PlanRequest',
    'Planner',
    'PlannerFailure',
    'PlannerSetup',
    'PlannerState',
    'PlannerThread',
    'plan',
]


def __getattr__(name: str) -> Any:
    """Find `plan`, which is above this room: it plans programs, too."""
    if name != 'plan':
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return import_module('fabrik_ros.plans').plan
