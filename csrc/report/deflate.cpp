// SPDX-License-Identifier: Apache-2.0
// DEFLATE by libdeflate, whole buffers at one go.
#include "report/deflate.h"

#include <libdeflate.h>

#include <cstddef>
#include <memory>

#include "base/error.h"

namespace msprobe::report {
namespace {

constexpr int kCompressionLevel = 4;  // of 12; higher levels cost more time than they save bytes on rows of numbers

template <class Bound, class Compress>
std::string compressed(std::string_view bytes, Bound bound, Compress compress) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(kCompressionLevel), &libdeflate_free_compressor);
  if (compressor == nullptr) {
    fail("cannot compress ", bytes.size(), " bytes: out of memory");
  }
  std::string out(bound(compressor.get(), bytes.size()), '\0');
  out.resize(compress(compressor.get(), bytes.data(), bytes.size(), out.data(), out.size()));
  return out;
}

}  // namespace

std::string compressed_gzip(std::string_view bytes) {
  return compressed(bytes, libdeflate_gzip_compress_bound, libdeflate_gzip_compress);
}

std::string compressed_zlib(std::string_view bytes) {
  return compressed(bytes, libdeflate_zlib_compress_bound, libdeflate_zlib_compress);
}

}  // namespace msprobe::report
