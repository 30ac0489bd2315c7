// What a network file is and is for, as text for a terminal and as JSON: `occam info`.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "occam/networks/network_file.hpp"

namespace occam {

std::string network_text(const NetworkFile& file);
nlohmann::json network_json(const NetworkFile& file);

}  // namespace occam
