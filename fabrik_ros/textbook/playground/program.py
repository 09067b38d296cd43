"""The program `python -m fabrik_ros.playground`: a window, or a file."""

from __future__ import annotations

from collections.abc import Sequence
import importlib.util
import sys

from .arguments import Options, read_options

NO_MATPLOTLIB = (
    'the playground draws with matplotlib and pillow, and {missing} is missing: '
    "pip install '.[plot]' in the checkout, or pip install matplotlib pillow"
)
NO_WINDOW = (
    'matplotlib found no display, or nothing to open a window with (Debian, Ubuntu: apt install '
    'python3-tk; anywhere: pip install PyQt6). Without a window: --render picture.png or film.gif'
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Open the window, or write the file asked for; messages for the reader end with code 1."""
    options = read_options(sys.argv[1:] if arguments is None else arguments)
    for module, name in (('matplotlib', 'matplotlib'), ('PIL', 'pillow')):
        if importlib.util.find_spec(module) is None:
            sys.exit(NO_MATPLOTLIB.format(missing=name))
    if options.render is not None:
        from .rendering import render

        render(options, options.render)
        print(f'wrote {options.render}')
    else:
        open_window(options)


def open_window(options: Options) -> None:
    """Show the window until it is closed."""
    import matplotlib.pyplot as plt

    from .drawing import SIZE
    from .window import Window

    figure = plt.figure('FABRIK playground', figsize=SIZE)
    if figure.canvas.required_interactive_framework is None:
        sys.exit(NO_WINDOW)
    # Our keys would otherwise also do what matplotlib has them for.
    handler = figure.canvas.manager.key_press_handler_id
    if handler is not None:
        figure.canvas.mpl_disconnect(handler)
    window = Window(figure, options)
    plt.show()
    del window  # kept until now: matplotlib holds callbacks weakly
