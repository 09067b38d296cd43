"""
Machine code of the kernels: numba writes LLVM code, LLVM makes an object file of each module.

Modules are compiled side by side. The code is for any processor of the machine's kind: newer
instructions gain nothing measurable.

"""

from collections.abc import Callable, Sequence
from concurrent.futures import as_completed, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
import ctypes
from functools import cache
import importlib
from itertools import groupby
import multiprocessing
import os
from pathlib import Path
import pickle
import platform
import re
import signal
import sys
import sysconfig
from threading import Thread
import types
from typing import Any, NamedTuple

BUILD_SETTINGS = {
    'NUMBA_CPU_NAME': 'generic',
    'NUMBA_CPU_FEATURES': '',
    # LLVM optimises once, in the end and as a whole.
    'NUMBA_OPT': '0',
    'NUMBA_LOOP_VECTORIZE': '0',
}
NOT_NOW = ('NUMBA_DISABLE_JIT', 'NUMBA_BOUNDSCHECK', 'NUMBA_DEBUGINFO')

FROM_MATH_LIBRARY = {
    'acos', 'asin', 'atan', 'atan2', 'ceil', 'copysign', 'cos', 'exp', 'floor', 'fmod', 'hypot',
    'log', 'memcpy', 'memmove', 'memset', 'pow', 'rint', 'round', 'sin', 'sqrt', 'sqrtf', 'tan',
    'trunc',
}  # fmt: skip
FROM_GLUE = {'numba_attempt_nocopy_reshape'}
# glue.c says of all that it was a division; numba raises the other one where it cannot give an
# array another shape, which is no matter for contiguous ones.
RAISED = {ZeroDivisionError, NotImplementedError}
RESULTS = {'bool': 'b', 'int64': 'i', 'float64': 'f', 'none': 'n'}

MOST_WORKERS = 2
"""Most processes that compile; each needs a gigabyte [1]."""
LONGEST = ('tree_search', 'batch', 'chain_search')
"""Modules that take longest come first; the last two have much in common."""


class Entry(NamedTuple):
    """A kernel that Python calls."""

    name: str
    """Module and function, as in `entries.py`."""
    llvm_name: str
    """What numba calls it."""
    kinds: tuple[str, ...]
    """Kinds of the arguments, as in `entries.py`."""
    results: tuple[str, ...] | str
    """Kinds of the results: b, i, f; n for none; a tuple of them for a tuple."""
    is_nogil: bool
    """Whether other threads run meanwhile."""

    @property
    def symbol(self) -> str:
        """Name of the function in the object code."""
        return f'kernel_{self.name.replace(".", "_")}'


def compile_entries(
    root: Path, kinds: dict[str, str], report: Callable[[int, int], None]
) -> tuple[list[bytes], list[Entry]]:
    """
    Compile kernels, given by name with the kinds of their arguments, as in `entries.py`.

    Returns object files and entries. `report` is told after each module how many kernels are
    compiled, and how many there are.
    """
    modules = {name: dict(some) for name, some in groupby(sorted(kinds.items()), module_of)}
    workers = min(MOST_WORKERS, os.cpu_count() or 1)
    context = multiprocessing.get_context('spawn')
    with ProcessPoolExecutor(workers, context, end_with_parent) as pool:
        order = [*LONGEST, *sorted(modules.keys() - LONGEST)]
        parts = [pool.submit(compile_module, root, modules[name]) for name in order]
        done = 0
        try:
            for part in as_completed(parts):
                done += len(part.result()[1])
                report(done, len(kinds))
        except BrokenProcessPool:
            sys.exit('a process that compiles kernels was killed; each of two needs a gigabyte')
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    codes, entries = zip(*(part.result() for part in parts), strict=True)
    return list(codes), [entry for some in entries for entry in some]


def module_of(item: tuple[str, str]) -> str:
    return item[0].split('.')[0]


def end_with_parent() -> None:
    """Let no process that compiles outlive the build, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()

    def wait() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def compile_module(root: Path, kinds: dict[str, str]) -> tuple[bytes, list[Entry]]:
    """Compile the kernels of a module; return one object file of them."""
    prepare(root)
    entries, codes = zip(*(compile_entry(*item) for item in kinds.items()), strict=True)
    module = link(entries, codes)
    machine = optimise(module)
    check(module)
    return machine.emit_object(module), list(entries)


@cache
def prepare(root: Path) -> None:
    """Get a process ready to compile."""
    os.environ.update(BUILD_SETTINGS)
    for name in NOT_NOW:
        os.environ.pop(name, None)
    sys.path.insert(0, str(root))
    leave_out_machine_code()
    stand_in_for_jit()


def leave_out_machine_code() -> None:
    """
    Keep numba from asking for machine code of each function with all that it calls.

    It would take half of the time, and nothing is run here. numba takes note of these methods when
    it is imported.
    """
    import llvmlite.binding as llvm

    unused = ctypes.c_void_p()
    llvm.ExecutionEngine.finalize_object = lambda engine: None
    # numba writes the address of the surroundings of a function there.
    llvm.ExecutionEngine.get_global_value_address = lambda engine, name: ctypes.addressof(unused)


def stand_in_for_jit() -> None:
    """
    Give the kernels another `_jit` module: what it compiles is to be linked, not to be run.

    The kernels are bare functions then, without the code by which Python calls what numba
    compiles, and LLVM puts them into each other.
    """
    import numba

    def kernel(function, nogil=False):
        options = {'_nrt': False, 'no_cpython_wrapper': True, 'no_cfunc_wrapper': True}
        return numba.njit(nogil=nogil, **options)(function)

    jit = types.ModuleType('fabrik_ros.kernels._jit')
    jit.COMPILED = True
    jit.kernel = kernel
    jit.nogil_kernel = lambda function: kernel(function, nogil=True)
    sys.modules[jit.__name__] = jit


def compile_entry(name: str, text: str) -> tuple[Entry, str]:
    """Let numba write the LLVM code of one kernel and of all that it calls; return it, too."""
    module, function = name.split('.')
    kernel = getattr(importlib.import_module(f'fabrik_ros.kernels.{module}'), function)
    kinds = tuple(text.split())
    signature = tuple(map(numba_type, kinds))
    kernel.compile(signature)
    done = kernel.overloads[signature]
    entry = Entry(
        name,
        done.fndesc.llvm_func_name,
        kinds,
        results_of(done.signature.return_type),
        bool(kernel.targetoptions.get('nogil')),
    )
    return entry, kernel.inspect_llvm(signature)


def numba_type(kind: str) -> Any:
    """Return numba's type for a kind: 'f2r' is a matrix of float64 that may be read-only."""
    from fabrik_ros.kernels.entries import LETTERS
    import numba

    names = {letter: name for name, letter in LETTERS.items()}
    scalar = numba.types.boolean if kind[0] == 'b' else getattr(numba.types, names[kind[0]])
    if kind[1:] == '':
        return scalar
    return numba.types.Array(scalar, int(kind[1]), 'C', readonly=kind.endswith('r'))


def results_of(result: Any) -> tuple[str, ...] | str:
    """Return the kind of a result, or those of a tuple."""
    import numba

    if isinstance(result, numba.types.BaseTuple):
        return tuple(RESULTS[str(kind)] for kind in result)
    return RESULTS[str(result)]


def link(entries: Sequence[Entry], codes: Sequence[str]) -> Any:
    """Put some entries into one module, in which only they can be seen from outside."""
    import llvmlite.binding as llvm

    visible = {entry.llvm_name for entry in entries}
    whole = None
    for code in codes:
        part = llvm.parse_assembly(code)
        for function in part.functions:
            if not function.is_declaration:
                # Many parts have the same functions. The linker keeps one of each; where nothing
                # calls it yet it would drop what is linked once, but keeps what is weak.
                function.linkage = 'weak_odr' if function.name in visible else 'linkonce_odr'
        if whole is None:
            whole = part
        else:
            whole.link_in(part)
    for function in whole.functions:
        if function.is_declaration:
            continue
        if function.name in visible:
            function.linkage = 'external'
            function.visibility = 'hidden'
        else:
            function.linkage = 'internal'
    for variable in whole.global_variables:
        if not variable.is_declaration and variable.linkage != llvm.Linkage.private:
            variable.linkage = 'internal'
    for entry in entries:
        whole.get_function(entry.llvm_name).name = entry.symbol
    return with_all_inlined(whole)


def with_all_inlined(module: Any) -> Any:
    """
    Return a module in which only entries are called: all else is put where it is called.

    That is said in LLVM's language: llvmlite before 0.46 says it of results, not of functions.
    """
    import llvmlite.binding as llvm

    head = re.compile(r'^(define internal .*\)(?: (?:local_)?unnamed_addr)?)', re.MULTILINE)
    return llvm.parse_assembly(head.sub(r'\1 alwaysinline', str(module)))


def triple(system: str, machine: str) -> str:
    """Name a system as LLVM does; macOS in the oldest release that Python runs on."""
    import llvmlite.binding as llvm

    if system != 'darwin':
        return llvm.get_default_triple()
    known = sysconfig.get_config_var('MACOSX_DEPLOYMENT_TARGET')
    oldest = os.environ.get('MACOSX_DEPLOYMENT_TARGET') or known
    return f'{machine}-apple-macosx{oldest}'


def optimise(module: Any) -> Any:
    """Run LLVM's optimiser over the module; return the machine to emit its code for."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module.triple = triple(sys.platform, platform.machine())
    machine = llvm.Target.from_triple(module.triple).create_target_machine(
        cpu='', features='', opt=3, reloc='pic', codemodel='default'
    )
    tuning = llvm.create_pipeline_tuning_options(3)
    tuning.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return machine


def check(module: Any) -> None:
    """See that the code calls nothing that only numba has, and raises only what glue.c knows."""
    called = {f.name for f in module.functions if f.is_declaration}
    foreign = {name for name in called if not name.startswith('llvm.')}
    unknown = foreign - FROM_MATH_LIBRARY - FROM_GLUE
    if unknown:
        sys.exit(f'kernels call what only numba has: {", ".join(sorted(unknown))}')
    pickled = (v for v in module.global_variables if re.search(r'pickledata\.[0-9a-f]+$', v.name))
    raised = {pickle.loads(bytes_of(variable))[0] for variable in pickled}
    if raised - RAISED:
        sys.exit(f'kernels raise what Python would not learn of: {raised - RAISED}')


def bytes_of(variable: Any) -> bytes:
    """Return what a constant of LLVM holds."""
    text = re.search(r'c"(.*?)"', str(variable)).group(1).encode()
    return re.sub(rb'\\([0-9A-F]{2})', lambda escape: bytes.fromhex(escape[1].decode()), text)
