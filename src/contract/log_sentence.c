#include "contract/log_sentence.h"

#include <string.h>

static const tb__log_sentence_t sentences[] = {
    {"TF_OLD_DATA", "tf2 dropped a transform that is older than those it has", true, true},
    {"extrapolation into the future", "tf2 was asked for a time that transforms have not reached",
     false, true},
    {"extrapolation into the past", "tf2 was asked for a time before its transforms", true, true},
    {"earlier than all the data in the transform cache",
     "a message filter dropped a message from before its transforms", true, true},
    {"the queue is full", "a message filter dropped a message that waited for transforms", false,
     true},
    {"jump back in time", "a node noticed that time jumped backward", true, false},
    {"oved backwards in time", "a node noticed that time jumped backward", true, false},
    {"No clock received", "a node uses simulated time and has received no /clock", false, false},
};

#define SENTENCE_COUNT (sizeof sentences / sizeof *sentences)

const tb__log_sentence_t *tb__log_sentence_find(const char *text, size_t length)
{
  for (size_t i = 0; i < SENTENCE_COUNT; i++)
    if (memmem(text, length, sentences[i].fragment, strlen(sentences[i].fragment)))
      return &sentences[i];
  return NULL;
}

const tb__log_sentence_t *tb__log_sentence_at(size_t index)
{
  return index < SENTENCE_COUNT ? &sentences[index] : NULL;
}
