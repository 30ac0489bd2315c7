// The functions that the script of a page calls. Arguments and results are bytes in the module's memory:
// JSON, or a file. Every call returns 0 (done) or 1 (failed) and leaves its result, or the message, in one
// buffer. Nothing thrown gets past here.
#include <cstdlib>
#include <new>

#include "occam/core/error.hpp"
#include "occam/page/session.hpp"

#define OCCAM_EXPORT(name) extern "C" __attribute__((export_name(#name)))

// Of the script: bytes of the csv from `offset` into `to`, and how far a comparison has got.
extern "C" int page_read(double offset, char* to, int size);
extern "C" void page_progress(double bytes, double sets);

namespace {

using nlohmann::json;
using occam::PageSession;

std::string& result() {
  static std::string buffer;
  return buffer;
}

PageSession& session() {
  static PageSession one;
  return one;
}

std::size_t read_page(std::uint64_t offset, std::span<char> out) {
  constexpr std::size_t kMost = std::size_t{1} << 24;
  const int count =
      page_read(static_cast<double>(offset), out.data(), static_cast<int>(std::min(out.size(), kMost)));
  if (count < 0) throw occam::Error(occam::ErrorKind::io, "the file cannot be read any more");
  return static_cast<std::size_t>(count);
}

std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// `work` returns the bytes of the result.
template <class Work>
int answer(const Work& work) {
  std::string& out = result();
  try {
    out = work();
    return 0;
  } catch (const std::bad_alloc&) {
    out = "this needs more memory than a page may take; the program occam has no such limit";
  } catch (const std::exception& error) {
    out = error.what();
  }
  return 1;
}

json parsed(const char* text, int size) {
  return json::parse(text, text + size);
}

}  // namespace

OCCAM_EXPORT(page_take) char* page_take(int size) {
  return static_cast<char*>(std::malloc(static_cast<std::size_t>(size)));
}
OCCAM_EXPORT(page_drop) void page_drop(char* bytes) {
  std::free(bytes);
}
OCCAM_EXPORT(page_result) const char* page_result() {
  return result().data();
}
OCCAM_EXPORT(page_result_size) int page_result_size() {
  return static_cast<int>(result().size());
}

OCCAM_EXPORT(page_network) int page_network(const char* bytes, int size) {
  return answer([&] {
    return text_of(session().open_network({bytes, static_cast<std::size_t>(size)}, "the network"));
  });
}
OCCAM_EXPORT(page_data) int page_data(const char* text, int size) {
  return answer([&] { return text_of(session().open_data(read_page, parsed(text, size))); });
}
OCCAM_EXPORT(page_preview) int page_preview(const char* text, int size) {
  return answer([&] { return text_of(session().preview(parsed(text, size))); });
}
OCCAM_EXPORT(page_compare) int page_compare(const char* text, int size) {
  return answer([&] {
    return text_of(session().compare(parsed(text, size), [](std::uint64_t bytes, std::int64_t sets) {
      page_progress(static_cast<double>(bytes), static_cast<double>(sets));
    }));
  });
}
OCCAM_EXPORT(page_answers) int page_answers(const char* text, int size) {
  return answer([&] { return text_of(session().answers(parsed(text, size))); });
}
OCCAM_EXPORT(page_file) int page_file(const char* text, int size) {
  return answer([&] { return session().answer_file(parsed(text, size)); });
}
OCCAM_EXPORT(page_course) int page_course(const char* text, int size) {
  return answer([&] { return text_of(session().course(parsed(text, size))); });
}
OCCAM_EXPORT(page_groups) int page_groups(const char* text, int size) {
  return answer([&] { return text_of(session().groups(parsed(text, size))); });
}
