"""Limited motion of joints: limits, the limiter, limited jerk, stops."""
