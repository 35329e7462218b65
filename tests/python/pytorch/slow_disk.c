// SPDX-License-Identifier: Apache-2.0
// Preloaded into a process, makes its large writes slow: a disk of about 64 MiB/s for each writer.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t write(int fd, const void *data, size_t size) {
  static ssize_t (*real_write)(int, const void *, size_t);
  if (!real_write) {
    *(void **)&real_write = dlsym(RTLD_NEXT, "write");
  }
  if (size >= 4096) {
    usleep((useconds_t)(size / 64));
  }
  return real_write(fd, data, size);
}
