"""What launch files and processes are made of."""
