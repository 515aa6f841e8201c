// Samples as bytes, with their encapsulation: CDR written and read.
#ifndef TB_TEST_FASTDDS_CDR_H
#define TB_TEST_FASTDDS_CDR_H

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace peer
{

using Bytes = std::vector<uint8_t>;

struct CdrError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Little-endian.
class CdrWriter
{
public:
  void octet(uint8_t value);
  void boolean(bool value);
  void uint32(uint32_t value);
  void uint64(uint64_t value);
  void int64(int64_t value);
  void float64(double value);
  void text(const std::string &value);
  void raw(const uint8_t *data, size_t size);
  const Bytes &bytes() const
  {
    return bytes_;
  }

private:
  void integer(uint64_t value, size_t size);
  Bytes bytes_{0, 1, 0, 0};
};

// Either byte order. All calls throw CdrError where the bytes do not have what is asked for.
class CdrReader
{
public:
  explicit CdrReader(const Bytes &bytes);
  uint8_t octet();
  bool boolean();
  uint32_t uint32();
  uint64_t uint64();
  int64_t int64();
  double float64();
  std::string text();
  // The length of a sequence whose elements have at least so many bytes.
  size_t count(size_t element_size);
  // Nothing follows but padding.
  void end() const;

private:
  uint64_t integer(size_t size);
  size_t left() const;
  const Bytes &bytes_;
  size_t at_ = 4;
  bool is_big_ = false;
};

} // namespace peer

#endif
