"""World around the arm, put in force."""
