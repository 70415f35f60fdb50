#!/bin/sh
# Sends fail2ban's actions to weir in order, and queues those that cannot be sent (docs/integrations.md of weir).
# /etc/fail2ban/action.d/weir.sh; weir.conf runs it: sh weir.sh URL HEADER QUERY QUEUE
#
# Standard input is a line "UNTIL ENVELOPE": UNTIL is the end of the ban, seconds since 1970, or - for an unban; "expires_in":0 in the
# envelope is replaced by the remaining time. Without a line it sends the queue. While weir is down lines wait in a file, and one process
# in the background sends them afterwards: fail2ban never waits longer than one attempt.
set -u
umask 077
url=$1 header=$2 query=$3
queue=$4.$(printf '%s' "$url$query" | cksum | cut -d ' ' -f 1)
most=67108864 # bytes of the queue: some 300,000 bans
mkdir -p "$(dirname "$queue")"

# Writing or shortening the file needs its lock.
line=$(cat)
if [ -n "$line" ]; then
  if [ "$(stat -c %s "$queue" 2>/dev/null || echo 0)" -gt $most ]; then
    echo "weir has been away for long: $queue is full" >&2
    exit 1
  fi
  flock "$queue.lock" sh -c 'printf "%s\n" "$1" >>"$2"' sh "$line" "$queue" || exit 1
fi

# Sends the first lines. 0: done, 1: send them again.
send() {
  head -n 200 "$queue" >"$queue.lines"
  awk -v now="$(date +%s)" '
    { until = $1; sub(/^[^ ]* /, "") }
    until != "-" { if (until <= now) next; sub(/"expires_in":0/, "\"expires_in\":" sprintf("%.0f", until - now)) }
    { printf "%s%s", (n++ ? "," : "["), $0 }
    END { if (n) print "]" }' "$queue.lines" >"$queue.body"
  if [ -s "$queue.body" ]; then
    code=$(curl -sS --max-time 10 -o "$queue.answer" -w '%{http_code}' -H "@$header" --data-binary "@$queue.body" "$url/v2/signal$query")
    # Other answers are temporary: weir is starting, a proxy has no backend, a key is being replaced.
    case $code in
      200) ;;
      206 | 400 | 404 | 409 | 413) refused=1 && cat "$queue.answer" >&2 ;;
      000) return 1 ;;
      *) cat "$queue.answer" >&2 && return 1 ;;
    esac
  fi
  flock "$queue.lock" sh -c 'tail -n "+$(($(wc -l <"$1.lines") + 1))" "$1" >"$1.rest" && cat "$1.rest" >"$1" && rm "$1.rest"' sh "$queue"
}

# One process at a time sends, including lines of others; at its end it checks for new ones.
exec 8>"$queue.sender"
refused=0
while [ -s "$queue" ] && flock -n 8; do
  while [ -s "$queue" ]; do send || break 2; done
  flock -u 8
done
[ -s "$queue" ] && flock -n 8 || exit $refused

# In the background until everything is sent: attempts after 1, 2, 4 … 30 seconds.
(
  pause=1
  while [ -s "$queue" ] && flock -n 8; do
    while [ -s "$queue" ]; do
      if send; then pause=1; else sleep $pause && pause=$((pause > 15 ? 30 : pause * 2)); fi
    done
    flock -u 8
  done
) >/dev/null 2>&1 </dev/null &
[ -z "$line" ] || echo "weir is away: this and what follows is sent when it is back" >&2
[ -z "$line" ]
