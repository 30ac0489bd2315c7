# Simulate models of your own for occam, in R without further packages.
#
# Write one function for each model and hand them to serve():
#
#   source(file.path(Sys.getenv("OCCAM_HELPERS"), "occam_simulator.R"))
#   coin <- function(theta, n) rbinom(n, 1, theta)
#   serve(list(fair = coin, flat = coin))
#
# A function gets the model's parameters by their names in the problem file and the number n of rows to simulate. It
# returns a matrix or data frame with n rows and one column for each of the problem's, in their order; a vector where
# there is one column. Where the problem file has a [design], a function also gets the design columns by their names,
# each a vector of length n, and returns the observed columns only. NULL, or nothing but NA, stands for parameters that give no usable data. The random numbers of
# R are seeded anew for each data set. What is printed goes to standard error, so it does no harm.

serve <- function(models) {
  requests <- file("stdin", "r")
  answers <- file("/dev/stdout", "wb")
  sink(stderr())
  repeat {
    line <- readLines(requests, n = 1)
    if (length(line) == 0) break
    request <- .occam_request(line)
    simulate <- models[[request$model]]
    if (is.null(simulate)) {
      stop("serve() has no function for model '", request$model, "', only for: ", paste(names(models), collapse = ", "))
    }
    last <- cumsum(request$n)
    rows <- lapply(seq_along(request$n), function(b) .occam_one(simulate, request, b, last[b]))
    .occam_write(answers, do.call(rbind, rows))
  }
  sink()
  close(answers)
}

# A request is JSON of one known shape, without brackets or quotes inside its names; rewritten as R, it is read by R.
.occam_request <- function(line) {
  line <- gsub("\"([A-Za-z_][A-Za-z0-9_]*)\":", "`\\1`=", line)
  line <- chartr("[]{}", "()()", gsub("[", "c[", gsub("{", "list{", line, fixed = TRUE), fixed = TRUE))
  eval(parse(text = line, keep.source = FALSE))
}

.occam_one <- function(simulate, request, b, last) {
  n <- request$n[b]
  given <- lapply(request$design, function(values) values[seq(last - n + 1, last)])
  set.seed(request$seeds[b] %% 2147483647)
  result <- do.call(simulate, c(lapply(request$parameters, function(values) values[b]), list(n = n), given))
  if (is.null(result)) return(matrix(NA_real_, n, request$columns))
  data <- if (is.data.frame(result)) data.matrix(result) else as.matrix(result)
  if (nrow(data) != n || ncol(data) != request$columns) {
    stop("model '", request$model, "' returned ", nrow(data), " rows and ", ncol(data), " columns, expected ", n, " and ",
         request$columns)
  }
  unname(data)
}

# As an npy file (format 1.0) of little-endian doubles, row after row.
.occam_write <- function(connection, data) {
  header <- sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }\n", nrow(data), ncol(data))
  writeBin(c(as.raw(0x93), charToRaw("NUMPY"), as.raw(c(1, 0))), connection)
  writeBin(nchar(header), connection, size = 2, endian = "little")
  writeBin(charToRaw(header), connection)
  writeBin(as.double(t(data)), connection, size = 8, endian = "little")
  flush(connection)
}
