// Changes of a safetensors file that keep it a sound one: values, shapes, types and names of tensors, and
// nodes of the JSON in its metadata. Random damage never gets behind checksum and parser; these do.
#pragma once

#include "fuzz.hpp"
#include "occam/io/safetensors.hpp"

namespace occam::fuzz {

// A few changes, as the choices say.
void edit(Safetensors& contents, Choices& choices);

}  // namespace occam::fuzz
