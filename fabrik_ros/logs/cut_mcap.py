"""What is left of an MCAP whose end was cut off, and with it the index."""

from pathlib import Path
import struct
from typing import BinaryIO

MAGIC = b'\x89MCAP0\r\n'
"""At both ends."""
RECORD = struct.Struct('<BQ')
"""Before each record: its kind and length [bytes]."""
CHUNK = struct.Struct('<QQQII')
"""Before the records in a chunk: two times, size, checksum, length of the name of the packing."""
NOTHING, IS_FOOTER, IS_CHUNK, IS_DATA_END = 0x00, 0x02, 0x06, 0x0F
FOOTER = RECORD.pack(IS_FOOTER, 20) + bytes(20) + MAGIC
"""Of a file without an index."""


def is_cut_mcap(path: Path) -> bool:
    """Whether the end of a file is missing."""
    with path.open('rb') as file:
        file.seek(max(0, path.stat().st_size - len(MAGIC)))
        return file.read() != MAGIC


def mend_mcap(cut: Path, whole: Path) -> None:
    """
    Copy the records that are whole, and put an end to them.

    Raises
    ------
    ValueError
        If the file does not even begin as an MCAP.

    """
    with cut.open('rb') as source, whole.open('wb') as target:
        if source.read(len(MAGIC)) != MAGIC:
            raise ValueError('it does not begin as an MCAP')
        target.write(MAGIC)
        _copy_records(source, target, cut.stat().st_size)
        target.write(FOOTER)


def _copy_records(source: BinaryIO, target: BinaryIO, size: int) -> None:
    while len(head := source.read(RECORD.size)) == RECORD.size:
        kind, length = RECORD.unpack(head)
        if kind in (NOTHING, IS_FOOTER, IS_DATA_END):
            return
        if source.tell() + length <= size:
            target.write(head)
            target.write(source.read(length))
        elif kind != IS_CHUNK or not _enter_chunk(source):
            return


def _enter_chunk(source: BinaryIO) -> bool:
    """Go to the records in a chunk, which may stand alone; False where they are packed."""
    head = source.read(CHUNK.size)
    if len(head) < CHUNK.size or CHUNK.unpack(head)[-1]:
        return False
    return len(source.read(8)) == 8  # their length
