# awk -f tools/long_functions.awk FILE...
# Refuses functions of more than 70 lines; tables (`static const … = {` first) may be longer. The sources are formatted:
# a function's name is on a line of little indentation, and its end is the brace below that line's first letter.

FNR == 1 { head = begin = 0 }

begin {
  if (FNR == begin + 1 && /^ *static const .*= \{$/) begin = head = 0
  else if (index($0, closing) == 1) {
    if (FNR - head >= 70) {
      printf "%s:%d: a function of %d lines\n", FILENAME, head, FNR - head + 1
      failed = 1
    }
    begin = head = 0
  }
  next
}

!head && /^ ? ? ? ?[A-Za-z_~].*\(/ && !/^ *(return|if|for|while|switch|namespace|class|struct|enum|union|[a-z_]+_)[ (]/ {
  match($0, /^ */)
  closing = substr($0, 1, RLENGTH) "}"
  head = FNR
  depth = 0
}

head {
  line = $0
  depth += gsub(/\(/, "", line) - gsub(/\)/, "", line)
  if (depth == 0 && /\{$/) begin = FNR
  else if (depth == 0 && /[;}]$/) head = 0
}

END { exit failed }
