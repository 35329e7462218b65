// SPDX-License-Identifier: Apache-2.0
// Reads the HOSTNPU_* variables.
#include "config.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hostnpu {
namespace {

constexpr int kMaxDevices = 64;

void refuse(const char* name, const char* value, const char* rule) {
  std::fprintf(stderr, "[hostnpu] %s must be %s, got '%s': its default is used\n", name, rule, value);
}

template <class Number>
bool parse_number(const char* text, Number& number) {
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  return error == std::errc() && stop == end;
}

void read_devices(Config& config) {
  const char* text = std::getenv("HOSTNPU_DEVICES");
  if (text == nullptr) {
    return;
  }
  int devices = 0;
  if (parse_number(text, devices) && devices >= 1 && devices <= kMaxDevices) {
    config.devices = devices;
  } else {
    refuse("HOSTNPU_DEVICES", text, "a number from 1 to 64");
  }
}

void read_memory(Config& config) {
  const char* text = std::getenv("HOSTNPU_MEMORY_GIB");
  if (text == nullptr) {
    return;
  }
  double gib = 0;
  if (parse_number(text, gib) && gib > 0 && gib <= 65536) {
    config.memory_bytes = static_cast<std::size_t>(gib * static_cast<double>(1ULL << 30));
  } else {
    refuse("HOSTNPU_MEMORY_GIB", text, "a number of GiB above 0");
  }
}

void read_cann_version(Config& config) {
  const char* text = std::getenv("HOSTNPU_CANN");
  if (text == nullptr) {
    return;
  }
  Version version;
  if (std::sscanf(text, "%d.%d.%d", &version.major, &version.minor, &version.patch) >= 2) {
    config.cann = version;
    config.cann_version = text;
  } else {
    refuse("HOSTNPU_CANN", text, "a version such as 8.5.0");
  }
}

Config read_environment() {
  Config config;
  read_devices(config);
  read_memory(config);
  read_cann_version(config);
  if (const char* soc = std::getenv("HOSTNPU_SOC"); soc != nullptr && *soc != '\0') {
    config.soc = soc;
  }
  const char* trace = std::getenv("HOSTNPU_TRACE");
  config.trace = trace != nullptr && std::strcmp(trace, "0") != 0 && *trace != '\0';
  return config;
}

}  // namespace

const Config& config() {
  static const Config value = read_environment();
  return value;
}

}  // namespace hostnpu
