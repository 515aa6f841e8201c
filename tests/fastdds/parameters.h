// The parameters of a node, and the requests of rcl_interfaces/srv as bytes.
#ifndef TB_TEST_FASTDDS_PARAMETERS_H
#define TB_TEST_FASTDDS_PARAMETERS_H

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cdr.h"

namespace peer
{

// rcl_interfaces/msg/ParameterValue
struct Value {
  enum Type : uint8_t { not_set, boolean, integer, real, string };

  uint8_t type = not_set;
  bool bool_value = false;
  int64_t integer_value = 0;
  double double_value = 0;
  std::string string_value;
  std::vector<uint8_t> bytes;
  std::vector<bool> bools;
  std::vector<int64_t> integers;
  std::vector<double> doubles;
  std::vector<std::string> strings;

  static Value parse(const std::string &text);
  static Value read(CdrReader &in);
  void write(CdrWriter &out) const;
  // "bool true", "integer 5", "double 0.5", "string abc", "string pattern 200000", "not set", "type
  // 7".
  std::string describe() const;
};

// A long text of which each part is different, and what is printed of a text.
std::string pattern(size_t size);
std::string shorten(const std::string &text);

class Parameters
{
public:
  // Called before a value changes; a text that is not empty refuses it.
  using Hook = std::function<std::string(const std::string &name, const Value &value)>;

  explicit Parameters(Hook hook);
  std::string set(const std::string &name, const Value &value);
  Value get(const std::string &name) const;
  // The reply to a request of `service` ("get_parameters"), or CdrError.
  Bytes answer(const std::string &service, const Bytes &request);

private:
  std::vector<std::string> list(const std::vector<std::string> &prefixes, uint64_t depth) const;
  void answer_set(CdrReader &in, CdrWriter &out, bool atomically);
  void answer_list(CdrReader &in, CdrWriter &out) const;
  void answer_describe(const std::string &name, CdrWriter &out) const;
  Hook hook_;
  std::map<std::string, Value> values_;
};

// Requests, and replies as a line. These throw CdrError for a bad reply.
Bytes request_of_names(const std::vector<std::string> &names);
Bytes request_to_list();
Bytes request_to_set(const std::string &name, const Value &value);
std::string describe_values(const Bytes &reply);
std::string describe_names(const Bytes &reply);
std::string describe_set(const Bytes &reply);
std::string describe_types(const Bytes &reply);
std::string describe_descriptors(const Bytes &reply);

} // namespace peer

#endif
