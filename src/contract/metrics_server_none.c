/* Where there is no libmicrohttpd. */
#include <timebase/metrics_server.h>

#include "base/null_argument.h"
#include "base/sized.h"

tb_status_t tb_metrics_server_create_sized(const tb_metrics_server_options_t *options,
                                           size_t options_size, tb_metrics_server_t **out,
                                           tb_error_t *error)
{
  tb_metrics_server_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_metrics_server_options_t");
  if (!options || !options->write || !out)
    return tb__null_argument(error, "tb_metrics_server_create");
  return tb_error_set(error, TB_ERR_UNSUPPORTED,
                      "metrics over HTTP: this timebase was built without libmicrohttpd; build it "
                      "with the package libmicrohttpd-dev");
}

void tb_metrics_server_destroy(tb_metrics_server_t *server)
{
  (void)server;
}

uint16_t tb_metrics_server_port(const tb_metrics_server_t *server)
{
  (void)server;
  return 0;
}
