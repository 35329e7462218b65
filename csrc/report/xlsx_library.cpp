// SPDX-License-Identifier: Apache-2.0
// Finds and loads libxlsxwriter. MSPROBE_XLSX_LIBRARY is the file name that it was built with (CMakeLists.txt).
#include "report/xlsx_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"

namespace msprobe::report {
namespace {

namespace fs = std::filesystem;

// What libxlsxwriter itself asks for by this name; loaded first, it is the one that is found.
constexpr const char* kZipLibrary = "libminizip.so.1";

// Where this code lies: the program in PREFIX/bin, or the library in .../msprobe/lib.
fs::path own_folder() {
  Dl_info info{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0) {
    return {};
  }
  // For a program dl_iterate's name may be what it was started as, which need not be a path.
  const fs::path self = fs::path(info.dli_fname).has_parent_path() ? fs::canonical(info.dli_fname, error)
                                                                   : fs::canonical("/proc/self/exe", error);
  return self.parent_path();
}

std::vector<fs::path> bundled_folders() {
  const fs::path own = own_folder();
  if (own.empty()) {
    return {};
  }
  // Beside the shared library; `pip install --target FOLDER` puts the program into FOLDER/bin.
  std::vector<fs::path> folders = {own, own.parent_path() / "msprobe" / "lib"};
  std::error_code error;
  for (const char* base : {"lib", "lib64", "local/lib"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(own.parent_path() / base, error)) {
      if (entry.path().filename().string().starts_with("python3")) {
        folders.push_back(entry.path() / "site-packages" / "msprobe" / "lib");
        folders.push_back(entry.path() / "dist-packages" / "msprobe" / "lib");
      }
    }
  }
  return folders;
}

void* open_library() {
  std::error_code error;
  for (const fs::path& folder : bundled_folders()) {
    const fs::path file = folder / MSPROBE_XLSX_LIBRARY;
    if (fs::is_regular_file(file, error)) {
      dlopen((folder / kZipLibrary).c_str(), RTLD_NOW | RTLD_LOCAL);
      void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) {
        return library;
      }
    }
  }
  void* library = dlopen(MSPROBE_XLSX_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fail("a workbook needs libxlsxwriter, which cannot be loaded: ", dlerror(),
         "; install it (Debian: apt-get install libxlsxwriter4), or ask for --format csv");
  }
  return library;
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    fail("a workbook needs libxlsxwriter ", LXW_VERSION, ", and the one that is installed has no ", name,
         "; install another release, or ask for --format csv");
  }
}

XlsxLibrary load() {
  void* library = open_library();
  XlsxLibrary loaded;
  find(library, "workbook_new_opt", loaded.workbook_new_opt);
  find(library, "workbook_add_worksheet", loaded.workbook_add_worksheet);
  find(library, "workbook_add_format", loaded.workbook_add_format);
  find(library, "workbook_close", loaded.workbook_close);
  find(library, "lxw_workbook_free", loaded.lxw_workbook_free);
  find(library, "worksheet_write_number", loaded.worksheet_write_number);
  find(library, "worksheet_write_string", loaded.worksheet_write_string);
  find(library, "worksheet_write_blank", loaded.worksheet_write_blank);
  find(library, "worksheet_set_column", loaded.worksheet_set_column);
  find(library, "worksheet_freeze_panes", loaded.worksheet_freeze_panes);
  find(library, "worksheet_autofilter", loaded.worksheet_autofilter);
  find(library, "format_set_bg_color", loaded.format_set_bg_color);
  find(library, "format_set_bold", loaded.format_set_bold);
  find(library, "format_set_num_format", loaded.format_set_num_format);
  find(library, "lxw_strerror", loaded.lxw_strerror);
  return loaded;
}

}  // namespace

const XlsxLibrary& xlsx_library() {
  static const XlsxLibrary loaded = load();  // never unloaded; an attempt that failed is made again
  return loaded;
}

}  // namespace msprobe::report
