// SPDX-License-Identifier: Apache-2.0
// Texts keep their numbers, whatever comes after them.
#include "read/text_pool.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace msprobe::read {
namespace {

TEST(TextPool, InternsAndAdds) {
  TextPool pool;
  EXPECT_EQ(pool.intern(""), 0U);
  EXPECT_EQ(pool[0], "");
  const std::uint32_t a = pool.intern("a");
  EXPECT_EQ(pool.intern("a"), a);
  EXPECT_NE(pool.add("a"), a);
  EXPECT_EQ(pool.find("a"), a);
  EXPECT_EQ(pool.find("b"), 0U);
}

TEST(TextPool, Grows) {
  TextPool pool;
  std::vector<std::uint32_t> ids;
  for (int i = 0; i < 10000; ++i) {
    ids.push_back(pool.intern("text " + std::to_string(i)));
  }
  for (int i = 0; i < 10000; ++i) {
    EXPECT_EQ(pool.intern("text " + std::to_string(i)), ids[static_cast<std::size_t>(i)]);
    EXPECT_EQ(pool[ids[static_cast<std::size_t>(i)]], "text " + std::to_string(i));
  }
  pool.finish();
  EXPECT_EQ(pool[ids[77]], "text 77");
}

}  // namespace
}  // namespace msprobe::read
