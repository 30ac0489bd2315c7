// The safetensors format: eight bytes with the length of a JSON header, the header (type, shape and place of
// each tensor, and a map of strings `__metadata__`), the data. Files of ours can be read by any safetensors
// reader. Format: https://huggingface.co/docs/safetensors. Types read: all numbers of NdArray (no 16-bit
// floats).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "occam/io/ndarray.hpp"

namespace occam {

struct Safetensors {
  std::map<std::string, std::string> metadata;
  std::vector<std::pair<std::string, NdArray>> tensors;

  // Null when there is no tensor of that name.
  const NdArray* find(std::string_view name) const;
  // Error(bad_config) that suggests the nearest name when there is none.
  const NdArray& at(std::string_view name) const;

  bool operator==(const Safetensors&) const = default;
};

// A seal is a checksum in the metadata, under `checksum`: 16 hexadecimal digits over all other metadata and
// over name, type, shape and bytes of every tensor. Against accidents, not against forgery.
void seal(Safetensors& contents);
bool seal_holds(const Safetensors& contents);  // false where there is none

// `name` is for messages. Error(bad_config) for whatever is not a whole, consistent file: tensors have to
// cover the data without gap or overlap, and there are at most 20,000. Tensors come in the order of their
// data.
Safetensors parse_safetensors(std::string_view bytes, std::string_view name);

// Fails as read_file and parse_safetensors do.
Safetensors read_safetensors(const std::string& path);

// Deterministic: same contents, same bytes. Tensors are written by falling element size, then by name, so
// that each is aligned. Error(usage) when names repeat or a text is not UTF-8.
std::string safetensors_bytes(const Safetensors& contents);

// Atomically; Error(io) when writing fails.
void write_safetensors(const std::string& path, const Safetensors& contents);

}  // namespace occam
