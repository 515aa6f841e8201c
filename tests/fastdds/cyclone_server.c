/* Services of Cyclone DDS that answer the request of ask.h with itself. Prints "ready", and a line
 * for each line on standard input, at whose end it ends:
 *
 *   open SERVICE     "ok"
 *   close SERVICE    "ok"
 *   count            "requests N malformed M", of all services so far; malformed: any other request
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <timebase/ros2_service.h>

#include "fastdds/ask.h"

#define SERVICES_MAX 64

typedef struct server {
  char name[64];
  tb_ros2_service_t *service; /* NULL: free */
} server_t;

static tb_ros2_context_t *context;
static server_t servers[SERVICES_MAX];
static _Atomic unsigned requests, malformed;

static void answer(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)user;
  requests++;
  if (request->size == sizeof ask_request &&
      memcmp(request->cdr, ask_request, sizeof ask_request) == 0)
    tb_ros2_service_reply(service, &request->id, ask_request, sizeof ask_request, NULL);
  else
    malformed++;
}

static server_t *find(const char *name)
{
  for (int i = 0; i < SERVICES_MAX; i++)
    if (strcmp(servers[i].name, name) == 0) return &servers[i];
  return NULL;
}

static const char *open_service(const char *name)
{
  server_t *server = find("");
  tb_error_t error = TB_ERROR_INIT;
  if (!server) return "no room";
  if (tb_ros2_service_create(context, name, ASK_TYPE, NULL, answer, NULL, &server->service, &error))
    return "failed";
  snprintf(server->name, sizeof server->name, "%s", name);
  return "ok";
}

static const char *close_service(const char *name)
{
  server_t *server = find(name);
  if (!server) return "unknown";
  tb_ros2_service_destroy(server->service);
  *server = (server_t){{0}, NULL};
  return "ok";
}

int main(void)
{
  char line[128], name[64];
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (tb_ros2_context_create(NULL, &context, NULL)) return 1;
  puts("ready");
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "open %63s", name) == 1)
      puts(open_service(name));
    else if (sscanf(line, "close %63s", name) == 1)
      puts(close_service(name));
    else
      printf("requests %u malformed %u\n", (unsigned)requests, (unsigned)malformed);
  }
  for (int i = 0; i < SERVICES_MAX; i++)
    tb_ros2_service_destroy(servers[i].service);
  tb_ros2_context_destroy(context);
  return 0;
}
