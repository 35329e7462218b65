// SPDX-License-Identifier: Apache-2.0
// Every target's loops against the plain ones; rounding, texts and steps; memory that stays small.
#include "compare/tensor_metrics.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compare/element.h"
#include "compare/pair_kernels.h"
#include "compare/tensor_metrics_with.h"
#include "read/pt_builder.h"
#include "stats/dispatch.h"

namespace msprobe::compare {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class Kernels : public ::testing::TestWithParam<const stats::KernelTable*> {
 protected:
  const PairKernels& kernels() const { return pair_kernels_of(GetParam()->target); }
};

std::vector<double> random_numbers(std::mt19937_64& random, std::size_t count) {
  std::normal_distribution<double> normal;
  std::vector<double> numbers(count);
  for (double& number : numbers) {
    number = random() % 7 == 0 ? 0 : normal(random) * std::ldexp(1, static_cast<int>(random() % 40) - 20);
  }
  return numbers;
}

// Numbers that begin at any address.
template <class Number>
class Unaligned {
 public:
  Unaligned(const std::vector<double>& numbers, std::size_t shift)
      : bytes_(numbers.size() * sizeof(Number) + 64), shift_(shift) {
    for (std::size_t index = 0; index < numbers.size(); ++index) {
      const auto number = static_cast<Number>(numbers[index]);
      std::memcpy(bytes_.data() + shift + index * sizeof number, &number, sizeof number);
    }
  }
  [[nodiscard]] const void* data() const { return bytes_.data() + shift_; }

 private:
  std::vector<char> bytes_;
  std::size_t shift_;
};

template <class Number>
void expect_like_reference(const PairKernels& kernels, bool single) {
  std::mt19937_64 random(1);
  const PairKernels& plain = kReferencePairKernels;
  const Limits limits{.rtol = 1e-3, .atol = 1e-6};
  for (std::size_t count = 0; count < 200; ++count) {
    std::vector<double> golden = random_numbers(random, count);
    std::vector<double> target = golden;
    for (std::size_t index = 0; index < count; ++index) {
      target[index] *= 1 + std::ldexp(1, -static_cast<int>(random() % 24));
    }
    const Unaligned<Number> x(target, random() % 17);
    const Unaligned<Number> y(golden, random() % 17);
    const auto size = static_cast<std::int64_t>(count);
    PairSums found;
    PairSums wanted;
    (single ? kernels.products_float : kernels.products_double)(x.data(), y.data(), size, found);
    (single ? plain.products_float : plain.products_double)(x.data(), y.data(), size, wanted);
    (single ? kernels.differences_float : kernels.differences_double)(x.data(), y.data(), size, limits, found);
    (single ? plain.differences_float : plain.differences_double)(x.data(), y.data(), size, limits, wanted);
    (single ? kernels.relative_float : kernels.relative_double)(x.data(), y.data(), size, found);
    (single ? plain.relative_float : plain.relative_double)(x.data(), y.data(), size, wanted);
    EXPECT_NEAR(found.dot, wanted.dot, 1e-13 * std::sqrt(wanted.target_squares * wanted.golden_squares)) << count;
    EXPECT_NEAR(found.target_squares, wanted.target_squares, 1e-14 * wanted.target_squares);
    EXPECT_NEAR(found.golden_squares, wanted.golden_squares, 1e-14 * wanted.golden_squares);
    EXPECT_NEAR(found.difference_squares, wanted.difference_squares, 1e-14 * wanted.difference_squares);
    EXPECT_EQ(found.max_abs, wanted.max_abs);
    EXPECT_EQ(found.over_tolerance, wanted.over_tolerance);
    EXPECT_EQ(found.max_relative, wanted.max_relative);
    EXPECT_EQ(found.within_one, wanted.within_one);
    EXPECT_EQ(found.within_five, wanted.within_five);
  }
}

TEST_P(Kernels, FloatsAreLikeTheReference) { expect_like_reference<float>(kernels(), true); }
TEST_P(Kernels, DoublesAreLikeTheReference) { expect_like_reference<double>(kernels(), false); }

TEST_P(Kernels, HalvesAreWidenedLikeTheReference) {
  std::vector<std::uint16_t> codes(65536);
  for (std::size_t code = 0; code < codes.size(); ++code) {
    codes[code] = static_cast<std::uint16_t>(code);
  }
  for (const auto widen : {&PairKernels::widen_float16, &PairKernels::widen_bfloat16}) {
    for (const std::int64_t count :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{15}, std::int64_t{33}, std::int64_t{65536}}) {
      std::vector<float> found(codes.size());
      std::vector<float> wanted(codes.size());
      (kernels().*widen)(codes.data(), count, found.data());
      (kReferencePairKernels.*widen)(codes.data(), count, wanted.data());
      for (std::size_t index = 0; index < codes.size(); ++index) {
        const bool both_nan = std::isnan(found[index]) && std::isnan(wanted[index]);
        EXPECT_TRUE(both_nan || std::bit_cast<std::uint32_t>(found[index]) == std::bit_cast<std::uint32_t>(wanted[index]))
            << index;
      }
    }
  }
}

TEST_P(Kernels, NotFiniteNumbersShowInTheSquares) {
  for (const double special : {kNan, kInfinity, -kInfinity}) {
    for (std::size_t at = 0; at < 40; ++at) {
      std::vector<double> numbers(40, 1);
      numbers[at] = special;
      PairSums sums;
      const Unaligned<float> floats(numbers, 0);
      kernels().products_float(floats.data(), floats.data(), 40, sums);
      EXPECT_FALSE(std::isfinite(sums.target_squares));
      kernels().products_double(numbers.data(), numbers.data(), 40, sums);
      EXPECT_FALSE(std::isfinite(sums.golden_squares));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Kernels, ::testing::ValuesIn(stats::available_kernels()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(RoundToDecimals, IsWhatPrintfAndReadingBackGive) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 20000; ++round) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) {
      continue;
    }
    for (const int decimals : {6, 12}) {
      char text[400];
      snprintf(text, sizeof text, "%.*f", decimals, value);
      EXPECT_EQ(round_to_decimals(value, decimals), std::strtod(text, nullptr)) << text;
    }
  }
  EXPECT_EQ(round_to_decimals(1e-20, 12), 0);
  EXPECT_EQ(round_to_decimals(0.12345678901249999, 12), 0.123456789012);
  EXPECT_EQ(round_to_decimals(kInfinity, 12), kInfinity);
  EXPECT_TRUE(std::isnan(round_to_decimals(kNan, 12)));
}

Element real(DType dtype, double value) { return {.dtype = dtype, .real = value}; }

TEST(UlpDistance, CountsTheStepsOfTheCoarserType) {
  const auto distance = [](DType left_type, double left, DType right_type, double right) {
    return ulp_distance(real(left_type, left), real(right_type, right)).value();
  };
  EXPECT_EQ(distance(DType::kFloat32, 1, DType::kFloat32, std::nextafter(1.0F, 2.0F)), 1U);
  EXPECT_EQ(distance(DType::kFloat64, 1, DType::kFloat64, std::nextafter(1.0, 0.0)), 1U);
  EXPECT_EQ(distance(DType::kFloat32, 0.0, DType::kFloat32, -0.0), 0U);
  EXPECT_EQ(distance(DType::kFloat32, 0x1p-149, DType::kFloat32, -0x1p-149), 2U);  // through both zeros, which are one
  EXPECT_EQ(distance(DType::kFloat32, 1, DType::kBFloat16, 1.0078125), 1U);        // 1 + 2^-7
  EXPECT_EQ(distance(DType::kFloat32, 1.0001, DType::kBFloat16, 1), 0U);
  EXPECT_EQ(distance(DType::kFloat16, 65504, DType::kFloat32, 65536), 1U);  // beyond the largest it goes on
  EXPECT_EQ(distance(DType::kFloat64, 1, DType::kFloat64, -1), 2 * (std::uint64_t{1023} << 52U));
  EXPECT_EQ(distance(DType::kFloat4E2M1FNX2, 6, DType::kFloat4E2M1FNX2, 0), 7U);
  EXPECT_EQ(distance(DType::kFloat8E8M0FNU, 0x1p127, DType::kFloat8E8M0FNU, 0x1p-127), 254U);
  EXPECT_FALSE(ulp_distance(real(DType::kFloat32, kNan), real(DType::kFloat32, 1)));
  EXPECT_FALSE(ulp_distance(real(DType::kFloat32, 1), real(DType::kFloat32, kInfinity)));
}

TEST(IndexText, CountsTheLastDimensionFirst) {
  const std::vector<std::int64_t> sizes = {2, 3, 4};
  EXPECT_EQ(index_text(sizes, 0), "[0, 0, 0]");
  EXPECT_EQ(index_text(sizes, 23), "[1, 2, 3]");
  EXPECT_EQ(index_text({}, 0), "[]");
}

#if !defined(__SANITIZE_THREAD__)  // its bookkeeping takes several times the memory that is read

// Kilobytes in a line of /proc/self/status.
long status_kilobytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key, 0) == 0) {
      return std::stol(line.substr(key.size() + 1));
    }
  }
  return -1;
}

// Two tensors of 256 MB, of which the disk holds next to nothing: zeros are holes.
TEST(Memory, DoesNotGrowWithTheTensors) {
  constexpr std::size_t kBytes = std::size_t{1} << 28U;
  const read::TemporaryFolder folder;
  void* const zeros = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  const dump::PtFrame frame =
      dump::make_pt_frame(DType::kFloat32, std::vector<std::int64_t>{1024, kBytes / 4096}, zeros, kBytes);
  munmap(zeros, kBytes);
  for (const char* name : {"target.pt", "golden.pt"}) {
    const std::string path = folder.write(name, frame.head);
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(frame.head.size() + kBytes)), 0);
    std::ofstream(path, std::ios::binary | std::ios::app) << frame.tail;
  }
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak counts from here
  const long before = status_kilobytes("VmHWM:");
  const TensorMetrics metrics = compare_tensor_files(folder.path(), "target.pt", folder.path(), "golden.pt", {}, 2);
  EXPECT_EQ(metrics.elements, static_cast<std::int64_t>(kBytes / sizeof(float)));
  EXPECT_EQ(metrics.cosine, 1);
  constexpr long kAllowed = 200'000;
  EXPECT_LT(status_kilobytes("VmHWM:") - before, kAllowed);
}

#endif

}  // namespace
}  // namespace msprobe::compare
