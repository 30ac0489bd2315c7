#include "edits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

namespace occam::fuzz {
namespace {

using nlohmann::json;

constexpr std::size_t kMostEdits = 6;

// ---- tensors

template <class Element>
void put(NdArray& array, std::size_t at, Element value) {
  std::memcpy(array.bytes.data() + at * sizeof(Element), &value, sizeof(Element));
}

void put_odd_value(NdArray& array, std::size_t at, std::size_t choice) {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr std::array<float, 12> kFloats = {0,
                                             1,
                                             -1,
                                             static_cast<float>(NAN),
                                             static_cast<float>(INFINITY),
                                             -static_cast<float>(INFINITY),
                                             kMost,
                                             -kMost,
                                             1e-40f,
                                             0.5f,
                                             2147483648.0f,
                                             3};
  constexpr std::array<std::int64_t, 8> kIntegers = {0,
                                                     1,
                                                     -1,
                                                     2,
                                                     127,
                                                     32767,
                                                     std::numeric_limits<std::int64_t>::max(),
                                                     std::numeric_limits<std::int64_t>::min()};
  if (array.dtype == DType::float32) return put(array, at, kFloats[choice % kFloats.size()]);
  if (array.dtype == DType::float64)
    return put(array, at, static_cast<double>(kFloats[choice % kFloats.size()]));
  const std::int64_t value = kIntegers[choice % kIntegers.size()];
  const std::size_t width = dtype_size(array.dtype);
  std::memcpy(array.bytes.data() + at * width, &value, width);
}

// Takes another shape; the elements that were there are repeated or cut.
void reshape(NdArray& array, const Shape& shape, DType dtype) {
  constexpr std::size_t kMostBytes = 1 << 16;
  const std::size_t bytes = array_bytes(shape, dtype).value_or(kMostBytes + 1);
  if (bytes > kMostBytes) return;
  const std::vector<std::byte> old = std::move(array.bytes);
  array.dtype = dtype;
  array.shape = shape;
  array.bytes.assign(bytes, std::byte{0});
  for (std::size_t i = 0; i < bytes && !old.empty(); ++i) array.bytes[i] = old[i % old.size()];
}

void resize_one(NdArray& array, Choices& choices) {
  if (array.shape.empty()) return reshape(array, {1}, array.dtype);
  Shape shape = array.shape;
  std::int64_t& length = shape[choices.below(shape.size())];
  constexpr std::array<std::int64_t, 6> kLengths = {0, 1, 2, 3, 7, 64};
  const std::size_t choice = choices.below(kLengths.size() + 3);
  if (choice < kLengths.size())
    length = kLengths[choice];
  else if (choice == kLengths.size())
    length += 1;
  else if (choice == kLengths.size() + 1)
    length = std::max<std::int64_t>(0, length - 1);
  else
    length *= 2;
  reshape(array, shape, array.dtype);
}

void edit_tensor(Safetensors& contents, Choices& choices) {
  auto& tensors = contents.tensors;
  if (tensors.empty()) return;
  const std::size_t at = choices.below(tensors.size());
  auto& [name, array] = tensors[at];
  const auto is_new = [&](const std::string& wanted) { return contents.find(wanted) == nullptr; };
  switch (choices.below(9)) {
    case 0:
      if (array.size() > 0) {
        const std::size_t element = choices.below(array.size());
        put_odd_value(array, element, choices.byte());
      }
      break;
    case 1: {
      const std::uint8_t choice = choices.byte();
      for (std::size_t i = 0; i < array.size(); ++i) put_odd_value(array, i, choice);
      break;
    }
    case 2:
    case 3:
      resize_one(array, choices);
      break;
    case 4: {
      Shape shape = array.shape;
      if (choices.byte() % 2 == 0)
        std::reverse(shape.begin(), shape.end());
      else
        shape = {static_cast<std::int64_t>(array.size())};
      array.shape = shape;
      break;
    }
    case 5:
      reshape(array, array.shape, static_cast<DType>(choices.below(11)));
      break;
    case 6:
      tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 7: {
      const std::string wanted = tensors[choices.below(tensors.size())].first + "x";
      if (is_new(wanted)) name = wanted;
      break;
    }
    default:
      array = NdArray(tensors[choices.below(tensors.size())].second);
      break;
  }
}

// ---- JSON

json chosen_value(Choices& choices) {
  static const std::vector<json> kValues = {json(),
                                            true,
                                            false,
                                            0,
                                            1,
                                            -1,
                                            2,
                                            3,
                                            64,
                                            255,
                                            65536,
                                            1e9,
                                            -0.5,
                                            1e308,
                                            -1e308,
                                            1e-320,
                                            2147483647,
                                            4294967296,
                                            std::numeric_limits<std::int64_t>::max(),
                                            std::numeric_limits<std::int64_t>::min(),
                                            std::numeric_limits<std::uint64_t>::max(),
                                            "",
                                            "x",
                                            "set",
                                            "sequence",
                                            "evidential",
                                            "softmax",
                                            "vae",
                                            "mmd-vae",
                                            "mc-dropout",
                                            "exp",
                                            "softplus",
                                            "\x1b[31m",
                                            std::string("a\0b", 3),
                                            "<script>",
                                            json::array(),
                                            json::object(),
                                            json::array({0}),
                                            json::array({1, 2, 3}),
                                            json::array({json()}),
                                            json::array({json::array()}),
                                            json::object({{"x", 1}})};
  return kValues[choices.below(kValues.size())];
}

void collect(json& node, std::vector<json*>& nodes) {
  nodes.push_back(&node);
  if (node.is_structured()) {
    for (json& child : node) collect(child, nodes);
  }
}

void change(json& node, const std::vector<json*>& nodes, Choices& choices) {
  switch (choices.below(7)) {
    case 0:
      node = chosen_value(choices);
      break;
    case 1:
      node = json(*nodes[choices.below(nodes.size())]);
      break;
    case 2:  // a number a little off, a list a little longer
      if (node.is_number_integer())
        node = node.get<std::int64_t>() / 2 + static_cast<std::int8_t>(choices.byte());
      else if (node.is_number())
        node = node.get<double>() * (choices.byte() / 16.0 - 4);
      else if (node.is_array() && !node.empty())
        node.push_back(json(node[choices.below(node.size())]));
      else if (node.is_string())
        node = node.get<std::string>() + "x";
      break;
    case 3:  // a list a little shorter
      if (node.is_array() && !node.empty())
        node.erase(choices.below(node.size()));
      else if (node.is_object() && !node.empty()) {
        auto member = node.begin();
        std::advance(member, choices.below(node.size()));
        node.erase(member);
      }
      break;
    case 4:
      if (node.is_array())
        node.push_back(chosen_value(choices));
      else if (node.is_object())
        node[choices.byte() % 2 == 0 ? "x" : "members"] = chosen_value(choices);
      break;
    case 5:
      if (node.is_array()) {
        for (std::size_t copies = choices.byte(); copies > 0; --copies) node.push_back(chosen_value(choices));
      }
      break;
    default: {
      json deep = node;
      for (std::size_t level = choices.byte(); level > 0; --level) deep = json::array({std::move(deep)});
      node = std::move(deep);
      break;
    }
  }
}

// The text of a problem, or whatever is no JSON.
void edit_text(std::string& text, Choices& choices) {
  static const std::vector<std::string> kLines = {"simulator = [\"sh\", \"-c\", \"true\"]\n",
                                                  "simulator = \"model.cpp\"\n",
                                                  "simulator = \"yes\"\n",
                                                  "n = \"uniform(1, 9223372036854775807)\"\n",
                                                  "n = 0\n",
                                                  "ordered = true\n",
                                                  "columns = { x = \"\" }\n",
                                                  "family = \"bernoulli\"\n",
                                                  "[model.x]\n",
                                                  "theta = \"beta(1e308, 1e-308)\"\n",
                                                  "a.b.c.d = 1\n",
                                                  "prior = -1\n",
                                                  "1",
                                                  "0123456789abcdef",
                                                  "\n",
                                                  "\"",
                                                  "999999999999999999999"};
  const std::size_t at = choices.below(text.size() + 1);
  switch (choices.below(4)) {
    case 0:
      text.insert(at, kLines[choices.below(kLines.size())]);
      break;
    case 1:
      text.erase(at, choices.byte());
      break;
    case 2:
      for (const char c : choices.text(choices.below(16)))
        text.insert(text.begin() + static_cast<std::ptrdiff_t>(at), static_cast<char>(c & 0x7f));
      break;
    default:
      text = kLines[choices.below(kLines.size())];
      break;
  }
}

void edit_metadata(Safetensors& contents, Choices& choices) {
  if (contents.metadata.empty()) return;
  auto entry = contents.metadata.begin();
  std::advance(entry, choices.below(contents.metadata.size()));
  std::string& text = entry->second;
  const std::uint8_t way = choices.byte();
  if (way == 0xff) {
    contents.metadata.erase(entry);
    return;
  }
  json tree = json::parse(text, nullptr, false);
  if (tree.is_discarded() || way >= 0xf0) return edit_text(text, choices);
  for (std::size_t changes = 1 + way % 3u; changes > 0; --changes) {
    std::vector<json*> nodes;
    collect(tree, nodes);
    change(*nodes[choices.below(nodes.size())], nodes, choices);
  }
  text = tree.dump();
}

}  // namespace

void edit(Safetensors& contents, Choices& choices) {
  for (std::size_t edits = 0; edits < kMostEdits && !choices.empty(); ++edits) {
    if (choices.byte() % 2 == 0)
      edit_tensor(contents, choices);
    else
      edit_metadata(contents, choices);
  }
}

}  // namespace occam::fuzz
