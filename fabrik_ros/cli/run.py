"""Move a simulated arm to targets, and show it in the browser; by the node where ROS 2 is."""

from ..view.main import add_run_arguments as add_arguments, run

__all__ = ['add_arguments', 'run']
