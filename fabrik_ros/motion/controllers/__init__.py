"""Trajectories for controllers, which hear commands late."""
