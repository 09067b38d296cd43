"""What a robot is: links, joints and geometry, from its URDF, and the chains and trees in it."""
