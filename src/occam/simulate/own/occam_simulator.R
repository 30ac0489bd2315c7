# Simulate models of your own for occam, in R without further packages.
#
# Write one function for each model and hand them to serve():
#
#   source(file.path(Sys.getenv("OCCAM_HELPERS"), "occam_simulator.R"))
#   coin <- function(theta, n) rbinom(n, 1, theta)
#   serve(list(fair = coin, flat = coin))
#
# A function gets the model's parameters by their names in the problem file and the number n of rows to simulate. It
# returns a matrix or data frame with n rows and one column for each of the problem's: by their names, in any order, or,
# where a matrix has no names of columns, in the order of the problem; or a vector where there is one column. Text and
# factors are taken for the numbers that they spell. Where the problem file has a [design], a function also gets the
# design columns by their names, each a vector of length n, and returns the observed columns only. NULL, or nothing but
# NA, stands for parameters that give no usable data. The random numbers of R are seeded anew for each data set. What is
# printed goes to standard error, so it does no harm.

serve <- function(models) {
  requests <- file("stdin", "r")
  answers <- .occam_output()
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

# Where R can be told that this is no file on a disk, it does not warn of it.
.occam_output <- function() {
  raw <- if ("raw" %in% names(formals(file))) list(raw = TRUE)
  do.call(file, c(list("/dev/stdout", "wb"), raw))
}

# A request is JSON of one known shape; rewritten as R, it is read by R. Texts are set apart, since the names of columns
# may hold anything; what stands before a colon is a key.
.occam_request <- function(line) {
  at <- gregexpr("\"(\\\\.|[^\"\\\\])*\"", line, perl = TRUE)
  texts <- regmatches(line, at)[[1]]
  rest <- regmatches(line, at, invert = TRUE)[[1]]
  keys <- startsWith(rest[-1], ":")
  texts[keys] <- chartr("\"", "`", texts[keys])
  rest <- sub("^:", "=", rest)
  rest <- chartr("[]{}", "()()", gsub("[", "c[", gsub("{", "list{", rest, fixed = TRUE), fixed = TRUE))
  eval(parse(text = paste0(rest, c(texts, ""), collapse = ""), keep.source = FALSE))
}

.occam_one <- function(simulate, request, b, last) {
  n <- request$n[b]
  given <- lapply(request$design, function(values) values[seq(last - n + 1, last)])
  set.seed(request$seeds[b] %% 2147483647)
  result <- do.call(simulate, c(lapply(request$parameters, function(values) values[b]), list(n = n), given))
  if (is.null(result)) return(matrix(NA_real_, n, request$columns))
  data <- .occam_matrix(result, request$model)
  if (nrow(data) != n || ncol(data) != request$columns) {
    stop("model '", request$model, "' returned ", nrow(data), " rows and ", ncol(data), " columns, expected ", n, " and ",
         request$columns)
  }
  .occam_in_order(data, request)
}

# A table of numbers, with the names of its columns where it has any.
.occam_matrix <- function(result, model) {
  if (!is.data.frame(result)) {
    if (is.factor(result)) result <- as.character(result)
    data <- as.matrix(result)
    if (is.character(data)) data[] <- .occam_numbers(data, "its result", model)
    storage.mode(data) <- "double"
    return(data)
  }
  columns <- lapply(seq_along(result), function(c) {
    .occam_numbers(result[[c]], paste0("column '", names(result)[c], "'"), model)
  })
  data <- matrix(as.double(unlist(columns)), nrow = nrow(result))
  if (ncol(data) == length(result)) colnames(data) <- names(result)
  data
}

# Text and factors as the numbers that they spell: R's codes of levels depend on which of them a data set holds.
.occam_numbers <- function(values, what, model) {
  if (is.factor(values)) values <- as.character(values)
  if (!is.character(values)) return(as.double(values))
  numbers <- suppressWarnings(as.double(values))
  wrong <- values[is.na(numbers) & !is.na(values) & !(values %in% c("NA", "NaN"))]
  if (length(wrong) > 0) {
    stop("model '", model, "': ", what, " holds '", wrong[1], "', which is no number: code it as one")
  }
  numbers
}

# Columns are found by their names. cbind() names some of them and others not: where names stand, they have to be right.
.occam_in_order <- function(data, request) {
  found <- colnames(data)
  if (is.null(found)) return(data)
  fits <- found == "" | found == request$names
  if (any(found == "") && all(fits)) return(unname(data))
  if (!identical(sort(found), sort(request$names))) {
    listed <- function(names) paste0("'", names, "'", collapse = ", ")
    stop("model '", request$model, "' returned the columns ", listed(found), ", expected ", listed(request$names),
         ", in any order (or a matrix without names, see unname(), in this order)")
  }
  unname(data[, match(request$names, found), drop = FALSE])
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
