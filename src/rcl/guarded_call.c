/* A frame that catches all exceptions, written for the unwinder of the Itanium C++ ABI, which
 * every compiler of Linux uses: a personality routine of our own and a landing pad. The unwinder
 * and the C++ library are those that have thrown, looked up then: this library needs neither. */
#include "rcl/guarded_call.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "rcl/note.h"

#if defined(__x86_64__) || defined(__aarch64__)

/* 0, or the exception that ended the call. */
void *tb__guarded_call_raw(rcl_jump_callback_t callback, const rcl_time_jump_t *jump,
                           bool before_jump, void *user_data) __attribute__((visibility("hidden")));
extern const char tb__guarded_call_landing[] __attribute__((visibility("hidden")));
_Unwind_Reason_Code tb__guarded_call_personality(int version, _Unwind_Action actions,
                                                 _Unwind_Exception_Class exception_class,
                                                 struct _Unwind_Exception *exception,
                                                 struct _Unwind_Context *context)
    __attribute__((visibility("hidden"), used));

#if defined(__x86_64__)
__asm__(".text\n"
        ".balign 16\n"
        ".hidden tb__guarded_call_raw\n"
        ".globl tb__guarded_call_raw\n"
        ".type tb__guarded_call_raw, @function\n"
        "tb__guarded_call_raw:\n"
        ".cfi_startproc\n"
        ".cfi_personality 0x1b, tb__guarded_call_personality\n"
        "endbr64\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "mov %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "mov %rdi, %rax\n" /* (callback, jump, before, data): callback(jump, before, data) */
        "mov %rsi, %rdi\n"
        "mov %edx, %esi\n"
        "mov %rcx, %rdx\n"
        "call *%rax\n"
        "xor %eax, %eax\n"
        ".hidden tb__guarded_call_landing\n"
        ".globl tb__guarded_call_landing\n"
        "jmp 1f\n"
        "tb__guarded_call_landing:\n" /* the exception is in rax */
        "endbr64\n"
        "1: mov %rbp, %rsp\n"
        "pop %rbp\n"
        ".cfi_def_cfa %rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size tb__guarded_call_raw, .-tb__guarded_call_raw\n");
#else
__asm__(".text\n"
        ".balign 16\n"
        ".hidden tb__guarded_call_raw\n"
        ".globl tb__guarded_call_raw\n"
        ".type tb__guarded_call_raw, %function\n"
        "tb__guarded_call_raw:\n"
        ".cfi_startproc\n"
        ".cfi_personality 0x1b, tb__guarded_call_personality\n"
        "hint #34\n" /* bti c */
        "stp x29, x30, [sp, #-16]!\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset 29, -16\n"
        ".cfi_offset 30, -8\n"
        "mov x29, sp\n"
        "mov x9, x0\n" /* (callback, jump, before, data): callback(jump, before, data) */
        "mov x0, x1\n"
        "mov w1, w2\n"
        "mov x2, x3\n"
        "blr x9\n"
        "mov x0, #0\n"
        ".hidden tb__guarded_call_landing\n"
        ".globl tb__guarded_call_landing\n"
        "b 1f\n"
        "tb__guarded_call_landing:\n" /* the exception is in x0 */
        "hint #36\n"                  /* bti j */
        "1: ldp x29, x30, [sp], #16\n"
        ".cfi_def_cfa_offset 0\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size tb__guarded_call_raw, .-tb__guarded_call_raw\n");
#endif

/* In a library that is in the process already, since an exception was thrown. */
static void *find(const char *library, const char *name)
{
  void *handle = dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
  void *address = dlsym(handle ? handle : RTLD_DEFAULT, name);
  if (handle) dlclose(handle);
  return address;
}

_Unwind_Reason_Code tb__guarded_call_personality(int version, _Unwind_Action actions,
                                                 _Unwind_Exception_Class exception_class,
                                                 struct _Unwind_Exception *exception,
                                                 struct _Unwind_Context *context)
{
  (void)exception_class;
  void (*set_ip)(struct _Unwind_Context *, _Unwind_Ptr);
  void (*set_gr)(struct _Unwind_Context *, int, _Unwind_Word);
  void *set_ip_at = find("libgcc_s.so.1", "_Unwind_SetIP");
  void *set_gr_at = find("libgcc_s.so.1", "_Unwind_SetGR");
  if (version != 1 || !set_ip_at || !set_gr_at) return _URC_CONTINUE_UNWIND;
  if (actions & _UA_FORCE_UNWIND) return _URC_CONTINUE_UNWIND; /* a thread that ends */
  if (actions & _UA_SEARCH_PHASE) return _URC_HANDLER_FOUND;
  if (!(actions & _UA_HANDLER_FRAME)) return _URC_CONTINUE_UNWIND;
  memcpy(&set_ip, &set_ip_at, sizeof set_ip);
  memcpy(&set_gr, &set_gr_at, sizeof set_gr);
  set_gr(context, 0, (_Unwind_Word)(uintptr_t)exception);
  set_ip(context, (_Unwind_Ptr)tb__guarded_call_landing);
  return _URC_INSTALL_CONTEXT;
}

/* The mangled name of the type that is being caught is the second word of its type_info. */
static const char *type_name(void)
{
  void *current_at = find("libstdc++.so.6", "__cxa_current_exception_type");
  const char *const *(*current)(void);
  memcpy(&current, &current_at, sizeof current);
  const char *const *type_info = current_at ? current() : NULL;
  return type_info && type_info[1] ? type_info[1] : NULL;
}

static char *demangle(const char *name)
{
  void *demangle_at = find("libstdc++.so.6", "__cxa_demangle");
  char *(*function)(const char *, char *, size_t *, int *);
  int status = 0;
  memcpy(&function, &demangle_at, sizeof function);
  return demangle_at && name ? function(name, NULL, NULL, &status) : NULL;
}

static void drop(struct _Unwind_Exception *exception)
{
  void *begin_at = find("libstdc++.so.6", "__cxa_begin_catch");
  void *end_at = find("libstdc++.so.6", "__cxa_end_catch");
  void *(*begin)(void *);
  void (*end)(void);
  if (!begin_at || !end_at) {
    if (exception->exception_cleanup)
      exception->exception_cleanup(_URC_FOREIGN_EXCEPTION_CAUGHT, exception);
    tb__rcl_note("a jump callback has thrown an exception, which is ignored");
    return;
  }
  memcpy(&begin, &begin_at, sizeof begin);
  memcpy(&end, &end_at, sizeof end);
  begin(exception);
  const char *name = type_name();
  char *readable = demangle(name);
  tb__rcl_note("a jump callback has thrown %s, which is ignored", readable ? readable
                                                                  : name   ? name
                                                                           : "an exception");
  free(readable);
  end();
}

void tb__guarded_call(rcl_jump_callback_t callback, const rcl_time_jump_t *jump, bool before_jump,
                      void *user_data)
{
  void *exception = tb__guarded_call_raw(callback, jump, before_jump, user_data);
  if (exception) drop(exception);
}

#else

void tb__guarded_call(rcl_jump_callback_t callback, const rcl_time_jump_t *jump, bool before_jump,
                      void *user_data)
{
  callback(jump, before_jump, user_data);
}

#endif
