/* OpenMetrics text over HTTP, for Prometheus and other programs on the same host. */
#ifndef TIMEBASE_METRICS_SERVER_H
#define TIMEBASE_METRICS_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>

/** Serves `GET /metrics` on 127.0.0.1, with a thread of its own, `tb-metrics`. Other addresses are
 * never listened on. */
typedef struct tb_metrics_server tb_metrics_server_t;

/** Writes the text of one answer, as tb_statistics_openmetrics does: at most `room` bytes to `out`,
 * and to *out_size how many the text has, without a NUL. `out` may be NULL if `room` is 0.
 * TB_ERR_LIMIT: there is not enough room; it is called again with more, unless *out_size is above
 * 4 MiB. Any other failure is answered with status 503. Called on the thread `tb-metrics`, one call
 * at a time, with no lock held; one that does not return delays all answers. */
typedef tb_status_t (*tb_metrics_write_t)(size_t room, char *out, size_t *out_size, void *user);

/** What a server is made with. */
typedef struct tb_metrics_server_options {
  tb_metrics_write_t write; /**< must be set */
  void *user;               /**< handed to `write`; must outlive the server */
  uint16_t port;            /**< 0: any that is free, see tb_metrics_server_port */
  uint8_t padding[6];       /**< not used */
} tb_metrics_server_options_t;

/** A function has to be set. */
#define TB_METRICS_SERVER_OPTIONS_INIT                                                             \
  {                                                                                                \
    NULL, NULL, 0,                                                                                 \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

TB_BEGIN_DECLS

/** Requests are answered from now on. The answer has status 200 for GET and HEAD of /metrics, 404
 * for other paths, 405 for other methods, and 421 unless the one Host header is 127.0.0.1,
 * localhost or [::1] with the port: a page of another site, whose name was made to lead here
 * (DNS rebinding), reads nothing. Each connection has one answer. At most 8 connections are open,
 * others wait; one is closed after 10 s; headers have 8 KiB at most (431).
 * tb_metrics_server_destroy it.
 *
 *   TB_ERR_SYSTEM       the port is in use or not allowed, or there are no more descriptors or
 *                       threads: see *error (may be NULL)
 *   TB_ERR_UNSUPPORTED  the library was built without libmicrohttpd
 *   TB_ERR_NO_MEMORY, TB_ERR_INVALID, TB_ERR_FORKED
 *
 * [any thread] [from callbacks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_metrics_server_create(
    const tb_metrics_server_options_t *options, tb_metrics_server_t **out, tb_error_t *error);

/** Closes all connections. `write` is not called any more when it returns. In `write` it does
 * nothing. In a child that was forked it frees memory alone, and leaves the descriptors and the
 * memory of libmicrohttpd. NULL does nothing. [any thread] [blocks: for `write`] */
TB_API void tb_metrics_server_destroy(tb_metrics_server_t *server);

/** The port that it listens on, 1 to 65535; 0 for NULL. [any thread] [from callbacks] */
TB_API uint16_t tb_metrics_server_port(const tb_metrics_server_t *server);

/** What the call of that name hands over: the size of the struct too, so that it may grow
 * (docs/abi.md). [any thread] as that is. */
TB_API tb_status_t tb_metrics_server_create_sized(const tb_metrics_server_options_t *options,
                                                  size_t options_size, tb_metrics_server_t **out,
                                                  tb_error_t *error);
TB_INLINE tb_status_t tb_metrics_server_create(const tb_metrics_server_options_t *options,
                                               tb_metrics_server_t **out, tb_error_t *error)
{
  return tb_metrics_server_create_sized(options, sizeof *options, out, error);
}

TB_END_DECLS

#endif
