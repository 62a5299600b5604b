#!/usr/bin/env bash
# Installs each artefact of a release in an empty Debian 12, checks it, and removes it:
#   cmake/release/clean_room.sh [ARTEFACTS [ROOM]]     (default: build/release, a temporary folder)
# As root; it needs debootstrap and a mirror of Debian. ROOM/base keeps the empty system for the next time. Prints a row of
# a table for each step: artefact, command, seconds, result. Exit code 0, or 1 if a step failed.
set -uo pipefail
artefacts=$(cd "${1:-$(dirname "$0")/../../build/release}" && pwd) || exit 2
folder=${2:-$(mktemp -d /var/tmp/regatta-room.XXXXXX)}
room=$folder/room
status=0
for tool in debootstrap chroot; do
  command -v $tool >/dev/null || { echo "clean_room: no $tool (Debian: debootstrap)" >&2 && exit 2; }
done

leave() {
  for place in dev/shm dev proc; do umount "$room/$place" 2>/dev/null; done
  mountpoint -q "$room/dev" || rm -rf "$room" # never what is mounted there
}

enter() {
  mkdir -p "$folder"
  [ -e "$folder/base/usr/bin/apt-get" ] || debootstrap --variant=minbase bookworm "$folder/base" >"$folder/log" 2>&1 || {
    tail -n 3 "$folder/log" >&2
    echo "clean_room: debootstrap found no mirror" >&2
    exit 2
  }
  trap leave EXIT
  cp -a "$folder/base" "$room"
  cp /etc/resolv.conf "$room/etc/resolv.conf"
  cp -r /etc/apt/apt.conf.d/. "$room/etc/apt/apt.conf.d/"
  cp -r "$artefacts" "$room/artefacts"
  mount -t proc proc "$room/proc" && mount --bind /dev "$room/dev" && mount -t tmpfs tmpfs "$room/dev/shm"
  rm -f "$room/etc/apt/apt.conf.d/docker-clean"
}

# A step in the room: what it is about, what the table says, the command. $said is its last line.
step() {
  local about=$1 words=$2 began=$SECONDS code result
  chroot "$room" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    sh -c "cd /root && $3" >"$folder/step" 2>&1
  code=$?
  said=$(grep -v '^$' "$folder/step" | tail -n 1 | cut -c1-110)
  result=ok
  [ $code = "${4:-0}" ] || { result="**failed, exit code $code**" && status=1 && cp "$folder/step" "$folder/failed-$SECONDS"; }
  echo "| $about | \`$words\` | $((SECONDS - began)) | $result${5:+: ${said//|/ }} |"
}

files='find / -xdev \( -path /proc -o -path /dev -o -path /artefacts -o -path "/files.*" -o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log -o -path /tmp -o -path /root -o -name "*.pyc" -o -name __pycache__ -o -path /etc/ld.so.cache \) -prune -o -print | sort'

enter
echo "| artefact | command, in an empty Debian 12 | seconds | result |"
echo "|---|---|---|---|"
install='apt-get install -y -qq'
step 'what the package needs' 'apt-get update; what it depends on and recommends' "apt-get update -qq && $install \$(dpkg-deb -f /artefacts/*.deb Depends Recommends | sed 's/^[A-Za-z]*: //; s/([^)]*)//g; s/,/ /g') >/dev/null && $files >/files.before"
step .deb 'apt-get install ./regatta_*.deb' "$install /artefacts/regatta_*.deb"
step .deb 'regatta selftest' 'regatta selftest' 0 said
step .deb 'regatta-analysis --version; import regatta' 'regatta-analysis --version && python3 -c "import regatta; print(regatta.__version__)"' 0 said
step .deb 'apt-get purge regatta: files left' "apt-get purge -y -qq regatta && $files >/files.after && diff /files.before /files.after && echo none" 0 said
step wheel 'python3 -m venv --system-site-packages; pip install --no-index --no-deps' "$install python3-venv >/dev/null && python3 -m venv --system-site-packages venv && venv/bin/pip install -q --no-index --no-deps /artefacts/*.whl"
step wheel 'regatta-analysis --version' 'venv/bin/regatta-analysis --version' 0 said
step wheel 'page of a results file without the program' 'tar -xzf /artefacts/regatta-*.tar.gz && venv/bin/regatta-analysis page regatta-*/tests/data/results-v3.h5 --out page.html && wc -c page.html' 0 said
step source 'build packages of run.sh' "bash -c 'source regatta-*/run.sh; $install --no-install-recommends \${packages[@]}' >/dev/null"
step source 'cmake -DREGATTA_TESTS=OFF; cmake --build; cmake --install' "cmake -S regatta-* -B build -G Ninja -DREGATTA_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/opt/regatta >/dev/null && cmake --build build >/dev/null && cmake --install build >/dev/null"
step source 'rm the source; mv /opt/regatta /opt/elsewhere; regatta selftest' 'rm -rf regatta-* build && mv /opt/regatta /opt/elsewhere && /opt/elsewhere/bin/regatta selftest' 0 said
step 'wheel, source' 'the wheel runs a study by that program' 'REGATTA=/opt/elsewhere/bin/regatta venv/bin/python -c "import regatta; print(len(regatta.run({\"study\": \"s\", \"seeds\": 2, \"common\": {\"iterations\": 2, \"initial_points\": 2}, \"problems\": [\"branin\"], \"algorithms\": [\"ei\"]}, quiet=True).data), \"rows\")"' 0 said
study='printf "study: s\nseeds: 2\ncommon: {iterations: 2, initial_points: 2}\nproblems: [branin]\nalgorithms: [random]\n" >s.yaml'
step 'wrong MPI' 'mpiexec of MPICH -n 2 regatta run' "$install --no-install-recommends mpich >/dev/null && $study && mpiexec.mpich -n 2 /opt/elsewhere/bin/regatta run s.yaml -o mpich.h5 && test ! -e mpich.h5" 2 said
step 'two versions' 'a package of version 9 and this program' 'sed -i "s/^__version__ = .*/__version__ = \"9.0.0\"/" venv/lib/python3*/site-packages/regatta/_version.py && REGATTA=/opt/elsewhere/bin/regatta venv/bin/python -c "
import regatta
try:
    regatta.problem(\"branin\")
except ValueError as error:
    print(error); raise SystemExit(2)"' 2 said
step 'moved program' 'cp bin/regatta elsewhere; regatta selftest' 'cp /opt/elsewhere/bin/regatta /root/alone && ./alone selftest' 2 said
exit $status
