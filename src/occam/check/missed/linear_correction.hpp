// LinearCorrection: a multinomial logistic regression that starts from the network's log p,
//   score_j = log p_j + sum_f w_fj z_f + c_j,   z_f the normal ranks of the statistics,
// with a ridge penalty that is relaxed step by step until the stopping rows get no better. It takes the
// smooth part of what a network missed. Steps are Newton's with the bound of Boehning (1992) in place of the
// Hessian, the same matrix for all models and all steps: (Z'Z / n + ridge) / 2.
#pragma once

#include "occam/check/missed/learning_rows.hpp"

namespace occam {

// Corrects the scores of all rows. Where nothing helps the stopping rows, they stay what they are, to the
// bit.
void correct_linearly(const LearningRows& rows, Scores& scores, ThreadPool& pool);

}  // namespace occam
