"""What is around the arm, put in force."""
