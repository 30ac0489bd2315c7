# Writes trials.csv: the lexical decisions of Wagenmakers et al. (2008, experiment 1) as the R package rtdists carries
# them (Debian: r-cran-rtdists), one row per trial. Run it in this folder: Rscript make_data.R
# Another instruction, or another file: Rscript make_data.R speed speed.csv
arguments <- commandArgs(trailingOnly = TRUE)
instruction <- if (length(arguments) >= 1) arguments[1] else "accuracy"
output <- if (length(arguments) >= 2) arguments[2] else "trials.csv"
if (!instruction %in% c("accuracy", "speed")) stop("the instruction is accuracy or speed, not ", instruction)
if (!nzchar(system.file(package = "rtdists"))) {
  stop("the package rtdists is missing: apt-get install r-cran-rtdists, or in R: install.packages(\"rtdists\")")
}

data("speed_acc", package = "rtdists")
kept <- subset(
  speed_acc,
  !censor &                                    # marked by the authors: < 0.18 s, > 3 s, or neither key
    condition == instruction &
    frequency %in% c("high", "nw_high") &      # frequent words, and nonwords made from such words
    response %in% c("word", "nonword")
)
trials <- data.frame(
  subject = sprintf("S%02d", as.integer(as.character(kept$id))),
  condition = ifelse(kept$stim_cat == "word", 1, 2),
  response = ifelse(kept$response == "word", 1, 0),
  rt = kept$rt
)
write.csv(trials, output, row.names = FALSE, quote = FALSE)
cat(nrow(trials), "trials of", length(unique(trials$subject)), "participants in", output, "\n")
