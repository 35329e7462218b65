// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .pt file, as the pickle in one, and as changes to one that our writer made: it is read or refused, and what was read
// can be compared with itself and is equal.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "compare/tensor_metrics.h"
#include "dump/pt_frame.h"
#include "read/pt_file.h"
#include "read/pt_pickle.h"

namespace {

using msprobe::DType;

void require(bool holds, const char* what) {
  if (!holds) {
    std::cerr << "pt_fuzzer: " << what << '\n';
    std::abort();
  }
}

msprobe::read::FileDescriptor file_of(std::string_view bytes) {
  msprobe::read::FileDescriptor file(memfd_create("pt_fuzzer", MFD_CLOEXEC));
  require(file.get() >= 0, "no memory file");
  require(write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "the memory file is full");
  return file;
}

void check_file(std::string_view bytes) {
  try {
    const msprobe::read::PtTensor tensor = msprobe::read::read_pt(file_of(bytes), "fuzzed.pt");
    constexpr std::int64_t kMostElements = 100'000;  // an expanded tensor may have more than a fuzzer has time for
    if (tensor.elements() > kMostElements) {
      return;
    }
    const auto metrics = msprobe::compare::compare_tensors(tensor, tensor, {}, 1);
    require(metrics.over_tolerance == 0 && metrics.worst_index.empty(), "a tensor differs from itself");
    require((metrics.status == msprobe::compare::MetricsStatus::kUnsupported) == (tensor.elements() == 0),
            "a tensor that is no tensor");
  } catch (const msprobe::Error& error) {
    require(std::strstr(error.what(), "fuzzed.pt") != nullptr, "a refusal without the file's name");
  }
}

void check_pickle(std::string_view bytes) {
  try {
    const auto pickle = std::as_bytes(std::span(bytes));
    const msprobe::read::PickledTensor tensor =
        msprobe::read::read_pickled_tensor(pickle, {.subject = "fuzzed.pt", .offset = 0});
    require(tensor.dtype != DType::kUnknown && tensor.sizes.size() == tensor.strides.size(), "a tensor without a description");
  } catch (const msprobe::Error& error) {
    require(std::strstr(error.what(), "fuzzed.pt, byte ") != nullptr, "a refusal without a place");
  }
}

// A file of our writer in which bytes are changed: three of the input say where and to what.
void check_changed(std::string_view bytes) {
  constexpr std::array kTypes = {DType::kFloat32, DType::kBFloat16, DType::kUInt16, DType::kComplex64, DType::kFloat4E2M1FNX2};
  const DType dtype = kTypes.at(bytes.size() % kTypes.size());
  const std::vector<std::int64_t> sizes = {2, 3};
  const std::vector<char> data(6 * msprobe::dtype_size(dtype), 'a');
  const msprobe::dump::PtFrame frame = msprobe::dump::make_pt_frame(dtype, sizes, data.data(), data.size());
  std::string file = frame.head + std::string(data.begin(), data.end()) + frame.tail;
  for (std::size_t at = 0; at + 2 < bytes.size() && at < 30; at += 3) {
    const auto high = static_cast<unsigned char>(bytes[at]);
    const auto low = static_cast<unsigned char>(bytes[at + 1]);
    file[(high * 256U + low) % file.size()] = bytes[at + 2];
  }
  check_file(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT(readability-identifier-naming)
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_file(bytes);
  check_file("PK\x03\x04" + std::string(bytes));
  check_pickle(bytes);
  check_pickle("\x80\x02" + std::string(bytes));
  check_changed(bytes);
  return 0;
}
