// SPDX-License-Identifier: Apache-2.0
// Calls that CANN has since 9.0 only. They go into the libascendcl.so of lib/cann9, which is loaded when such a version is played,
// so that programs that look for them with dlsym find exactly what the played version has.
#include <string>

#include "error.h"
#include "graph.h"
#include "runtime.h"

using namespace hostnpu;

extern "C" {

aclError aclmdlRIDestroyRegisterCallback(aclmdlRI model, aclrtCallback function, void* user_data) {
  if (function == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIDestroyRegisterCallback: func must not be null");
  }
  const std::lock_guard lock(runtime().mutex);
  const auto graph = runtime().graphs.find(model);
  if (graph == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIDestroyRegisterCallback: the model must be alive, got an unknown handle");
  }
  graph->destroy_callbacks.emplace_back(function, user_data);
  return ACL_SUCCESS;
}

aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI model, aclrtCallback function) {
  const std::lock_guard lock(runtime().mutex);
  const auto graph = runtime().graphs.find(model);
  if (graph == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclmdlRIDestroyUnregisterCallback: the model must be alive, got an unknown handle");
  }
  const auto removed = std::erase_if(graph->destroy_callbacks, [&](const auto& entry) { return entry.first == function; });
  return removed != 0 ? ACL_SUCCESS
                      : fail(ACL_ERROR_RT_PARAM_INVALID,
                             "aclmdlRIDestroyUnregisterCallback: this function is not registered for the model");
}

}  // extern "C"
