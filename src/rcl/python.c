#include "rcl/python.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "held/parking.h"
#include "platform/deadline.h"
#include "platform/mutex.h"

/* Python's stable interface. */
typedef struct method_def {
  const char *name;
  void *(*function)(void *self, void *arguments);
  int flags;
  const char *doc;
} method_def_t;

#define METH_NOARGS 4

typedef struct python {
  int (*is_initialized)(void);
  int (*is_finalizing)(void); /* NULL up to 3.6 */
  int (*lock)(void);
  void (*unlock)(int);
  int (*holds_lock)(void);
  void *(*suspend)(void);
  void (*resume)(void *);
  void *(*error)(void);
  void (*report_error)(void *);
  void *(*import)(const char *);
  void *(*make_function)(method_def_t *, void *, void *);
  void *(*call_method)(void *, const char *, const char *, ...);
  void *(*get_none)(const char *, ...);
  void (*unref)(void *);
  void (*clear_error)(void);
} python_t;

static tb__mutex_t mutex = TB__MUTEX_INIT; /* the loader is not called under it (librcl.c) */
static python_t functions;                 /* by mutex, until `found` */
static const python_t *_Atomic found;

static bool find_one(void *handle, const char *name, void *out)
{
  void *address = dlsym(handle, name);
  memcpy(out, &address, sizeof address);
  return address != NULL;
}

static bool find_in(void *handle, python_t *out)
{
  if (!find_one(handle, "Py_IsFinalizing", &out->is_finalizing))
    find_one(handle, "_Py_IsFinalizing", &out->is_finalizing);
  return find_one(handle, "Py_IsInitialized", &out->is_initialized) &&
         find_one(handle, "PyGILState_Ensure", &out->lock) &&
         find_one(handle, "PyGILState_Release", &out->unlock) &&
         find_one(handle, "PyGILState_Check", &out->holds_lock) &&
         find_one(handle, "PyEval_SaveThread", &out->suspend) &&
         find_one(handle, "PyEval_RestoreThread", &out->resume) &&
         find_one(handle, "PyErr_Occurred", &out->error) &&
         find_one(handle, "PyErr_WriteUnraisable", &out->report_error) &&
         find_one(handle, "PyErr_Clear", &out->clear_error) &&
         find_one(handle, "PyImport_ImportModule", &out->import) &&
         find_one(handle, "PyCFunction_NewEx", &out->make_function) &&
         find_one(handle, "PyObject_CallMethod", &out->call_method) &&
         find_one(handle, "Py_BuildValue", &out->get_none) &&
         find_one(handle, "Py_DecRef", &out->unref);
}

/* The module that was looked at last, and has no Python: asking the loader opens its file. */
static char module_without[512];

static bool is_module_without(const char *module)
{
  tb__mutex_lock(&mutex);
  bool is_known = !strcmp(module, module_without);
  tb__mutex_unlock(&mutex);
  return is_known;
}

static bool find_in_module(const char *module, python_t *out)
{
  if (is_module_without(module)) return false;
  void *handle = dlopen(module, RTLD_NOLOAD | RTLD_LAZY);
  bool has = handle && find_in(handle, out);
  if (has) return true;
  if (handle) dlclose(handle);
  tb__mutex_lock(&mutex);
  snprintf(module_without, sizeof module_without, "%s", module);
  tb__mutex_unlock(&mutex);
  return false;
}

/* A program that loads libpython RTLD_LOCAL shows it to nobody but what is linked with it. */
static const python_t *find_python(const char *module)
{
  const python_t *known = atomic_load_explicit(&found, memory_order_acquire);
  python_t own = {0};
  if (known) return known;
  if (!find_in(RTLD_DEFAULT, &own) && !(module && find_in_module(module, &own))) return NULL;
  tb__mutex_lock(&mutex);
  if (!atomic_load(&found)) {
    functions = own;
    atomic_store(&found, &functions);
  }
  tb__mutex_unlock(&mutex);
  return &functions;
}

static bool is_without_python(const char *module)
{
  static const char *const libraries[] = {"librcl.so", "librclcpp.so", "librcl_action.so",
                                          "librclcpp_action.so"};
  const char *slash = strrchr(module, '/');
  const char *name = slash ? slash + 1 : module;
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    if (!strcmp(name, libraries[i])) return true;
  return false;
}

/* ---- the end of the interpreter ---- */

/* A thread that asks for the lock while the interpreter ends does not come back, or crashes. So the
 * interpreter waits at its end for the threads that are about to, and no other begins. */
static _Atomic bool is_ending;
static _Atomic uint32_t users; /* futex: threads that ask for the lock, or hold it */
static _Atomic bool is_watched;

static void *at_exit(void *self, void *arguments)
{
  (void)self;
  (void)arguments;
  const python_t *python = atomic_load(&found);
  uint32_t count;
  atomic_store(&is_ending, true);
  atomic_store(&is_watched, false);
  void *thread_state = python->suspend();
  while ((count = atomic_load(&users)) > 0)
    tb__futex_wait(&users, count, TB__NO_DEADLINE);
  python->resume(thread_state);
  return python->get_none("");
}

static method_def_t at_exit_method = {"timebase_rcl_at_exit", at_exit, METH_NOARGS, NULL};

/* With the lock held, which rclpy has whenever it adds a callback. */
static void watch_end(const python_t *python)
{
  if (!python->holds_lock() || atomic_exchange(&is_watched, true)) return;
  void *module = python->import("atexit");
  void *function = module ? python->make_function(&at_exit_method, NULL, NULL) : NULL;
  void *result = function ? python->call_method(module, "register", "O", function) : NULL;
  if (result)
    atomic_store(&is_ending, false);
  else
    python->clear_error();
  if (!result) atomic_store(&is_watched, false);
  if (result) python->unref(result);
  if (function) python->unref(function);
  if (module) python->unref(module);
}

static void user_ends(void)
{
  if (atomic_fetch_sub(&users, 1) == 1) tb__futex_wake_all(&users);
}

bool tb__python_is_used_by(void (*function)(void))
{
  Dl_info info = {0};
  void *address;
  memcpy(&address, &function, sizeof address);
  bool is_known = dladdr(address, &info) && info.dli_fname;
  if (is_known && is_without_python(info.dli_fname)) return false;
  const python_t *python = find_python(is_known ? info.dli_fname : NULL);
  if (!python || !python->is_initialized()) return false;
  watch_end(python);
  return true;
}

bool tb__python_has_ended(void)
{
  const python_t *python = atomic_load(&found);
  return python && (atomic_load(&is_ending) || !python->is_initialized() ||
                    (python->is_finalizing && python->is_finalizing()));
}

bool tb__python_lock(int *out_state)
{
  atomic_fetch_add(&users, 1); /* before asking whether it ends */
  if (tb__python_has_ended()) {
    user_ends();
    return false;
  }
  *out_state = atomic_load(&found)->lock();
  return true;
}

void tb__python_unlock(int state)
{
  const python_t *python = atomic_load(&found);
  if (python->error()) python->report_error(NULL);
  python->unlock(state);
  user_ends();
}

void *tb__python_suspend(void)
{
  const python_t *python = find_python(NULL);
  if (!python || !python->is_initialized() || !python->holds_lock()) return NULL;
  return python->suspend();
}

void tb__python_resume(void *thread_state)
{
  if (thread_state) atomic_load(&found)->resume(thread_state);
}
