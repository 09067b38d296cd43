"""Configurations at a goal, and ways between configurations."""

from .plan_function import plan
from .plan_request import PlanRequest
from .plan_result import Plan, PlanOutcome
from .planner import Planner
from .planner_process import PlannerFailure, PlannerProcess, ProcessState
from .planner_setup import PlannerSetup

__all__ = [
    'Plan',
    'PlanOutcome',
    'PlanRequest',
    'Planner',
    'PlannerFailure',
    'PlannerProcess',
    'PlannerSetup',
    'ProcessState',
    'plan',
]
