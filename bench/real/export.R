# Rscript export.R FOLDER: writes data sets that come with R as csv files, as the problems beside this file read them.
folder <- commandArgs(trailingOnly = TRUE)
if (length(folder) != 1) stop("usage: Rscript export.R FOLDER")
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
write <- function(name, data) write.csv(data, file.path(folder, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)

write("sprays", with(InsectSprays, data.frame(spray = as.integer(spray), count = count)))
write("teeth", with(ToothGrowth, data.frame(supp = as.integer(supp == "OJ"), dose = dose, len = len)))
write("chicks", with(chickwts, data.frame(feed = feed, weight = weight)))
write("trees", with(Orange, data.frame(tree = paste("tree", Tree), age = age, circumference = circumference)))
write("lynx", data.frame(lynx = round(log10(as.numeric(lynx)), 5)))
cells <- as.data.frame(UCBAdmissions)
rows <- cells[rep(seq_len(nrow(cells)), cells$Freq), ]
write("admissions", with(rows, data.frame(department = Dept, sex = as.integer(Gender == "Female"),
                                          admitted = as.integer(Admit == "Admitted"))))
write("discoveries", data.frame(year = as.vector(time(discoveries)), count = as.vector(discoveries)))
write("huron", data.frame(year = as.vector(time(LakeHuron)), level = as.vector(LakeHuron)))
write("sleep", with(sleep, data.frame(ID = ID, drug = as.integer(group) - 1, extra = extra)))
write("enzymes", with(Puromycin, data.frame(conc = conc, treated = as.integer(state == "treated"), rate = rate)))
write("ozone", with(na.omit(airquality), data.frame(temp = Temp, wind = Wind, solar = Solar.R, ozone = Ozone)))
