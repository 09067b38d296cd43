"""Configurations at a goal, and ways between configurations."""

from .plan_function import plan
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
