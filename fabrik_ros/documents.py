"""Documents in YAML or JSON that people write: read with errors that name the place."""

from collections.abc import Mapping, Sequence
import math
from pathlib import Path
from typing import Any

from .errors import did_you_mean, FabrikError, listed, shown

LARGEST_FILE = 10_000_000
"""[bytes]."""


class Reader:
    """
    Reads documents and what is in them.

    Parameters
    ----------
    error : type
        Kind of the errors that it raises where something makes no sense.

    """

    def __init__(self, error: type[FabrikError]) -> None:
        self._error = error

    def document(self, path: Path) -> object:
        """Read a file."""
        try:
            if path.stat().st_size > LARGEST_FILE:
                raise self._error(f'the file has more than {LARGEST_FILE} bytes')
            text = path.read_text()
        except (OSError, UnicodeError, ValueError) as error:
            raise self._error(f'cannot be read: {" ".join(str(error).split())}') from error
        return self.parsed(text)

    def parsed(self, text: str) -> object:
        """Read the text of a document."""
        try:
            import yaml
        except ImportError as error:
            raise self._error('PyYAML is not installed; cure: pip install pyyaml') from error
        try:
            self._check_repeats(yaml.compose(text, yaml.SafeLoader))
            return yaml.safe_load(text)
        except (ValueError, RecursionError, yaml.YAMLError) as error:
            raise self._error(f'cannot be read: {" ".join(str(error).split())}') from error

    def _check_repeats(self, node: Any) -> None:
        """Refuse a key that is given twice: YAML would keep the last and lose the first."""
        waiting, seen = [] if node is None else [node], set()
        while waiting:
            node = waiting.pop()
            if id(node) in seen or node.id == 'scalar':
                continue
            seen.add(id(node))  # an alias may lead back
            if node.id == 'sequence':
                waiting.extend(node.value)
                continue
            keys = [key.value for key, _ in node.value if key.id == 'scalar']
            for key in keys:
                if keys.count(key) > 1:
                    line = node.start_mark.line + 1
                    raise self._error(
                        f"'{shown(key)}' is given twice in what begins in line {line}"
                    )
            waiting.extend(value for _, value in node.value)

    def mapping(self, value: object, what: str) -> Mapping[str, Any]:
        """Return keys and values."""
        if not isinstance(value, Mapping):
            raise self._error(f'{what}: expected keys and values, got {shown(str(value))}')
        return value

    def check_keys(self, entries: Mapping[str, Any], known: Sequence[str], what: str) -> None:
        """Refuse a key that is not known."""
        for key in map(str, entries):
            if key not in known:
                cure = f'{did_you_mean(key, known)}; known are: {listed(known)}'
                raise self._error(f"{what} has the unknown key '{shown(key)}'{cure}")

    def text(self, value: object, what: str) -> str:
        """Return a name."""
        if not isinstance(value, str):
            raise self._error(f'{what}: expected a name, got {shown(str(value))}')
        return value

    def number(self, value: object, what: str) -> float:
        """Return a number; YAML 1.1 takes 1e-3, without a point, for text."""
        try:
            number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise self._error(f'{what}: expected a finite number, got {shown(str(value))}')
        return number

    def numbers(self, values: object, count: int, what: str) -> tuple[float, ...]:
        """Return numbers, as many as there are to be."""
        if not isinstance(values, list | tuple) or len(values) != count:
            raise self._error(f'{what}: expected {count} numbers, got {shown(str(values))}')
        return tuple(self.number(value, what) for value in values)

    def triple(self, values: object, what: str) -> tuple[float, float, float]:
        """Return three numbers."""
        x, y, z = self.numbers(values, 3, what)
        return x, y, z
