"""Motion: joint commands that an arm can follow, made of goals; no ROS in here."""
