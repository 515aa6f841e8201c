#include "parameters.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

namespace peer
{

namespace
{

const size_t pattern_min = 100; // shorter texts are printed

std::vector<std::string> read_texts(CdrReader &in)
{
  std::vector<std::string> texts(in.count(5));
  for (std::string &text : texts)
    text = in.text();
  return texts;
}

void write_texts(CdrWriter &out, const std::vector<std::string> &texts)
{
  out.uint32(static_cast<uint32_t>(texts.size()));
  for (const std::string &text : texts)
    out.text(text);
}

std::vector<std::string> read_names(CdrReader &in)
{
  std::vector<std::string> names = read_texts(in);
  in.end();
  return names;
}

} // namespace

std::string pattern(size_t size)
{
  std::string text;
  for (size_t number = 0; text.size() < size; number++)
    text += std::to_string(number) + " ";
  return text.substr(0, size);
}

std::string shorten(const std::string &text)
{
  if (text.size() < pattern_min) return text;
  return (text == pattern(text.size()) ? "pattern " : "other ") + std::to_string(text.size());
}

Value Value::parse(const std::string &text)
{
  Value value;
  char *end;
  if (text == "true" || text == "false") {
    value.type = boolean;
    value.bool_value = text == "true";
  } else if (!text.empty() && (value.integer_value = std::strtoll(text.c_str(), &end, 10), !*end)) {
    value.type = integer;
  } else if (!text.empty() && (value.double_value = std::strtod(text.c_str(), &end), !*end)) {
    value.type = real;
    value.integer_value = 0;
  } else {
    value = Value();
    value.type = string;
    value.string_value = text;
  }
  return value;
}

Value Value::read(CdrReader &in)
{
  Value value;
  value.type = in.octet();
  value.bool_value = in.boolean();
  value.integer_value = in.int64();
  value.double_value = in.float64();
  value.string_value = in.text();
  value.bytes.resize(in.count(1));
  for (uint8_t &item : value.bytes)
    item = in.octet();
  value.bools.resize(in.count(1));
  for (size_t i = 0; i < value.bools.size(); i++)
    value.bools[i] = in.boolean();
  value.integers.resize(in.count(8));
  for (int64_t &item : value.integers)
    item = in.int64();
  value.doubles.resize(in.count(8));
  for (double &item : value.doubles)
    item = in.float64();
  value.strings = read_texts(in);
  return value;
}

void Value::write(CdrWriter &out) const
{
  out.octet(type);
  out.boolean(bool_value);
  out.int64(integer_value);
  out.float64(double_value);
  out.text(string_value);
  out.uint32(static_cast<uint32_t>(bytes.size()));
  out.raw(bytes.data(), bytes.size());
  out.uint32(static_cast<uint32_t>(bools.size()));
  for (bool item : bools)
    out.boolean(item);
  out.uint32(static_cast<uint32_t>(integers.size()));
  for (int64_t item : integers)
    out.int64(item);
  out.uint32(static_cast<uint32_t>(doubles.size()));
  for (double item : doubles)
    out.float64(item);
  write_texts(out, strings);
}

std::string Value::describe() const
{
  char text[64];
  switch (type) {
  case not_set:
    return "not set";
  case boolean:
    return bool_value ? "bool true" : "bool false";
  case integer:
    return "integer " + std::to_string(integer_value);
  case real:
    std::snprintf(text, sizeof text, "double %.17g", double_value);
    return text;
  case string:
    return "string " + shorten(string_value);
  default:
    return "type " + std::to_string(type);
  }
}

Parameters::Parameters(Hook hook) : hook_(std::move(hook))
{
  Value value;
  value.type = Value::boolean;
  values_["use_sim_time"] = value;
}

std::string Parameters::set(const std::string &name, const Value &value)
{
  if (name == "use_sim_time" && value.type != Value::boolean) return "use_sim_time must be a bool";
  std::string reason = hook_(name, value);
  if (reason.empty() && value.type == Value::not_set)
    values_.erase(name);
  else if (reason.empty())
    values_[name] = value;
  return reason;
}

Value Parameters::get(const std::string &name) const
{
  auto found = values_.find(name);
  return found == values_.end() ? Value() : found->second;
}

std::vector<std::string> Parameters::list(const std::vector<std::string> &prefixes,
                                          uint64_t depth) const
{
  std::vector<std::string> names;
  for (const auto &[name, value] : values_) {
    auto is_listed = [&, &of = name](const std::string &prefix) {
      if (of == prefix) return true;
      size_t skipped = prefix.empty() ? 0 : prefix.size() + 1;
      if (!prefix.empty() && of.compare(0, skipped, prefix + ".") != 0) return false;
      auto dots = std::count(of.begin() + static_cast<std::ptrdiff_t>(skipped), of.end(), '.');
      return depth == 0 || static_cast<uint64_t>(dots) < depth;
    };
    if (prefixes.empty() ? is_listed("") : std::any_of(prefixes.begin(), prefixes.end(), is_listed))
      names.push_back(name);
  }
  return names;
}

void Parameters::answer_list(CdrReader &in, CdrWriter &out) const
{
  std::vector<std::string> asked = read_texts(in);
  uint64_t depth = in.uint64();
  in.end();
  std::vector<std::string> names = list(asked, depth);
  std::set<std::string> prefixes;
  for (const std::string &name : names)
    if (name.rfind('.') != std::string::npos) prefixes.insert(name.substr(0, name.rfind('.')));
  write_texts(out, names);
  write_texts(out, {prefixes.begin(), prefixes.end()});
}

void Parameters::answer_set(CdrReader &in, CdrWriter &out, bool atomically)
{
  std::vector<std::pair<std::string, Value>> wanted(in.count(40));
  for (auto &[name, value] : wanted) {
    name = in.text();
    value = Value::read(in);
  }
  in.end();
  std::string first;
  if (!atomically) out.uint32(static_cast<uint32_t>(wanted.size()));
  for (const auto &[name, value] : wanted) {
    std::string reason = first.empty() || !atomically ? set(name, value) : "";
    if (first.empty()) first = reason;
    if (atomically) continue;
    out.boolean(reason.empty());
    out.text(reason);
  }
  if (!atomically) return;
  out.boolean(first.empty());
  out.text(first);
}

void Parameters::answer_describe(const std::string &name, CdrWriter &out) const
{
  out.text(name);
  out.octet(get(name).type);
  out.text("");
  out.text("");
  out.boolean(false);
  out.boolean(false);
  out.uint32(0);
  out.uint32(0);
}

Bytes Parameters::answer(const std::string &service, const Bytes &request)
{
  CdrReader in(request);
  CdrWriter out;
  if (service == "list_parameters") {
    answer_list(in, out);
  } else if (service == "set_parameters" || service == "set_parameters_atomically") {
    answer_set(in, out, service != "set_parameters");
  } else {
    std::vector<std::string> names = read_names(in);
    out.uint32(static_cast<uint32_t>(names.size()));
    for (const std::string &name : names) {
      if (service == "get_parameters")
        get(name).write(out);
      else if (service == "get_parameter_types")
        out.octet(get(name).type);
      else
        answer_describe(name, out);
    }
  }
  return out.bytes();
}

Bytes request_of_names(const std::vector<std::string> &names)
{
  CdrWriter out;
  write_texts(out, names);
  return out.bytes();
}

Bytes request_to_list()
{
  CdrWriter out;
  out.uint32(0);
  out.uint64(0);
  return out.bytes();
}

Bytes request_to_set(const std::string &name, const Value &value)
{
  CdrWriter out;
  out.uint32(1);
  out.text(name);
  value.write(out);
  return out.bytes();
}

std::string describe_values(const Bytes &reply)
{
  CdrReader in(reply);
  std::string line = "value";
  for (size_t count = in.count(40); count > 0; count--)
    line += " " + Value::read(in).describe();
  in.end();
  return line;
}

std::string describe_names(const Bytes &reply)
{
  CdrReader in(reply);
  std::vector<std::string> names = read_texts(in);
  read_texts(in);
  in.end();
  std::string line = "names";
  for (const std::string &name : names)
    line += " " + name;
  return line;
}

std::string describe_set(const Bytes &reply)
{
  CdrReader in(reply);
  std::string line = "set";
  for (size_t count = in.count(5); count > 0; count--) {
    line += in.boolean() ? " ok" : " refused";
    std::string reason = in.text();
    if (!reason.empty()) line += " " + reason;
  }
  in.end();
  return line;
}

std::string describe_types(const Bytes &reply)
{
  CdrReader in(reply);
  std::string line = "types";
  for (size_t count = in.count(1); count > 0; count--)
    line += " " + std::to_string(in.octet());
  in.end();
  return line;
}

std::string describe_descriptors(const Bytes &reply)
{
  CdrReader in(reply);
  std::string line = "described";
  for (size_t count = in.count(20); count > 0; count--) {
    line += " " + in.text();
    line += " " + std::to_string(in.octet());
    in.text();
    in.text();
    in.boolean();
    in.boolean();
    for (size_t i = 3 * in.count(24); i > 0; i--)
      in.uint64();
    for (size_t i = 3 * in.count(24); i > 0; i--)
      in.uint64();
  }
  in.end();
  return line;
}

} // namespace peer
