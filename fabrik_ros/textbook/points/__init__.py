"""FABRIK as published, on bare points: chains, trees, limits, two links."""
