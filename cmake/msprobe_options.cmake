# Warnings, sanitizers and the compiler cache, for every target of the project.
find_program(MSPROBE_CCACHE ccache)
if(MSPROBE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${MSPROBE_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${MSPROBE_CCACHE}")
endif()

add_library(msprobe_warnings INTERFACE)
target_compile_options(msprobe_warnings INTERFACE -Wall -Wextra -Wpedantic -Werror)

if(MSPROBE_SANITIZE)
  add_compile_options(-fsanitize=${MSPROBE_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${MSPROBE_SANITIZE})
endif()
