// SPDX-License-Identifier: Apache-2.0
// Finds the call of each tensor.
#include "log/lanes.h"

#include <algorithm>

namespace msprobe::log {
namespace {

// A module that calls itself opens calls within calls. Beyond this depth an outer one is taken for one that never closes (its result
// held no tensor).
constexpr std::size_t kMaxDepth = 64;

}  // namespace

Lanes::Place Lanes::next(const Tag& tag) {
  const std::lock_guard lock(mutex_);
  Lane& lane = lanes_[std::this_thread::get_id()];
  begin(lane);
  Place place;
  place.forward = lane.forward;
  place.recording = lane.entered ? lane.recording : recording();
  place.call = call_of(lane, tag);
  const bool in_scope = pass_scope(lane, tag);
  const bool section = tag.section == Section::kOutput ? wanted_.outputs : wanted_.inputs;
  place.wanted = in_scope && section && wants_module(tag);
  return place;
}

// A tensor marked as opening begins a new call of its name; the others belong to the innermost call of their name that is still
// open. A place that this call has had already means that its opening tensor was left out, and a new call has begun.
CallId Lanes::call_of(Lane& lane, const Tag& tag) {
  std::vector<OpenCall>& calls = lane.open[tag.name_id];
  const auto had = [&] {
    const std::vector<std::uint32_t>& places = calls.back().places;
    return std::find(places.begin(), places.end(), tag.place) != places.end();
  };
  if (tag.opens_call || calls.empty() || had()) {
    if (calls.size() == kMaxDepth) {
      calls.erase(calls.begin());
      --lane.open_calls;
    }
    calls.push_back({next_call_++, {}});
    ++lane.open_calls;
  }
  calls.back().places.push_back(tag.place);
  const CallId id = calls.back().id;
  if (tag.closes_call) {
    calls.pop_back();
    --lane.open_calls;
  }
  return id;
}

// What is not a module is wanted.
bool Lanes::wants_module(const Tag& tag) const {
  if (tag.kind != EntryKind::kModule) {
    return true;
  }
  const bool only_marks = (!wanted_.scope_first_wanted && tag.name == wanted_.scope_first) ||
                          (!wanted_.scope_last_wanted && tag.name == wanted_.scope_last);
  return wanted_.modules && !only_marks;
}

// Whether the tensor lies within the scope, its two ends included.
bool Lanes::pass_scope(Lane& lane, const Tag& tag) const {
  if (wanted_.scope_first.empty()) {
    return true;
  }
  const bool module = tag.kind == EntryKind::kModule;
  if (module && tag.opens_call && tag.name == wanted_.scope_first) {
    lane.in_scope = true;
  }
  const bool inside = lane.in_scope;
  if (module && tag.closes_call && tag.name == wanted_.scope_last) {
    lane.in_scope = false;
  }
  return inside;
}

void Lanes::enter_forward() {
  const std::lock_guard lock(mutex_);
  Lane& lane = lanes_[std::this_thread::get_id()];
  lane = Lane{};
  begin(lane);
  lane.entered = true;
  lane.recording = recording();
}

std::uint64_t Lanes::fresh_forward() {
  const std::lock_guard lock(mutex_);
  return next_forward_++;
}

std::uint64_t Lanes::forward() {
  const std::lock_guard lock(mutex_);
  Lane& lane = lanes_[std::this_thread::get_id()];
  begin(lane);
  return lane.forward;
}

void Lanes::end_forward() {
  const std::lock_guard lock(mutex_);
  lanes_.erase(std::this_thread::get_id());
}

void Lanes::end_part() {
  const std::lock_guard lock(mutex_);
  const auto mine = lanes_.find(std::this_thread::get_id());
  if (mine == lanes_.end()) {
    return;
  }
  if (mine->second.entered) {
    mine->second.forward = next_forward_++;
  } else {
    lanes_.erase(mine);
  }
}

void Lanes::settle() {
  const std::lock_guard lock(mutex_);
  if (const auto mine = lanes_.find(std::this_thread::get_id()); mine != lanes_.end() && !mine->second.entered) {
    lanes_.erase(mine);
  }
}

bool Lanes::busy(std::thread::id thread) const {
  const std::lock_guard lock(mutex_);
  const auto lane = lanes_.find(thread);
  return lane != lanes_.end() && (lane->second.entered || lane->second.open_calls > 0);
}

bool Lanes::any_entered() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane.second.entered; });
}

}  // namespace msprobe::log
