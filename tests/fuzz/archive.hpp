// npz archives from parts, with right checksums, so that what is fuzzed inside them is reached; and lies on
// request.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz.hpp"
#include "occam/io/ndarray.hpp"

namespace occam::fuzz {

struct Member {
  std::string name;   // with ".npy"
  std::string bytes;  // of the npy file
};

// A zip archive: stored, or deflated (in blocks that are not compressed). With `lies`, some of its fields are
// replaced by what the choices say.
std::string archive(const std::vector<Member>& members, bool deflated = false, Choices* lies = nullptr);

// An npy file with the elements that `choices` give: small integers, or numbers a reader may stumble over.
std::string chosen_npy(DType dtype, const Shape& shape, Choices& choices);

// A shape near the right one, and the right one most of the time.
Shape chosen_shape(Shape right, Choices& choices);
DType chosen_dtype(DType right, Choices& choices);

}  // namespace occam::fuzz
