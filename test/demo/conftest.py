"""Tests import the modules of the demo, and of the figures, as these import each other."""

from pathlib import Path
import sys

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'demo'), str(ROOT / 'docs')]
