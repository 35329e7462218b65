// SPDX-License-Identifier: Apache-2.0
// Gathers one op after the other and turns each into leaves as soon as it ends, so that no more than one is held as JSON.
#include "read/dump_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "format/fields.h"
#include "read/json_tree.h"
#include "read/op_rows.h"

namespace msprobe::read {
namespace {

constexpr std::size_t kMostRecords = std::size_t{1} << 30U;  // leaves are numbered by 32 bits

// Grows a vector by what the part of the file that is read says of the whole, not by doubling: room that is not used costs no memory.
template <class Vector>
void make_room(Vector& vector, double share_read) {
  if (vector.size() < vector.capacity()) {
    return;
  }
  const auto size = static_cast<double>(vector.size());
  const double expected = share_read > 0.001 ? size / share_read * 1.05 : size * 2;
  vector.reserve(static_cast<std::size_t>(std::clamp(expected, size * 1.2 + 64, size * 100 + 1024)));
}

class DumpHandler : public JsonHandler {
 public:
  DumpHandler(DumpModel& model, std::uint64_t file_size) : model_(model), rows_(model), file_size_(file_size) {}

  void null() override { scalar(JsonKind::kNull, {}); }
  void boolean(bool value) override { scalar(value ? JsonKind::kTrue : JsonKind::kFalse, {}); }
  void number(std::string_view text) override { scalar(JsonKind::kNumber, text); }
  void string(std::string_view text) override { scalar(JsonKind::kString, text); }
  void open_object() override { open(JsonKind::kObject); }
  void open_list() override { open(JsonKind::kList); }
  void close_object() override { close(); }
  void close_list() override { close(); }

  void key(std::string_view text) override {
    approximate_bytes_ += text.size() + 4;
    if (depth_ == 1) {
      member_ = text;
      is_data_ = text == field::kData;
    } else if (depth_ == 2 && is_data_) {
      op_name_ = text;
    } else if (is_data_) {
      tree_.key(text);
    }
  }

  [[nodiscard]] bool is_object() const noexcept { return is_object_; }
  [[nodiscard]] bool has_data() const noexcept { return has_data_; }
  [[nodiscard]] bool data_is_object() const noexcept { return data_is_object_; }

 private:
  void scalar(JsonKind kind, std::string_view text) {
    approximate_bytes_ += text.size() + 4;
    if (depth_ == 1) {
      header(kind, text);
    } else if (depth_ >= 2 && is_data_ && data_is_object_) {
      tree_.scalar(kind, text);
      end_of_op();
    }
  }
  void open(JsonKind kind) {
    if (depth_ == 0) {
      is_object_ = kind == JsonKind::kObject;
    } else if (depth_ == 1 && is_data_) {
      start_data(kind);
    } else if (depth_ >= 2 && is_data_ && data_is_object_) {
      tree_.open(kind);
    }
    ++depth_;
  }
  void close() {
    --depth_;
    if (depth_ >= 2 && is_data_ && data_is_object_) {
      tree_.close();
      end_of_op();
    }
  }

  void header(JsonKind kind, std::string_view text) {
    if (is_data_) {
      start_data(kind);
    } else if (member_ == field::kTask) {
      model_.task = kind == JsonKind::kString ? text : std::string_view{};
    } else if (member_ == field::kLevel) {
      model_.level = kind == JsonKind::kString ? text : std::string_view{};
    }
  }

  // Of several `data` the last one counts.
  void start_data(JsonKind kind) {
    has_data_ = true;
    data_is_object_ = kind == JsonKind::kObject;
    model_.ops.clear();
    model_.leaves.clear();
    model_.has_md5 = false;
    model_.has_data_names = false;
  }

  void end_of_op() {
    if (!tree_.complete()) {
      return;
    }
    if (model_.ops.size() >= kMostRecords || model_.leaves.size() >= kMostRecords) {
      fail("'", model_.path, "' has more than 1,073,741,824 records: compare its parts, one rank and step at a time.");
    }
    const double share = file_size_ == 0 ? 0 : static_cast<double>(approximate_bytes_) / static_cast<double>(file_size_);
    make_room(model_.ops, share);
    make_room(model_.leaves, share);
    rows_.add(op_name_, tree_);
    tree_.clear();
  }

  DumpModel& model_;
  OpRows rows_;
  JsonTree tree_;
  std::uint64_t file_size_;
  std::uint64_t approximate_bytes_ = 0;  // read so far
  std::size_t depth_ = 0;
  std::string member_;
  std::string op_name_;
  bool is_object_ = false;
  bool is_data_ = false;
  bool has_data_ = false;
  bool data_is_object_ = false;
};

// Of several ops with one name the last counts, at the place of the first: so a JSON object is read in Python.
void drop_repeated_ops(DumpModel& model) {
  const std::size_t mask = std::bit_ceil(model.ops.size() * 2 + 1) - 1;
  std::vector<std::uint32_t> slots(mask + 1);  // index + 1 of an op; 0: free
  bool repeated = false;
  for (std::size_t index = 0; index < model.ops.size(); ++index) {
    const std::string_view name = model.texts[model.ops[index].name];
    std::size_t slot = std::hash<std::string_view>{}(name)&mask;
    while (slots[slot] != 0 && model.texts[model.ops[slots[slot] - 1].name] != name) {
      slot = (slot + 1) & mask;
    }
    if (slots[slot] == 0) {
      slots[slot] = static_cast<std::uint32_t>(index + 1);
      continue;
    }
    model.ops[slots[slot] - 1] = model.ops[index];
    model.ops[index].name = 0;
    repeated = true;
  }
  if (!repeated) {
    return;
  }
  std::vector<Op> ops;
  std::vector<Leaf> leaves;
  for (const Op& op : model.ops) {
    if (op.name == 0) {
      continue;
    }
    const auto number = static_cast<std::uint32_t>(ops.size());
    Op& kept = ops.emplace_back(op);
    kept.first_leaf = static_cast<std::uint32_t>(leaves.size());
    for (const Leaf& leaf : model.leaves_of(op)) {
      leaves.push_back(leaf);
      leaves.back().op = number;
    }
  }
  model.ops = std::move(ops);
  model.leaves = std::move(leaves);
}

void finish(DumpModel& model, const DumpHandler& handler, const std::string& name) {
  if (!handler.is_object()) {
    fail("'", name, "' is no dump: it must be a JSON object with the key 'data'.");
  }
  if (!handler.has_data()) {
    fail("'", name, "' is no dump: it has no key 'data'. Give the dump.json that the dumper wrote.");
  }
  if (!handler.data_is_object()) {
    fail("'", name, "' is no dump: its 'data' must be an object with an entry for each call.");
  }
  model.texts.finish();
  model.suffixes.finish();
  model.dtypes.finish();
  model.shapes.finish();
  drop_repeated_ops(model);
}

// `parse(handler, large)` returns the bytes it read, or nothing where it stopped at a number beyond float64: then all is read anew, since
// looking out for such numbers takes time and dumps hardly ever have one.
template <class Parse>
DumpModel read_with(const std::string& name, std::uint64_t size, const Parse& parse) {
  DumpModel model;
  const auto attempt = [&](LargeNumbers large) {
    model = {};
    model.path = name;
    DumpHandler handler(model, size);
    const std::optional<std::uint64_t> bytes = parse(handler, large);
    if (bytes) {
      model.bytes = *bytes;
      finish(model, handler, name);
    }
    return bytes.has_value();
  };
  if (!attempt(LargeNumbers::kStop)) {
    attempt(LargeNumbers::kAsInfinity);
  }
  return model;
}

}  // namespace

DumpModel read_dump(const std::string& path, const ReadProgress& progress) {
  struct stat info{};
  const std::uint64_t size = stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
  return read_with(path, size, [&](JsonHandler& handler, LargeNumbers large) {
    return parse_json_file(path, handler, large, large == LargeNumbers::kStop ? progress : ReadProgress{});
  });
}

DumpModel parse_dump(std::string_view text, const std::string& name) {
  return read_with(name, text.size(), [&](JsonHandler& handler, LargeNumbers large) {
    return parse_json_text(text, name, handler, large) ? std::optional<std::uint64_t>(text.size()) : std::nullopt;
  });
}

}  // namespace msprobe::read
