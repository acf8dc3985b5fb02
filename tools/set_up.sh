# Sourced by demo and check: finds or installs what building takes, configures and builds. Says what it does while it does it.

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
stop() { printf 'warplens: %s\n' "$*" >&2; exit 1; }

install_packages() {
  local package command missing=()
  while read -r package command; do
    [[ -z $package || $package == \#* ]] && continue
    [[ -n $command ]] && command -v "$command" >/dev/null && continue
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done < tools/packages.txt
  [[ ${#missing[@]} == 0 ]] && return
  [[ $(id -u) == 0 ]] || stop "these packages are missing; as root: apt-get install ${missing[*]}"
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q >&2 || stop "apt-get update failed: is the network up?"
  apt-get install -q -y --no-install-recommends "${missing[@]}" >&2 || stop "apt-get could not install: ${missing[*]}"
}

find_toolkit() {
  local root nvcc looked=()
  # An nvcc in PATH may be a script that starts the real one: it says itself where it belongs.
  nvcc=$(nvcc --dryrun -E -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p' || true)
  for root in "${CUDA_PATH:-}" "${CUDA_HOME:-}" "$nvcc" /usr/local/cuda; do
    [[ -z $root ]] && continue
    [[ -x $root/bin/nvcc && -e $root/include/cuda_runtime.h ]] && return
    looked+=("$root")
  done
  stop "no CUDA Toolkit in ${looked[*]}: install CUDA 13 from https://developer.nvidia.com/cuda-downloads (no GPU or driver is needed) or set CUDA_PATH"
}

# build FOLDER CMAKE-OPTIONS...
# Clang, which Warplens needs anyway, compiles the tree in half of gcc's time, and files that include the same headers in a third of it together.
build() {
  local folder=$1
  shift
  say "building $folder"
  mkdir -p "$folder"
  cmake -G Ninja -S . -B "$folder" -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_UNITY_BUILD=ON "$@" > "$folder/configure.log" 2>&1 || { cat "$folder/configure.log" >&2; stop "configuring failed"; }
  NINJA_STATUS='[%f/%t %es] ' cmake --build "$folder" >&2 || stop "building failed"
}
