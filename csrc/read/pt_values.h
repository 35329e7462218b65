// SPDX-License-Identifier: Apache-2.0
// The values on a pickle's stack. They live in one pool and refer to each other by number, so that nothing nests or is copied.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "read/pt_globals.h"
#include "read/pt_pickle.h"

namespace msprobe::read {

using ValueId = std::uint32_t;
inline constexpr ValueId kNoValue = ~ValueId{0};

// One pickle's. Throws Error where a value is not what a tensor's description needs; `where` gives the beginning of the message.
class PickleValues {
 public:
  using Where = std::function<std::string()>;
  explicit PickleValues(Where where) : where_(std::move(where)) {}

  ValueId none() { return add({.kind = Kind::kNone}); }
  ValueId boolean(bool value) { return add({.kind = Kind::kBool, .integer = value ? 1 : 0}); }
  ValueId integer(std::int64_t value) { return add({.kind = Kind::kInteger, .integer = value}); }
  ValueId string(std::string_view text) { return add({.kind = Kind::kString, .text = text}); }
  ValueId global(Global global) { return add({.kind = Kind::kGlobal, .global = global}); }
  ValueId dict() { return add({.kind = Kind::kDict}); }
  ValueId other() { return add({.kind = Kind::kOther}); }  // a value that may be there, but not where a description needs one
  ValueId tuple(const std::vector<ValueId>& items);

  void set_item(ValueId dict, ValueId key, ValueId value);
  // What a global "returns" for a tuple of arguments: a tensor, or an ordered dictionary.
  ValueId call(ValueId function, ValueId arguments);
  // The storage that a persistent id, ("storage", class, key, location, count), stands for.
  ValueId storage(ValueId persistent_id);

  [[nodiscard]] std::string_view text(ValueId id) const;
  // The finished description; `id` must be the tensor.
  PickledTensor take_tensor(ValueId id);

 private:
  enum class Kind : std::uint8_t { kNone, kBool, kInteger, kString, kGlobal, kTuple, kDict, kStorage, kTensor, kOther };

  struct Value {
    Kind kind = Kind::kNone;
    Global global{GlobalKind::kOrderedDict, DType::kUnknown};
    std::int64_t integer = 0;  // kTuple: where its items begin in items_
    std::string_view text{};   // in the pickle. NOLINT(readability-redundant-member-init): g++ wants it
    std::uint32_t count = 0;   // kTuple: of items
    bool conjugated = false;   // kDict: what a tensor's metadata says
    bool negated = false;
  };

  struct Storage {
    Global type{GlobalKind::kUntypedStorage, DType::kUnknown};
    std::string_view key;
    std::string_view location;
    std::int64_t count = 0;
  };

  using Items = std::span<const ValueId>;

  ValueId add(const Value& value);
  const Value& require(ValueId id, Kind kind,
                       std::string_view what) const;  // NOLINT(modernize-use-nodiscard): often only a check
  [[nodiscard]] Items items(ValueId tuple, std::string_view what) const;
  [[nodiscard]] bool truth(ValueId id, std::string_view what) const;
  [[nodiscard]] std::vector<std::int64_t> integers(ValueId tuple, std::string_view what) const;
  ValueId rebuild_tensor(const Global& function, Items arguments);
  ValueId rebuild_parameter(const Global& function, Items arguments);
  ValueId rebuild_from_type(Items arguments);
  template <class... Parts>
  [[noreturn]] void fail_here(const Parts&... parts) const {
    fail(where_(), parts...);
  }

  Where where_;
  std::vector<Value> values_;
  std::vector<ValueId> items_;
  std::vector<Storage> storages_;
  PickledTensor tensor_;
  bool has_tensor_ = false;
};

}  // namespace msprobe::read
