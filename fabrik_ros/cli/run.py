"""Move a simulated arm to the targets of a page in the browser; no ROS."""

from ..view.main import add_run_arguments as add_arguments, run

__all__ = ['add_arguments', 'run']
