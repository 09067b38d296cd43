"""Qualities of service that several topics have."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

NEWEST = QoSProfile(depth=1)
"""Quality of service of targets and of what comes often: nobody wants an old one."""
NEWEST_OF_ANY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Likewise, from reliable and from best effort publishers."""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Later subscribers get the newest message, too."""
