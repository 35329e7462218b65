# Toolchain: g++ of Debian for aarch64, libraries from the folder that tools/test_aarch64.sh fills, tests under qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(MSPROBE_AARCH64_ROOT "${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-root" CACHE PATH "Folder with the unpacked libraries")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MSPROBE_AARCH64_ROOT)

set(CMAKE_FIND_ROOT_PATH "${MSPROBE_AARCH64_ROOT}" /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(libraries "${MSPROBE_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu")
set(CMAKE_C_FLAGS_INIT "-isystem ${MSPROBE_AARCH64_ROOT}/usr/include")
set(CMAKE_CXX_FLAGS_INIT "${CMAKE_C_FLAGS_INIT}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${libraries} -Wl,-rpath-link,${libraries}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${CMAKE_EXE_LINKER_FLAGS_INIT}")
set(CMAKE_CROSSCOMPILING_EMULATOR
  "qemu-aarch64;-L;/usr/aarch64-linux-gnu;-E;LD_LIBRARY_PATH=${libraries}:${MSPROBE_AARCH64_ROOT}/lib/aarch64-linux-gnu:/usr/aarch64-linux-gnu/lib")
