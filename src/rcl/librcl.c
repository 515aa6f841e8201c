#include "rcl/librcl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/mutex.h"

/* ---- functions ---- */

#define FIELD(name)                                                                                \
  {                                                                                                \
    "rcl_" #name, offsetof(tb__librcl_t, name)                                                     \
  }

static const struct {
  const char *symbol;
  size_t at;
} fields[] = {
    FIELD(clock_time_started),
    FIELD(clock_init),
    FIELD(clock_fini),
    FIELD(ros_clock_init),
    FIELD(ros_clock_fini),
    FIELD(system_clock_init),
    FIELD(system_clock_fini),
    FIELD(clock_get_now),
    FIELD(enable_ros_time_override),
    FIELD(disable_ros_time_override),
    FIELD(is_enabled_ros_time_override),
    FIELD(set_ros_time_override),
    FIELD(clock_add_jump_callback),
    FIELD(clock_remove_jump_callback),
    FIELD(timer_init),
    FIELD(timer_init2),
    FIELD(timer_call),
    FIELD(timer_call_with_info),
    FIELD(timer_reset),
    FIELD(timer_cancel),
    FIELD(timer_is_ready),
    FIELD(timer_is_canceled),
    FIELD(timer_get_next_call_time),
    FIELD(timer_get_time_until_next_call),
    FIELD(timer_get_period),
    FIELD(timer_get_guard_condition),
    FIELD(trigger_guard_condition),
    FIELD(timer_get_callback_data),
    FIELD(node_init),
    FIELD(node_fini),
    FIELD(node_get_fully_qualified_name),
};

static tb__mutex_t mutex = TB__MUTEX_INIT; /* the loader is not called under it */
static tb__librcl_t functions;             /* by mutex, until `found` */
static const tb__librcl_t *_Atomic found;

/* rclpy loads its extension, and librcl with it, RTLD_LOCAL: RTLD_NEXT finds nothing then. The
 * handle is kept, so that librcl stays. The loader has a lock of its own, and a thread that loads a
 * library holds it while a constructor there may call librcl: so no lock is held here. */
static bool find(tb__librcl_t *out)
{
  void *librcl = dlopen("librcl.so", RTLD_NOLOAD | RTLD_LAZY);
  void *rcutils = dlopen("librcutils.so", RTLD_NOLOAD | RTLD_LAZY);
  void *set_error = dlsym(rcutils ? rcutils : RTLD_DEFAULT, "rcutils_set_error_state");
  memcpy(&out->set_error_state, &set_error, sizeof set_error);
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    void *address = dlsym(librcl ? librcl : RTLD_NEXT, fields[i].symbol);
    memcpy((char *)out + fields[i].at, &address, sizeof address);
  }
  return out->clock_init != NULL;
}

const tb__librcl_t *tb__librcl(void)
{
  const tb__librcl_t *known = atomic_load_explicit(&found, memory_order_acquire);
  tb__librcl_t own;
  if (known) return known;
  if (!find(&own)) return NULL;
  tb__mutex_lock(&mutex);
  if (!atomic_load(&found)) {
    functions = own;
    atomic_store(&found, &functions);
  }
  tb__mutex_unlock(&mutex);
  return &functions;
}

/* ---- the release ---- */

typedef struct release {
  const char *name;
  const char *version; /* of rcl, as far as it is fixed in a release */
  bool has_init, has_init2, has_call_info, has_callback_data;
} release_t;

static const release_t releases[] = {
    {"humble", "5.3", true, false, false, false}, {"jazzy", "9.2", true, true, true, false},
    {"kilted", "10.1", false, true, true, false}, {"lyrical", "10.4", false, true, true, true},
    {"rolling", "10.5", false, true, true, true},
};

#define RELEASE_COUNT (sizeof releases / sizeof *releases)

/* rcl_timer_get_next_call_time was added to humble and jazzy after their first versions. */
static bool has_all_common(const tb__librcl_t *rcl)
{
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    size_t at = fields[i].at;
    void *address;
    bool differs = at == offsetof(tb__librcl_t, timer_init) ||
                   at == offsetof(tb__librcl_t, timer_init2) ||
                   at == offsetof(tb__librcl_t, timer_call_with_info) ||
                   at == offsetof(tb__librcl_t, timer_get_next_call_time) ||
                   at >= offsetof(tb__librcl_t, timer_get_callback_data);
    memcpy(&address, (const char *)rcl + at, sizeof address);
    if (!address && !differs) return false;
  }
  return true;
}

static bool has_symbols_of(const tb__librcl_t *rcl, const release_t *release)
{
  return !!rcl->timer_init == release->has_init && !!rcl->timer_init2 == release->has_init2 &&
         !!rcl->timer_call_with_info == release->has_call_info &&
         !!rcl->timer_get_callback_data == release->has_callback_data;
}

/* "9.2" of "9.2.11". */
static bool version_is_of(const char *version, const release_t *release)
{
  size_t length = strlen(release->version);
  return !strncmp(version, release->version, length) &&
         (version[length] == '.' || version[length] == '\0');
}

bool tb__librcl_parse_version(const char *text, char *out, size_t size)
{
  const char *begin = strstr(text, "<version");
  begin = begin ? strchr(begin, '>') : NULL;
  size_t used = begin ? strspn(begin + 1, "0123456789.") : 0;
  if (used == 0 || used >= size) return false;
  memcpy(out, begin + 1, used);
  out[used] = '\0';
  return true;
}

/* The file that colcon and the packages install beside the library. */
static bool read_version(const char *path, char *out, size_t size)
{
  char text[4096];
  FILE *file = fopen(path, "re");
  if (!file) return false;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = '\0';
  return tb__librcl_parse_version(text, out, size);
}

/* From PREFIX/lib/librcl.so or PREFIX/lib/TRIPLET/librcl.so. */
static void find_version(const tb__librcl_t *rcl, char *out, size_t size)
{
  Dl_info info;
  void *address;
  memcpy(&address, &rcl->clock_init, sizeof address);
  out[0] = '\0';
  if (!dladdr(address, &info) || !info.dli_fname) return;
  const char *slash = strrchr(info.dli_fname, '/');
  int folder = slash ? (int)(slash - info.dli_fname) : 0;
  static const char *const ways[] = {"..", "../.."};
  for (size_t i = 0; slash && i < sizeof ways / sizeof *ways; i++) {
    char path[4096];
    int used = snprintf(path, sizeof path, "%.*s/%s/share/rcl/package.xml", folder, info.dli_fname,
                        ways[i]);
    if (used > 0 && (size_t)used < sizeof path && read_version(path, out, size)) return;
  }
}

void *tb__rcl_allocate(size_t size, void *state)
{
  (void)state;
  return malloc(size);
}

void tb__rcl_deallocate(void *pointer, void *state)
{
  (void)state;
  free(pointer);
}

void *tb__rcl_reallocate(void *pointer, size_t size, void *state)
{
  (void)state;
  return realloc(pointer, size);
}

void *tb__rcl_zero_allocate(size_t count, size_t size, void *state)
{
  (void)state;
  return calloc(count, size);
}

/* Lets librcl fill a system clock in memory that is larger, and compares each field. */
static bool layout_is_known(const tb__librcl_t *rcl)
{
  union {
    rcl_clock_t clock;
    unsigned char bytes[2 * sizeof(rcl_clock_t)];
  } probe;
  rcl_allocator_t allocator = TB__RCL_ALLOCATOR;
  memset(&probe, 0xa5, sizeof probe);
  void *unset = probe.clock.data;
  if (rcl->system_clock_init(&probe.clock, &allocator) != RCL_RET_OK) return false;
  bool known = probe.clock.type == RCL_SYSTEM_TIME && !probe.clock.jump_callbacks &&
               probe.clock.num_jump_callbacks == 0 && probe.clock.get_now &&
               memcmp(&probe.clock.get_now, &unset, sizeof unset) != 0 &&
               probe.clock.data != unset &&
               memcmp(&probe.clock.allocator, &allocator, sizeof allocator) == 0;
  for (size_t i = sizeof(rcl_clock_t); i < sizeof probe; i++)
    if (probe.bytes[i] != 0xa5) known = false;
  if (known) known = rcl->system_clock_fini(&probe.clock) == RCL_RET_OK;
  return known;
}

void tb__librcl_recognise(const tb__librcl_t *rcl, tb__librcl_release_t *out)
{
  *out = (tb__librcl_release_t){0};
  find_version(rcl, out->version, sizeof out->version);
  const release_t *match = NULL;
  bool symbols_match = false;
  for (size_t i = 0; has_all_common(rcl) && i < RELEASE_COUNT && !match; i++) {
    if (!has_symbols_of(rcl, &releases[i])) continue;
    symbols_match = true;
    if (!out->version[0] || version_is_of(out->version, &releases[i])) match = &releases[i];
  }
  if (!match)
    snprintf(out->reason, sizeof out->reason, "%s%s, whose functions %s",
             out->version[0] ? "it is rcl " : "it is an rcl without package.xml", out->version,
             symbols_match ? "are known from another version" : "are of no release that is known");
  else if (!layout_is_known(rcl))
    snprintf(out->reason, sizeof out->reason, "its clocks have another layout than those of %s",
             match->name);
  else
    out->name = match->name;
}

/* ---- errors ---- */

rcl_ret_t tb__rcl_fail(rcl_ret_t code, const char *text, const char *file, size_t line)
{
  const tb__librcl_t *rcl = tb__librcl();
  if (rcl && rcl->set_error_state) rcl->set_error_state(text, file, line);
  return code;
}
