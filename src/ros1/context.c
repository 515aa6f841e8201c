#include "ros1/context.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "platform/time.h"

#define MASTER_DEFAULT "http://localhost:11311/"

static const char *from_environment(const char *name)
{
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

static bool is_loopback(const char *host)
{
  return !strcasecmp(host, "localhost") || !strncmp(host, "127.", 4) || !strcmp(host, "::1");
}

/* An address of the machine that is not of loopback, for a machine without a name. */
static void find_address(char out[TB__ROS1_HOST_SIZE])
{
  struct ifaddrs *list = NULL;
  snprintf(out, TB__ROS1_HOST_SIZE, "127.0.0.1");
  if (getifaddrs(&list) != 0) return;
  for (const struct ifaddrs *one = list; one; one = one->ifa_next) {
    if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_LOOPBACK) || !(one->ifa_flags & IFF_UP)) continue;
    const struct sockaddr_in *address = (const struct sockaddr_in *)(const void *)one->ifa_addr;
    inet_ntop(AF_INET, &address->sin_addr, out, TB__ROS1_HOST_SIZE);
    break;
  }
  freeifaddrs(list);
}

static tb_status_t choose_host(const tb_ros1_context_options_t *options,
                               char out[TB__ROS1_HOST_SIZE], tb_error_t *error)
{
  const char *host = options->host;
  if (!host) host = from_environment("ROS_HOSTNAME");
  if (!host) host = from_environment("ROS_IP");
  if (host && !tb__ros1_host_is_valid(host))
    return tb_error_set(error, TB_ERR_INVALID,
                        "ROS 1: \"%.99s\" is no name or address of this machine; correct the "
                        "option, ROS_HOSTNAME or ROS_IP",
                        host);
  if (host && strchr(host, ':'))
    return tb_error_set(error, TB_ERR_INVALID,
                        "ROS 1: \"%.99s\" is an IPv6 address; ROS 1 nodes reach this one over IPv4",
                        host);
  if (host)
    snprintf(out, TB__ROS1_HOST_SIZE, "%s", host);
  else if (gethostname(out, TB__ROS1_HOST_SIZE) != 0 || is_loopback(out) ||
           !tb__ros1_host_is_valid(out))
    find_address(out);
  out[TB__ROS1_HOST_SIZE - 1] = '\0';
  return TB_OK;
}

static tb_status_t choose_master(const tb_ros1_context_options_t *options, tb__ros1_uri_t *out,
                                 tb_error_t *error)
{
  const char *uri = options->master_uri ? options->master_uri : from_environment("ROS_MASTER_URI");
  if (!uri) uri = MASTER_DEFAULT;
  if (tb__ros1_uri_parse(uri, out)) return TB_OK;
  return tb_error_set(error, TB_ERR_INVALID,
                      "ROS 1: \"%.99s\" is no URI of a master; it must be like "
                      "http://localhost:11311 (ROS_MASTER_URI)",
                      uri);
}

/* "/a/b1": each part begins with a letter. */
static bool is_node_name(const char *name)
{
  if (*name != '/' || strlen(name) >= TB__ROS1_NAME_SIZE) return false;
  for (; *name; name++) {
    bool is_letter = isalpha((unsigned char)*name) && isascii((unsigned char)*name);
    bool is_other = (*name >= '0' && *name <= '9') || *name == '_';
    if (*name == '/' && !isalpha((unsigned char)name[1])) return false;
    if (*name != '/' && !is_letter && !is_other) return false;
  }
  return true;
}

/* As anonymous nodes of ROS are named, with a number for the next context of the same moment. */
static tb_status_t choose_name(const tb_ros1_context_options_t *options,
                               char out[TB__ROS1_NAME_SIZE], tb_error_t *error)
{
  static _Atomic uint32_t count;
  if (!options->node_name) {
    snprintf(out, TB__ROS1_NAME_SIZE, "/timebase_%ld_%lld_%lu", (long)getpid(),
             (long long)(tb__system_now_ns() / 1000000),
             (unsigned long)atomic_fetch_add(&count, 1));
    return TB_OK;
  }
  if (!is_node_name(options->node_name))
    return tb_error_set(error, TB_ERR_INVALID,
                        "ROS 1: \"%.99s\" is no name of a node; it must be like /name: letters, "
                        "digits and _ after each /, a letter first",
                        options->node_name);
  snprintf(out, TB__ROS1_NAME_SIZE, "%s", options->node_name);
  return TB_OK;
}

static void answer(void *user, const tb__xmlrpc_message_t *call, tb__xmlrpc_writer_t *out)
{
  tb__ros1_node_answer(user, call, out);
}

typedef struct beginning {
  tb_ros1_context_t *context;
  tb_status_t status;
} beginning_t;

static void begin(void *user)
{
  beginning_t *beginning = user;
  tb_ros1_context_t *context = beginning->context;
  beginning->status = tb__slave_server_run(&context->server, &context->loop);
  tb__ros1_node_begin(&context->node, &context->loop);
}

static tb_status_t context_start(tb_ros1_context_t *context, const char *host, tb_error_t *error)
{
  tb_status_t status = tb__slave_server_open(&context->server, is_loopback(host), error);
  if (status) return status;
  context->server.answer = answer;
  context->server.user = &context->node;
  snprintf(context->node.host, sizeof context->node.host, "%s", host);
  context->node.is_loopback_only = is_loopback(host);
  snprintf(context->node.uri, sizeof context->node.uri, "http://%s:%u/", host,
           (unsigned)context->server.port);
  beginning_t beginning = {context, TB_OK};
  status = tb__ros1_loop_start(&context->loop);
  if (!status) {
    tb__ros1_loop_call(&context->loop, begin, &beginning);
    status = beginning.status;
  }
  if (status)
    return tb_error_set(error, status, "ROS 1: no thread or descriptor: check ulimit -u and -n");
  return TB_OK;
}

tb_status_t tb_ros1_context_create_sized(const tb_ros1_context_options_t *options,
                                         size_t options_size, tb_ros1_context_t **out,
                                         tb_error_t *error)
{
  if (!out) return tb__null_argument(error, __func__);
  tb_ros1_context_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros1_context_options_t");
  static const tb_ros1_context_options_t defaults = TB_ROS1_CONTEXT_OPTIONS_INIT;
  if (!options) options = &defaults;
  char host[TB__ROS1_HOST_SIZE] = "";
  tb_status_t status = tb__fork_watch();
  if (status) return tb_error_set(error, status, "ROS 1 context: %s", tb_status_message(status));
  tb_ros1_context_t *context = calloc(1, sizeof *context);
  if (!context) return tb__no_memory_for(error, "ROS 1 context");
  status = choose_master(options, &context->node.master, error);
  if (!status) status = choose_host(options, host, error);
  if (!status) status = choose_name(options, context->node.name, error);
  if (!status) status = context_start(context, host, error);
  if (status)
    tb_ros1_context_destroy(context);
  else
    *out = context;
  return status;
}

static void close_server(void *user)
{
  tb_ros1_context_t *context = user;
  tb__slave_server_close(&context->server);
  /* What a last call of it has begun. */
  tb__ros1_loop_clear_timer(&context->loop, &context->node.timer);
  tb__xmlrpc_exchange_cancel(&context->node.poll);
}

void tb_ros1_context_destroy(tb_ros1_context_t *context)
{
  tb_ros1_context_destroy_telling(context, (tb_duration_t){INT64_MAX});
}

void tb_ros1_context_destroy_telling(tb_ros1_context_t *context, tb_duration_t limit)
{
  if (!context) return;
  if (context->loop.runs && !tb__is_forked()) {
    tb__ros1_node_end(&context->node, limit.ns);
    tb__ros1_loop_call(&context->loop, close_server, context);
  } else if (!tb__is_forked()) {
    tb__slave_server_close(&context->server);
  }
  if (context->loop.runs) tb__ros1_loop_stop(&context->loop);
  free(context);
}

const char *tb_ros1_context_node_name(const tb_ros1_context_t *context)
{
  return context ? context->node.name : NULL;
}

const char *tb_ros1_context_node_uri(const tb_ros1_context_t *context)
{
  return context ? context->node.uri : NULL;
}
