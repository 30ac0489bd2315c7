// occam page: the comparison as a web page.
#include <memory>

#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
#include "occam/page/page_file.hpp"
#include "occam/page/session.hpp"
#include "occam/pipeline/ready_made.hpp"
#include "terminal_progress.hpp"
#include "verb.hpp"

namespace occam {
namespace {

struct PageVerb {
  std::string network, output;
  std::string title, text, example;
};

Fields fields(PageVerb& o) {
  return {field("title", o.title, "what stands at the top (default: the name of the problem)"),
          field("text", o.text, "a text below the title: paragraphs, # headings and - lists (.md)"),
          field("example", o.example, "data that the reader can try the page with (.csv)")};
}

std::string file_name(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// Compares the example as a reader would who corrects nothing.
void check_example(PageSession& session, const PageContents& contents) {
  const ReadAt read = [&](std::uint64_t offset, std::span<char> out) {
    return contents.example.copy(out.data(), out.size(), static_cast<std::size_t>(offset));
  };
  const nlohmann::json opened = session.open_data(read, {{"name", contents.example_name}});
  const auto header = opened["header"].get<std::vector<std::string>>();
  const nlohmann::json& guess = opened["guess"];
  std::vector<std::string> columns, by;
  for (const int column : guess["columns"].get<std::vector<int>>()) {
    if (column < 0) {
      throw Error(ErrorKind::bad_data,
                  "{}: its columns ({}) are not recognised as those that the network needs; give them the "
                  "network's names (`occam info` shows them)",
                  contents.example_name, fmt::join(header, ", "));
    }
    columns.push_back(header[static_cast<std::size_t>(column)]);
  }
  for (const char* which : {"by", "by_too"})
    if (const int column = guess[which].get<int>(); column >= 0)
      by.push_back(header[static_cast<std::size_t>(column)]);
  session.compare({{"columns", columns}, {"factors", guess["factors"]}, {"by", by}}, nullptr);
}

// A network that does not open, or an example without answers, is found here and not by the reader.
void check_page(const PageContents& contents, const std::string& network) {
  PageSession session;
  session.open_network(contents.network, network);
  if (!contents.example_name.empty()) check_example(session, contents);
}

void write_page(const PageVerb& o) {
  if (o.output.empty()) throw Error(ErrorKind::usage, "page: give the page to write with -o FILE.html");
  if (!o.output.ends_with(".html"))
    throw Error(ErrorKind::usage, "-o {}: a page is written as .html", o.output);
  if (o.network.empty() && !o.example.empty())
    throw Error(ErrorKind::usage, "--example belongs to a page with a network");
  require_writable(o.output);
  PageContents contents;
  contents.title = o.title;
  if (!o.text.empty()) contents.text = read_file(o.text);
  if (!o.network.empty()) {
    contents.network = read_file(o.network);
    contents.caution = caution_of(record_beside(o.network));
  }
  if (!o.example.empty()) {
    contents.example = read_file(o.example);
    contents.example_name = file_name(o.example);
  }
  if (!o.network.empty()) check_page(contents, o.network);
  write_file_atomic(o.output, compare_page(contents));
  if (!contents.caution.empty()) {
    TerminalProgress(/*unit=*/"", /*quiet=*/true).warn(contents.caution + "; the page says so, too");
  }
}

}  // namespace

void register_page(Verbs& verbs) {
  const auto o = std::make_shared<PageVerb>();
  verbs.add("page", "The comparison as a web page")
      .about(R"(
        Writes one html file that compares in a browser: it holds the program, the network and
        everything else, works offline, from a folder or any web server, and sends no data anywhere.
        Without NET, the page opens any network file that is dropped on it.
      )")
      .example("occam page coins.occam -o coins.html --example tosses.csv", "a page for this network")
      .example("occam page -o app.html", "a page for any network")
      .optional_argument("NET", o->network, kNetworkHelp)
      .output(o->output, "the page (.html)")
      .options(fields(*o))
      .reads({"text", "example"})
      .run([o](const Call&) { write_page(*o); });
}

}  // namespace occam
