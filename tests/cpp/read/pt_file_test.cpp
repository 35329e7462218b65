// SPDX-License-Identifier: Apache-2.0
// Whole .pt files: those of our own writer, and archives that lie.
#include "read/pt_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <zlib.h>

#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "read/pt_builder.h"
#include "read/pt_zip.h"

namespace msprobe::read {
namespace {

class PtFile : public ::testing::Test {
 protected:
  std::string refusal_of(std::string_view bytes) const {
    try {
      read_pt(folder_.write("x.pt", bytes));
    } catch (const Error& error) {
      return error.what();
    }
    return "not refused";
  }

  void expect_refused(std::string_view bytes, const std::string& reason) const {
    const std::string message = refusal_of(bytes);
    EXPECT_EQ(message.rfind("'" + folder_.file("x.pt") + "'", 0), 0U) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  }
  void expect_refused_tensor(const pickle::Tensor& tensor, const std::string& reason) const {
    expect_refused(zip(tensor_parts(tensor.value())), reason);
  }

  TemporaryFolder folder_;
};

std::string deflated(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

ZipPart deflated_part(const std::string& name, std::string_view bytes) {
  return {.name = name,
          .packed = deflated(bytes),
          .size = bytes.size(),
          .checksum = static_cast<std::uint32_t>(
              crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()))),
          .method = 8};
}

TEST_F(PtFile, ReadsWhatOurWriterWrites) {
  std::vector<std::uint8_t> bytes(16 * 6);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  for (int index = 0; index < static_cast<int>(DType::kUnknown); ++index) {
    const auto dtype = static_cast<DType>(index);
    const std::span<const std::uint8_t> data(bytes.data(), 6 * dtype_size(dtype));
    const PtTensor tensor = read_pt(folder_.write_tensor("x.pt", dtype, {2, 1, 3}, data));
    EXPECT_EQ(tensor.dtype(), dtype);
    EXPECT_EQ(std::vector<std::int64_t>(tensor.sizes().begin(), tensor.sizes().end()), (std::vector<std::int64_t>{2, 1, 3}));
    EXPECT_EQ(tensor.elements(), 6);
    EXPECT_EQ(std::memcmp(tensor.data(), data.data(), data.size()), 0) << dtype_name(dtype);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % 64, 0U) << "in place: mapped, at the writer's alignment";
  }
}

TEST_F(PtFile, ReadsEmptyAndZeroDimensionalTensorsOfOurWriter) {
  const std::vector<float> one = {3.5F};
  EXPECT_EQ(read_pt(folder_.write_tensor<float>("x.pt", DType::kFloat32, {}, one)).elements(), 1);
  const PtTensor empty = read_pt(folder_.write_tensor<float>("x.pt", DType::kFloat32, {3, 0}, {}));
  EXPECT_EQ(empty.elements(), 0);
  EXPECT_EQ(empty.data(), nullptr);
}

// Four GiB and a bit, of which the disk holds nothing: a file with a hole.
TEST_F(PtFile, ReadsZip64) {
  constexpr std::size_t kBytes = (std::size_t{1} << 32U) + 4096;
  void* const zeros = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  const dump::PtFrame frame = dump::make_pt_frame(DType::kUInt8, std::vector<std::int64_t>{kBytes}, zeros, kBytes);
  munmap(zeros, kBytes);
  const std::string path = folder_.write("x.pt", frame.head);
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(frame.head.size() + kBytes)), 0);
  std::ofstream(path, std::ios::binary | std::ios::app) << frame.tail;
  const PtTensor tensor = read_pt(path);
  EXPECT_EQ(tensor.elements(), static_cast<std::int64_t>(kBytes));
  EXPECT_EQ(tensor.data()[kBytes - 1], std::byte{0});
}

TEST_F(PtFile, ReadsDeflatedEntries) {
  std::vector<float> numbers(6);
  std::iota(numbers.begin(), numbers.end(), 1.0F);
  const std::string data(reinterpret_cast<const char*>(numbers.data()), 24);
  const std::string pickled = pickle::whole(pickle::Tensor{}.value());
  const PtTensor tensor = read_pt(folder_.write(
      "x.pt",
      zip({deflated_part("x/data.pkl", pickled), deflated_part("x/byteorder", "little"), deflated_part("x/data/0", data)})));
  EXPECT_EQ(std::memcmp(tensor.data(), data.data(), data.size()), 0);
}

TEST_F(PtFile, BrokenDeflatedEntriesAreRefused) {
  const std::vector<ZipPart> parts = tensor_parts();
  const auto with = [&](const ZipPart& data) { return zip({parts[0], parts[1], data}); };
  ZipPart data = deflated_part("x/data/0", std::string(24, 'x'));
  const ZipPart whole = data;
  data.checksum ^= 1U;
  expect_refused(with(data), "of the checksum");
  data = whole;
  data.packed.resize(data.packed.size() - 2);
  expect_refused(with(data), "broken or cut off");
  data = whole;
  data.packed = std::string(20, '\xFF');
  expect_refused(with(data), "broken or cut off");
  data.packed.clear();
  expect_refused(with(data), "broken or cut off");
  data = deflated_part("x/data/0", std::string(23, 'x'));
  data.size = 24;
  expect_refused(with(data), "must unpack to 24 bytes");
  data = deflated_part("x/data/0", std::string(100, 'x'));
  data.size = 24;
  expect_refused(with(data), "must unpack to the 24 bytes that it announces, got more");
}

TEST_F(PtFile, BombsAreRefusedByWhatTheyAnnounce) {
  // The entry unpacks to 1 GB; the storage needs 24 bytes.
  std::vector<ZipPart> parts = tensor_parts();
  parts[2] = deflated_part("x/data/0", std::string(1 << 20, '\0'));
  parts[2].size = 1'000'000'000;
  expect_refused(zip(parts), "its entry must have as many, got 1000000000 bytes");
  // A storage of that size, of which the file has next to nothing.
  const pickle::Tensor tensor{.storage_value = pickle::storage("FloatStorage", 250'000'000)};
  parts[0] = ZipPart::stored("x/data.pkl", pickle::whole(tensor.value()));
  expect_refused(zip(parts), "announces 1000000000 bytes, more than");
  // A description that unpacks to a lot.
  parts = tensor_parts();
  parts[0] = deflated_part("x/data.pkl", std::string(1 << 20, 'N'));
  expect_refused(zip(parts), "must have at most 262144 bytes, got 1048576");
}

TEST_F(PtFile, TensorsMustLieInTheirStorage) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  expect_refused_tensor({.offset = 1}, "last element is number 6 of its storage, which has 6");
  expect_refused_tensor({.strides = {4, 1}}, "last element is number 6 of its storage, which has 6");
  expect_refused_tensor({.sizes = {3, 3}}, "last element is number 8");
  expect_refused_tensor({.offset = kHuge}, "must fit 63 bits");
  expect_refused_tensor({.strides = {kHuge, kHuge}}, "must fit 63 bits");
  expect_refused_tensor({.sizes = {kHuge, kHuge}, .strides = {0, 0}}, "must fit 63 bits");
  expect_refused_tensor({.sizes = {kHuge, 1}, .strides = {0, 0}}, "at most 68719476736 of them");
  expect_refused_tensor({.storage_value = pickle::storage("FloatStorage", kHuge)}, "its entry must have as many");
  expect_refused_tensor({.storage_value = pickle::storage("FloatStorage", 7)}, "its entry must have as many, got 24 bytes");
  expect_refused_tensor({.storage_value = pickle::storage("DoubleStorage", 6)}, "items of 8 bytes");
  expect_refused_tensor({.storage_value = pickle::storage("FloatStorage", 6, "1")},
                        "must lie in the entry 'x/data/1', got no such entry");
  const pickle::Tensor expanded{.sizes = {1000, 1000}, .strides = {0, 0}};
  EXPECT_EQ(read_pt(folder_.write("x.pt", zip(tensor_parts(expanded.value())))).elements(), 1'000'000);
  const pickle::Tensor empty{.offset = kHuge, .sizes = {0, kHuge}, .strides = {kHuge, kHuge}};
  EXPECT_EQ(read_pt(folder_.write("x.pt", zip(tensor_parts(empty.value())))).elements(), 0);
}

TEST_F(PtFile, ArchivesMustNameWhatTheyHold) {
  std::vector<ZipPart> parts = tensor_parts();
  parts.push_back(parts[2]);
  expect_refused(zip(parts), "must name each entry once, got 'x/data/0' twice");
  parts = tensor_parts();
  parts.push_back(ZipPart::stored("y/data.pkl", ""));
  expect_refused(zip(parts), "must hold one archive of torch.save, got a second, 'y/data.pkl'");
  expect_refused(zip({}), "must be a zip archive of torch.save");
  expect_refused(zip({ZipPart::stored("x/other", "text")}), "must have an entry {name}/data.pkl, got none");
  parts = tensor_parts();
  parts.push_back(ZipPart::stored("x/constants.pkl", ""));
  expect_refused(zip(parts), "got a TorchScript program");
  parts = tensor_parts();
  parts[1] = ZipPart::stored("x/byteorder", "middle");
  expect_refused(zip(parts), "must be little or big, got 'middle'");
  parts = tensor_parts();
  parts[2].header_name = "x/data/1";
  expect_refused(zip(parts), "must have one name");
  parts = tensor_parts();
  parts[2].flags = 1;
  expect_refused(zip(parts), "neither encrypted nor patched");
}

TEST_F(PtFile, EntriesMustLieInTheFile) {
  expect_refused(zip(tensor_parts(), {.prefix = 1}), "must lead to the entry 'x/data.pkl'");
  expect_refused(zip(tensor_parts(), {.prefix = 1U << 30U}), "must lead to the entry");
  expect_refused(zip(tensor_parts(), {.entries = 2}), "must end with its last entry");
  expect_refused(zip(tensor_parts(), {.entries = 4}), "room for them");
  expect_refused(zip(tensor_parts(), {.entries = 60000}), "room for them");
  expect_refused(zip(tensor_parts(), {.entries = 0xFFFF}), "must have its zip64 locator");
  constexpr std::size_t kPacked = 20;
  constexpr std::size_t kSize = 24;
  constexpr std::size_t kNameLength = 28;
  constexpr std::size_t kExtraLength = 30;
  const auto changed = [](std::size_t at, const std::string& bytes) {
    return ZipShape{.change = [=](std::string& directory) {
      const std::size_t last = directory.rfind("PK\x01\x02");
      directory.replace(last + at, bytes.size(), bytes);
    }};
  };
  expect_refused(zip(tensor_parts(), changed(0, "QK")), "must have a record here");
  expect_refused(zip(tensor_parts(), changed(kPacked, little_endian(25, 4))),
                 "a stored zip entry must have one size, got 24 and 25");
  expect_refused(zip(tensor_parts(), changed(kPacked, little_endian(25, 4) + little_endian(25, 4))), "announces 25 bytes");
  expect_refused(zip(tensor_parts(), changed(kPacked, std::string(8, '\xFF'))), "must have a zip64 field, got none");
  expect_refused(zip(tensor_parts(), changed(kSize, little_endian(0xFFFFFFFF, 4))), "must have a zip64 field, got none");
  expect_refused(zip(tensor_parts(), changed(kNameLength, "\xFF\xFF")), "must end within the directory");
  expect_refused(zip(tensor_parts(), changed(kExtraLength, "\xFF\xFF")), "must end within the directory");
}

TEST_F(PtFile, Zip64RecordsAreChecked) {
  const auto with_locator = [](std::uint64_t offset, const std::string& record) {
    std::string file = zip(tensor_parts());
    const std::string end = file.substr(file.size() - 22);
    file.resize(file.size() - 22);
    return file + record + "PK\x06\x07" + little_endian(0, 4) + little_endian(offset, 8) + little_endian(1, 4) + end;
  };
  expect_refused(with_locator(~std::uint64_t{0}, ""), "must lead to a zip64 end record before it");
  expect_refused(with_locator(0, ""), "must lead to a zip64 end record before it");
  const std::uint64_t at = zip(tensor_parts()).size() - 22;
  const auto record = [](std::uint64_t entries, std::uint64_t size, std::uint64_t offset) {
    return "PK\x06\x06" + little_endian(44, 8) + little_endian(0, 4) + little_endian(0, 8) + little_endian(entries, 8) +
           little_endian(entries, 8) + little_endian(size, 8) + little_endian(offset, 8);
  };
  expect_refused(with_locator(at, record(3, ~std::uint64_t{0}, 1)), "must lie before its end record");
  expect_refused(with_locator(at, record(3, 1, ~std::uint64_t{0})), "must lie before its end record");
  expect_refused(with_locator(at, record(~std::uint64_t{0}, 10, 0)), "at most 100000 entries");
}

TEST_F(PtFile, OtherFilesAreRefused) {
  expect_refused("", "got an empty file");
  expect_refused("{}", "must be a zip archive of torch.save, got something else");
  expect_refused(std::string("PK\x03\x04", 4), "has no end record");
  EXPECT_THROW(read_pt(folder_.file("none.pt")), FileError);
  EXPECT_THROW(read_pt(folder_.path()), Error);
}

// Any byte of a file may be wrong: it is read or refused, and nothing else (the sanitizers watch).
TEST_F(PtFile, EveryByteMayBeWrong) {
  const std::string whole = zip(tensor_parts());
  int read = 0;
  constexpr std::array<char, 3> kFlips = {'\x01', '\x80', '\xFF'};
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ kFlips.at(at % kFlips.size()));
    read += refusal_of(changed) == "not refused" ? 1 : 0;
  }
  EXPECT_GE(read, 24) << "the data may be anything";
}

}  // namespace
}  // namespace msprobe::read
