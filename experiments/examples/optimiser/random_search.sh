#!/usr/bin/env bash
# Uniform random search on a box, as an external optimiser (docs/protocol.md). A request is a line
# of JSON with "id" and "do"; every one gets one line of answer.

list() { grep -o "\"$1\":\[[^]]*\]" <<<"$line" | head -1 | sed 's/.*\[//; s/\]//; s/,/ /g'; }
number() { grep -o "\"$1\":[0-9]*" <<<"$line" | head -1 | cut -d: -f2; }

while read -r line; do
  id=$(number id)
  case $line in
  *'"do":"start"'*)
    lower=$(list lower) upper=$(list upper)
    RANDOM=$(number seed)
    echo "{\"id\":$id,\"protocol\":$(number protocol)}" ;; # 2 with several workers: the same to us
  *'"do":"ask"'*)
    draw=$RANDOM$RANDOM # here: within $( ) bash would seed RANDOM anew
    x=$(awk -v seed="$draw" -v lower="$lower" -v upper="$upper" 'BEGIN {
      srand(seed); n = split(lower, a, " "); split(upper, b, " ")
      for (i = 1; i <= n; i++) printf "%s%.12g", (i == 1 ? "" : ","), a[i] + rand() * (b[i] - a[i])
    }')
    echo "{\"id\":$id,\"x\":[$x]}" ;;
  *'"do":"tell"'*)
    echo "{\"id\":$id}" ;;
  esac
done
