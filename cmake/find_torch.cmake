# Finds torch and torch_npu by looking at folders, never by importing them: `import torch` fails where torch_npu is installed
# and CANN is not. Gives the targets msprobe::torch and (if there) msprobe::torch_npu, and MSPROBE_TORCH_NPU_FOUND.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# The folder of package NAME: in the target environment first (pip's isolated builds put another one on the path), then on the path.
function(msprobe_package_dir name out)
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" -c
"import importlib.util, os, sysconfig
name = '${name}'
home = os.path.join(sysconfig.get_paths()['purelib'], name)
spec = None if os.path.isdir(home) else importlib.util.find_spec(name)
print(home if os.path.isdir(home) else os.path.dirname(spec.origin) if spec and spec.origin else '')"
    OUTPUT_VARIABLE dir OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${out} "${dir}" PARENT_SCOPE)
endfunction()

# The version a package's own version.py tells ("2.13.0+cpu"), read as text.
function(msprobe_package_version dir out)
  set(version "")
  if(EXISTS "${dir}/version.py")
    file(STRINGS "${dir}/version.py" line REGEX "^__version__ *=" LIMIT_COUNT 1)
    string(REGEX REPLACE ".*['\"]([^'\"]+)['\"].*" "\\1" version "${line}")
  endif()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

set(torch_dir "${MSPROBE_TORCH_DIR}")
if(NOT torch_dir)
  msprobe_package_dir(torch torch_dir)
endif()
if(NOT EXISTS "${torch_dir}/lib/libtorch_cpu.so")
  message(FATAL_ERROR
    "msprobe's operators need torch, and '${torch_dir}' has no lib/libtorch_cpu.so: install torch for ${Python3_EXECUTABLE}, "
    "or pass -DMSPROBE_TORCH_DIR=FOLDER, or -DMSPROBE_OPS=OFF to build without the operators.")
endif()
msprobe_package_version("${torch_dir}" MSPROBE_TORCH_VERSION)
message(STATUS "torch ${MSPROBE_TORCH_VERSION}: ${torch_dir}")

add_library(msprobe_torch INTERFACE)
add_library(msprobe::torch ALIAS msprobe_torch)
target_include_directories(msprobe_torch SYSTEM INTERFACE
  "${torch_dir}/include" "${torch_dir}/include/torch/csrc/api/include")
target_link_libraries(msprobe_torch INTERFACE "${torch_dir}/lib/libtorch_cpu.so" "${torch_dir}/lib/libc10.so")

set(torch_npu_dir "${MSPROBE_TORCH_NPU_DIR}")
if(NOT torch_npu_dir)
  msprobe_package_dir(torch_npu torch_npu_dir)
endif()
set(MSPROBE_TORCH_NPU_FOUND OFF)
set(MSPROBE_TORCH_NPU_VERSION "")
if(NOT torch_npu_dir OR torch_npu_dir STREQUAL "NONE")
  message(STATUS "torch_npu: not there; building for the CPU only, without hostnpu")
elseif(NOT EXISTS "${torch_npu_dir}/lib/libtorch_npu.so")
  message(FATAL_ERROR
    "'${torch_npu_dir}' has no lib/libtorch_npu.so: pass -DMSPROBE_TORCH_NPU_DIR=FOLDER of an installed torch_npu, or NONE to build without the NPU.")
else()
  set(MSPROBE_TORCH_NPU_FOUND ON)
  msprobe_package_version("${torch_npu_dir}" MSPROBE_TORCH_NPU_VERSION)
  message(STATUS "torch_npu ${MSPROBE_TORCH_NPU_VERSION}: ${torch_npu_dir}")
  add_library(msprobe_torch_npu INTERFACE)
  add_library(msprobe::torch_npu ALIAS msprobe_torch_npu)
  target_include_directories(msprobe_torch_npu SYSTEM INTERFACE
    "${torch_npu_dir}/include" "${torch_npu_dir}/include/third_party/acl/inc")
  target_link_libraries(msprobe_torch_npu INTERFACE msprobe_torch "${torch_npu_dir}/lib/libtorch_npu.so")
  set(MSPROBE_TORCH_NPU_DIR_FOUND "${torch_npu_dir}")
endif()
set(MSPROBE_TORCH_DIR_FOUND "${torch_dir}")
