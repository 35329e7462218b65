// SPDX-License-Identifier: Apache-2.0
// How torch's functions put a tensor together, followed on their arguments alone.
#include "read/pt_values.h"

#include <algorithm>
#include <array>

#include "read/printable.h"

namespace msprobe::read {
namespace {

constexpr std::size_t kMostDims = 64;  // torch's own limit for most of what it does
constexpr std::size_t kLongestKey = 18;

constexpr std::string_view kind_name(std::size_t kind) {
  constexpr std::array<std::string_view, 10> kNames{"None",    "a truth value", "an integer", "a text",   "a name",
                                                    "a tuple", "a dictionary",  "a storage",  "a tensor", "a list or a float"};
  return kNames.at(kind);
}

}  // namespace

ValueId PickleValues::add(const Value& value) {
  values_.push_back(value);
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId PickleValues::tuple(const std::vector<ValueId>& items) {
  const auto begin = static_cast<std::int64_t>(items_.size());
  items_.insert(items_.end(), items.begin(), items.end());
  return add({.kind = Kind::kTuple, .integer = begin, .count = static_cast<std::uint32_t>(items.size())});
}

const PickleValues::Value& PickleValues::require(ValueId id, Kind kind, std::string_view what) const {
  const Value& value = values_[id];
  if (value.kind != kind) {
    fail_here(what, " must be ", kind_name(static_cast<std::size_t>(kind)), ", got ",
              kind_name(static_cast<std::size_t>(value.kind)));
  }
  return value;
}

PickleValues::Items PickleValues::items(ValueId tuple, std::string_view what) const {
  const Value& value = require(tuple, Kind::kTuple, what);
  return Items(items_).subspan(static_cast<std::size_t>(value.integer), value.count);
}

std::string_view PickleValues::text(ValueId id) const { return require(id, Kind::kString, "the name of a global").text; }

bool PickleValues::truth(ValueId id, std::string_view what) const { return require(id, Kind::kBool, what).integer != 0; }

std::vector<std::int64_t> PickleValues::integers(ValueId tuple, std::string_view what) const {
  const Items found = items(tuple, what);
  if (found.size() > kMostDims) {
    fail_here("a tensor has at most ", kMostDims, " dimensions, got ", found.size());
  }
  std::vector<std::int64_t> values;
  values.reserve(found.size());
  for (const ValueId id : found) {
    const std::int64_t value = require(id, Kind::kInteger, what).integer;
    if (value < 0) {
      fail_here(what, " must not be negative, got ", value);
    }
    values.push_back(value);
  }
  return values;
}

// Only a tensor's metadata is looked at; a user's attributes are not.
void PickleValues::set_item(ValueId dict, ValueId key, ValueId value) {
  require(dict, Kind::kDict, "what takes items");
  if (values_[key].kind != Kind::kString || values_[value].kind != Kind::kBool) {
    return;
  }
  const bool set = values_[value].integer != 0;
  if (values_[key].text == "conj") {
    values_[dict].conjugated = set;
  } else if (values_[key].text == "neg") {
    values_[dict].negated = set;
  }
}

ValueId PickleValues::storage(ValueId persistent_id) {
  const Items parts = items(persistent_id, "a persistent id");
  constexpr std::size_t kParts = 5;
  if (parts.size() != kParts || values_[parts[0]].kind != Kind::kString || values_[parts[0]].text != "storage") {
    fail_here("a persistent id must be (\"storage\", class, key, location, count), got a tuple of ", parts.size());
  }
  Storage storage;
  storage.type = require(parts[1], Kind::kGlobal, "the class of a storage").global;
  storage.key = require(parts[2], Kind::kString, "the key of a storage").text;
  storage.location = require(parts[3], Kind::kString, "the location of a storage").text;
  storage.count = require(parts[4], Kind::kInteger, "the count of a storage").integer;
  if (storage.type.kind != GlobalKind::kTypedStorage && storage.type.kind != GlobalKind::kUntypedStorage) {
    fail_here("the class of a storage must be one of torch's storages, got another name");
  }
  const bool digits = std::all_of(storage.key.begin(), storage.key.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (storage.key.empty() || storage.key.size() > kLongestKey || !digits) {
    fail_here("the key of a storage must be a decimal number, got '", printable(storage.key), "'");
  }
  if (storage.count < 0) {
    fail_here("the count of a storage must not be negative, got ", storage.count);
  }
  storages_.push_back(storage);
  return add({.kind = Kind::kStorage, .integer = static_cast<std::int64_t>(storages_.size() - 1)});
}

ValueId PickleValues::call(ValueId function, ValueId arguments) {
  const Global global = require(function, Kind::kGlobal, "what is called").global;
  const Items given = items(arguments, "the arguments of a call");
  switch (global.kind) {
    case GlobalKind::kOrderedDict:
      if (!given.empty()) {
        fail_here("a tensor's hooks must be an empty OrderedDict(), got one with arguments");
      }
      return dict();
    case GlobalKind::kRebuildTensor:
    case GlobalKind::kRebuildTensorWithDtype:
      return rebuild_tensor(global, given);
    case GlobalKind::kRebuildParameter:
    case GlobalKind::kRebuildParameterWithState:
      return rebuild_parameter(global, given);
    case GlobalKind::kRebuildFromType:
      return rebuild_from_type(given);
    default:
      fail_here("only the functions that put a tensor together are followed, got a call of a class or a dtype");
  }
}

ValueId PickleValues::rebuild_tensor(const Global& function, Items arguments) {
  const bool with_dtype = function.kind == GlobalKind::kRebuildTensorWithDtype;
  const std::size_t needed = with_dtype ? 7 : 6;
  if (arguments.size() != needed && arguments.size() != needed + 1) {
    fail_here("a tensor is put together from ", needed, " or ", needed + 1, " parts, got ", arguments.size());
  }
  if (has_tensor_) {
    fail_here("the file must hold one tensor, got a second; save each in a file of its own");
  }
  PickledTensor tensor;
  const Storage& storage =
      storages_[static_cast<std::size_t>(require(arguments[0], Kind::kStorage, "a tensor's storage").integer)];
  tensor.offset = require(arguments[1], Kind::kInteger, "a tensor's offset").integer;
  tensor.sizes = integers(arguments[2], "a tensor's sizes");
  tensor.strides = integers(arguments[3], "a tensor's strides");
  tensor.requires_grad = truth(arguments[4], "requires_grad");
  require(arguments[5], Kind::kDict, "a tensor's hooks");
  if (tensor.sizes.size() != tensor.strides.size() || tensor.offset < 0) {
    fail_here("a tensor needs as many strides as sizes and an offset of 0 or more, got ", tensor.sizes.size(), " sizes, ",
              tensor.strides.size(), " strides and the offset ", tensor.offset);
  }
  tensor.dtype = storage.type.dtype;
  if (with_dtype) {
    const Global dtype = require(arguments[6], Kind::kGlobal, "a tensor's dtype").global;
    if (dtype.kind != GlobalKind::kDtype) {
      fail_here("a tensor's dtype must be one of torch's, got another name");
    }
    tensor.dtype = dtype.dtype;
  } else if (storage.type.kind != GlobalKind::kTypedStorage) {
    fail_here("a tensor without a dtype of its own needs a typed storage, got an untyped one");
  }
  if (arguments.size() > needed) {
    const Value& metadata = require(arguments[needed], Kind::kDict, "a tensor's metadata");
    tensor.conjugated = metadata.conjugated;
    tensor.negated = metadata.negated;
  }
  const bool typed = storage.type.kind == GlobalKind::kTypedStorage;
  tensor.storage_key = storage.key;
  tensor.storage_count = storage.count;
  tensor.storage_item_bytes = typed ? static_cast<std::int64_t>(dtype_size(storage.type.dtype)) : 1;
  tensor.location = printable(storage.location);
  tensor_ = std::move(tensor);
  has_tensor_ = true;
  return add({.kind = Kind::kTensor});
}

ValueId PickleValues::rebuild_parameter(const Global& function, Items arguments) {
  const std::size_t needed = function.kind == GlobalKind::kRebuildParameterWithState ? 4 : 3;
  if (arguments.size() != needed) {
    fail_here("a parameter is put together from ", needed, " parts, got ", arguments.size());
  }
  require(arguments[0], Kind::kTensor, "a parameter's data");
  tensor_.requires_grad = truth(arguments[1], "requires_grad");
  return arguments[0];
}

ValueId PickleValues::rebuild_from_type(Items arguments) {
  constexpr std::size_t kParts = 4;
  if (arguments.size() != kParts) {
    fail_here("a tensor with attributes is put together from ", kParts, " parts, got ", arguments.size());
  }
  const Global function = require(arguments[0], Kind::kGlobal, "the function that puts a tensor together").global;
  if (require(arguments[1], Kind::kGlobal, "the class of a tensor").global.kind != GlobalKind::kTensorClass ||
      (function.kind != GlobalKind::kRebuildTensor && function.kind != GlobalKind::kRebuildTensorWithDtype)) {
    fail_here("a tensor with attributes must be a plain torch.Tensor, got another class or function");
  }
  return rebuild_tensor(function, items(arguments[2], "the parts of a tensor"));
}

PickledTensor PickleValues::take_tensor(ValueId id) {
  if (values_[id].kind != Kind::kTensor) {
    fail_here("the file must hold one tensor by itself, got ", kind_name(static_cast<std::size_t>(values_[id].kind)));
  }
  return std::move(tensor_);
}

}  // namespace msprobe::read
