// SPDX-License-Identifier: Apache-2.0
// Walks through the XML of one part of an .xlsx file, element by element, in constant memory.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "read/pt_zip.h"

namespace msprobe::report {

using XmlAttributes = std::map<std::string_view, std::string_view>;

// Names are without their prefix. What a handler throws ends the walk and comes out of walk_xml.
class XmlHandler {
 public:
  XmlHandler() = default;
  XmlHandler(const XmlHandler&) = delete;
  XmlHandler& operator=(const XmlHandler&) = delete;
  virtual ~XmlHandler() = default;
  virtual void start(std::string_view name, const XmlAttributes& attributes) = 0;
  virtual void end(std::string_view name) = 0;
  virtual void text(std::string_view piece) = 0;  // in any number of pieces
};

// `path` is for messages. Error, with the part and the line, for what is no XML; a document type is refused, since its entities are
// how a small file unpacks to any size.
void walk_xml(const read::ZipEntry& part, const std::string& path, XmlHandler& handler);

}  // namespace msprobe::report
