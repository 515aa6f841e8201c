// Servers and clients of services that speak as rmw_fastrtps does: plain CDR, and who asked and is
// answered in the related sample identity.
#ifndef TB_TEST_FASTDDS_SERVICE_H
#define TB_TEST_FASTDDS_SERVICE_H

#include <functional>
#include <optional>
#include <string>

#include "participant.h"

namespace peer
{

// How servers treat requests, and what became of them.
struct Conduct {
  enum class Forgery {
    none,
    other,    // of the client of another participant
    sequence, // of the next request
    writer,   // of the request's writer, though it names its reader: a client takes this one
    unnamed,  // without an identity
  };

  bool is_mute = false;
  Forgery forgery = Forgery::none; // sent before the reply
  Bytes forged{0, 1, 0, 0, 0, 0, 0, 0};
  bool is_only_forged = false;
  size_t requests = 0;
  size_t malformed = 0;
  size_t dropped = 0; // replies whose reader was not matched in time
  int journal = -1;   // descriptor of a file; -1: none
};

class Server
{
public:
  // The reply, or CdrError.
  using Answer = std::function<Bytes(const Bytes &request)>;

  Server(Participant &participant, Node &node, Conduct &conduct, const std::string &service,
         const std::string &type, int depth, Answer answer);
  // Takes and answers all that has come.
  void serve();
  // Removes its endpoints, which it has listed under this node.
  void close(Node &node);

private:
  void take(const Bytes &request, const dds::SampleInfo &info);
  void forge(const dds::SampleInfo &info, rtps::SampleIdentity identity);
  void reply(Bytes bytes, const rtps::SampleIdentity &identity);
  Participant &participant_;
  Conduct &conduct_;
  Answer answer_;
  Reader requests_;
  Writer replies_;
};

class Client
{
public:
  Client(Participant &participant, Node &node, const std::string &service, const std::string &type,
         int depth, bool is_deaf = false);
  // A server's reader is matched.
  bool wait_to_send(milliseconds limit);
  // Ends being deaf: until then nothing has been told of the reader of replies.
  void listen();
  // Both endpoints are matched.
  bool wait(milliseconds limit);
  // Sends with an identity that names the reader of replies, another one, or none. The request's
  // number.
  int64_t send(Bytes request, std::optional<rtps::GUID_t> asker);
  std::optional<Bytes> receive(int64_t number, milliseconds limit);
  rtps::GUID_t reader_guid() const;
  rtps::GUID_t writer_guid() const;
  // Replies that were for others, or late.
  size_t strays() const
  {
    return strays_;
  }

private:
  bool is_mine(const rtps::SampleIdentity &identity, int64_t number) const;
  Participant &participant_;
  Writer requests_;
  Reader replies_;
  size_t strays_ = 0;
};

} // namespace peer

#endif
