"""A gripper: how wide it is open, how its joint moves, and what came of that. No ROS in here."""
