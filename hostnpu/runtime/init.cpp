// SPDX-License-Identifier: Apache-2.0
// aclInit, aclFinalize and the end of the process.
#include <unistd.h>

#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "capture.h"
#include "context.h"
#include "error.h"
#include "runtime.h"
#include "stream.h"

namespace hostnpu {
namespace {

// {"defaultDevice": {"default_device": "0"}}: the only setting of the JSON that means something here. -1: not there.
int default_device_in(const std::string& json) {
  constexpr std::string_view kKey = "\"default_device\"";
  const auto key = json.find(kKey);
  if (key == std::string::npos) {
    return -1;
  }
  const auto begin = json.find_first_of("0123456789", key + kKey.size());
  int device = -1;
  if (begin == std::string::npos || json.find_first_not_of(" \t\r\n:\"", key + kKey.size()) != begin) {
    return -1;
  }
  std::from_chars(json.data() + begin, json.data() + json.size(), device);
  return device;
}

// Threads do not survive a fork: a child must not wait for its parent's.
struct EndOfProcess {
  const pid_t owner = getpid();
  ~EndOfProcess() {
    if (getpid() == owner) {
      shut_down();
    }
  }
};

const EndOfProcess end_of_process;

}  // namespace

void shut_down() {
  constexpr auto kPatience = std::chrono::seconds(2);
  std::vector<std::shared_ptr<Stream>> streams;
  std::vector<std::shared_ptr<Context>> contexts;
  {
    const std::lock_guard lock(runtime().mutex);
    Runtime& state = runtime();
    const auto open_captures = state.captures;
    for (const auto& capture : open_captures) {
      capture->close(false);
    }
    streams = state.streams.all();
    contexts = state.contexts.all();
    for (const auto& stream : streams) {
      state.streams.remove(stream.get());
    }
    for (const auto& context : contexts) {
      state.contexts.remove(context.get());
      context->default_stream = nullptr;
    }
    state.primary_contexts.clear();
  }
  for (const auto& stream : streams) {
    stream->close(true, kPatience);
  }
  for (const auto& context : contexts) {
    context->host_functions().close();
  }
}

}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclInit(const char* config_path) {
  std::string json;
  if (config_path != nullptr && *config_path != '\0') {
    std::ifstream file(config_path);
    if (!file) {
      return fail(ACL_ERROR_INVALID_FILE, std::string("aclInit: cannot read the configuration '") + config_path + "'");
    }
    json.assign(std::istreambuf_iterator<char>(file), {});
  }
  const std::lock_guard lock(runtime().mutex);
  if (runtime().initialised) {
    return fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit: it was called before in this process");
  }
  runtime().initialised = true;
  runtime().default_device = default_device_in(json);
  return ACL_SUCCESS;
}

aclError aclFinalize() {
  {
    const std::lock_guard lock(runtime().mutex);
    if (!runtime().initialised) {
      return fail(ACL_ERROR_UNINITIALIZE, "aclFinalize: aclInit was not called");
    }
    runtime().initialised = false;
    runtime().default_device = -1;
  }
  shut_down();
  return ACL_SUCCESS;
}

// The log that torch_npu writes. HOSTNPU_LOG_LEVEL says what is printed (1 info, 2 warnings, 3 errors, the default). A warning that
// an operator is missing is always printed: the error that follows names no operator.
void aclAppLog(aclLogLevel level, const char* function, const char*, uint32_t line, const char* format, ...) {
  static const int threshold = [] {
    const char* text = std::getenv("HOSTNPU_LOG_LEVEL");
    return text == nullptr || *text == '\0' ? static_cast<int>(ACL_ERROR) : std::atoi(text);
  }();
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const bool missing_operator = std::strstr(text, "Will call") != nullptr;
  if (static_cast<int>(level) < threshold && !missing_operator) {
    return;
  }
  if (missing_operator) {
    std::fprintf(stderr, "[hostnpu] missing operator: %s (docs/add-hostnpu-operator.md tells how to add it)\n", text);
  } else {
    std::fprintf(stderr, "[hostnpu log %d] %s:%u: %s\n", static_cast<int>(level), function, line, text);
  }
}

}  // extern "C"
