// SPDX-License-Identifier: Apache-2.0
// The live objects behind the C interface's void* handles: an unknown handle is an error, never a crash.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hostnpu {

// Not synchronised: every table belongs to Runtime and is used under Runtime::mutex.
template <class Object>
class HandleTable {
 public:
  void* add(std::shared_ptr<Object> object) {
    void* handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }

  std::shared_ptr<Object> find(const void* handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  // The object leaves the table; whoever holds it still (a queued task, a graph) keeps it alive.
  std::shared_ptr<Object> remove(const void* handle) {
    const auto found = objects_.find(handle);
    if (found == objects_.end()) {
      return nullptr;
    }
    std::shared_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  std::vector<std::shared_ptr<Object>> all() const {
    std::vector<std::shared_ptr<Object>> objects;
    objects.reserve(objects_.size());
    for (const auto& [handle, object] : objects_) {
      objects.push_back(object);
    }
    return objects;
  }

  std::size_t size() const { return objects_.size(); }

 private:
  std::unordered_map<const void*, std::shared_ptr<Object>> objects_;
};

}  // namespace hostnpu
