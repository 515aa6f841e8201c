// What a peer has, and its commands (peer.cpp).
#ifndef TB_TEST_FASTDDS_COMMANDS_H
#define TB_TEST_FASTDDS_COMMANDS_H

#include <atomic>
#include <map>
#include <thread>

#include "parameters.h"
#include "service.h"
#include "topics.h"

namespace peer
{

// The words of a command that are left.
class Words
{
public:
  explicit Words(const std::string &line);
  explicit Words(const std::vector<std::string> &words) : words_(words.begin(), words.end()) {}
  bool empty() const
  {
    return words_.empty();
  }
  const std::string &front() const;
  std::string next();
  int64_t number();
  // True, and takes it, if it is the next one.
  bool skip(const std::string &word);
  std::vector<std::string> rest();
  // To the end of the line, or a pattern (--size N).
  std::string text();

private:
  std::deque<std::string> words_;
};

// A node with what rclcpp gives to each.
struct NodeOfPeer {
  NodeOfPeer(Participant &participant, Conduct &conduct, const std::string &full_name);
  void drain();
  Node &node;
  Participant &participant;
  Parameters parameters;
  std::vector<Publisher> publishers;
  std::vector<std::unique_ptr<Server>> servers;
  std::optional<Subscription> clock; // while use_sim_time is true
  int64_t now_ns = 0;

private:
  void use_sim_time(bool is_used);
};

class Commands
{
public:
  Commands(const Participant::Options &options, const std::vector<std::string> &nodes);
  ~Commands();
  // The answer to a line.
  std::string obey(const std::string &line);

private:
  using Command = std::string (Commands::*)(Words &words);
  struct Ask; // options of a client's command

  static const std::map<std::string, Command> table;

  std::string announce(Words &words);
  std::string sees(Words &words);
  std::string graph_matched(Words &words);
  std::string count(Words &words);
  std::string dropped(Words &words);
  std::string mute(Words &words);
  std::string journal(Words &words);
  std::string forge(Words &words);
  std::string echo(Words &words);
  std::string close(Words &words);
  std::string partition(Words &words);
  std::string param(Words &words);
  std::string store(Words &words);
  std::string now(Words &words);
  std::string get(Words &words);
  std::string set(Words &words);
  std::string list(Words &words);
  std::string types(Words &words);
  std::string describe(Words &words);
  std::string call(Words &words);
  std::string client(Words &words);
  std::string post(Words &words);
  std::string listen(Words &words);
  std::string strays(Words &words);
  std::string clock(Words &words);
  std::string tick(Words &words);
  std::string ticks(Words &words);
  std::string follow(Words &words);
  std::string pub(Words &words);
  std::string send(Words &words);
  std::string flush(Words &words);
  std::string sub(Words &words);
  std::string received(Words &words);
  std::string matched(Words &words);
  std::string destroy(Words &words);

  NodeOfPeer &node_of(const std::string &full_name);
  Client &client_of(const std::string &service, const std::string &type, int depth,
                    bool is_deaf = false);
  std::string ask_parameters(Words &words, const std::string &service, const std::string &type,
                             const std::function<Bytes(Words &)> &request,
                             std::string (*describe_reply)(const Bytes &));
  std::optional<Bytes> ask(const Ask &ask, Client &client, const Bytes &request,
                           std::string &problem);
  void run();

  Participant participant_;
  Conduct conduct_;
  std::mutex
      mutex_; // of all that follows, but for clients and publishers: those are the main thread's
  std::deque<NodeOfPeer> nodes_;
  std::map<std::string, std::unique_ptr<Server>> servers_; // by service
  std::map<std::string, Subscription> subscriptions_;
  std::optional<Subscription> followed_;
  std::map<std::string, Client> clients_;
  std::map<std::string, std::pair<int64_t, Bytes>> posted_; // the last request of each
  std::map<std::string, Publisher> publishers_;
  std::optional<Ticker> ticker_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_; // takes and answers what comes
};

} // namespace peer

#endif
