#include "occam/page/guess.hpp"

#include <algorithm>
#include <array>

namespace occam {
namespace {

// Lower-case letters and digits, the rest as single blanks: "RT (ms)", "rt_ms" and "timeMs" are two words
// each.
std::string plain_words(std::string_view text) {
  std::string words;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80;
    // A capital after two small letters begins a word; "mV" is one.
    const auto small = [&](std::size_t at) { return text[at] >= 'a' && text[at] <= 'z'; };
    if (upper && i >= 2 && small(i - 1) && small(i - 2)) words += ' ';
    if (kept) {
      words += static_cast<char>(upper ? c + 32 : c);
    } else if (!words.empty() && words.back() != ' ') {
      words += ' ';
    }
  }
  while (!words.empty() && words.back() == ' ') words.pop_back();
  return words;
}

bool has_word(std::string_view words, std::string_view word) {
  return !word.empty() &&
         (" " + std::string(words) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

// What people call the same thing. The first of each line is what networks call it.
constexpr std::array<std::array<std::string_view, 8>, 6> kSynonyms = {{
    {"rt", "reaction time", "response time", "latency", "responsetime", "reactiontime", "reaktionszeit",
     "time"},
    {"response", "resp", "choice", "key", "answer", "correct", "accuracy", "antwort"},
    {"condition", "cond", "block", "stimulus", "group", "difficulty", "level", "bedingung"},
    {"x", "value", "outcome", "success", "toss", "result", "data", "wert"},
    {"v", "voltage", "potential", "membrane potential", "mv", "signal", "value", "spannung"},
    {"y", "value", "outcome", "dependent", "score", "measurement", "data", "wert"},
}};

// Larger is better; 0: does not fit.
int fit(const std::string& wanted, const std::string& header) {
  if (wanted == header) return 100;
  const std::string a = plain_words(wanted), b = plain_words(header);
  if (a == b && !a.empty()) return 90;
  int best = has_word(b, a) ? 60 : 0;
  for (const auto& line : kSynonyms) {
    if (line[0] != a) continue;
    for (std::size_t i = 1; i < line.size(); ++i) {
      const int less = static_cast<int>(i);
      if (b == line[i]) best = std::max(best, 80 - less);
      if (has_word(b, line[i])) best = std::max(best, 40 - less);
    }
  }
  return best;
}

constexpr std::string_view kSetNames[] = {
    "dataset", "data set", "subject", "participant", "subj", "sub",    "subjectid", "participantid",
    "id",      "person",   "patient", "proband",     "vp",   "vpn",    "pid",       "ppt",
    "player",  "animal",   "case",    "respondent",  "code", "session"};

}  // namespace

std::vector<int> guess_columns(const std::vector<std::string>& wanted,
                               const std::vector<std::string>& header) {
  struct Pair {
    int score, wanted, header;
  };
  std::vector<Pair> pairs;
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    for (std::size_t h = 0; h < header.size(); ++h) {
      const int score = fit(wanted[w], header[h]);
      if (score > 0) pairs.push_back({score, static_cast<int>(w), static_cast<int>(h)});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.score > b.score; });
  std::vector<int> result(wanted.size(), -1);
  std::vector<bool> taken(header.size(), false);
  for (const Pair& pair : pairs) {
    int& place = result[static_cast<std::size_t>(pair.wanted)];
    if (place >= 0 || taken[static_cast<std::size_t>(pair.header)]) continue;
    place = pair.header;
    taken[static_cast<std::size_t>(pair.header)] = true;
  }
  // A file of one column leaves no choice.
  if (wanted.size() == 1 && header.size() == 1) result[0] = 0;
  return result;
}

int guess_by(const std::vector<std::string>& header, const std::vector<int>& taken) {
  const auto is_free = [&](std::size_t h) {
    return std::find(taken.begin(), taken.end(), static_cast<int>(h)) == taken.end();
  };
  for (const bool exact : {true, false}) {
    for (const std::string_view name : kSetNames) {
      for (std::size_t h = 0; h < header.size(); ++h) {
        const std::string words = plain_words(header[h]);
        if (is_free(h) && (exact ? words == name : has_word(words, name))) return static_cast<int>(h);
      }
    }
  }
  return -1;
}

int guess_by_too(const std::vector<std::string>& header, const std::vector<int>& taken, int by) {
  if (by < 0) return -1;
  for (std::size_t h = 0; h < header.size(); ++h) {
    const auto at = static_cast<int>(h);
    if (at == by || std::find(taken.begin(), taken.end(), at) != taken.end()) continue;
    for (const std::string_view name : {"session", "visit", "sitzung"})
      if (has_word(plain_words(header[h]), name)) return at;
  }
  return -1;
}

std::string unit_in(std::string_view description) {
  const auto open = description.rfind('[');
  const auto close = description.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return "";
  return std::string(description.substr(open + 1, close - open - 1));
}

bool looks_like_thousandths(std::string_view header, const std::vector<double>& numbers, double low,
                            double high) {
  const std::string words = plain_words(header);
  if (has_word(words, "ms") || has_word(words, "msec") || has_word(words, "milliseconds")) return true;
  if (numbers.empty() || !(high > low)) return false;
  std::vector<double> sorted = numbers;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
                   sorted.end());
  const double median = sorted[sorted.size() / 2];
  return median > high && median / 1000 >= low && median / 1000 <= high;
}

}  // namespace occam
