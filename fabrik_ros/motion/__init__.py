"""From goals to joint commands that an arm can follow; no ROS in here."""
