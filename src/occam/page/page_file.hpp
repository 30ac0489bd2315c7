// The web page that compares: one html file with the program (WebAssembly), perhaps a network and an example,
// and the script around them. It works offline and loads nothing; its policy forbids more.
#pragma once

#include <string>

namespace occam {

struct PageContents {
  std::string title;         // empty: the name of the problem
  std::string text;          // above everything: paragraphs, # headings, - lists
  std::string network;       // bytes of a network file; empty: the reader chooses one
  std::string caution;       // what its answers say with them; may be empty
  std::string example;       // bytes of a csv; may be empty
  std::string example_name;  // of that file
};

// Error(bad_config) where this build has no module for pages.
std::string compare_page(const PageContents& contents);

}  // namespace occam
