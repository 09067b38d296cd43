"""From points to the joint values of a robot arm: `method: points`."""
