"""Start the playground: `python -m fabrik_ros.playground`."""

from .textbook.playground.program import main

if __name__ == '__main__':
    main()
