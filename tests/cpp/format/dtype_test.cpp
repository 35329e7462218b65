// SPDX-License-Identifier: Apache-2.0
// The names, sizes and kinds of all dtypes.
#include "format/dtype.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace msprobe {
namespace {

constexpr int kLast = static_cast<int>(DType::kUnknown);

TEST(DTypeTest, NamesAreThoseOfTorch) {
  EXPECT_EQ(dtype_name(DType::kBool), "torch.bool");
  EXPECT_EQ(dtype_name(DType::kUInt16), "torch.uint16");
  EXPECT_EQ(dtype_name(DType::kInt64), "torch.int64");
  EXPECT_EQ(dtype_name(DType::kFloat16), "torch.float16");
  EXPECT_EQ(dtype_name(DType::kBFloat16), "torch.bfloat16");
  EXPECT_EQ(dtype_name(DType::kComplex32), "torch.complex32");
  EXPECT_EQ(dtype_name(DType::kComplex128), "torch.complex128");
  EXPECT_EQ(dtype_name(DType::kFloat8E4M3FN), "torch.float8_e4m3fn");
  EXPECT_EQ(dtype_name(DType::kFloat8E4M3FNUZ), "torch.float8_e4m3fnuz");
  EXPECT_EQ(dtype_name(DType::kFloat8E5M2), "torch.float8_e5m2");
  EXPECT_EQ(dtype_name(DType::kFloat8E5M2FNUZ), "torch.float8_e5m2fnuz");
  EXPECT_EQ(dtype_name(DType::kFloat8E8M0FNU), "torch.float8_e8m0fnu");
  EXPECT_EQ(dtype_name(DType::kFloat4E2M1FNX2), "torch.float4_e2m1fn_x2");
  EXPECT_EQ(dtype_name(DType::kUnknown), "unknown");
}

TEST(DTypeTest, NamesDiffer) {
  std::set<std::string_view> names;
  for (int index = 0; index <= kLast; ++index) {
    names.insert(dtype_name(static_cast<DType>(index)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kLast) + 1);
}

// The digits in a name are the bits of a value: "torch.complex64" has 8 bytes, "torch.float8_e5m2" one.
TEST(DTypeTest, SizesFollowFromTheNames) {
  for (int index = 0; index < kLast; ++index) {
    const auto dtype = static_cast<DType>(index);
    const std::string name(dtype_name(dtype));
    const std::size_t digits = name.find_first_of("0123456789");
    const std::size_t bits = digits == std::string::npos ? 8 : std::stoul(name.substr(digits));
    EXPECT_EQ(dtype_size(dtype), bits == 4 ? 1 : bits / 8) << name;
  }
  EXPECT_EQ(dtype_size(DType::kUnknown), 0U);
}

TEST(DTypeTest, EveryDTypeHasOneKind) {
  for (int index = 0; index < kLast; ++index) {
    const auto dtype = static_cast<DType>(index);
    const std::string name(dtype_name(dtype));
    EXPECT_EQ(is_complex(dtype), name.find("complex") != std::string::npos) << name;
    EXPECT_EQ(is_floating(dtype), name.find("float") != std::string::npos) << name;
    EXPECT_EQ(is_integral(dtype), name.find("int") != std::string::npos || name == "torch.bool") << name;
  }
  EXPECT_FALSE(is_complex(DType::kUnknown) || is_floating(DType::kUnknown) || is_integral(DType::kUnknown));
}

TEST(DTypeTest, ValuesOutsideTheEnumAreUnknown) {
  EXPECT_EQ(dtype_name(static_cast<DType>(200)), "unknown");
  EXPECT_EQ(dtype_size(static_cast<DType>(200)), 0U);
}

}  // namespace
}  // namespace msprobe
