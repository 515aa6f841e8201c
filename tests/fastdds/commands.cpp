#include "commands.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sstream>
#include <stdexcept>

namespace peer
{

namespace
{

const milliseconds event_limit(100000); // answers come before a test gives up

const struct {
  const char *name, *type;
} parameter_services[] = {
    {"describe_parameters", "rcl_interfaces/srv/DescribeParameters"},
    {"get_parameter_types", "rcl_interfaces/srv/GetParameterTypes"},
    {"get_parameters", "rcl_interfaces/srv/GetParameters"},
    {"list_parameters", "rcl_interfaces/srv/ListParameters"},
    {"set_parameters", "rcl_interfaces/srv/SetParameters"},
    {"set_parameters_atomically", "rcl_interfaces/srv/SetParametersAtomically"},
};

std::string absolute(const std::string &name)
{
  return name[0] == '/' ? name : "/" + name;
}

std::string to_hex(const uint8_t *data, size_t size)
{
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; i++) {
    text += digits[data[i] >> 4];
    text += digits[data[i] & 15];
  }
  return text;
}

Bytes from_hex(const std::string &text)
{
  Bytes bytes;
  if (text.size() % 2 != 0 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw std::runtime_error("not hexadecimal digits");
  for (size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::string guid_to_hex(const rtps::GUID_t &guid)
{
  return to_hex(guid.guidPrefix.value, 12) + to_hex(guid.entityId.value, 4);
}

rtps::GUID_t guid_from_hex(const std::string &text)
{
  Bytes bytes = from_hex(text);
  rtps::GUID_t guid;
  if (bytes.size() != 16) throw std::runtime_error("a GUID has 16 bytes");
  std::copy(bytes.begin(), bytes.begin() + 12, guid.guidPrefix.value);
  std::copy(bytes.begin() + 12, bytes.end(), guid.entityId.value);
  return guid;
}

// "latched:1"
Qos parse_qos(const std::string &text)
{
  Qos qos;
  size_t colon = text.find(':');
  std::string kind = text.substr(0, colon);
  if (kind != "reliable" && kind != "best_effort" && kind != "latched")
    throw std::runtime_error("QoS is reliable, best_effort or latched");
  qos.reliable = kind != "best_effort";
  qos.latched = kind == "latched";
  if (colon != std::string::npos) qos.depth = std::stoi(text.substr(colon + 1));
  return qos;
}

Bytes sample_of_size(size_t size)
{
  Bytes bytes{0, 1, 0, 0};
  if (size < 4 || size % 4 != 0) throw std::runtime_error("a size is a multiple of 4");
  for (size_t i = 4; i < size; i++)
    bytes.push_back(static_cast<uint8_t>(i * 7 / 3));
  return bytes;
}

} // namespace

// ---- words ----

Words::Words(const std::string &line)
{
  std::istringstream in(line);
  for (std::string word; in >> word;)
    words_.push_back(word);
}

const std::string &Words::front() const
{
  if (empty()) throw std::runtime_error("the command is not complete");
  return words_.front();
}

std::string Words::next()
{
  std::string word = front();
  words_.pop_front();
  return word;
}

int64_t Words::number()
{
  return std::stoll(next());
}

bool Words::skip(const std::string &word)
{
  if (empty() || words_.front() != word) return false;
  words_.pop_front();
  return true;
}

std::vector<std::string> Words::rest()
{
  return {words_.begin(), words_.end()};
}

std::string Words::text()
{
  if (skip("--size")) return pattern(static_cast<size_t>(number()));
  std::string text;
  while (!empty())
    text += (text.empty() ? "" : " ") + next();
  return text;
}

// ---- nodes ----

NodeOfPeer::NodeOfPeer(Participant &of, Conduct &conduct, const std::string &full_name)
    : node(of.add_node(full_name)), participant(of),
      parameters([this](const std::string &name, const Value &value) {
        if (name == "use_sim_time") use_sim_time(value.bool_value);
        return std::string();
      })
{
  publishers.emplace_back(of, node, "/rosout", "rcl_interfaces/msg/Log", Qos{true, true, 1000},
                          known_hash("rcl_interfaces/msg/Log"));
  publishers.emplace_back(of, node, "/parameter_events", "rcl_interfaces/msg/ParameterEvent",
                          Qos{true, false, 1000}, known_hash("rcl_interfaces/msg/ParameterEvent"));
  for (const auto &service : parameter_services)
    servers.push_back(std::make_unique<Server>(
        of, node, conduct, node.full_name() + "/" + service.name, service.type, 1000,
        [this, name = service.name](const Bytes &request) {
          return parameters.answer(name, request);
        }));
}

void NodeOfPeer::use_sim_time(bool is_used)
{
  if (is_used == clock.has_value()) return;
  if (is_used) {
    clock.emplace(participant, node, "/clock", clock_type, Qos{false, false, 1});
  } else {
    rtps::GUID_t guid = clock->reader().dds->guid();
    node.readers.erase(std::find(node.readers.begin(), node.readers.end(), guid));
    participant.remove(clock->reader());
    clock.reset();
    now_ns = 0;
  }
  participant.announce_changes();
}

void NodeOfPeer::drain()
{
  for (auto &server : servers)
    server->serve();
  if (clock) clock->drain([this](const Bytes &sample) { now_ns = clock_time_ns(sample); });
}

// ---- all ----

Commands::Commands(const Participant::Options &options, const std::vector<std::string> &nodes)
    : participant_(options)
{
  for (const std::string &name : nodes)
    nodes_.emplace_back(participant_, conduct_, absolute(name));
  thread_ = std::thread(&Commands::run, this);
}

Commands::~Commands()
{
  ticker_.reset();
  is_ending_ = true;
  participant_.events.notify();
  thread_.join();
  participant_.close(); // before its listeners
}

void Commands::run()
{
  while (!is_ending_) {
    uint64_t before = participant_.events.number();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      for (NodeOfPeer &node : nodes_)
        node.drain();
      for (auto &[name, server] : servers_)
        server->serve();
      for (auto &[name, subscription] : subscriptions_)
        subscription.drain({});
      if (followed_)
        followed_->drain([](const Bytes &sample) {
          std::printf("tick %lld\n", static_cast<long long>(clock_time_ns(sample)));
        });
    }
    participant_.events.wait(before, std::chrono::steady_clock::now() + event_limit);
  }
}

std::string Commands::obey(const std::string &line)
{
  try {
    Words words(line);
    auto found = table.find(words.next());
    if (found == table.end()) return "error unknown command: " + line;
    return (this->*found->second)(words);
  } catch (const std::exception &error) {
    return std::string("error ") + error.what();
  }
}

NodeOfPeer &Commands::node_of(const std::string &full_name)
{
  for (NodeOfPeer &node : nodes_)
    if (node.node.full_name() == absolute(full_name)) return node;
  throw std::runtime_error("not a node of this peer: " + full_name);
}

std::string Commands::announce(Words &)
{
  std::lock_guard<std::mutex> lock(mutex_);
  participant_.announce();
  return "ok";
}

std::string Commands::sees(Words &words)
{
  std::string name = absolute(words.next());
  if (!participant_.events.wait_for(event_limit, [&] { return participant_.sees(name); }))
    throw std::runtime_error("it has not come");
  return "sees " + name;
}

std::string Commands::graph_matched(Words &)
{
  if (!participant_.events.wait_for(event_limit, [&] { return participant_.is_heard(); }))
    throw std::runtime_error("no participant reads it");
  return "ok";
}

// ---- servers ----

std::string Commands::count(Words &)
{
  std::lock_guard<std::mutex> lock(mutex_);
  return "requests " + std::to_string(conduct_.requests) + " malformed " +
         std::to_string(conduct_.malformed);
}

std::string Commands::dropped(Words &)
{
  std::lock_guard<std::mutex> lock(mutex_);
  return "dropped " + std::to_string(conduct_.dropped);
}

std::string Commands::mute(Words &words)
{
  std::lock_guard<std::mutex> lock(mutex_);
  conduct_.is_mute = words.next() == "on";
  return "ok";
}

std::string Commands::journal(Words &words)
{
  std::lock_guard<std::mutex> lock(mutex_);
  conduct_.journal = ::open(words.next().c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  return conduct_.journal >= 0 ? "ok" : "failed";
}

std::string Commands::forge(Words &words)
{
  static const std::map<std::string, Conduct::Forgery> names = {
      {"off", Conduct::Forgery::none},          {"other", Conduct::Forgery::other},
      {"sequence", Conduct::Forgery::sequence}, {"writer", Conduct::Forgery::writer},
      {"unnamed", Conduct::Forgery::unnamed},
  };
  std::lock_guard<std::mutex> lock(mutex_);
  conduct_.forgery = names.at(words.next());
  conduct_.is_only_forged = words.skip("only");
  conduct_.forged = words.empty() ? Bytes{0, 1, 0, 0, 0, 0, 0, 0} : from_hex(words.next());
  return "ok";
}

std::string Commands::echo(Words &words)
{
  std::string service = absolute(words.next()), type = words.next();
  Bytes expected = words.empty() ? Bytes() : from_hex(words.next());
  std::lock_guard<std::mutex> lock(mutex_);
  servers_[service] = std::make_unique<Server>(participant_, nodes_[0].node, conduct_, service,
                                               type, 10, [expected](const Bytes &request) {
                                                 if (!expected.empty() && request != expected)
                                                   throw CdrError("another request");
                                                 return request;
                                               });
  participant_.announce_changes();
  return "ok";
}

std::string Commands::close(Words &words)
{
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = servers_.find(absolute(words.next()));
  if (found == servers_.end()) return "no such service";
  found->second->close(nodes_[0].node);
  servers_.erase(found);
  participant_.announce_changes();
  return "ok";
}

std::string Commands::partition(Words &words)
{
  std::lock_guard<std::mutex> lock(mutex_);
  participant_.use_partition(words.next());
  return "ok";
}

std::string Commands::param(Words &words)
{
  std::lock_guard<std::mutex> lock(mutex_);
  NodeOfPeer &node = node_of(words.next());
  return "value " + node.parameters.get(words.next()).describe();
}

std::string Commands::store(Words &words)
{
  std::lock_guard<std::mutex> lock(mutex_);
  NodeOfPeer &node = node_of(words.next());
  std::string name = words.next();
  std::string reason = node.parameters.set(name, Value::parse(words.text()));
  return reason.empty() ? "ok" : "error " + reason;
}

std::string Commands::now(Words &words)
{
  std::lock_guard<std::mutex> lock(mutex_);
  NodeOfPeer &node = node_of(words.next());
  return node.now_ns ? "now " + std::to_string(node.now_ns) : "now unset";
}

// ---- clients ----

struct Commands::Ask {
  milliseconds limit{30000};
  std::string asker = "reader";

  explicit Ask(Words &words)
  {
    for (;;) {
      if (words.skip("--limit"))
        limit = milliseconds(words.number());
      else if (words.skip("--asker"))
        asker = words.next();
      else
        return;
    }
  }

  std::optional<rtps::GUID_t> identity(const Client &client) const
  {
    if (asker == "none") return std::nullopt;
    if (asker == "reader") return client.reader_guid();
    return asker == "writer" ? client.writer_guid() : guid_from_hex(asker);
  }
};

Client &Commands::client_of(const std::string &service, const std::string &type, int depth,
                            bool is_deaf)
{
  auto found = clients_.find(service);
  if (found != clients_.end()) return found->second;
  std::lock_guard<std::mutex> lock(mutex_);
  Client &made =
      clients_.try_emplace(service, participant_, nodes_[0].node, service, type, depth, is_deaf)
          .first->second;
  participant_.announce_changes();
  return made;
}

std::optional<Bytes> Commands::ask(const Ask &ask, Client &client, const Bytes &request,
                                   std::string &problem)
{
  if (!client.wait(ask.limit)) {
    problem = "no service";
    return std::nullopt;
  }
  int64_t number = client.send(request, ask.identity(client));
  std::optional<Bytes> reply = client.receive(number, ask.limit);
  if (!reply) problem = "no answer";
  return reply;
}

std::string Commands::ask_parameters(Words &words, const std::string &service,
                                     const std::string &type,
                                     const std::function<Bytes(Words &)> &request,
                                     std::string (*describe_reply)(const Bytes &))
{
  Ask options(words);
  std::string problem, node = absolute(words.next());
  Client &client = client_of(node + "/" + service, "rcl_interfaces/srv/" + type, 1000);
  std::optional<Bytes> reply = ask(options, client, request(words), problem);
  if (!reply) return problem;
  try {
    return describe_reply(*reply);
  } catch (const CdrError &error) {
    return std::string("bad answer: ") + error.what();
  }
}

static Bytes names_of(Words &words)
{
  return request_of_names(words.rest());
}

std::string Commands::get(Words &words)
{
  return ask_parameters(words, "get_parameters", "GetParameters", names_of, describe_values);
}

std::string Commands::types(Words &words)
{
  return ask_parameters(words, "get_parameter_types", "GetParameterTypes", names_of,
                        describe_types);
}

std::string Commands::describe(Words &words)
{
  return ask_parameters(words, "describe_parameters", "DescribeParameters", names_of,
                        describe_descriptors);
}

std::string Commands::list(Words &words)
{
  auto request = [](Words &) { return request_to_list(); };
  return ask_parameters(words, "list_parameters", "ListParameters", request, describe_names);
}

std::string Commands::set(Words &words)
{
  auto request = [](Words &left) {
    std::string name = left.next();
    return request_to_set(name, Value::parse(left.text()));
  };
  return ask_parameters(words, "set_parameters", "SetParameters", request, describe_set);
}

static Bytes message_of(Words &words)
{
  return words.skip("--size") ? sample_of_size(static_cast<size_t>(words.number()))
                              : from_hex(words.next());
}

static std::string describe_echo(const std::optional<Bytes> &reply, const Bytes &request)
{
  if (!reply) return "no answer";
  std::string line = "reply " + std::to_string(reply->size()) + " ";
  if (*reply == request) return line + "same";
  return line + (reply->size() > 64 ? "other" : to_hex(reply->data(), reply->size()));
}

std::string Commands::call(Words &words)
{
  Ask options(words);
  std::string problem, service = absolute(words.next()), type = words.next();
  Bytes request = message_of(words);
  std::optional<Bytes> reply = ask(options, client_of(service, type, 10), request, problem);
  return reply ? describe_echo(reply, request) : problem;
}

std::string Commands::post(Words &words)
{
  Ask options(words);
  std::string service = absolute(words.next()), type = words.next();
  Client &client = client_of(service, type, 10, true);
  Bytes request = message_of(words);
  if (!client.wait_to_send(options.limit)) return "no service";
  posted_[service] = {client.send(request, options.identity(client)), request};
  return "posted";
}

std::string Commands::listen(Words &words)
{
  Ask options(words);
  std::string service = absolute(words.next());
  Client &client = clients_.at(service);
  client.listen();
  const auto &[number, request] = posted_.at(service);
  return describe_echo(client.receive(number, options.limit), request);
}

std::string Commands::client(Words &words)
{
  std::string service = absolute(words.next());
  Client &made = client_of(service, words.next(), 10);
  return "reader " + guid_to_hex(made.reader_guid()) + " writer " + guid_to_hex(made.writer_guid());
}

std::string Commands::strays(Words &words)
{
  return "strays " + std::to_string(clients_.at(absolute(words.next())).strays());
}

// ---- topics ----

std::string Commands::clock(Words &words)
{
  std::lock_guard<std::mutex> lock(mutex_);
  publishers_.try_emplace("/clock", participant_, nodes_[0].node, "/clock", clock_type,
                          parse_qos(words.next()), known_hash(clock_type));
  participant_.announce_changes();
  return "ok";
}

std::string Commands::tick(Words &words)
{
  while (!words.empty())
    publishers_.at("/clock").send(clock_sample(words.number()));
  return "ok";
}

std::string Commands::ticks(Words &words)
{
  ticker_.reset();
  if (words.skip("stop")) return "ok";
  int64_t from_ns = words.number(), step_ns = words.number();
  ticker_.emplace(publishers_.at("/clock"), from_ns, step_ns, milliseconds(words.number()));
  return "ok";
}

std::string Commands::follow(Words &words)
{
  std::lock_guard<std::mutex> lock(mutex_);
  followed_.emplace(participant_, nodes_[0].node, "/clock", clock_type, parse_qos(words.next()));
  participant_.announce_changes();
  return "ok";
}

std::string Commands::pub(Words &words)
{
  std::string topic = absolute(words.next()), type = words.next(), qos = words.next();
  std::string hash = words.empty() ? known_hash(type) : words.next();
  std::lock_guard<std::mutex> lock(mutex_);
  publishers_.try_emplace(topic, participant_, nodes_[0].node, topic, type, parse_qos(qos), hash);
  participant_.announce_changes();
  return "ok";
}

std::string Commands::send(Words &words)
{
  std::string topic = absolute(words.next());
  Publisher &publisher = publishers_.at(topic);
  auto count = static_cast<size_t>(words.number());
  std::string what = words.next();
  if (what.size() < 8)
    publisher.send_texts(count, std::stoul(what));
  else
    for (size_t i = 0; i < count; i++)
      publisher.send(from_hex(what));
  return "sent " + std::to_string(count);
}

std::string Commands::flush(Words &words)
{
  if (!publishers_.at(absolute(words.next())).flush()) throw std::runtime_error("not acknowledged");
  return "flushed";
}

std::string Commands::sub(Words &words)
{
  std::string topic = absolute(words.next()), type = words.next();
  std::lock_guard<std::mutex> lock(mutex_);
  subscriptions_.try_emplace(topic, participant_, nodes_[0].node, topic, type,
                             parse_qos(words.next()));
  participant_.announce_changes();
  return "ok";
}

std::string Commands::received(Words &words)
{
  std::string topic = absolute(words.next());
  size_t messages = 0, bytes = 0, wanted = static_cast<size_t>(words.number());
  participant_.events.wait_for(event_limit, [&] {
    std::lock_guard<std::mutex> lock(mutex_);
    Subscription &subscription = subscriptions_.at(topic);
    subscription.drain({});
    messages = subscription.messages();
    bytes = subscription.bytes();
    return messages >= wanted;
  });
  return "received " + std::to_string(messages) + " " + std::to_string(bytes);
}

std::string Commands::matched(Words &words)
{
  std::string topic = absolute(words.next());
  size_t matched = 0, wanted = static_cast<size_t>(words.number());
  auto published = publishers_.find(topic);
  auto subscribed = subscriptions_.find(topic);
  if (published == publishers_.end() && subscribed == subscriptions_.end())
    throw std::runtime_error("not a topic of this peer: " + topic);
  Listener &listener = published != publishers_.end() ? *published->second.writer().listener
                                                      : *subscribed->second.reader().listener;
  participant_.events.wait_for(event_limit,
                               [&] { return (matched = listener.matched()) == wanted; });
  return "matched " + std::to_string(matched);
}

std::string Commands::destroy(Words &words)
{
  std::string topic = absolute(words.next());
  std::lock_guard<std::mutex> lock(mutex_);
  Node &node = nodes_[0].node;
  auto forget = [](std::vector<rtps::GUID_t> &guids, const rtps::GUID_t &guid) {
    guids.erase(std::find(guids.begin(), guids.end(), guid));
  };
  if (auto found = publishers_.find(topic); found != publishers_.end()) {
    if (topic == "/clock") ticker_.reset();
    forget(node.writers, found->second.writer().dds->guid());
    participant_.remove(found->second.writer());
    publishers_.erase(found);
  }
  if (auto found = subscriptions_.find(topic); found != subscriptions_.end()) {
    forget(node.readers, found->second.reader().dds->guid());
    participant_.remove(found->second.reader());
    subscriptions_.erase(found);
  }
  if (topic == "/clock" && followed_) {
    forget(node.readers, followed_->reader().dds->guid());
    participant_.remove(followed_->reader());
    followed_.reset();
  }
  participant_.announce_changes();
  return "ok";
}

const std::map<std::string, Commands::Command> Commands::table = {
    {"announce", &Commands::announce},
    {"sees", &Commands::sees},
    {"graph-matched", &Commands::graph_matched},
    {"count", &Commands::count},
    {"dropped", &Commands::dropped},
    {"mute", &Commands::mute},
    {"journal", &Commands::journal},
    {"forge", &Commands::forge},
    {"echo", &Commands::echo},
    {"close", &Commands::close},
    {"partition", &Commands::partition},
    {"param", &Commands::param},
    {"store", &Commands::store},
    {"now", &Commands::now},
    {"get", &Commands::get},
    {"set", &Commands::set},
    {"list", &Commands::list},
    {"types", &Commands::types},
    {"describe", &Commands::describe},
    {"call", &Commands::call},
    {"client", &Commands::client},
    {"post", &Commands::post},
    {"listen", &Commands::listen},
    {"strays", &Commands::strays},
    {"clock", &Commands::clock},
    {"tick", &Commands::tick},
    {"ticks", &Commands::ticks},
    {"follow", &Commands::follow},
    {"pub", &Commands::pub},
    {"send", &Commands::send},
    {"flush", &Commands::flush},
    {"sub", &Commands::sub},
    {"received", &Commands::received},
    {"matched", &Commands::matched},
    {"destroy", &Commands::destroy},
};

} // namespace peer
