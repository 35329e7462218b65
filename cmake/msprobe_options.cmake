# Warnings, sanitizers and the compiler cache, for every target of the project.
find_program(MSPROBE_CCACHE ccache)
if(MSPROBE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${MSPROBE_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${MSPROBE_CCACHE}")
endif()

add_library(msprobe_warnings INTERFACE)
target_compile_options(msprobe_warnings INTERFACE -Wall -Wextra -Wpedantic -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # It sees overlapping copies in `"text" + std::to_string(n)` (GCC bug 105651).
  # The second is for clang-tidy, which is given the same options and does not know the first.
  target_compile_options(msprobe_warnings INTERFACE -Wno-restrict -Wno-unknown-warning-option)
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # libstdc++ 12's std::stable_sort uses std::get_temporary_buffer, which it marks as deprecated itself.
  target_compile_options(msprobe_warnings INTERFACE -Wno-deprecated-declarations)
endif()

if(MSPROBE_SANITIZE)
  add_compile_options(-fsanitize=${MSPROBE_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${MSPROBE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options("-fsanitize-ignorelist=${CMAKE_CURRENT_LIST_DIR}/sanitizer_ignorelist.txt")
  endif()
endif()
