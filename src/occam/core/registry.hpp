// Registry<Entry>: named entries of one family (models, networks, verbs, ...), in the order of their list.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"

namespace occam {

template <class Entry>
class Registry {
 public:
  // `what` names the family in messages: "problem", "network", ...
  explicit Registry(std::string what) : what_(std::move(what)) {}

  // A name registered twice is a programming error.
  void add(std::string name, Entry entry) {
    if (find(name) != nullptr) throw Error(ErrorKind::internal, "{} '{}' is registered twice", what_, name);
    names_.push_back(std::move(name));
    entries_.push_back(std::move(entry));
  }

  const Entry* find(std::string_view name) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return &entries_[i];
    }
    return nullptr;
  }

  // The entry, or an error of the given kind that suggests the nearest known name.
  const Entry& at(std::string_view name, ErrorKind kind = ErrorKind::usage) const {
    const Entry* entry = find(name);
    if (entry == nullptr) throw Error(kind, "unknown {} '{}'{}", what_, name, did_you_mean(name, names_));
    return *entry;
  }

  const std::vector<std::string>& names() const { return names_; }

 private:
  std::string what_;
  std::vector<std::string> names_;
  std::vector<Entry> entries_;
};

}  // namespace occam
