// SPDX-License-Identifier: Apache-2.0
// One member at a time becomes a tree, then text.
#include "read/stack_json.h"

#include "base/error.h"
#include "read/json_file.h"
#include "read/json_tree.h"
#include "read/python_text.h"

namespace msprobe::read {
namespace {
constexpr std::uint32_t kRoot = 1;
}  // namespace

class StackHandler : public JsonHandler {
 public:
  StackHandler(StackMap& map, const std::string& path) : map_(map), path_(path) { map_.lines_of_.assign(1, 0); }

  void null() override { scalar(JsonKind::kNull, {}); }
  void boolean(bool value) override { scalar(value ? JsonKind::kTrue : JsonKind::kFalse, {}); }
  void number(std::string_view text) override { scalar(JsonKind::kNumber, text); }
  void string(std::string_view text) override { scalar(JsonKind::kString, text); }
  void open_object() override { open(JsonKind::kObject); }
  void open_list() override { open(JsonKind::kList); }
  void close_object() override { close(); }
  void close_list() override { close(); }
  void key(std::string_view text) override {
    if (depth_ > 1) {
      tree_.key(text);
      return;
    }
    if (members_++ == 0) {
      grouped_ = text == "0";
    }
    member_ = text;
  }

 private:
  void scalar(JsonKind kind, std::string_view text) {
    if (depth_ == 0) {
      fail("'", path_, "' is no stack.json: it must be a JSON object.");
    }
    tree_.scalar(kind, text);
    end_of_member();
  }
  void open(JsonKind kind) {
    if (depth_++ > 0) {
      tree_.open(kind);
    } else if (kind != JsonKind::kObject) {
      fail("'", path_, "' is no stack.json: it must be a JSON object.");
    }
  }
  void close() {
    if (--depth_ > 0) {
      tree_.close();
      end_of_member();
    }
  }

  void end_of_member() {
    if (!tree_.complete()) {
      return;
    }
    if (!tree_.problem().empty()) {
      fail("'", path_, "': the entry '", member_, "' cannot be read: ", tree_.problem(), ".");
    }
    if (grouped_) {
      group();
    } else {
      set(member_, lines_text(kRoot));
    }
    tree_.clear();
  }

  void group() {
    const std::uint32_t ops = tree_[kRoot].first;
    const std::uint32_t lines = ops == 0 ? 0 : tree_[ops].next;
    if (tree_[kRoot].kind != JsonKind::kList || lines == 0 || tree_[ops].kind != JsonKind::kList) {
      fail("'", path_, "': the entry '", member_, "' must be a list of two lists, operators and lines of their stack.");
    }
    const std::uint32_t text = lines_text(lines);
    for (std::uint32_t op = tree_[ops].first; op != 0; op = tree_[op].next) {
      set(tree_.text_of(op), text);
    }
  }

  std::uint32_t lines_text(std::uint32_t node) {
    text_.clear();
    if (tree_[node].kind == JsonKind::kString) {  // one line that was not put into a list
      text_ += '[';
      append_python_string(text_, tree_.text_of(node));
      text_ += ']';
    } else {
      append_python_text(text_, tree_, node);
    }
    return map_.lines_.intern(text_);
  }

  void set(std::string_view op, std::uint32_t lines) {
    const std::uint32_t id = map_.ops_.intern(op);
    if (id >= map_.lines_of_.size()) {
      map_.lines_of_.resize(id + std::size_t{1});
    }
    map_.lines_of_[id] = lines;
  }

  StackMap& map_;
  const std::string& path_;
  JsonTree tree_;
  std::string member_;
  std::string text_;
  std::size_t depth_ = 0;
  std::size_t members_ = 0;
  bool grouped_ = false;
};

std::string_view StackMap::find(std::string_view op) const {
  const std::uint32_t id = ops_.find(op);
  return id == 0 ? std::string_view{} : lines_[lines_of_[id]];
}

StackMap read_stack(const std::string& path) {
  StackMap map;
  StackHandler handler(map, path);
  parse_json_file(path, handler, LargeNumbers::kAsInfinity);
  return map;
}

}  // namespace msprobe::read
