"""Every compiled function: kinematics, the two reaching passes, acceleration, polish, search."""
