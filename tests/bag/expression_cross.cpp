// Compares the answers of std::regex, which rosbag2 uses, with src/bag/expression_table.inc.
#include <cstdio>
#include <regex>
#include <string>

static int rows, failures;

static void check(const char *expression, const char *topic, bool answer)
{
  rows++;
  try {
    if (std::regex_search(std::string(topic), std::regex(expression)) == answer) return;
    std::printf("'%s' in '%s': not %d\n", expression, topic, answer);
  } catch (const std::regex_error &error) {
    std::printf("'%s': %s\n", expression, error.what());
  }
  failures++;
}

#define YES                             true
#define NO                              false
#define BOTH(expression, topic, answer) check(expression, topic, answer);
#define STD(expression, topic, answer)  check(expression, topic, answer);
#define ECMA(expression, topic, answer)
#define REFUSED(expression, character)

int main()
{
#include "bag/expression_table.inc"
  std::printf("expression_cross: %d rows, %d failures\n", rows, failures);
  return failures > 0;
}
