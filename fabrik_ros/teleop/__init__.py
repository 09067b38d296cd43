"""Devices that people move an arm with: what they say, and what the arm is told. No ROS here."""
