#include "service.h"

#include <algorithm>
#include <stdexcept>
#include <unistd.h>

namespace peer
{

namespace
{

const milliseconds match_limit(100); // as rmw_fastrtps waits before it drops a reply

bool is_of_reader(const rtps::GUID_t &guid)
{
  return (guid.entityId.value[3] & 0x04) != 0;
}

// One write, so that a line is there or not when the process is killed.
void note(int journal, const Bytes &request)
{
  static const char digits[] = "0123456789abcdef";
  std::string line;
  for (size_t i = 0; i < request.size() && i < 12; i++) {
    line += digits[request[i] >> 4];
    line += digits[request[i] & 15];
  }
  line += '\n';
  if (::write(journal, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error("the journal cannot be written");
}

int64_t number_of(const rtps::SequenceNumber_t &sequence)
{
  return static_cast<int64_t>(sequence.to64long());
}

std::string request_topic(const std::string &service)
{
  return "rq" + service + "Request";
}

std::string reply_topic(const std::string &service)
{
  return "rr" + service + "Reply";
}

} // namespace

Server::Server(Participant &participant, Node &node, Conduct &conduct, const std::string &service,
               const std::string &type, int depth, Answer answer)
    : participant_(participant), conduct_(conduct), answer_(std::move(answer)),
      requests_(participant.reader(request_topic(service), type_on_wire(type, "_Request"),
                                   {true, false, depth})),
      replies_(participant.writer(reply_topic(service), type_on_wire(type, "_Response"),
                                  {true, false, depth}))
{
  node.readers.push_back(requests_.dds->guid());
  node.writers.push_back(replies_.dds->guid());
}

void Server::close(Node &node)
{
  auto &readers = node.readers;
  auto &writers = node.writers;
  readers.erase(std::remove(readers.begin(), readers.end(), requests_.dds->guid()), readers.end());
  writers.erase(std::remove(writers.begin(), writers.end(), replies_.dds->guid()), writers.end());
  participant_.remove(requests_);
  participant_.remove(replies_);
}

void Server::serve()
{
  Bytes request;
  dds::SampleInfo info;
  while (requests_.take(request, info))
    take(request, info);
}

void Server::take(const Bytes &request, const dds::SampleInfo &info)
{
  Bytes answer;
  conduct_.requests++;
  if (conduct_.journal >= 0) note(conduct_.journal, request);
  try {
    answer = answer_(request);
  } catch (const CdrError &) {
    conduct_.malformed++;
    return;
  }
  if (conduct_.is_mute) return;
  rtps::SampleIdentity identity = info.sample_identity;
  const rtps::GUID_t &asker = info.related_sample_identity.writer_guid();
  if (asker != rtps::GUID_t::unknown()) identity.writer_guid(asker);
  if (is_of_reader(identity.writer_guid()) && !participant_.events.wait_for(match_limit, [&] {
        return replies_.listener->is_matched(identity.writer_guid());
      })) {
    conduct_.dropped++;
    return;
  }
  if (conduct_.forgery != Conduct::Forgery::none) forge(info, identity);
  if (conduct_.forgery == Conduct::Forgery::none || !conduct_.is_only_forged)
    reply(std::move(answer), identity);
}

void Server::forge(const dds::SampleInfo &info, rtps::SampleIdentity identity)
{
  switch (conduct_.forgery) {
  case Conduct::Forgery::other:
    identity.writer_guid().guidPrefix.value[11] ^= 0x55;
    break;
  case Conduct::Forgery::sequence:
    ++identity.sequence_number();
    break;
  case Conduct::Forgery::writer:
    identity = info.sample_identity;
    break;
  default:
    identity = rtps::SampleIdentity::unknown();
  }
  reply(conduct_.forged, identity);
}

void Server::reply(Bytes bytes, const rtps::SampleIdentity &identity)
{
  rtps::WriteParams parameters;
  rtps::Time_t now;
  rtps::Time_t::now(now);
  parameters.related_sample_identity(identity);
  parameters.source_timestamp(now);
  replies_.dds->write(&bytes, parameters);
}

Client::Client(Participant &participant, Node &node, const std::string &service,
               const std::string &type, int depth, bool is_deaf)
    : participant_(participant),
      requests_(participant.writer(request_topic(service), type_on_wire(type, "_Request"),
                                   {true, false, depth})),
      replies_(is_deaf ? participant.disabled_reader(reply_topic(service),
                                                     type_on_wire(type, "_Response"),
                                                     {true, false, depth})
                       : participant.reader(reply_topic(service), type_on_wire(type, "_Response"),
                                            {true, false, depth}))
{
  node.writers.push_back(requests_.dds->guid());
  node.readers.push_back(replies_.dds->guid());
}

bool Client::wait(milliseconds limit)
{
  return participant_.events.wait_for(
      limit, [&] { return requests_.listener->matched() > 0 && replies_.listener->matched() > 0; });
}

bool Client::wait_to_send(milliseconds limit)
{
  return participant_.events.wait_for(limit, [&] { return requests_.listener->matched() > 0; });
}

void Client::listen()
{
  replies_.dds->enable();
}

int64_t Client::send(Bytes request, std::optional<rtps::GUID_t> asker)
{
  rtps::WriteParams parameters;
  if (asker) parameters.related_sample_identity().writer_guid(*asker);
  requests_.dds->write(&request, parameters);
  return number_of(parameters.sample_identity().sequence_number());
}

std::optional<Bytes> Client::receive(int64_t number, milliseconds limit)
{
  Bytes reply;
  bool is_there = participant_.events.wait_for(limit, [&] {
    dds::SampleInfo info;
    while (replies_.take(reply, info)) {
      if (is_mine(info.related_sample_identity, number)) return true;
      strays_++;
    }
    return false;
  });
  return is_there ? std::optional<Bytes>(std::move(reply)) : std::nullopt;
}

bool Client::is_mine(const rtps::SampleIdentity &identity, int64_t number) const
{
  const rtps::GUID_t &guid = identity.writer_guid();
  return (guid == reader_guid() || guid == writer_guid()) &&
         number_of(identity.sequence_number()) == number;
}

rtps::GUID_t Client::reader_guid() const
{
  return replies_.dds->guid();
}

rtps::GUID_t Client::writer_guid() const
{
  return requests_.dds->guid();
}

} // namespace peer
