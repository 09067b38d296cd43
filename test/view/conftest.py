"""Tests import what they share as `browser`."""

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).parent))
