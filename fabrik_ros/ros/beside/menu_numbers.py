"""Numbers of the entries of a menu, which stay while the menu changes."""

from collections.abc import Iterable, Iterator

from visualization_msgs.msg import MenuEntry

from .menu_entries import Entry, Wish


class MenuNumbers:
    """
    Numbers the entries of a menu that changes.

    An entry keeps its number, and no other one gets it: a menu that somebody has open is not
    renewed, and what is chosen there still means what was read there.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, ...], int] = {}
        self._wishes: dict[int, Wish] = {}

    def messages(self, entries: Iterable[Entry]) -> list[MenuEntry]:
        """Make the messages of entries, each menu before what is in it."""
        return list(self._messages(entries, ()))

    def wish(self, number: int) -> Wish | None:
        """Return what is wished for by an entry; None if there was none of that number."""
        return self._wishes.get(number)

    def _messages(self, entries: Iterable[Entry], path: tuple[str, ...]) -> Iterator[MenuEntry]:
        parent = self._numbers.get(path, 0)
        for entry in entries:
            own = (*path, entry.name)
            number = self._numbers.setdefault(own, len(self._numbers) + 1)
            if entry.wish is not None:
                self._wishes[number] = entry.wish
            yield MenuEntry(id=number, parent_id=parent, title=entry.title)
            yield from self._messages(entry.inside, own)
