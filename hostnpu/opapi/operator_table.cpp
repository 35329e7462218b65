// SPDX-License-Identifier: Apache-2.0
// The table of operators, and what others may ask of it.
#include "opapi/operator_table.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace hostnpu {
namespace {

// Filled while the library is loaded (one thread), read afterwards.
OperatorInfo* newest = nullptr;

std::string describe_table() {
  std::vector<std::string> lines;
  for (const OperatorInfo* info = newest; info != nullptr; info = info->next) {
    std::string line = info->name;
    char separator = '\t';
    for (const char* type : info->c_types) {
      line += separator;
      line += type;
      separator = ' ';
    }
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) {
    text += line;
    text += '\n';
  }
  return text;
}

}  // namespace

OperatorInfo::OperatorInfo(const char* operator_name, const char* parameter_text, std::span<const char* const> parameter_types)
    : name(operator_name), parameters(parameter_text), c_types(parameter_types), next(newest) {
  newest = this;
}

aclnnStatus launch(aclOpExecutor* executor, aclrtStream stream) {
  if (executor == nullptr) {
    set_error_message("an operator's second phase was called without the executor that its GetWorkspaceSize gives");
    return kAclnnNullParameter;
  }
  const std::unique_ptr<aclOpExecutor> owned(executor);
  return submit(stream, owned->info->name, TaskKind::kKernel, std::move(owned->task));
}

}  // namespace hostnpu

extern "C" {

// One line an operator, sorted: name, tab, C types of its parameters (const left out) with a space between.
HOSTNPU_API const char* hostnpuOperatorTable() {
  static const std::string table = hostnpu::describe_table();
  return table.c_str();
}

// How often the operator has run in this process, each replay counted; -1: there is no operator of that name.
HOSTNPU_API int64_t hostnpuOperatorCalls(const char* name) {
  for (const hostnpu::OperatorInfo* info = hostnpu::newest; info != nullptr; info = info->next) {
    if (std::strcmp(info->name, name) == 0) {
      return static_cast<int64_t>(info->calls.load(std::memory_order_relaxed));
    }
  }
  return -1;
}

HOSTNPU_API int aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  delete executor;
  return ACL_SUCCESS;
}

}  // extern "C"
