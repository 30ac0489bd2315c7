// toml++, to be included through here. It takes some things about a text for certain, and is mistaken
// ("1979-05-27Tx"): as shipped that ends the program, or with clang has no defined outcome. Without these
// assumptions the checks that follow them refuse such a text.
#pragma once

#pragma push_macro("NDEBUG")
#undef NDEBUG  // or TOML_ASSERT is taken for a promise to the compiler
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
