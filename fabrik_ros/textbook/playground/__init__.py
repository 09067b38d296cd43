"""
FABRIK as published, to play with: a planar chain that follows the mouse.

Start it with `python -m fabrik_ros.playground`. `scene` and `moves` are the model, without a line
of drawing; `program` starts; `stage`, `drawing`, `window` and `rendering` need matplotlib.

"""
