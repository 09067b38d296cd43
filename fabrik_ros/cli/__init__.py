"""The command `fabrik_ros`: one module for each subcommand, imported when it is called."""
