"""What is left of a zip whose end was cut off, and with it the directory."""

import struct
import zipfile
import zlib

HEADER = struct.Struct('<4s4xH4x3I2H')
"""Before a file: signature, method, checksum, both sizes, lengths of the name and of the rest."""
SIGNATURE = b'PK\x03\x04'


def read_cut_zip(data: bytes, largest: int) -> dict[str, bytes]:
    """
    Unpack the files of a zip, the last one as far as it goes.

    Parameters
    ----------
    data : bytes
        The zip, as `zipfile` writes it.
    largest : int
        Longest file that is unpacked [bytes].

    Raises
    ------
    BadZipFile
        If there is no file in it, or a whole one is damaged.

    """
    files: dict[str, bytes] = {}
    place = 0
    while place + HEADER.size <= len(data):
        signature, method, checksum, packed, size, name, extra = HEADER.unpack_from(data, place)
        if signature != SIGNATURE:
            break
        begin = place + HEADER.size
        text = data[begin : begin + name].decode(errors='replace')
        begin += name + extra
        place = begin + packed
        files[text] = _unpacked(data[begin:place], method, min(size, largest))
        if place <= len(data) and zlib.crc32(files[text]) != checksum:
            raise zipfile.BadZipFile(f'{text} is damaged')
    if not files:
        raise zipfile.BadZipFile('it is not a zip')
    return files


def _unpacked(data: bytes, method: int, size: int) -> bytes:
    if method != zipfile.ZIP_DEFLATED:
        return data[:size]
    return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, max(size, 1))
