"""Inverse kinematics: from poses of the tips to joint values, with constrained FABRIK."""
