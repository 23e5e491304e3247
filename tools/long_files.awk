# awk -f tools/long_files.awk FILE...
# Names the files of more than 500 lines: a part of such a file usually wants a name of its own.

FNR == 1 && NR > 1 { report() }
{ file = FILENAME; lines = FNR }
END { if (NR > 0) report() }

function report() {
  if (lines > 500) printf "note: %s has %d lines\n", file, lines
}
