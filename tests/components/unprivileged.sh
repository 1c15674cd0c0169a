# Runs a command as a container would that is hardened: everything read-only but one folder, a user without a name, a home
# or a capability: unprivileged.sh USER STATE HIDDEN KEPT ... -- COMMAND ... in a mount namespace of its own. The folder
# HIDDEN, which only root may enter, is entered all the same for each KEPT inside it.
set -eu
user=$1 state=$2 hidden=$3
shift 3
mount --make-rprivate /
mount -t tmpfs -o mode=0700,uid="$user",gid="$user" tmpfs "$state"
if [ "$1" != -- ]; then
  mount -t tmpfs -o mode=0755 tmpfs /mnt
  for kept; do
    [ "$kept" != -- ] || break
    mkdir -p "/mnt$kept"
    mount --bind "$kept" "/mnt$kept"
  done
  mount -t tmpfs -o mode=0755 tmpfs "$hidden"
  while [ "$1" != -- ]; do
    mkdir -p "$1"
    mount --bind "/mnt$1" "$1"
    shift
  done
fi
shift
awk '{print $5}' /proc/self/mountinfo | while read -r place; do
  case $place in "$state" | /proc* | /dev* | /sys*) ;; *) mount -o remount,bind,ro "$place" 2>/dev/null || true ;; esac
done
exec setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "$@"
