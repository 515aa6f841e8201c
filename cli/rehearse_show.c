/* What `timebase rehearse` prints. */
#include "json.h"
#include "rehearse.h"
#include "text.h"

static void print_step(const tb__rehearsal_t *result, tb__rehearsal_step_t step)
{
  tb__proof_t proof = tb__rehearsal_proof(result, step);
  text_out("%-10s  %s: %s\n", tb__proof_name(proof), tb__rehearsal_step_name(step),
           tb__rehearsal_step_title(step));
  for (size_t i = 0; i < result->steps[step].count; i++) {
    const tb__rehearsal_line_t *line = &result->steps[step].lines[i];
    const char *mark = line->proof == TB__PROOF_FAIL                           ? "FAIL: "
                       : line->proof == TB__PROOF_NONE && proof != line->proof ? "NOT PROVEN: "
                                                                               : "";
    text_out("    %s%s\n", mark, line->text);
  }
  if (result->steps[step].dropped) text_out("    and %zu more\n", result->steps[step].dropped);
}

static size_t count(const tb__rehearsal_t *result, tb__proof_t proof)
{
  size_t found = 0;
  for (int step = 0; step < TB__STEP_COUNT; step++)
    found += tb__rehearsal_proof(result, (tb__rehearsal_step_t)step) == proof;
  return found;
}

void rehearse_print(const rehearse_t *rehearse)
{
  const tb__rehearsal_t *result = &rehearse->result;
  for (int step = 0; step < TB__STEP_COUNT; step++)
    print_step(result, (tb__rehearsal_step_t)step);
  text_out("\n%s: %zu passed, %zu failed, %zu not proven",
           tb__proof_name(tb__rehearsal_verdict(result)), count(result, TB__PROOF_PASS),
           count(result, TB__PROOF_FAIL), count(result, TB__PROOF_NONE));
  size_t needless = count(result, TB__PROOF_NEEDLESS);
  if (needless) text_out(", %zu not applicable", needless);
  text_out("\n");
}

static const char *word_of(tb__proof_t proof)
{
  return proof == TB__PROOF_PASS       ? "pass"
         : proof == TB__PROOF_FAIL     ? "fail"
         : proof == TB__PROOF_NEEDLESS ? "not applicable"
                                       : "not proven";
}

static json_t *step_json(const tb__rehearsal_t *result, tb__rehearsal_step_t step)
{
  json_t *out = json_object(), *lines = json_array();
  for (size_t i = 0; i < result->steps[step].count; i++) {
    json_t *line = json_object();
    json_put(line, "verdict", json_string(word_of(result->steps[step].lines[i].proof)));
    json_put(line, "text", text_json(result->steps[step].lines[i].text));
    json_push(lines, line);
  }
  json_put(out, "step", json_string(tb__rehearsal_step_name(step)));
  json_put(out, "title", json_string(tb__rehearsal_step_title(step)));
  json_put(out, "verdict", json_string(word_of(tb__rehearsal_proof(result, step))));
  json_put(out, "evidence", lines);
  json_put(out, "evidence_dropped", json_integer((json_int_t)result->steps[step].dropped));
  return out;
}

json_t *rehearse_json(const rehearse_t *rehearse)
{
  json_t *out = json_object(), *steps = json_array();
  for (int step = 0; step < TB__STEP_COUNT; step++)
    json_push(steps, step_json(&rehearse->result, (tb__rehearsal_step_t)step));
  json_put(out, "verdict", json_string(word_of(tb__rehearsal_verdict(&rehearse->result))));
  json_put(out, "bag", text_json(rehearse->arguments->bag));
  json_put(out, "manifest", text_json(rehearse->arguments->manifest));
  json_put(out, "recording", text_json(rehearse->arguments->output));
  json_put(out, "steps", steps);
  return out;
}
