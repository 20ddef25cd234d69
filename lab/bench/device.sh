#!/usr/bin/env bash
# Measures zariz on a machine that has only the built programs: no compiler, no network.
#
#   device.sh ZARIZ ZARIZ_BENCH FOLDER
#
# Writes into FOLDER: the processor, `zariz info`, `zariz speed` for every size on every engine with one and with all
# threads (JSON), `zariz-papers`, which is beside it (text and JSON), a comparison with the system's OpenSSL, and quick
# runs of zariz-bench, the second with AVX512-IFMA hidden from the peers where there is any. Prints what it could not
# measure, also to FOLDER/not-measured.txt. Takes less than ten minutes.
set -uo pipefail

if [ $# -ne 3 ]; then
    echo "usage: $0 ZARIZ ZARIZ_BENCH FOLDER" >&2
    exit 2
fi
zariz=$1 bench=$2 folder=$3
limit=570 # seconds for everything
mkdir -p "$folder" || exit 1
missing=$folder/not-measured.txt
: >"$missing"

# miss TEXT: notes what could not be measured.
miss() {
    echo "$1" >>"$missing"
}

# step SECONDS FILE COMMAND…: runs a command for at most SECONDS (and what is left of the limit), its output to FILE and
# its messages to FILE.log.
step() {
    local seconds=$1 file=$folder/$2 left=$((limit - SECONDS)) status
    shift 2
    if [ "$left" -lt 5 ]; then
        miss "$*: no time left"
        return 1
    fi
    [ "$seconds" -lt "$left" ] || seconds=$left
    printf '%4d s: %s\n' "$SECONDS" "$*" >&2
    timeout "$seconds" "$@" >"$file" 2>"$file.log"
    status=$?
    [ -s "$file.log" ] || rm -f "$file.log"
    if [ "$status" -eq 124 ]; then
        miss "$*: not finished in $seconds s"
    elif [ "$status" -ne 0 ]; then
        miss "$*: exit $status: $(tail -n 1 "$file.log" 2>/dev/null)"
    fi
    return "$status"
}

# The first processor, with its flags.
{
    uname -srm
    echo "logical processors: $(nproc)"
    echo "load: $(cut -d ' ' -f 1-3 /proc/loadavg)"
    awk '/^$/ { exit } { print }' /proc/cpuinfo
} >"$folder/processor.txt"
grep -E '^(logical|model|vendor|cpu family|stepping|flags)' "$folder/processor.txt"

for program in "$zariz" "$bench"; do
    [ -x "$program" ] || miss "$program: no such program"
done

if [ -x "$zariz" ]; then
    step 60 info.txt "$zariz" info && cat "$folder/info.txt"
    step 60 info.json "$zariz" info --json
    # In the JSON, each engine's name comes before its "available".
    engines=$(awk -F '"' '/"name":/ { name = $4 } /"available": true/ { print name }' "$folder/info.json")
    [ -n "$engines" ] || miss "zariz speed: zariz info names no available engine"
    for engine in $(awk -F '"' '/"name":/ { print $4 }' "$folder/info.json"); do
        grep -qx "$engine" <<<"$engines" || miss "engine $engine: not available on this processor"
    done
    step 110 papers.txt "${zariz}-papers" --seconds 0.25 --quiet && cat "$folder/papers.txt"
    step 110 papers.json "${zariz}-papers" --seconds 0.25 --quiet --json
    for engine in $engines; do
        batch=64
        # Slow ones: a large batch of RSA-8192 would take the time of all the rest.
        case "$engine" in portable | scalar* | rsaz | pair-* | carry-chains) batch=8 ;; esac
        for threads in 1 $(nproc); do
            step 100 "speed-$engine-$threads.json" "$zariz" speed rsa1024 rsa2048 rsa3072 rsa4096 rsa8192 \
                modexp1024 modexp2048 modexp4096 --engine "$engine" --threads "$threads" --batch "$batch" \
                --seconds 0.4 --quiet --json
            [ "$(nproc)" -gt 1 ] || break
        done
    done
    if command -v openssl >/dev/null; then
        step 100 speed-openssl.json "$zariz" speed rsa2048 rsa3072 rsa4096 --compare openssl --seconds 1 --quiet --json
    else
        miss "zariz speed --compare openssl: no openssl on this machine"
    fi
fi

if [ -x "$bench" ]; then
    step 200 bench.md "$bench" --quick --out "$folder" && cat "$folder/bench.md"
    if grep -qE '^flags.* avx(512|_)ifma( |$)' "$folder/processor.txt"; then
        step 200 bench-ifma-masked.md "$bench" --quick --mask-ifma --out "$folder"
    else
        miss "avx512-ifma and OpenSSL's use of it: the processor has no AVX512-IFMA"
    fi
fi

printf '%4d s: done\n' "$SECONDS" >&2
echo
if [ -s "$missing" ]; then
    echo "Not measured:"
    sed 's/^/- /' "$missing"
else
    echo "Everything was measured."
fi
