"""Periods in which the log says the same again."""

WARNING_PERIOD = 1.0
"""The same warning, error or refusal is not logged again within this time [s]."""
REMINDER_PERIOD = 5.0
"""Time between two lines that say what is waited for [s]."""
