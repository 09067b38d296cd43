"""What the build tells LLVM, whichever version of it numba brings."""

from pathlib import Path
import pickle
import sys

import pytest

pytest.importorskip('llvmlite.binding', reason='the build needs numba')

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'build_kernels'))
import llvmlite.binding as llvm
import object_code

FUNCTIONS = """
define internal i32 @plain(i32 %0) {
  ret i32 %0
}

define internal noundef i32 @"with(brackets)"(ptr dereferenceable(8) %0) local_unnamed_addr #0 {
  ret i32 0
}

define hidden i32 @kernel_entry(i32 %0) #0 {
  %2 = call i32 @plain(i32 %0)
  ret i32 %2
}

attributes #0 = { nounwind }
"""


def test_all_but_entries_are_put_where_they_are_called():
    text = FUNCTIONS
    if llvm.llvm_version_info[0] < 17:
        text = text.replace('ptr ', 'i64* ')
    module = object_code.with_all_inlined(llvm.parse_assembly(text))
    module.verify()
    inlined = {f.name: 'alwaysinline' in str(list(f.attributes)) for f in module.functions}
    assert inlined == {'plain': True, 'with(brackets)': True, 'kernel_entry': False}


@pytest.mark.parametrize('ending', ['12', '0a9f3c'])
def test_kernel_that_raises_what_python_would_not_learn_of_ends_the_build(ending):
    pickled = pickle.dumps((ValueError, ()))
    text = ''.join(f'\\{byte:02X}' for byte in pickled)
    constant = f'@.const.pickledata.{ending} = constant [{len(pickled)} x i8] c"{text}"'
    with pytest.raises(SystemExit, match='ValueError'):
        object_code.check(llvm.parse_assembly(constant))
