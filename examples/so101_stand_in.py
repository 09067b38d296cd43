"""A stand-in of the servo bus of an SO-101, with the methods that lerobot's bus has."""

SHARE = 0.4
"""Part of the way to its goal that a servo goes between two writes [1]."""
FAILS_AT = 40
"""Number of the read that fails, as one does now and then on a real bus."""


class StandIn:
    """Servos that lag behind their goals; they stand in degrees, by the names of the motors."""

    def __init__(self) -> None:
        self._degrees = {
            'shoulder_pan': 10.0,
            'shoulder_lift': 60.0,
            'elbow_flex': 50.0,
            'wrist_flex': 40.0,
            'wrist_roll': 90.0,
        }
        self._reads = 0

    def sync_read(self, data_name: str, motors: list[str]) -> dict[str, float]:
        """Read where some motors are [degrees]."""
        assert data_name == 'Present_Position'
        self._reads += 1
        if self._reads == FAILS_AT:
            raise ConnectionError("Failed to sync read 'Present_Position': no status packet!")
        return {motor: self._degrees[motor] for motor in motors}

    def sync_write(self, data_name: str, values: dict[str, float]) -> None:
        """Tell some motors where to be [degrees]."""
        assert data_name == 'Goal_Position'
        for motor, goal in values.items():
            self._degrees[motor] += SHARE * (goal - self._degrees[motor])
