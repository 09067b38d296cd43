"""What the build tells LLVM, whichever version of it numba brings, and the linkers of systems."""

from pathlib import Path
import pickle
import sys

import pytest

pytest.importorskip('llvmlite.binding', reason='the build needs numba')

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'build_kernels'))
import linking
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


@pytest.mark.parametrize(
    ('system', 'name', 'options'),
    [
        ('linux', '_built.abi3.so', {'-shared', '-fPIC'}),
        ('darwin', '_built.abi3.so', {'-bundle', '-undefined', 'dynamic_lookup'}),
    ],
)
def test_compiler_is_told_to_link_as_its_system_loads(monkeypatch, system, name, options):
    monkeypatch.setenv('CC', 'some-cc -arch arm64')
    objects = [Path('0.o'), Path('1.o')]
    words = linking.command(system, Path('glue.c'), objects, Path('folder', name))
    assert words[:3] == ['some-cc', '-arch', 'arm64']
    assert words[-2:] == ['-o', str(Path('folder', name))]
    assert options <= set(words)
    assert words.index('glue.c') < words.index('0.o') < words.index('1.o') < words.index('-lm')
    assert linking.module_name(system) == name


def test_module_has_a_name_that_the_importer_of_windows_takes():
    assert linking.module_name('win32') == '_built.pyd'


@pytest.mark.parametrize(
    ('system', 'missing'),
    [
        ('linux', 'there is no C compiler: no-such-cc'),
        ('darwin', 'there is no C compiler: no-such-cc'),
        ('win32', ''),
        ('plan9', 'built code is made on Linux, macOS and Windows only, not on plan9'),
    ],
)
def test_what_is_missing_is_said(monkeypatch, system, missing):
    monkeypatch.setenv('CC', 'no-such-cc')
    assert linking.what_is_missing(system) == missing


def test_windows_is_left_to_the_compiler_that_setuptools_finds(monkeypatch, tmp_path):
    """A stand-in for it, as that runs nowhere else: what is compiled, and what is linked."""
    said = []

    class Microsoft:
        def compile(self, sources, output_dir, **given):
            said.append((sources, output_dir, given))
            return ['glue.obj']

        def link_shared_object(self, objects, target, **given):
            said.append((objects, target, given))

    pytest.importorskip('setuptools')
    from distutils import ccompiler

    monkeypatch.setattr(ccompiler, 'new_compiler', lambda compiler: Microsoft())
    source, objects, target = tmp_path / 'glue.c', [tmp_path / '0.o'], tmp_path / '_built.pyd'
    assert linking.link('win32', source, objects, target)
    (sources, folder, compiled), (linked, made, given) = said
    assert (sources, folder) == ([str(source)], str(tmp_path))
    assert compiled['include_dirs'] == [str(linking.headers())]
    assert (linked, made) == (['glue.obj', str(objects[0])], str(target))
    assert given['export_symbols'] == ['PyInit__built']


def test_a_compiler_that_fails_is_told(monkeypatch, tmp_path):
    pytest.importorskip('setuptools')
    from distutils import ccompiler
    from distutils.errors import CompileError

    class Failing:
        def compile(self, *given, **options):
            raise CompileError('command cl.exe failed')

    monkeypatch.setattr(ccompiler, 'new_compiler', lambda compiler: Failing())
    assert not linking.link('win32', tmp_path / 'glue.c', [], tmp_path / '_built.pyd')
    monkeypatch.setenv('CC', 'false')
    assert not linking.link('linux', tmp_path / 'glue.c', [], tmp_path / '_built.abi3.so')


@pytest.mark.parametrize('machine', ['arm64', 'x86_64'])
def test_code_for_macos_is_for_the_oldest_release_that_was_asked_for(monkeypatch, machine):
    monkeypatch.setenv('MACOSX_DEPLOYMENT_TARGET', '11.0')
    llvm.initialize_all_targets()
    triple = object_code.triple('darwin', machine)
    assert triple == f'{machine}-apple-macosx11.0'
    llvm.Target.from_triple(triple)
    assert object_code.triple('linux', machine) == llvm.get_default_triple()
