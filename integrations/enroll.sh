#!/bin/sh
# Installs weir-follow on this host and gives it a key of its own (weir, docs/follow.md). Without --yes it only prints what it would do.
set -eu
umask 077

url='@URL@'
code='@CODE@'
driver=nftables
yes=

program=/usr/local/sbin/weir-follow
unit=/etc/systemd/system/weir-follow.service
settings=/etc/weir/follow.env
folder=
changed=

say() { printf '%s\n' "$*"; }
fail() {
  printf 'weir: %s\n' "$*" >&2
  exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }
has_systemd() { has systemctl && [ -d /run/systemd/system ]; }
setting() { sed -n "s/^$1=//p" "$settings" | tail -n 1; }

read_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      --yes) yes=1 ;;
      --driver=*) driver=${1#*=} ;;
      --driver)
        [ $# -gt 1 ] || fail "--driver needs a value: nftables or ipset"
        shift
        driver=$1
        ;;
      *) fail "there is no option $1, only --yes and --driver nftables or ipset. Nothing was changed" ;;
    esac
    shift
  done
  case $driver in
    nftables | ipset) ;;
    *) fail "the driver must be nftables or ipset; for others see docs/follow.md. Nothing was changed" ;;
  esac
}

plan() {
  say "weir would enrol this host at $url. It would:"
  say "  - test the packet filter ($driver): add documentation addresses to a set of its own, and remove them"
  say "  - install $program"
  if has_systemd; then
    say "  - install $unit, enable and start it"
  else
    say "  - install no unit, because systemd does not run here: start $program with your own supervisor"
  fi
  if [ -e "$settings" ]; then
    say "  - keep $settings, which exists: the code is not used"
  else
    say "  - use the code for a key that can only read its feed, and write it to $settings (only root can read it)"
  fi
  say "Nothing was changed, and the code was not used. To do it, as root:"
  option=
  [ "$driver" = nftables ] || option=" --driver $driver"
  say "  curl -fsS '$url/enroll/$code' | sh -s -- --yes$option"
  say "To undo it: weir-follow uninstall --yes"
}

check_host() {
  [ "$(id -u)" = 0 ] || fail "this needs root. Nothing was changed"
  has python3 || fail "python3 is missing: install Python 3.9 or newer. Nothing was changed"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
    fail "$(python3 --version) is too old: weir-follow needs Python 3.9 or newer. Nothing was changed"
  [ ! -e "$settings" ] || driver=$(setting WEIR_FOLLOW_DRIVER)
  driver=${driver:-nftables}
  [ "$driver" != ipset ] || has ipset || fail "the program ipset is missing. Nothing was changed"
  [ ! -e "$settings" ] || [ "$(setting WEIR_URL)" = "$url" ] ||
    fail "$settings belongs to another weir ($(setting WEIR_URL)). Nothing was changed; to replace it, first: weir-follow uninstall --yes"
}

fetch() {
  curl -fsS --max-time 60 -o "$folder/$1" "$url/integrations/$1" </dev/null || fail "$url/integrations/$1 cannot be fetched. Nothing was changed"
}

test_filter() {
  # Of drivers that settings can name, these have a self-test.
  case $driver in nftables | ipset) ;; *) return ;; esac
  python3 "$folder/weir-follow" self-test --driver "$driver" >"$folder/test" 2>&1 </dev/null ||
    fail "the packet filter does not work: $(tail -n 1 "$folder/test"). Nothing was changed, and the code was not used"
}

# Installs a file unless it is the same already.
install_file() {
  cmp -s "$1" "$2" && return
  (umask 022 && mkdir -p "${2%/*}")
  cp "$1" "$2.new"
  chmod "$3" "$2.new"
  mv -f "$2.new" "$2"
  changed="$changed $2"
}

get_key() {
  status=$(curl -sS --max-time 60 --retry 5 -o "$folder/follow.env" -w '%{http_code}' -X POST "$url/enroll/$code" </dev/null) ||
    fail "$url does not answer. Nothing was changed; if the code does not work any more, create a new one"
  [ "$status" = 200 ] || fail "weir refused the code ($status): $(head -c 500 "$folder/follow.env")"
  grep -q '^WEIR_API_KEY=weir_[A-Za-z0-9_-]*$' "$folder/follow.env" || fail "weir answered something else than a key. Nothing was changed"
  [ "$driver" = nftables ] || say "WEIR_FOLLOW_DRIVER=$driver" >>"$folder/follow.env"
  [ -d "${settings%/*}" ] || mkdir -m 755 "${settings%/*}"
  install_file "$folder/follow.env" "$settings" 600
}

start() {
  if ! has_systemd; then
    say "systemd does not run here: start $program with your own supervisor. It reads $settings."
    return
  fi
  [ -z "$changed" ] || systemctl daemon-reload
  if ! systemctl -q is-enabled weir-follow 2>/dev/null || ! systemctl -q is-active weir-follow; then
    systemctl enable --now weir-follow || fail "systemd cannot start weir-follow: see journalctl -u weir-follow"
    changed="$changed weir-follow.service"
  elif [ -n "$changed" ]; then
    systemctl restart weir-follow
  fi
  tries=30
  until "$program" --check >"$folder/check" 2>&1 </dev/null; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || fail "weir-follow does not work yet: $(tail -n 1 "$folder/check"). See journalctl -u weir-follow"
    sleep 1
  done
  sed -n 2p "$folder/check"
}

main() {
  read_options "$@"
  if [ -z "$yes" ]; then
    plan
    return
  fi
  check_host
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  fetch weir-follow
  fetch weir-follow.service
  test_filter
  [ -e "$settings" ] || get_key
  install_file "$folder/weir-follow" "$program" 755
  if has_systemd; then install_file "$folder/weir-follow.service" "$unit" 644; fi
  start
  if [ -z "$changed" ]; then
    say "This host is enrolled at $url already. Nothing was changed, and the code was not used."
  else
    say "This host is enrolled at $url. Changed:$changed"
  fi
}

main "$@"
exit
