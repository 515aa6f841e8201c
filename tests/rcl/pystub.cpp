// A module of Python that uses librcl as rclpy does: with the interpreter lock held in every call, with
// a jump callback that takes no lock and calls a function of Python, and that throws where that fails.
#include <Python.h>

#include <stdexcept>

extern "C" {
#include "standin.h"
}

static rcl_clock_t clock_of_module;

static void on_jump(const rcl_time_jump_t *jump, bool before, void *user_data)
{
  PyObject *function = static_cast<PyObject *>(user_data);
  PyObject *result = PyObject_CallFunction(function, "LO", static_cast<long long>(jump->delta.nanoseconds),
                                           before ? Py_True : Py_False);
  if (!result) {
    PyErr_Clear();
    throw std::runtime_error("a function of Python has failed");
  }
  Py_DECREF(result);
}

static PyObject *result_of(rcl_ret_t code)
{
  if (code == RCL_RET_OK) Py_RETURN_NONE;
  return PyErr_Format(PyExc_RuntimeError, "rcl returned %d", code);
}

static PyObject *open_clock(PyObject *, PyObject *)
{
  rcl_allocator_t allocator = standin_allocator();
  return result_of(rcl_clock_init(RCL_ROS_TIME, &clock_of_module, &allocator));
}

static PyObject *close_clock(PyObject *, PyObject *)
{
  return result_of(rcl_clock_fini(&clock_of_module));
}

static PyObject *now(PyObject *, PyObject *)
{
  int64_t now_ns = 0;
  rcl_ret_t code = rcl_clock_get_now(&clock_of_module, &now_ns);
  return code == RCL_RET_OK ? PyLong_FromLongLong(now_ns) : result_of(code);
}

// The function has to live until it is removed.
static PyObject *add(PyObject *, PyObject *function)
{
  rcl_jump_threshold_t threshold = {true, {1}, {-1}};
  return result_of(rcl_clock_add_jump_callback(&clock_of_module, threshold, on_jump, function));
}

static PyObject *remove(PyObject *, PyObject *function)
{
  return result_of(rcl_clock_remove_jump_callback(&clock_of_module, on_jump, function));
}

static PyMethodDef methods[] = {
    {"open_clock", open_clock, METH_NOARGS, nullptr}, {"close_clock", close_clock, METH_NOARGS, nullptr},
    {"now", now, METH_NOARGS, nullptr},               {"add", add, METH_O, nullptr},
    {"remove", remove, METH_O, nullptr},              {nullptr, nullptr, 0, nullptr},
};

static PyModuleDef module = {PyModuleDef_HEAD_INIT, "pystub", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit_pystub()
{
  return PyModule_Create(&module);
}
