// SPDX-License-Identifier: Apache-2.0
// Pickles that no torch.save wrote: each is refused with the byte, in bounded time and memory.
#include "read/pt_pickle.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "read/pt_builder.h"

namespace msprobe::read {
namespace {

PickledTensor read_bytes(const std::string& bytes) {
  return read_pickled_tensor(std::as_bytes(std::span(bytes)), {.subject = "x.pt", .offset = 1000});
}

std::string refusal_of(const std::string& bytes) {
  try {
    read_bytes(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "not refused";
}

void expect_refused(const std::string& value, const std::string& reason) {
  const std::string message = refusal_of(pickle::whole(value));
  EXPECT_EQ(message.rfind("x.pt, byte ", 0), 0U) << message;
  EXPECT_NE(message.find(reason), std::string::npos) << message;
}

TEST(PtPickle, ReadsAPlainTensor) {
  const PickledTensor tensor =
      read_bytes(pickle::whole(pickle::Tensor{.offset = 1, .sizes = {1, 4}, .strides = {9, 1}}.value()));
  EXPECT_EQ(tensor.dtype, DType::kFloat32);
  EXPECT_EQ(tensor.sizes, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(tensor.strides, (std::vector<std::int64_t>{9, 1}));
  EXPECT_EQ(tensor.offset, 1);
  EXPECT_EQ(tensor.storage_count, 6);
  EXPECT_EQ(tensor.storage_item_bytes, 4);
  EXPECT_EQ(tensor.storage_key, "0");
}

TEST(PtPickle, EveryBeginningIsRefused) {
  const std::string whole = pickle::whole(pickle::Tensor{}.value());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(refusal_of(whole.substr(0, size)).find("ends in the middle"), std::string::npos) << size;
  }
}

TEST(PtPickle, OnlyTheOpcodesOfTorchAreKnown) {
  const std::string known = std::string(".(0NKMJGXcRQqrhjt)us}]aes") + "\x80\x85\x86\x87\x88\x89\x8a\x8c\x8d\x93\x94\x95";
  for (int opcode = 0; opcode < 256; ++opcode) {
    const std::string message = refusal_of("\x80\x02" + std::string(1, static_cast<char>(opcode)));
    const bool is_known = known.find(static_cast<char>(opcode)) != std::string::npos;
    EXPECT_EQ(message.find("has no use for the pickle opcode 0x") == std::string::npos, is_known) << opcode << message;
    EXPECT_NE(message, "not refused");
  }
}

TEST(PtPickle, OnlyTheNamesOfTorchAreKnown) {
  for (const auto& [module, name] : std::vector<std::pair<std::string, std::string>>{{"os", "system"},
                                                                                     {"builtins", "eval"},
                                                                                     {"torch", "load"},
                                                                                     {"torch.storage", "FloatStorage"},
                                                                                     {"torch._utils", "_rebuild_tensor_v4"},
                                                                                     {"", ""},
                                                                                     {"torch", "\x1b[2J"}}) {
    expect_refused(pickle::global(module, name), "a saved tensor has no use for '");
  }
  EXPECT_EQ(refusal_of(pickle::whole(pickle::global("torch", "\x1b[2J"))).find('\x1b'), std::string::npos);
}

TEST(PtPickle, DeepNestingTakesNoStack) {
  std::string deep = ")";
  deep.append(200'000, '\x85');  // a tuple in a tuple in a tuple …
  expect_refused(deep, "got a tuple");
  expect_refused(std::string(200'000, '('), "must end with one value, got 0 and 200000 open marks");
}

TEST(PtPickle, DoublingThroughTheMemoTakesNoMemory) {
  std::string bomb = ")q\x01";
  bomb[2] = '\0';
  for (int level = 0; level < 60; ++level) {  // 2^60 empty tuples, if it were followed
    bomb += std::string("h\0h\0\x86q\0", 7);
  }
  expect_refused(bomb, "must end with one value");
}

TEST(PtPickle, AnnouncedLengthsAreChecked) {
  expect_refused("X\xFF\xFF\xFF\xFF", "4294967295 bytes are announced");
  expect_refused("\x8d" + std::string(8, '\xFF'), "18446744073709551615 bytes are announced");
  expect_refused(")r\xFF\xFF\xFF\xFF", "must number its values from 0, got number 4294967295");
  expect_refused("\x8a\x09" + std::string(9, '\1'), "must fit 64 bits, got one of 9 bytes");
  expect_refused(std::string("j\xFF\xFF\xFF\x7F", 5), "refers to its value number 2147483647");
  expect_refused(std::string("h\0", 2), "refers to its value number 0");
}

TEST(PtPickle, TheStackIsChecked) {
  expect_refused("0", "from an empty stack");
  expect_refused("R", "from an empty stack");
  expect_refused(")(R", "from an empty stack");  // nothing below the mark is taken
  expect_refused("t", "never set");
  expect_refused("q\1", "top of an empty stack");
  expect_refused("\x94", "top of an empty stack");
  expect_refused("))", "must end with one value, got 2");
  expect_refused("(u", "top of an empty stack");
  expect_refused("})))u", "never set");
  expect_refused("}()u", "a value for each key, got 1");
  expect_refused("NNNs", "must be a dictionary, got None");
}

TEST(PtPickle, ProtocolsAreChecked) {
  EXPECT_NE(refusal_of("\x80\x01.").find("2 to 5, got 1"), std::string::npos);
  EXPECT_NE(refusal_of("\x80\x06.").find("2 to 5, got 6"), std::string::npos);
}

TEST(PtPickle, StoragesAreChecked) {
  using pickle::global;
  using pickle::integer;
  using pickle::text;
  using pickle::tuple;
  const auto tensor_of = [](const std::string& storage) { return pickle::Tensor{.storage_value = storage}.value(); };
  for (const char* key : {"../../etc/passwd", "", "0/../1", "x", "-1", "1234567890123456789"}) {
    expect_refused(tensor_of(pickle::storage("FloatStorage", 6, key)), "the key of a storage must be a decimal number");
  }
  expect_refused(tensor_of(pickle::storage("FloatStorage", -6)), "the count of a storage must not be negative");
  expect_refused(tensor_of(pickle::storage("Tensor", 6)), "must be one of torch's storages");
  expect_refused(tuple({text("storage")}) + "Q", "a persistent id must be");
  expect_refused(tuple({text("module"), text(""), text(""), text(""), text("")}) + "Q", "a persistent id must be");
  expect_refused(text("0") + "Q", "a persistent id must be a tuple, got a text");
  expect_refused(
      tensor_of(tuple({text("storage"), global("torch.storage", "UntypedStorage"), text("0"), text("cpu"), integer(6)}) + "Q"),
      "needs a typed storage");
}

TEST(PtPickle, PartsOfATensorAreChecked) {
  using pickle::call;
  using pickle::global;
  using pickle::integer;
  using pickle::integers;
  const std::string rebuild = global("torch._utils", "_rebuild_tensor_v2");
  const std::string storage = pickle::storage("FloatStorage", 6);
  expect_refused(call(rebuild, {}), "put together from 6 or 7 parts, got 0");
  expect_refused(rebuild + "NR", "the arguments of a call must be a tuple, got None");
  expect_refused("N)R", "what is called must be a name, got None");
  expect_refused(call(rebuild, {"N", "N", "N", "N", "N", "N"}), "a tensor's storage must be a storage, got None");
  expect_refused(call(rebuild, {storage, integer(0), integers({6}), integers({1}), "N", pickle::hooks()}),
                 "must be a truth value");
  expect_refused(call(rebuild, {storage, integer(0), integers({6}), integers({1}), pickle::kFalse, "N"}),
                 "hooks must be a dictionary");
  expect_refused(pickle::Tensor{.sizes = {-1, 2}}.value(), "sizes must not be negative, got -1");
  expect_refused(pickle::Tensor{.strides = {1, -2}}.value(), "strides must not be negative, got -2");
  expect_refused(pickle::Tensor{.offset = -1}.value(), "an offset of 0 or more, got");
  expect_refused(pickle::Tensor{.sizes = {2}}.value(), "as many strides as sizes");
  expect_refused(pickle::Tensor{.sizes = std::vector<std::int64_t>(65, 1)}.value(), "at most 64 dimensions, got 65");
  expect_refused(
      call(global("torch._utils", "_rebuild_tensor_v3"),
           {storage, integer(0), integers({6}), integers({1}), pickle::kFalse, pickle::hooks(), global("torch", "Tensor")}),
      "dtype must be one of torch's");
  expect_refused(pickle::Tensor{}.value() + pickle::Tensor{}.value(), "must hold one tensor, got a second");
  expect_refused(call(global("torch._utils", "_rebuild_parameter"), {"N", pickle::kFalse, pickle::hooks()}),
                 "data must be a tensor");
  expect_refused(call(global("torch._tensor", "_rebuild_from_type_v2"), {rebuild, rebuild, ")", "N"}),
                 "must be a plain torch.Tensor");
  expect_refused(call(global("torch", "Tensor"), {}), "only the functions that put a tensor together");
  expect_refused(call(global("collections", "OrderedDict"), {"N"}), "must be an empty OrderedDict()");
}

}  // namespace
}  // namespace msprobe::read
