"""Parts of launch files and of processes."""
