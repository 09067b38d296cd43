"""What joints may do: limits, the limiter, limited jerk, stops."""
