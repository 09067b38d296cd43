"""The unit of a COLLADA file, which readers of meshes leave out."""

from __future__ import annotations

import math
from pathlib import Path
import re

from ..errors import shown

SUFFIX = '.dae'
HEAD = 100_000
"""The unit is within so many bytes from the beginning: the asset is the first element."""
COMMENT = re.compile('<!--.*?-->', re.DOTALL)
ASSET = re.compile(r'<(?:\w+:)?asset\b.*?</(?:\w+:)?asset\s*>', re.DOTALL)
METER = re.compile(r"""<(?:\w+:)?unit\b[^>]*?\smeter\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.DOTALL)


def unit_of(path: Path) -> float:
    """
    Length of the unit of a mesh [m]: 1 where the file is not COLLADA, or says none.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the unit is no length.

    """
    if path.suffix.lower() != SUFFIX:
        return 1.0
    with path.open('rb') as file:
        head = file.read(HEAD).decode('utf-8', 'replace')
    asset = ASSET.search(COMMENT.sub('', head))
    meter = METER.search(asset[0]) if asset else None
    if meter is None:
        return 1.0
    text = meter[1] if meter[1] is not None else meter[2]
    try:
        unit = float(text)
    except ValueError:
        unit = math.nan
    if not 0.0 < unit < math.inf:
        raise ValueError(f"its unit is '{shown(text)}' m; expected a length above 0")
    return unit
