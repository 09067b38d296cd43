"""An arm in the browser, where there is no RViz."""
