#include "definition_requests.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/duration.h>
#include <timebase/ros2_client.h>

#include "definition/type_description.h"

#define AT_ONCE         4
#define NODES_MAX       3
#define NODE_LIMIT_NS   (3 * TB_NS_PER_S)
#define NOBODY_LIMIT_NS (1 * TB_NS_PER_S)
#define AWAIT_LIMIT_NS  (5 * TB_NS_PER_S)
#define RESPONSE_MAX    ((size_t)1 << 20)
#define NAME_SIZE       512

/* One type. */
typedef struct request {
  struct request *next;
  definition_requests_t *of;
  tb__definition_entry_t *entry;
  char nodes[NODES_MAX][NAME_SIZE]; /* that were asked; the last one is being asked */
  int node_count;
  int64_t since_ns;         /* when the wait for this node, or for any, began; -1: not yet */
  tb_ros2_client_t *client; /* NULL: no node is being asked */
  bool is_sent;
  bool is_answered; /* under the lock, as what follows */
  void *cdr;        /* NULL: a failure */
  size_t size;
} request_t;

struct definition_requests {
  tb_ros2_context_t *context;
  tb__definitions_t *definitions;
  request_t *first;
  pthread_mutex_t lock; /* for what the context's thread writes */
};

definition_requests_t *definition_requests_create(tb_ros2_context_t *context,
                                                  tb__definitions_t *definitions)
{
  definition_requests_t *requests = calloc(1, sizeof *requests);
  if (!requests) return NULL;
  requests->context = context;
  requests->definitions = definitions;
  pthread_mutex_init(&requests->lock, NULL);
  return requests;
}

/* No callback runs after it. */
static void drop_node(request_t *request)
{
  tb_ros2_client_destroy(request->client);
  free(request->cdr);
  request->client = NULL;
  request->cdr = NULL;
  request->size = 0;
  request->is_sent = false;
  request->is_answered = false;
  request->since_ns = -1;
}

void definition_requests_destroy(definition_requests_t *requests)
{
  if (!requests) return;
  while (requests->first) {
    request_t *request = requests->first;
    requests->first = request->next;
    drop_node(request);
    free(request);
  }
  pthread_mutex_destroy(&requests->lock);
  free(requests);
}

static request_t *find(const definition_requests_t *requests, const tb__definition_entry_t *entry)
{
  request_t *request = requests->first;
  while (request && request->entry != entry)
    request = request->next;
  return request;
}

tb_status_t definition_requests_get(definition_requests_t *requests,
                                    const tb_ros2_graph_endpoint_t *publisher,
                                    tb__definition_entry_t **out)
{
  tb__definition_key_t key = {.type = publisher->type,
                              .type_hash = publisher->type_hash,
                              .has_node = publisher->type_hash != NULL};
  tb__definition_entry_t *entry = NULL;
  tb_status_t status = tb__definitions_get(requests->definitions, &key, &entry);
  if (status) return status;
  if (key.has_node) tb__definition_entry_offer_node(entry);
  if (tb__definition_entry_state(entry) == TB__DEFINITION_IS_AWAITED && !find(requests, entry)) {
    request_t *request = calloc(1, sizeof *request);
    if (!request) return TB_ERR_NO_MEMORY;
    *request = (request_t){.next = requests->first, .of = requests, .entry = entry, .since_ns = -1};
    requests->first = request;
  }
  *out = entry;
  return TB_OK;
}

size_t definition_requests_awaited(const definition_requests_t *requests)
{
  size_t count = 0;
  for (const request_t *request = requests->first; request; request = request->next)
    count++;
  return count;
}

/* --- nodes --- */

static bool is_asked(const request_t *request, const char *node)
{
  for (int i = 0; i < request->node_count; i++)
    if (strcmp(request->nodes[i], node) == 0) return true;
  return false;
}

static bool has_service(const tb_ros2_graph_snapshot_t *snapshot, const tb_ros2_graph_node_t *node,
                        const char *service)
{
  for (size_t i = 0; i < node->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[node->endpoints[i]];
    if (endpoint->kind == TB_ROS2_ENDPOINT_SERVICE_REQUEST && !endpoint->is_publisher &&
        strcmp(endpoint->name, service) == 0)
      return true;
  }
  return false;
}

/* The name of a node that publishes the type, has the service, and was not asked. */
static bool find_node(const request_t *request, const tb_ros2_graph_snapshot_t *snapshot,
                      char service[NAME_SIZE], char out[NAME_SIZE])
{
  const char *type = tb__definition_entry_type(request->entry);
  const char *hash = tb__definition_entry_hash(request->entry);
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    if (!endpoint->is_publisher || endpoint->kind != TB_ROS2_ENDPOINT_TOPIC || endpoint->node < 0 ||
        !endpoint->type_hash || strcmp(endpoint->type_hash, hash) != 0 ||
        strcmp(endpoint->type, type) != 0)
      continue;
    const tb_ros2_graph_node_t *node = &snapshot->nodes[endpoint->node];
    int length = snprintf(service, NAME_SIZE, "%s/get_type_description", node->full_name);
    if (length < 0 || length >= NAME_SIZE || node->is_own || is_asked(request, node->full_name) ||
        !has_service(snapshot, node, service))
      continue;
    snprintf(out, NAME_SIZE, "%s", node->full_name);
    return true;
  }
  return false;
}

/* --- steps --- */

static void on_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  request_t *request = user;
  void *copy = NULL;
  if (!status && response->size <= RESPONSE_MAX) copy = malloc(response->size);
  if (copy) memcpy(copy, response->cdr, response->size);
  pthread_mutex_lock(&request->of->lock);
  request->cdr = copy;
  request->size = copy ? response->size : 0;
  request->is_answered = true;
  pthread_mutex_unlock(&request->of->lock);
}

/* True: the type has an answer, or needs none. */
static bool take_answer(request_t *request)
{
  char *text = NULL;
  pthread_mutex_lock(&request->of->lock);
  bool is_answered = request->is_answered;
  pthread_mutex_unlock(&request->of->lock);
  if (!is_answered) return false;
  bool is_text =
      request->cdr && tb__type_description_text(tb__definition_entry_type(request->entry),
                                                request->cdr, request->size, &text, NULL) == TB_OK;
  drop_node(request);
  if (!is_text) return false;
  bool is_taken = tb__definition_entry_described(request->entry, text) == TB_OK;
  free(text);
  return is_taken;
}

static void send(request_t *request)
{
  void *cdr = NULL;
  size_t size = 0;
  if (!tb_ros2_client_is_service_ready(request->client)) return;
  if (tb__type_description_request(tb__definition_entry_type(request->entry),
                                   tb__definition_entry_hash(request->entry), &cdr, &size))
    return;
  request->is_sent =
      tb_ros2_client_call_async(request->client, cdr, size, (tb_duration_t){NODE_LIMIT_NS},
                                on_response, request, NULL) == TB_OK;
  free(cdr);
}

static void begin(request_t *request, const tb_ros2_graph_snapshot_t *snapshot, int64_t steady_ns)
{
  char service[NAME_SIZE];
  if (request->node_count == NODES_MAX ||
      !find_node(request, snapshot, service, request->nodes[request->node_count]))
    return;
  request->node_count++;
  request->since_ns = steady_ns;
  if (tb_ros2_client_create(request->of->context, service, TB__TYPE_DESCRIPTION_SERVICE, NULL,
                            &request->client, NULL))
    request->client = NULL;
}

/* True: it is over. */
static bool step(request_t *request, const tb_ros2_graph_snapshot_t *snapshot, bool may_begin,
                 int64_t steady_ns)
{
  if (take_answer(request)) return true;
  if (request->since_ns < 0) request->since_ns = steady_ns;
  int64_t waited_ns = steady_ns - request->since_ns;
  if (request->client && waited_ns > NODE_LIMIT_NS) drop_node(request);
  if (!request->client && may_begin) begin(request, snapshot, steady_ns);
  if (request->client && !request->is_sent) send(request);
  int64_t limit_ns = snapshot->awaited_count > 0 ? AWAIT_LIMIT_NS : NOBODY_LIMIT_NS;
  bool is_given_up =
      !request->client && may_begin && (request->node_count == NODES_MAX || waited_ns > limit_ns);
  return is_given_up && tb__definition_entry_described(request->entry, NULL) == TB_OK;
}

void definition_requests_step(definition_requests_t *requests,
                              const tb_ros2_graph_snapshot_t *snapshot, int64_t steady_ns)
{
  int busy = 0;
  for (const request_t *request = requests->first; request; request = request->next)
    busy += request->client != NULL;
  for (request_t **at = &requests->first; *at;) {
    request_t *request = *at;
    bool was_busy = request->client != NULL;
    bool is_over = step(request, snapshot, was_busy || busy < AT_ONCE, steady_ns);
    busy += !is_over && request->client && !was_busy;
    busy -= was_busy && (is_over || !request->client);
    if (is_over) {
      *at = request->next;
      drop_node(request);
      free(request);
    } else {
      at = &request->next;
    }
  }
}
