"""
Make the machine code of the kernels: `python build_kernels [FILE]`.

The kernels in `fabrik_ros/kernels` are Python. Here numba compiles those that Python calls, as
listed in `entries.py` there, with all that they call:

    entries.py + kernels --object_code.py: numba, LLVM--> 0.o, 1.o, ...
    entries.py + results --glue.py-----------------------> glue.c
    objects + glue.c     --linking.py: the C compiler----> _built.abi3.so, on Windows _built.pyd

The result is one extension module for all versions of CPython from 3.10 on, which needs neither
numba nor a compiler where it runs. `fabrik_ros/kernels/_jit.py` takes it if it fits the sources.

Without FILE the module is put beside the kernels in this checkout, where Python finds it. Making
it takes a minute, so each is kept in `build/kernels`, by the sources it was made of. pip and
colcon give a FILE: they take one that is kept, and leave none in the checkout.

To add a kernel: write it, call it, run the tests. They print the line that `entries.py` lacks.

"""

from importlib.util import find_spec, module_from_spec, spec_from_file_location
import os
from pathlib import Path
import platform
import shutil
import sys
import tempfile
from types import ModuleType

import linking

TOOLS = Path(__file__).resolve().parent
ROOT = TOOLS.parent
KERNELS = ROOT / 'fabrik_ros' / 'kernels'
BUILT = linking.module_name(sys.platform)


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else KERNELS / BUILT
    module = find_kept()
    if module is None:
        module = target if len(sys.argv) > 1 else kept_file()
        make(module)
    if not is_made_of_these_sources(target):
        put(module, target)


def find_kept() -> Path | None:
    """Return a module made of the present sources, if there is one."""
    return next(filter(is_made_of_these_sources, (KERNELS / BUILT, kept_file())), None)


def kept_file() -> Path:
    return ROOT / 'build' / 'kernels' / made_of().replace(' ', '-')[:40] / BUILT


def made_of() -> str:
    """Name the machine and the sources that a module is made for and of."""
    return f'{platform.machine()} {stamp_of(KERNELS, TOOLS)}'


def stamp_of(*folders: Path) -> str:
    return module_alone('_stamp').stamp_of(*folders)


def module_alone(name: str) -> ModuleType:
    """Load a module of the kernels without importing the package."""
    spec = spec_from_file_location(name, KERNELS / f'{name}.py')
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_made_of_these_sources(module: Path) -> bool:
    return module.is_file() and made_of().encode() in module.read_bytes()


def put(module: Path, target: Path) -> None:
    """Copy a module in one step: a process that has it loaded keeps the old file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f'{target.name}.{os.getpid()}.new')
    shutil.copy(module, new)
    os.replace(new, target)


def make(target: Path) -> None:
    """Compile and link; ends the process with one line where something is missing."""
    if missing := linking.what_is_missing(sys.platform):
        sys.exit(missing)
    if find_spec('numba') is None:
        sys.exit('numba is not installed')

    import glue
    import object_code

    kinds = module_alone('entries').ENTRIES
    say('compiling the kernels, which takes a minute or two')
    codes, entries = object_code.compile_entries(ROOT, kinds, report)
    text = glue.write(entries, stamp_of(KERNELS), made_of())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        objects = [folder / f'{number}.o' for number in range(len(codes))]
        for file, code in zip(objects, codes, strict=True):
            file.write_bytes(code)
        (folder / 'glue.c').write_text(text)
        if not linking.link(sys.platform, folder / 'glue.c', objects, folder / BUILT):
            sys.exit('the C compiler failed, see above')
        put(folder / BUILT, target)


def report(done: int, count: int) -> None:
    say(f'{done} of {count} kernels compiled')


def say(text: str) -> None:
    print(f'fabrik_ros: {text}', file=sys.stderr, flush=True)


if __name__ == '__main__':
    main()
