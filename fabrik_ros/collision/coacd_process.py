"""
Divides a mesh into convex parts with CoACD, in a process of its own: the only module with CoACD.

Its library is compiled, looks for minutes at meshes that it does not like, and may end the process
over them. What comes in, and goes out, are arrays as `numpy.savez` writes them.

Source: Wei, Liu, Ling and Su, "Approximate convex decomposition for 3D meshes with collision-aware
concavity and tree search" (2022).

"""

import io
import json
import os
import sys

import numpy as np


def main() -> None:
    """Read vertices, triangles and settings; write vertices of the parts, and their counts."""
    given = np.load(io.BytesIO(sys.stdin.buffer.read()))
    out = os.dup(1)
    os.dup2(2, 1)  # what the library prints is no answer
    import coacd

    coacd.set_log_level('error')
    mesh = coacd.Mesh(given['vertices'], given['triangles'])
    parts = coacd.run_coacd(mesh, **json.loads(str(given['settings'])))
    memory = io.BytesIO()
    points = [np.asarray(vertices, dtype=np.float64) for vertices, _ in parts]
    np.savez(memory, points=np.concatenate(points), counts=[len(each) for each in points])
    with os.fdopen(out, 'wb') as stream:
        stream.write(memory.getvalue())


if __name__ == '__main__':
    main()
