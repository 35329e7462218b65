// SPDX-License-Identifier: Apache-2.0
// XML by expat.
#include "report/xml_part.h"

#include <expat.h>

#include <exception>
#include <memory>
#include <type_traits>

#include "base/error.h"
#include "report/xlsx_parts.h"

namespace msprobe::report {
namespace {

std::string_view local_name(const XML_Char* name) {
  const std::string_view whole = name;
  const std::size_t colon = whole.rfind(':');
  return colon == std::string_view::npos ? whole : whole.substr(colon + 1);
}

// expat is C: what a handler throws must not pass through it, so it waits here.
struct Walk {
  XML_Parser parser = nullptr;
  XmlHandler* handler = nullptr;
  std::exception_ptr thrown;
  bool document_type = false;

  template <class Call>
  void guarded(const Call& call) {
    if (thrown != nullptr) {
      return;
    }
    try {
      call();
    } catch (...) {
      thrown = std::current_exception();
      XML_StopParser(parser, XML_FALSE);
    }
  }
};

void on_start(void* data, const XML_Char* name, const XML_Char** attributes) {
  auto& walk = *static_cast<Walk*>(data);
  walk.guarded([&] {
    XmlAttributes found;
    for (; attributes[0] != nullptr; attributes += 2) {
      found.emplace(local_name(attributes[0]), attributes[1]);
    }
    walk.handler->start(local_name(name), found);
  });
}

void on_end(void* data, const XML_Char* name) {
  auto& walk = *static_cast<Walk*>(data);
  walk.guarded([&] { walk.handler->end(local_name(name)); });
}

void on_text(void* data, const XML_Char* text, int length) {
  auto& walk = *static_cast<Walk*>(data);
  walk.guarded([&] { walk.handler->text({text, static_cast<std::size_t>(length)}); });
}

void on_document_type(void* data, const XML_Char* /*name*/, const XML_Char* /*system*/, const XML_Char* /*public_id*/,
                      int /*has_subset*/) {
  auto& walk = *static_cast<Walk*>(data);
  walk.document_type = true;
  XML_StopParser(walk.parser, XML_FALSE);
}

}  // namespace

void walk_xml(const read::ZipEntry& part, const std::string& path, XmlHandler& handler) {
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser(XML_ParserCreate(nullptr),
                                                                                             &XML_ParserFree);
  if (parser == nullptr) {
    fail("cannot read '", path, "': out of memory");
  }
  Walk walk{parser.get(), &handler, nullptr, false};
  XML_SetUserData(parser.get(), &walk);
  XML_SetElementHandler(parser.get(), on_start, on_end);
  XML_SetCharacterDataHandler(parser.get(), on_text);
  XML_SetStartDoctypeDeclHandler(parser.get(), on_document_type);
  const auto feed = [&](std::string_view piece, bool last) {
    if (XML_Parse(parser.get(), piece.data(), static_cast<int>(piece.size()), last ? XML_TRUE : XML_FALSE) !=
        XML_STATUS_ERROR) {
      return;
    }
    if (walk.thrown != nullptr) {
      std::rethrow_exception(walk.thrown);
    }
    fail("'", path, "', part ", part.name, ", line ", XML_GetCurrentLineNumber(parser.get()), ": ",
         walk.document_type ? "a document type, which no workbook has" : XML_ErrorString(XML_GetErrorCode(parser.get())),
         "; the file is damaged or no workbook");
  };
  unpack(part, path, [&](std::string_view piece) { feed(piece, false); });
  feed({}, true);
}

}  // namespace msprobe::report
