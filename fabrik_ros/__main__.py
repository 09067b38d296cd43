"""`python -m fabrik_ros`: the command `fabrik_ros`."""

from .cli.main import main

if __name__ == '__main__':
    main()
