"""
C code by which Python calls the kernels, in the limited API: one file for all Pythons since 3.10.

Each entry has a function that looks at its arguments and calls the kernel. An argument of another
kind than `entries.py` says goes to the interpreted kernel, with all others.

"""

from object_code import Entry

C_TYPES = {'b': 'int8_t', 'i': 'int64_t', 'f': 'double', 's': 'float', 'h': 'int32_t'}
BOXES = {'b': 'PyBool_FromLong', 'i': 'PyLong_FromLongLong', 'f': 'PyFloat_FromDouble'}
READERS = {'b': 'as_bool', 'i': 'as_int', 'f': 'as_double'}

HEAD = r"""
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* The heads of numpy's objects, as its binary interface has them since 1.7. */
typedef struct {
    PyObject_HEAD
    char *data;
    int dimensions;
    Py_ssize_t *shape, *strides;
    PyObject *base, *dtype;
    int flags;
} Array;
typedef struct {
    PyObject_HEAD
    PyTypeObject *type;
    char kind, letter, byte_order, unused;
    int number;
} Dtype;
enum { C_CONTIGUOUS = 1, ALIGNED = 0x100, WRITEABLE = 0x400 };
enum { READ = C_CONTIGUOUS | ALIGNED, WRITTEN = READ | WRITEABLE };

static PyTypeObject *array_type, *bool_type;
static Dtype *f_type, *s_type, *i_type, *h_type, *b_type;

/* Arrays from another process have a data type of their own, equal to numpy's. */
static inline int is_array(PyObject *object, int dimensions, Dtype *type, int flags) {
    Array *array = (Array *)object;
    if (Py_TYPE(object) != array_type || array->dimensions != dimensions) return 0;
    if ((array->flags & flags) != flags) return 0;
    Dtype *own = (Dtype *)array->dtype;
    return own == type || (own->number == type->number && own->byte_order == type->byte_order);
}

static inline int as_double(PyObject *object, double *value) {
    if (!PyFloat_Check(object) && !PyLong_Check(object)) return 0;
    *value = PyFloat_AsDouble(object);
    if (*value != -1.0 || !PyErr_Occurred()) return 1;
    PyErr_Clear();
    return 0;
}

static inline int as_int(PyObject *object, int64_t *value) {
    PyObject *number = NULL;
    if (!PyLong_Check(object)) {
        if (!PyIndex_Check(object)) return 0;
        number = object = PyNumber_Index(object);
        if (!object) {
            PyErr_Clear();
            return 0;
        }
    }
    *value = PyLong_AsLongLong(object);
    Py_XDECREF(number);
    if (*value != -1 || !PyErr_Occurred()) return 1;
    PyErr_Clear();
    return 0;
}

static inline int as_bool(PyObject *object, int8_t *value) {
    *value = object == Py_True;
    if (PyBool_Check(object)) return 1;
    if (Py_TYPE(object) != bool_type) return 0;
    *value = (int8_t)PyObject_IsTrue(object);
    return 1;
}

static PyObject *interpret(
    PyObject *kernel, PyObject *const *args, Py_ssize_t count, PyObject *names
) {
    Py_ssize_t k, named = names ? PyTuple_Size(names) : 0;
    PyObject *result = NULL, *keywords = NULL, *tuple = PyTuple_New(count);
    if (!tuple) return NULL;
    for (k = 0; k < count; k++) {
        Py_INCREF(args[k]);
        PyTuple_SetItem(tuple, k, args[k]);
    }
    if (named && !(keywords = PyDict_New())) goto end;
    for (k = 0; k < named; k++)
        if (PyDict_SetItem(keywords, PyTuple_GetItem(names, k), args[count + k]) < 0) goto end;
    result = PyObject_Call(kernel, tuple, keywords);
end:
    Py_XDECREF(keywords);
    Py_DECREF(tuple);
    return result;
}

static PyObject *fail(void) {
    PyErr_SetString(PyExc_ZeroDivisionError, "division by zero");
    return NULL;
}

/* What numba calls to change the shape of an array: all of ours are contiguous, which is kept. */
int numba_attempt_nocopy_reshape(
    Py_ssize_t dimensions, const Py_ssize_t *shape, const Py_ssize_t *strides,
    Py_ssize_t new_dimensions, const Py_ssize_t *new_shape, Py_ssize_t *new_strides,
    Py_ssize_t item_size, int is_fortran
) {
    Py_ssize_t k, count = 1, size = item_size;
    for (k = dimensions; k-- > 0; count *= shape[k]) {
        if (shape[k] != 1 && strides[k] != size) return 0;
        size *= shape[k];
    }
    size = item_size;
    for (k = new_dimensions; k-- > 0; size *= new_shape[k]) new_strides[k] = size;
    return !is_fortran && size == count * item_size;
}
"""

TAIL = r"""
static PyObject *bind(PyObject *self, PyObject *args) {
    const char *name;
    PyObject *interpreted;
    (void)self;
    if (!PyArg_ParseTuple(args, "sO", &name, &interpreted)) return NULL;
    for (int k = 0; kernels[k].ml_name; k++)
        if (strcmp(kernels[k].ml_name, name) == 0)
            return PyCFunction_NewEx(&kernels[k], interpreted, NULL);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"bind", bind, METH_VARARGS, "Return a kernel, which gives other arguments to another."},
    {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_built", "Kernels compiled ahead of time.", -1, methods,
    NULL, NULL, NULL, NULL};

static Dtype *dtype(PyObject *numpy, const char *name) {
    return (Dtype *)PyObject_CallMethod(numpy, "dtype", "s", name);
}

PyMODINIT_FUNC PyInit__built(void) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (!numpy) return NULL;
    array_type = (PyTypeObject *)PyObject_GetAttrString(numpy, "ndarray");
    bool_type = (PyTypeObject *)PyObject_GetAttrString(numpy, "bool_");
    f_type = dtype(numpy, "f8");
    s_type = dtype(numpy, "f4");
    i_type = dtype(numpy, "i8");
    h_type = dtype(numpy, "i4");
    b_type = dtype(numpy, "?");
    Py_DECREF(numpy);
    if (!array_type || !bool_type) return NULL;
    if (!f_type || !s_type || !i_type || !h_type || !b_type) return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module) PyModule_AddStringConstant(module, "stamp", "%s");
    if (module) PyModule_AddStringConstant(module, "made_of", "%s");
    return module;
}
"""


def write(entries: list[Entry], stamp: str, made_of: str) -> str:
    """Write the C file; `stamp` is what `_jit.py` asks for, `made_of` what the build asks for."""
    table = [
        f'    {{"{e.name}", (PyCFunction)(void (*)(void))call_{e.symbol},'
        ' METH_FASTCALL | METH_KEYWORDS, NULL},'
        for e in entries
    ]
    return '\n'.join(
        [
            HEAD,
            *(line for entry in entries for line in caller(entry)),
            'static PyMethodDef kernels[] = {',
            *table,
            '    {NULL, NULL, 0, NULL}};',
            TAIL % (stamp, made_of),
        ]
    )


def caller(entry: Entry) -> list[str]:
    """Write the function that Python calls for one kernel."""
    declared, given, values, checks = ['void *', 'void **'], ['&result', '&why'], [], []
    for k, kind in enumerate(entry.kinds):
        letter, dimensions = kind[0], int(kind[1:2] or 0)
        if dimensions == 0:
            declared.append(C_TYPES[letter])
            given.append(f'v{k}')
            values.append(f'    {C_TYPES[letter]} v{k};')
            checks.append(f'{READERS[letter]}(args[{k}], &v{k})')
            continue
        # numba hands arrays over in pieces: owners, count, size of items, data, shape, strides.
        array = f'((Array *)args[{k}])'
        shape = [f'{array}->shape[{d}]' for d in range(dimensions)]
        strides = [f'{array}->strides[{d}]' for d in range(dimensions)]
        size = f'sizeof({C_TYPES[letter]})'
        declared += ['void *', 'void *', 'int64_t', 'int64_t', 'void *']
        declared += ['int64_t'] * (2 * dimensions)
        given += ['NULL', 'NULL', ' * '.join(shape), size, f'{array}->data', *shape, *strides]
        flags = 'READ' if kind.endswith('r') else 'WRITTEN'
        checks.append(f'is_array(args[{k}], {dimensions}, {letter}_type, {flags})')
    conditions = ' && '.join(['!names', f'count == {len(entry.kinds)}', *checks])
    release, take = ('    Py_BEGIN_ALLOW_THREADS', '    Py_END_ALLOW_THREADS')
    return [
        f'extern int32_t {entry.symbol}({", ".join(declared)});',
        f'static PyObject *call_{entry.symbol}(PyObject *self, PyObject *const *args,'
        ' Py_ssize_t count, PyObject *names) {',
        *values,
        f'    if (!({conditions})) return interpret(self, args, count, names);',
        f'    {result_type(entry)} result;',
        '    void *why;',
        '    int32_t code;',
        *([release] if entry.is_nogil else []),
        f'    code = {entry.symbol}({", ".join(given)});',
        *([take] if entry.is_nogil else []),
        f'    if (code != {DONE} && code != {DONE_WITH_NONE}) return fail();',
        *result_lines(entry),
        '}',
    ]


DONE, DONE_WITH_NONE = 0, -2
"""What a kernel returns if it did not raise: numba's calling convention."""


def result_type(entry: Entry) -> str:
    if isinstance(entry.results, tuple):
        fields = ' '.join(f'{C_TYPES[kind]} r{k};' for k, kind in enumerate(entry.results))
        return f'struct {{ {fields} }}'
    return C_TYPES.get(entry.results, 'void *')


def result_lines(entry: Entry) -> list[str]:
    """Write how the result becomes an object of Python."""
    if isinstance(entry.results, tuple):
        return [
            f'    PyObject *results = PyTuple_New({len(entry.results)});',
            '    if (!results) return NULL;',
            *(
                f'    PyTuple_SetItem(results, {k}, {BOXES[kind]}(result.r{k}));'
                for k, kind in enumerate(entry.results)
            ),
            '    return results;',
        ]
    if entry.results == 'n':
        return ['    (void)result;', '    Py_RETURN_NONE;']
    return [f'    return {BOXES[entry.results]}(result);']
