"""The rules round the motion: when it may start, when it must stop, what is said."""
