backup=/var/lib/weir/before-upgrade

# Copies the store of version $1 into $backup; one copy only, because a store may have gigabytes.
make_backup() {
  if grep -qs '^DATABASE_URL=.' /etc/weir/weir.env; then
    echo 'weir: the store is in PostgreSQL: its backup is made with pg_dump.' >&2
    return 0
  fi
  # Also on the way back: the backup to restore stays.
  if [ ! -e /var/lib/weir/weir.db ] || dpkg --compare-versions "$1" gt '@VERSION@'; then return 0; fi
  runuser -u weir -- rm -rf "$backup.new"
  if ! weir backup "$backup.new"; then
    echo 'weir: no backup could be made, so nothing is upgraded. The line above names the reason, such as a full disk.' >&2
    return 1
  fi
  runuser -u weir -- sh -ec "echo '$1' > $backup.new/version; rm -rf $backup; mv $backup.new $backup"
}
