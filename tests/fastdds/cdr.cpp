#include "cdr.h"

#include <cstring>

namespace peer
{

void CdrWriter::integer(uint64_t value, size_t size)
{
  while ((bytes_.size() - 4) % size != 0)
    bytes_.push_back(0);
  for (size_t i = 0; i < size; i++)
    bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void CdrWriter::octet(uint8_t value)
{
  bytes_.push_back(value);
}

void CdrWriter::boolean(bool value)
{
  bytes_.push_back(value);
}

void CdrWriter::uint32(uint32_t value)
{
  integer(value, 4);
}

void CdrWriter::uint64(uint64_t value)
{
  integer(value, 8);
}

void CdrWriter::int64(int64_t value)
{
  integer(static_cast<uint64_t>(value), 8);
}

void CdrWriter::float64(double value)
{
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  integer(bits, 8);
}

void CdrWriter::text(const std::string &value)
{
  uint32(static_cast<uint32_t>(value.size() + 1));
  bytes_.insert(bytes_.end(), value.begin(), value.end());
  bytes_.push_back(0);
}

void CdrWriter::raw(const uint8_t *data, size_t size)
{
  bytes_.insert(bytes_.end(), data, data + size);
}

CdrReader::CdrReader(const Bytes &bytes) : bytes_(bytes)
{
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] > 1) throw CdrError("not CDR");
  is_big_ = bytes[1] == 0;
}

size_t CdrReader::left() const
{
  return bytes_.size() - at_;
}

uint64_t CdrReader::integer(size_t size)
{
  size_t padding = (size - (at_ - 4) % size) % size;
  if (left() < padding + size) throw CdrError("cut");
  at_ += padding;
  uint64_t value = 0;
  for (size_t i = 0; i < size; i++)
    value |= static_cast<uint64_t>(bytes_[at_ + i]) << (8 * (is_big_ ? size - 1 - i : i));
  at_ += size;
  return value;
}

uint8_t CdrReader::octet()
{
  return static_cast<uint8_t>(integer(1));
}

bool CdrReader::boolean()
{
  uint8_t value = octet();
  if (value > 1) throw CdrError("not a boolean");
  return value;
}

uint32_t CdrReader::uint32()
{
  return static_cast<uint32_t>(integer(4));
}

uint64_t CdrReader::uint64()
{
  return integer(8);
}

int64_t CdrReader::int64()
{
  return static_cast<int64_t>(integer(8));
}

double CdrReader::float64()
{
  uint64_t bits = integer(8);
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::string CdrReader::text()
{
  size_t size = count(1);
  if (size == 0 || bytes_[at_ + size - 1] != 0) throw CdrError("a text without end");
  std::string value(bytes_.begin() + static_cast<std::ptrdiff_t>(at_),
                    bytes_.begin() + static_cast<std::ptrdiff_t>(at_ + size - 1));
  at_ += size;
  return value;
}

size_t CdrReader::count(size_t element_size)
{
  uint32_t value = uint32();
  if (value > left() / element_size) throw CdrError("too long");
  return value;
}

void CdrReader::end() const
{
  if (left() > 3) throw CdrError("more than its type");
}

} // namespace peer
