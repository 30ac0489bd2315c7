# Two forgetting curves: n tests of 20 words each, after delays between a quarter of an hour and a week.
source(file.path(Sys.getenv("OCCAM_HELPERS"), "occam_simulator.R"))

recall <- function(curve) {
  function(a, b, n) {
    delay <- sample(c(0.25, 1, 2, 6, 12, 24, 48, 96, 168), n, replace = TRUE)
    cbind(delay, rbinom(n, 20, a * curve(delay, b)))
  }
}

serve(list(exponential = recall(function(t, b) exp(-b * t)),
           power = recall(function(t, b) (1 + t)^-b)))
