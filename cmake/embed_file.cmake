# Makes a C++ file that holds another file's bytes; run by a custom command: cmake -DINPUT=... -DOUTPUT=... -DFUNCTION=... -DHEADER=... -P embed_file.cmake
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "// Made by cmake/embed_file.cmake from ${INPUT}.
#include \"${HEADER}\"
namespace msprobe::report {
namespace {
constexpr unsigned char kBytes[] = {
${bytes}
};
}
std::string_view ${FUNCTION}() { return {reinterpret_cast<const char*>(kBytes), sizeof kBytes}; }
}
")
