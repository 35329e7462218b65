// SPDX-License-Identifier: Apache-2.0
// Calls that set how the device computes or waits. What has no meaning on a host is checked and remembered only.
#include "settings.h"

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>

#include "error.h"

namespace hostnpu {
namespace {

struct Settings {
  std::atomic<unsigned> op_wait_timeout_ms{0};
  std::atomic<int> overflow_mode{ACL_RT_OVERFLOW_MODE_INFNAN};
  std::mutex mutex;
  std::unordered_map<int, int64_t> options;  // aclSysParamOpt: 0 unless set
};

Settings& settings() {
  static Settings* const value = new Settings;
  return *value;
}

// Options of a context and of the process are one table here: a program that sets both to different values is not served.
aclError set_option(aclSysParamOpt option, int64_t value) {
  const std::lock_guard lock(settings().mutex);
  settings().options[option] = value;
  return ACL_SUCCESS;
}

aclError get_option(aclSysParamOpt option, int64_t* value, const char* call) {
  if (value == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": value must not be null");
  }
  const std::lock_guard lock(settings().mutex);
  const auto found = settings().options.find(option);
  *value = found == settings().options.end() ? 0 : found->second;
  return ACL_SUCCESS;
}

}  // namespace

unsigned op_wait_timeout_ms() { return settings().op_wait_timeout_ms; }

}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclrtSetOpWaitTimeout(uint32_t seconds) {
  constexpr uint32_t kMaxSeconds = UINT32_MAX / 1000;
  settings().op_wait_timeout_ms = std::min(seconds, kMaxSeconds) * 1000;
  return ACL_SUCCESS;
}

// An operator here is a call on the host's CPU: it cannot be cut short.
aclError aclrtSetOpExecuteTimeOut(uint32_t) { return ACL_SUCCESS; }

aclError aclrtSetOpExecuteTimeOutV2(uint64_t microseconds, uint64_t* actual) {
  if (actual == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtSetOpExecuteTimeOutV2: actualTimeout must not be null");
  }
  *actual = microseconds;
  return ACL_SUCCESS;
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  if (mode != ACL_RT_OVERFLOW_MODE_INFNAN) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtSetDeviceSatMode: hostnpu computes with Inf and NaN only (mode 1), got " + std::to_string(mode) +
                    "; unset INF_NAN_MODE_FORCE_DISABLE");
  }
  settings().overflow_mode = mode;
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  if (mode == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceSatMode: mode must not be null");
  }
  *mode = static_cast<aclrtFloatOverflowMode>(settings().overflow_mode.load());
  return ACL_SUCCESS;
}

aclError aclrtSetSysParamOpt(aclSysParamOpt option, int64_t value) { return set_option(option, value); }

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt option, int64_t value) { return set_option(option, value); }

aclError aclrtGetSysParamOpt(aclSysParamOpt option, int64_t* value) { return get_option(option, value, "aclrtGetSysParamOpt"); }

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt option, int64_t* value) {
  return get_option(option, value, "aclrtCtxGetSysParamOpt");
}

}  // extern "C"
