// SPDX-License-Identifier: Apache-2.0
// Writes the account as JSON.
#include "dump/run.h"

#include <unistd.h>

#include <array>
#include <ctime>
#include <string_view>

#include "dump/json.h"
#include "format/fields.h"

namespace msprobe::dump {
namespace {

// Local time with its distance from UTC, as ISO 8601 has it.
std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 64> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S%z", &local);
  return {text.data(), size};
}

class Object {
 public:
  explicit Object(std::string& text) : text_(text) { text_ += '{'; }
  void end() { text_ += '}'; }

  void key(std::string_view name) {
    text_ += first_ ? "" : ", ";
    first_ = false;
    append_json_string(text_, name);
    text_ += ": ";
  }
  void member(std::string_view name, std::string_view value) {
    key(name);
    append_json_string(text_, value);
  }
  void member(std::string_view name, std::int64_t value) {
    key(name);
    append_json_number(text_, value);
  }
  void member(std::string_view name, std::uint64_t value) {
    key(name);
    append_json_number(text_, value);
  }

 private:
  std::string& text_;
  bool first_ = true;
};

void append_graphs(std::string& text, const std::vector<log::Graphs::Entry>& graphs) {
  text += '[';
  for (const log::Graphs::Entry& graph : graphs) {
    text += &graph == &graphs.front() ? "" : ", ";
    Object object(text);
    object.member(field::kGraphId, graph.id);
    object.member(field::kGraphSites, graph.sites);
    object.member(field::kGraphReplays, graph.replays);
    object.end();
  }
  text += ']';
}

void append_account(std::string& text, const Run& run) {
  Object object(text);
  object.member(field::kAccountHooked, run.account.sites);
  object.member(field::kAccountRecorded, run.account.recorded);
  object.member(field::kAccountFiltered, run.account.filtered);
  object.key(field::kAccountSilent);
  Object silent(text);
  for (const log::Account::Silent& site : run.account.silent) {
    silent.member(site.name, site.reason);
  }
  silent.end();
  object.member(field::kAccountDropped, run.dropped);
  object.end();
}

}  // namespace

std::string run_text(const Run& run) {
  std::string text;
  Object object(text);
  object.member(field::kRunPid, static_cast<std::int64_t>(getpid()));
  object.member(field::kRunTime, now());
  if (!run.fixed.empty()) {
    text += ", " + run.fixed;
  }
  object.key(field::kRunGraphs);
  append_graphs(text, run.graphs);
  object.key(field::kRunAccount);
  append_account(text, run);
  object.end();
  return text;
}

}  // namespace msprobe::dump
