"""The model of a robot from its URDF: links, joints and geometry, and chains and trees in it."""
