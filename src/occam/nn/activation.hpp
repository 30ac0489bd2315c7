// Activation functions. Each derivative is a function of the output alone, so inputs need not be kept.
#pragma once

#include <string>
#include <vector>

namespace occam {

enum class Activation {
  identity,
  elu,       // x > 0 ? x : exp(x) - 1
  relu,      // max(x, 0)
  tanh,      //
  softplus,  // log(1 + exp(x))
};

inline const std::vector<std::string>& activation_names() {
  static const std::vector<std::string> names = {"identity", "elu", "relu", "tanh", "softplus"};
  return names;
}

}  // namespace occam
