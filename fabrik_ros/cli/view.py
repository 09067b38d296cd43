"""Show a robot in the browser, with sliders and a handle that solves; or a running node's arm."""

from ..view.main import add_view_arguments as add_arguments, view as run

__all__ = ['add_arguments', 'run']
